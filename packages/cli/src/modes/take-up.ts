import { realpath } from "node:fs/promises";
import { burinHome, type ResumedSession, resumeSession } from "@burin/core";
import type { CommonOptions } from "./options.ts";

/** Holds the session that the command line says to go on with. Throws SessionError, with what to do instead. */
export async function takeUp(options: CommonOptions): Promise<ResumedSession | undefined> {
  const { session } = options;
  if (session.kind !== "take-up") return undefined;
  const { id, isFork: fork } = session;
  const place = { home: burinHome(process.env), root: await realpath(options.root), fork };
  return resumeSession(id === undefined ? place : { ...place, id });
}
