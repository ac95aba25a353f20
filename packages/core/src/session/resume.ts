import { closeSync, constants, openSync, writeSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import type { AgentEvent } from "@burin/contract/agent-event";
import { PastSession } from "./past-session.ts";
import { readLog } from "./read-log.ts";
import { recordLine } from "./record-line.ts";
import { SessionError } from "./session-error.ts";
import { findSession, makeSessionFolder, rootOf, type SessionPlace, sessionPath } from "./session-files.ts";
import { newSessionId } from "./session-id.ts";
import { type SessionLock, takeLock } from "./session-lock.ts";
import { TurnCount } from "./turn-count.ts";

export interface ResumeOptions {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** The real path of the project's folder. */
  readonly root: string;
  /** An id or how it begins; without it the session that was used last here. */
  readonly id?: string;
  /** Go on with a copy, and leave the session as it is. */
  readonly fork?: boolean;
  /** Hears each event of the log when the session reads it, so that who shows it need not read it again. */
  readonly hear?: (event: AgentEvent) => void;
}

/** A session that is held by this process, to be handed to `createSession`. */
export interface ResumedSession {
  readonly id: string;
  readonly session: PastSession;
  readonly lock: SessionLock;
  /** The id of the session that this is a copy of. */
  readonly forkOf?: string;
}

/** Finds a session and keeps others from writing to it. Throws SessionError, with what to do instead. */
export async function resumeSession(options: ResumeOptions): Promise<ResumedSession> {
  const { home, root, id, fork, hear } = options;
  const place = await findSession(home, root, id);
  assertOfRoot(place, root);
  if (fork) return forked(place, options);
  return { id: place.id, session: new PastSession(place.path, hear), lock: await takeLock(place.path) };
}

function assertOfRoot(place: SessionPlace, root: string): void {
  const itsRoot = rootOf(place.path);
  if (itsRoot === null || itsRoot === root) return;
  throw new SessionError(
    "other_root",
    `The session ${place.id} works in ${itsRoot}, not in ${root}. Continue it there: --root '${itsRoot}'.`,
  );
}

async function forked(place: SessionPlace, { home, root, hear }: ResumeOptions): Promise<ResumedSession> {
  const id = newSessionId();
  const path = sessionPath(home, root, id);
  await makeSessionFolder(home, root);
  const lock = await takeLock(path);
  await copyFile(place.path, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  return { id, session: new PastSession(path, hear), lock, forkOf: place.id };
}

export interface RestoreOptions extends Pick<ResumeOptions, "home" | "root"> {
  readonly id: string;
  /** All that `keepLog` was given, in its order. */
  readonly lines: string;
}

/**
 * Makes the record of a session anew from what was kept elsewhere, for this root: what was said of files in the root
 * that it had there is said of this one's. What stood here is replaced.
 */
export async function restoreSession({ home, root, id, lines }: RestoreOptions): Promise<void> {
  const path = sessionPath(home, root, id);
  await makeSessionFolder(home, root);
  await writeFile(path, lines, { mode: 0o600 });
  let move = (json: string) => json;
  const moved = [...readLog(path)].map(({ n, at, event, seen }) => {
    if (event.type === "session") move = moverOf(event.root, root);
    return recordLine(n, at, {
      event: move(JSON.stringify(event)),
      seen: seen && move(JSON.stringify(seen)),
    });
  });
  await writeFile(path, Buffer.concat(moved));
}

/** In JSON; a path that only begins with the same letters is another one. */
function moverOf(from: string, to: string): (json: string) => string {
  const [before = "", here = ""] = [from, to].map((path) => JSON.stringify(path).slice(1, -1));
  const path = new RegExp(`${before.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "g");
  return (json) => json.replace(path, () => here);
}

export interface ForkOptions {
  readonly home: string;
  readonly root: string;
  readonly place: SessionPlace;
  /** The last turn of the model that the new session has; 0 keeps only the first prompt. */
  readonly turn: number;
}

/** Makes a new session of the beginning of another one, which stays as it is. Gives its id. */
export async function forkSession({ home, root, place, turn: last }: ForkOptions): Promise<string> {
  const lines: Buffer[] = [];
  const count = new TurnCount();
  let reached = 0;
  for (const { at, event, seen } of readLog(place.path)) {
    const { turn } = count.follow(event);
    const isNextPrompt = last > 0 && turn === last && event.type === "text" && event.role === "user";
    if (turn > last || isNextPrompt) break;
    reached = turn;
    const json = { event: JSON.stringify(event), seen: seen && JSON.stringify(seen) };
    lines.push(recordLine(lines.length + 1, at, json));
  }
  if (reached < last || lines.length === 0) {
    throw new SessionError(
      "unusable",
      `The session ${place.id} has ${reached} turns, so it has no turn ${last}.`,
    );
  }
  const id = newSessionId();
  await makeSessionFolder(home, root);
  const descriptor = openSync(sessionPath(home, root, id), "wx", 0o600);
  try {
    for (const line of lines) writeSync(descriptor, line);
  } finally {
    closeSync(descriptor);
  }
  return id;
}
