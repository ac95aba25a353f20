import { statSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { readBeginning } from "@burin/files/disk/regular-file";
import { buildProjectFolderName } from "./project-name.ts";
import { readRecordLine } from "./record-line.ts";
import { SessionError } from "./session-error.ts";
import { findLockHolder } from "./session-lock.ts";

const LOG_NAME = /^([A-Za-z0-9][A-Za-z0-9_-]{0,99})\.jsonl$/;

export interface SessionFile {
  readonly id: string;
  readonly path: string;
  /** The time of the last write, in milliseconds since 1970. */
  readonly changed: number;
  readonly bytes: number;
}

export function resolveSessionPath(home: string, root: string, id: string): string {
  return join(home, "sessions", buildProjectFolderName(root), `${id}.jsonl`);
}

/** Lists the sessions of a project, or of all projects, most recently used first. */
export async function listSessions(home: string, root: string | null): Promise<SessionFile[]> {
  const top = join(home, "sessions");
  const folders = root === null ? await readdir(top).catch(() => []) : [buildProjectFolderName(root)];
  const found = await Promise.all(folders.map((folder) => listSessionFiles(join(top, folder))));
  return found.flat().sort((one, other) => other.changed - one.changed || (one.id < other.id ? 1 : -1));
}

async function listSessionFiles(folder: string): Promise<SessionFile[]> {
  const names = await readdir(folder).catch(() => []);
  const found: SessionFile[] = [];
  for (const name of names) {
    const id = LOG_NAME.exec(name)?.[1];
    if (id === undefined) continue;
    const path = join(folder, name);
    // Synchronous, because thousands of asynchronous calls, one after the other, would take many times as long.
    const stats = withFallback(undefined, () => statSync(path));
    if (stats?.isFile()) found.push({ id, path, changed: stats.mtimeMs, bytes: stats.size });
  }
  return found;
}

/** Finds the session that was used last here, or the one whose id begins with `id`, in any project. */
export async function findSession(home: string, root: string, id?: string): Promise<SessionFile> {
  const here = await listSessions(home, root);
  const found =
    id === undefined ? here[0] : (matchSession(here, id) ?? matchSession(await listSessions(home, null), id));
  if (found) return found;
  const missing =
    id === undefined ? `of ${root}; see burin sessions list --all` : `"${id}"; see burin sessions list`;
  throw new SessionError("not_found", `There is no session ${missing}.`);
}

function matchSession(sessions: readonly SessionFile[], id: string): SessionFile | undefined {
  const exact = sessions.find((session) => session.id === id);
  if (exact !== undefined) return exact;
  const found = id === "" ? [] : sessions.filter((session) => session.id.startsWith(id));
  if (found.length > 1) {
    const ids = found.map((session) => session.id).join(", ");
    throw new SessionError("ambiguous", `More than one session begins with "${id}": ${ids}.`);
  }
  return found[0];
}

/** Returns the folder that a session works in, from its first record. null if the record cannot be read. */
export function readSessionRoot(path: string): string | null {
  const bytes = readBeginning(path, MAX_FIRST_BYTES);
  const end = bytes.indexOf(0x0a);
  const event = readRecordLine(end === -1 ? bytes : bytes.subarray(0, end))?.event;
  return event?.type === "session" ? event.root : null;
}

const MAX_FIRST_BYTES = 64 * 1024;

/** Removes the log of a session. Throws a SessionError while a process writes to it. */
export async function removeSession(place: SessionFile): Promise<void> {
  const holder = await findLockHolder(place.path);
  if (holder !== null) {
    throw new SessionError("in_use", `The session ${place.id} is in use by ${holder}; it was not removed.`);
  }
  await rm(place.path);
}
