import type { Question } from "@burin/contract/tools";
import { tryReadBytes } from "@burin/files/disk/disk-looks";
import { findParkedQuestion } from "../past-session.ts";
import { readLastRecord, readLog } from "./read-log.ts";
import { readRecordLine } from "./record-line.ts";
import { listSessions, type SessionFile } from "./session-files.ts";
import { findLockHolder } from "./session-lock.ts";

/** The largest log that is searched for a name. A larger one is listed without its name. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A recorded session, as a list shows it. */
export interface SessionSummary extends SessionFile {
  readonly root: string | null;
  readonly model: string | null;
  /** The name that the user gave it. */
  readonly name: string | null;
  readonly prompt: string | null;
  /** The id of the session that this one was forked from. */
  readonly forkOf: string | null;
  /** A description of the process that is writing to it. */
  readonly holder: string | null;
  /** The question on which it was parked. null while a process writes to it. */
  readonly parked: Question | null;
}

/** Summarizes the sessions of a project, or of all projects, most recently used first. */
export async function listSessionSummaries(home: string, root: string | null): Promise<SessionSummary[]> {
  return Promise.all((await listSessions(home, root)).map(summarizeSession));
}

async function summarizeSession(place: SessionFile): Promise<SessionSummary> {
  const summary = {
    ...place,
    root: null,
    model: null,
    prompt: null,
    forkOf: null,
    name: readSessionName(place),
  };
  const holder = await findLockHolder(place.path);
  // Only a session whose last run has no end can have an open question. Only such a log must be read completely.
  const mayBeParked = holder === null && readLastRecord(place.path)?.event.type !== "done";
  const parked = mayBeParked ? findParkedQuestion(place.path) : null;
  return { ...summary, ...readBeginning(place), holder, parked };
}

/** Finds a session's latest name. Searches the bytes, so that a list of long sessions appears at once. */
function readSessionName({ path }: SessionFile): string | null {
  const bytes = tryReadBytes(path, MAX_BYTES) ?? Buffer.alloc(0);
  const at = bytes.lastIndexOf('"event":{"type":"name",');
  if (at === -1) return null;
  const end = bytes.indexOf("\n", at);
  const line = bytes.subarray(bytes.lastIndexOf("\n", at) + 1, end === -1 ? bytes.length : end);
  const event = readRecordLine(line)?.event;
  return event?.type === "name" ? event.name : null;
}

function readBeginning({ id, path }: SessionFile): Partial<SessionSummary> {
  let begun: Partial<SessionSummary> = {};
  for (const { event } of readLog(path)) {
    if (event.type === "session") {
      const { root, model, sessionId } = event;
      begun = { root, model, forkOf: sessionId === id ? null : sessionId };
    }
    if (event.type === "text" && event.role === "user") return { ...begun, prompt: event.text };
  }
  return begun;
}
