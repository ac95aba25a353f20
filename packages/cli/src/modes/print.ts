import {
  type AgentEvent,
  chooseModel,
  createSession,
  type RunStatus,
  type Session,
  type SessionOptions,
} from "@burin/core";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { type Output, visible } from "../terminal/output.ts";
import { type CommonOptions, openSettings, sessionOptions } from "./options.ts";
import type { Io } from "./subcommand.ts";

/** Everything a script wants to know of a run, in one document. */
interface RunDocument {
  sessionId: string;
  status: RunStatus;
  result: string;
  error?: { type: string; message: string };
  turns: number;
  toolCalls: { name: string; status: string }[];
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number };
}

const EXIT_OF: Record<RunStatus, ExitCode> = {
  success: EXIT.done,
  error: EXIT.failed,
  refused: EXIT.refused,
  limit: EXIT.limit,
  cancelled: EXIT.interrupted,
};

/** Runs one prompt without a screen; null goes on where a session that is taken up stopped. */
export async function runPrint(prompt: string | null, options: CommonOptions, io: Io): Promise<ExitCode> {
  const { settings, isTrusted, notices } = await openSettings(options);
  for (const message of notices) report({ type: "notice", message }, options, io.output);
  if (chooseModel(settings.model, process.env) === null) {
    const { howToConnect } = await import("./how-to-connect.ts");
    throw new UsageError(await howToConnect());
  }
  const session = createSession({
    ...sessionOptions(options, { settings, isTrusted }),
    record: options.session.kind !== "unrecorded",
    ...(options.session.kind === "take-up" ? await takenUp(options) : {}),
  });
  const document: RunDocument = {
    sessionId: session.id,
    status: "error",
    result: "",
    turns: 0,
    toolCalls: [],
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  };
  try {
    const text = prompt?.includes("@") ? await withFiles(prompt, session, { options, io }) : prompt;
    const events = text === null ? session.goOn(io.signal) : session.run(text, io.signal);
    for await (const event of events) {
      fold(document, event);
      report(event, options, io.output);
    }
  } finally {
    await session.close();
  }
  finish(document, options, io.output);
  return EXIT_OF[document.status];
}

async function withFiles(
  prompt: string,
  session: Session,
  { options: { root }, io }: { readonly options: CommonOptions; readonly io: Io },
): Promise<string> {
  const { withMentions } = await import("../commands/at-files.ts");
  return withMentions(prompt, { session, root }, io.signal);
}

async function takenUp(options: CommonOptions): Promise<Pick<SessionOptions, "resume">> {
  const { takeUp } = await import("./take-up.ts");
  const resume = await takeUp(options);
  return resume === undefined ? {} : { resume };
}

function fold(document: RunDocument, event: AgentEvent): void {
  if (event.type === "usage") {
    document.usage.inputTokens += event.usage.inputTokens;
    document.usage.outputTokens += event.usage.outputTokens;
    document.usage.cachedTokens += event.usage.cachedTokens;
  }
  if (event.type === "tool_call") {
    const { name, status } = event.call;
    if (status === "success" || status === "error" || status === "cancelled") {
      document.toolCalls.push({ name, status });
    }
  }
  if (event.type === "done") {
    document.status = event.status;
    document.result = event.result;
    document.turns = event.turns;
    if (event.error) document.error = event.error;
  }
}

function report(event: AgentEvent, options: CommonOptions, output: Output): void {
  if (options.outputFormat === "stream-json") {
    output.out(`${JSON.stringify(event)}\n`);
    return;
  }
  if (event.type === "notice") output.note(`burin: ${visible(event.message)}`);
  if (event.type !== "tool_call") return;
  const { call } = event;
  if (call.status === "executing" && call.display === undefined) {
    output.note(output.styled("dim", `> ${visible(call.description)}`));
  }
  if (call.status === "error" || call.status === "cancelled") {
    output.note(output.styled("dim", `! ${visible(call.error.message)}`));
  }
}

function finish(document: RunDocument, { outputFormat, session }: CommonOptions, output: Output): void {
  if (outputFormat === "json") {
    output.out(`${JSON.stringify(document)}\n`);
    return;
  }
  if (outputFormat === "text" && document.result !== "")
    output.content(`${document.result.replace(/\n$/, "")}\n`);
  if (document.error) output.note(`burin: ${visible(document.error.message)}`);
  if (outputFormat === "text" && session.kind !== "unrecorded") {
    output.note(
      output.styled("dim", `session ${document.sessionId}, go on with: burin -r ${document.sessionId}`),
    );
  }
}
