import type { AgentEvent, SessionOptions } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { type CommonOptions, resolveSessionLocation } from "../../request/options.ts";

/** Opens and locks the session that the command line resumes. Throws a SessionError that says what to do instead. */
export async function resumeFromOptions(
  options: CommonOptions,
  hear?: (event: AgentEvent) => void,
): Promise<Pick<SessionOptions, "resume" | "answer">> {
  const { session } = options;
  if (session.kind !== "resume") return {};
  const { id, isFork: fork, answer } = session;
  const place = { ...resolveSessionLocation(options), fork, ...(hear && { hear }) };
  const resume = await resumeSession(id === undefined ? place : { ...place, id });
  return answer === undefined ? { resume } : { resume, answer };
}
