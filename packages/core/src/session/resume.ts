import { constants, existsSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { makeFolders } from "@burin/files/disk/make-folders";
import { readLog } from "./log/read-log.ts";
import { recordLine } from "./log/record-line.ts";
import { asSessionError, SessionError } from "./log/session-error.ts";
import { findSession, rootOf, type SessionPlace, sessionPath } from "./log/session-files.ts";
import { newSessionId } from "./log/session-id.ts";
import { type SessionLock, takeLock } from "./log/session-lock.ts";
import { newLog } from "./log/write-session.ts";
import { PastSession } from "./past-session.ts";
import { TurnCount } from "./turn-count.ts";

export interface ResumeOptions {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The real path of the project's folder. */
  readonly root: string;
  /** An id or its beginning; default: the session that was used last here. */
  readonly id?: string;
  /** Continue with a copy, and leave the session as it is. */
  readonly fork?: boolean;
  /** Called with each event of the log when the session reads it, so that a face need not read it again. */
  readonly hear?: (event: AgentEvent) => void;
}

/** A session that this process has locked, to be passed to `createSession`. */
export interface ResumedSession {
  readonly id: string;
  readonly session: PastSession;
  readonly lock: SessionLock;
  /** The id of the session that this is a copy of. */
  readonly forkOf?: string;
}

/** Finds a session and locks it for other processes. Throws SessionError, with what to do instead. */
export async function resumeSession(options: ResumeOptions): Promise<ResumedSession> {
  const { home, root, id, fork, hear } = options;
  const place = await findSession(home, root, id);
  try {
    if (hasMoved(place, root) || fork) return await forked(place, options);
    return { id: place.id, session: new PastSession(place.path, hear), lock: await takeLock(place.path) };
  } catch (error) {
    throw asSessionError(error, `The session ${place.id} cannot be continued`);
  }
}

/** Whether its folder is gone: renamed or moved to here. Throws SessionError when it works in another one. */
function hasMoved(place: SessionPlace, root: string): boolean {
  const itsRoot = rootOf(place.path);
  if (itsRoot === null || itsRoot === root) return false;
  if (!existsSync(itsRoot)) return true;
  throw new SessionError(
    "other_root",
    `The session ${place.id} works in ${itsRoot}, not in ${root}. Continue it there: --root '${itsRoot}'.`,
  );
}

async function forked(place: SessionPlace, { home, root, hear }: ResumeOptions): Promise<ResumedSession> {
  const id = newSessionId();
  const path = sessionPath(home, root, id);
  const lock = await takeLock(path);
  await newLog(path, async () => {
    await copyFile(place.path, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    if (hasMoved(place, root)) await movePaths(path, root);
  }).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  return { id, session: new PastSession(path, hear), lock, forkOf: place.id };
}

export interface RestoreOptions extends Pick<ResumeOptions, "home" | "root"> {
  readonly id: string;
  /** Everything that `keepLog` was given, in order. */
  readonly lines: string;
}

/** Rebuilds a log from what was kept elsewhere, with the paths of this root. An existing log is replaced. */
export async function restoreSession({ home, root, id, lines }: RestoreOptions): Promise<void> {
  const path = sessionPath(home, root, id);
  makeFolders(dirname(path));
  await writeFile(path, lines, { mode: 0o600 });
  await movePaths(path, root);
}

async function movePaths(path: string, root: string): Promise<void> {
  let move = (json: string) => json;
  const moved = [...readLog(path)].map((record) => {
    if (record.event.type === "session") move = moverOf(record.event.root, root);
    return recordLine(record, (value) => move(JSON.stringify(value)));
  });
  await writeFile(path, Buffer.concat(moved));
}

/** Replaces a root in JSON, but not other paths that merely start with the same letters. */
function moverOf(from: string, to: string): (json: string) => string {
  const [before = "", here = ""] = [from, to].map((path) => JSON.stringify(path).slice(1, -1));
  const path = new RegExp(`${before.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "g");
  return (json) => json.replace(path, () => here);
}

export interface ForkOptions extends Pick<ResumeOptions, "home" | "root"> {
  readonly place: SessionPlace;
  /** The last turn of the model that the new session contains; 0 keeps only the first prompt. */
  readonly turn: number;
}

/** Makes a new session from the beginning of another one, which stays as it is. Returns its id. */
export async function forkSession({ home, root, place, turn: last }: ForkOptions): Promise<string> {
  const lines: Buffer[] = [];
  const count = new TurnCount();
  let reached = 0;
  for (const record of readLog(place.path)) {
    const { event } = record;
    const { turn } = count.follow(event);
    const isNextPrompt = last > 0 && turn === last && event.type === "text" && event.role === "user";
    if (turn > last || isNextPrompt) break;
    reached = turn;
    lines.push(recordLine({ ...record, n: lines.length + 1 }));
  }
  if (reached < last || lines.length === 0) {
    throw new SessionError(
      "unusable",
      `The session ${place.id} has ${reached} turns, so it has no turn ${last}.`,
    );
  }
  const id = newSessionId();
  const path = sessionPath(home, root, id);
  makeFolders(dirname(path));
  await newLog(path, () => writeFile(path, Buffer.concat(lines), { flag: "wx", mode: 0o600 }));
  return id;
}
