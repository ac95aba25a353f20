import { linkSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { endAtExit } from "@burin/commands/processes/at-exit";
import { findProcess, mayRun, type NotedProcess, thisSystem } from "@burin/commands/processes/process-table";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { bytesOf, entriesOf } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/make-folders";
import { lockPath as holdPath } from "@burin/files/disk/path-lock";
import { codeOf } from "@burin/files/disk/system-error";
import { SessionError } from "./session-error.ts";

export interface SessionLock {
  release(): void;
}

const MOST_BYTES = 4096;

interface Holder extends NotedProcess {
  readonly host: string;
}

export function lockPath(logPath: string): string {
  return logPath.replace(/\.jsonl$/, ".lock");
}

/** Until `release`. Replaces the lock of a process that has ended; throws SessionError `in_use`, with the holder. */
export async function takeLock(logPath: string): Promise<SessionLock> {
  const path = lockPath(logPath);
  makeFolders(dirname(path));
  const own = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  const started = findProcess(process.pid)?.started ?? "";
  const holder: Holder = { pid: process.pid, started, host: hostname(), ...thisSystem() };
  try {
    writeFileSync(own, JSON.stringify(holder), { mode: 0o600, flag: "wx" });
    // Of two processes that find a stale lock, the second must not remove the new lock of the first.
    await holdPath(path, async () => {
      while (!claims(own, path)) endStale(path);
      clearLeft(path);
    });
  } finally {
    await rm(own, { force: true }).catch(() => {});
  }
  const forget = endAtExit(() => rmSync(path, { force: true }));
  return {
    release: () => {
      forget();
      rmSync(path, { force: true });
    },
  };
}

/** Returns null when no live process writes to the session. */
export async function holderOf(logPath: string): Promise<string | null> {
  const holder = readHolder(lockPath(logPath));
  return holder !== null && lives(holder) ? nameOf(holder) : null;
}

/** Makes a hard link to a complete file, so that no process ever sees a half-written lock. */
function claims(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Removes the lock of a process that has ended. Throws while it is alive. */
function endStale(path: string): void {
  const holder = readHolder(path);
  if (holder !== null && lives(holder)) {
    throw new SessionError(
      "in_use",
      `The session is in use by ${nameOf(holder)}. Wait until that has ended, or continue a copy of it with --fork. (If it has surely ended, remove ${path}.)`,
    );
  }
  rmSync(path, { force: true });
}

/** Removes what processes have left that were killed while they took this lock. */
function clearLeft(path: string): void {
  for (const { name } of entriesOf(dirname(path)).filter(({ name }) =>
    name.startsWith(`${basename(path)}.`),
  )) {
    const left = join(dirname(path), name);
    const holder = readHolder(left);
    if (holder !== null && !lives(holder)) rmSync(left, { force: true });
  }
}

/** A lock is written whole: one that does not name its holder belongs to nobody. */
function readHolder(path: string): Holder | null {
  const holder = parseJson(bytesOf(path, MOST_BYTES)?.toString("utf8") ?? "");
  if (!isRecord(holder)) return null;
  const { pid, started, boot, space, host } = holder;
  const isWhole =
    typeof pid === "number" && [started, boot, space, host].every((one) => typeof one === "string");
  return isWhole ? (holder as unknown as Holder) : null;
}

function lives(holder: Holder): boolean {
  return holder.host !== hostname() || mayRun(holder);
}

function nameOf({ pid, host }: Holder): string {
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}
