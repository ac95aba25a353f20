import { constants, existsSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { makeFolders } from "@burin/files/disk/own-files";
import { readLog } from "./log/read-log.ts";
import { formatRecordLine } from "./log/record-line.ts";
import { SessionError, toSessionError } from "./log/session-error.ts";
import { findSession, readSessionRoot, resolveSessionPath, type SessionFile } from "./log/session-files.ts";
import { createSessionId } from "./log/session-id.ts";
import { type SessionLock, takeLock } from "./log/session-lock.ts";
import { writeNewLog } from "./log/write-session.ts";
import { PastSession } from "./past-session.ts";
import { TurnCount } from "./turn-count.ts";

export interface ResumeOptions {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The real path of the project's folder. */
  readonly root: string;
  /** An id or its beginning. Default: the most recently used session of this folder. */
  readonly id?: string;
  /** Continue with a copy and leave the session unchanged. */
  readonly fork?: boolean;
  /** Called with each event of the log when the session reads it, so that a front end need not read the log again. */
  readonly hear?: (event: AgentEvent) => void;
}

/** A session that this process has locked, to be passed to `createSession`. */
export interface ResumedSession {
  readonly id: string;
  readonly session: PastSession;
  readonly lock: SessionLock;
  /** The id of the session that this one is a copy of. */
  readonly forkOf?: string;
}

/** Finds a session and locks it against other processes. Throws a SessionError that says what to do instead. */
export async function resumeSession(options: ResumeOptions): Promise<ResumedSession> {
  const { home, root, id, fork, hear } = options;
  const place = await findSession(home, root, id);
  try {
    if (hasFolderMoved(place, root) || fork) return await copySession(place, options);
    return { id: place.id, session: new PastSession(place.path, hear), lock: await takeLock(place.path) };
  } catch (error) {
    throw toSessionError(error, `The session ${place.id} cannot be continued`);
  }
}

/** Whether the session's folder was renamed or moved to this one. Throws SessionError if it is another one. */
function hasFolderMoved(place: SessionFile, root: string): boolean {
  const itsRoot = readSessionRoot(place.path);
  if (itsRoot === null || itsRoot === root) return false;
  if (!existsSync(itsRoot)) return true;
  throw new SessionError(
    "other_root",
    `The session ${place.id} works in ${itsRoot}, not in ${root}. Continue it there: --root '${itsRoot}'.`,
  );
}

async function copySession(place: SessionFile, { home, root, hear }: ResumeOptions): Promise<ResumedSession> {
  const id = createSessionId();
  const path = resolveSessionPath(home, root, id);
  const lock = await takeLock(path);
  await writeNewLog(path, async () => {
    await copyFile(place.path, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    if (hasFolderMoved(place, root)) await rewritePathsInLog(path, root);
  }).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  return { id, session: new PastSession(path, hear), lock, forkOf: place.id };
}

/** What `restoreSession` needs to rebuild a log. */
export interface RestoreOptions extends Pick<ResumeOptions, "home" | "root"> {
  /** The id of the session, as its first event names it. */
  readonly id: string;
  /** All lines that `keepLog` got, in order. */
  readonly lines: string;
}

/** Rebuilds a log that was stored elsewhere and adapts its paths to this root. Replaces an existing log. */
export async function restoreSession({ home, root, id, lines }: RestoreOptions): Promise<void> {
  const path = resolveSessionPath(home, root, id);
  makeFolders(dirname(path));
  await writeFile(path, lines, { mode: 0o600 });
  await rewritePathsInLog(path, root);
}

async function rewritePathsInLog(path: string, root: string): Promise<void> {
  let move = (json: string) => json;
  const moved = [...readLog(path)].map((record) => {
    if (record.event.type === "session") move = createRootReplacer(record.event.root, root);
    return formatRecordLine(record, (value) => move(JSON.stringify(value)));
  });
  await writeFile(path, Buffer.concat(moved));
}

/** Returns a function that replaces a root in JSON, but not other paths that merely start with the same letters. */
function createRootReplacer(from: string, to: string): (json: string) => string {
  const [before = "", here = ""] = [from, to].map((path) => JSON.stringify(path).slice(1, -1));
  const path = new RegExp(`${before.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "g");
  return (json) => json.replace(path, () => here);
}

export interface ForkOptions extends Pick<ResumeOptions, "home" | "root"> {
  readonly place: SessionFile;
  /** The last turn of the model that the new session contains. 0 keeps only the first prompt. */
  readonly turn: number;
}

/** Creates a session from the beginning of another one, which does not change. Returns the new session's id. */
export async function forkSession({ home, root, place, turn: last }: ForkOptions): Promise<string> {
  const lines: Buffer[] = [];
  const count = new TurnCount();
  let reached = 0;
  for (const record of readLog(place.path)) {
    const { event } = record;
    const { turn } = count.countEvent(event);
    const isNextPrompt = last > 0 && turn === last && event.type === "text" && event.role === "user";
    if (turn > last || isNextPrompt) break;
    reached = turn;
    lines.push(formatRecordLine({ ...record, n: lines.length + 1 }));
  }
  if (reached < last || lines.length === 0) {
    throw new SessionError(
      "unusable",
      `The session ${place.id} has ${reached} turns, so it has no turn ${last}.`,
    );
  }
  const id = createSessionId();
  const path = resolveSessionPath(home, root, id);
  makeFolders(dirname(path));
  await writeNewLog(path, () => writeFile(path, Buffer.concat(lines), { flag: "wx", mode: 0o600 }));
  return id;
}
