import type { Question } from "@burin/contract/tools";
import { bytesOf } from "@burin/files/disk/disk-looks";
import { parkedQuestion } from "../past-session.ts";
import { lastRecord, readLog } from "./read-log.ts";
import { readRecordLine } from "./record-line.ts";
import { listSessions, type SessionPlace } from "./session-files.ts";
import { holderOf } from "./session-lock.ts";

/** A longer log is listed without its name. */
const MOST_BYTES = 64 * 1024 * 1024;

export interface SessionSummary extends SessionPlace {
  readonly root: string | null;
  readonly model: string | null;
  /** The name that the user gave it. */
  readonly name: string | null;
  readonly prompt: string | null;
  /** The id of the session that this one was made from. */
  readonly forkOf: string | null;
  /** The process that is writing to it. */
  readonly holder: string | null;
  /** The question that it was parked with; null while a process writes to it. */
  readonly parked: Question | null;
}

/** The sessions of a project, or of all projects, most recently used first. */
export async function sessionSummaries(home: string, root: string | null): Promise<SessionSummary[]> {
  return Promise.all((await listSessions(home, root)).map(summaryOf));
}

async function summaryOf(place: SessionPlace): Promise<SessionSummary> {
  const summary = { ...place, root: null, model: null, prompt: null, forkOf: null, name: nameIn(place) };
  const holder = await holderOf(place.path);
  // Only a session whose last run has no end can have an open question and must be read completely.
  const mayBeParked = holder === null && lastRecord(place.path)?.event.type !== "done";
  const parked = mayBeParked ? parkedQuestion(place.path) : null;
  return { ...summary, ...beginningOf(place), holder, parked };
}

/** Searches the bytes instead of reading every record: a list of long sessions must appear at once. */
function nameIn({ path }: SessionPlace): string | null {
  const bytes = bytesOf(path, MOST_BYTES) ?? Buffer.alloc(0);
  const at = bytes.lastIndexOf('"event":{"type":"name",');
  if (at === -1) return null;
  const end = bytes.indexOf("\n", at);
  const line = bytes.subarray(bytes.lastIndexOf("\n", at) + 1, end === -1 ? bytes.length : end);
  const event = readRecordLine(line)?.event;
  return event?.type === "name" ? event.name : null;
}

function beginningOf({ id, path }: SessionPlace): Partial<SessionSummary> {
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
