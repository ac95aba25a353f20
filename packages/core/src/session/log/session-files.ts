import { statSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { readBeginning } from "@burin/files/disk/regular-file";
import { readRecordLine } from "./record-line.ts";
import { SessionError } from "./session-error.ts";
import { holderOf } from "./session-lock.ts";

const LOG_NAME = /^([A-Za-z0-9][A-Za-z0-9_-]{0,99})\.jsonl$/;

export interface SessionPlace {
  readonly id: string;
  readonly path: string;
  /** The time of the last write, in milliseconds. */
  readonly changed: number;
  readonly bytes: number;
}

/** The name of a project's folder under `sessions/` and `undo/`: readable, and different for each path. */
export function projectName(root: string): string {
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const readable =
    basename(root)
      .replace(/[^A-Za-z0-9._-]+/g, "-")
      .slice(0, 40) || "root";
  return `${readable}-${crc32(root).toString(16).padStart(8, "0")}`;
}

export function sessionPath(home: string, root: string, id: string): string {
  return join(home, "sessions", projectName(root), `${id}.jsonl`);
}

/** The sessions of a project, or of all projects, most recently used first. */
export async function listSessions(home: string, root: string | null): Promise<SessionPlace[]> {
  const top = join(home, "sessions");
  const folders = root === null ? await readdir(top).catch(() => []) : [projectName(root)];
  const found = await Promise.all(folders.map((folder) => sessionsIn(join(top, folder))));
  return found.flat().sort((one, other) => other.changed - one.changed || (one.id < other.id ? 1 : -1));
}

async function sessionsIn(folder: string): Promise<SessionPlace[]> {
  const names = await readdir(folder).catch(() => []);
  const found: SessionPlace[] = [];
  for (const name of names) {
    const id = LOG_NAME.exec(name)?.[1];
    if (id === undefined) continue;
    const path = join(folder, name);
    // Thousands of them one after the other on another thread would take many times as long.
    const stats = orElse(undefined, () => statSync(path));
    if (stats?.isFile()) found.push({ id, path, changed: stats.mtimeMs, bytes: stats.size });
  }
  return found;
}

/** Finds the session that was used last here, or the one whose id begins with `id`, here or in any other project. */
export async function findSession(home: string, root: string, id?: string): Promise<SessionPlace> {
  const here = await listSessions(home, root);
  const found =
    id === undefined ? here[0] : (matching(here, id) ?? matching(await listSessions(home, null), id));
  if (found) return found;
  const missing =
    id === undefined ? `of ${root}; see burin sessions list --all` : `"${id}"; see burin sessions list`;
  throw new SessionError("not_found", `There is no session ${missing}.`);
}

function matching(sessions: readonly SessionPlace[], id: string): SessionPlace | undefined {
  const exact = sessions.find((session) => session.id === id);
  if (exact !== undefined) return exact;
  const found = id === "" ? [] : sessions.filter((session) => session.id.startsWith(id));
  if (found.length > 1) {
    const ids = found.map((session) => session.id).join(", ");
    throw new SessionError("ambiguous", `More than one session begins with "${id}": ${ids}.`);
  }
  return found[0];
}

/** The folder that a session works in, from its first record; null when that cannot be read. */
export function rootOf(path: string): string | null {
  const bytes = readBeginning(path, MOST_FIRST_BYTES);
  const end = bytes.indexOf(0x0a);
  const event = readRecordLine(end === -1 ? bytes : bytes.subarray(0, end))?.event;
  return event?.type === "session" ? event.root : null;
}

const MOST_FIRST_BYTES = 64 * 1024;

/** Removes the log of a session. Throws SessionError while a process writes to it. */
export async function removeSession(place: SessionPlace): Promise<void> {
  const holder = await holderOf(place.path);
  if (holder !== null) {
    throw new SessionError("in_use", `The session ${place.id} is in use by ${holder}; it was not removed.`);
  }
  await rm(place.path);
}
