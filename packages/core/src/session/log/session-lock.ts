import { linkSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { runAtExit } from "@burin/commands/processes/at-exit";
import {
  findProcess,
  identifySystem,
  mayBeRunning,
  type NotedProcess,
} from "@burin/commands/processes/process-table";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { tryReadBytes, tryReadEntries } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/own-files";
import { lockPath as holdPath } from "@burin/files/disk/path-lock";
import { readErrorCode } from "@burin/files/disk/system-error";
import { SessionError } from "./session-error.ts";

export interface SessionLock {
  release(): void;
}

const MAX_BYTES = 4096;

interface Holder extends NotedProcess {
  readonly host: string;
}

export function resolveLockPath(logPath: string): string {
  return logPath.replace(/\.jsonl$/, ".lock");
}

/** Locks a session until `release`. Replaces the lock of an ended process; otherwise throws `in_use`. */
export async function takeLock(logPath: string): Promise<SessionLock> {
  const path = resolveLockPath(logPath);
  makeFolders(dirname(path));
  const own = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  const started = findProcess(process.pid)?.started ?? "";
  const holder: Holder = { pid: process.pid, started, host: hostname(), ...identifySystem() };
  try {
    writeFileSync(own, JSON.stringify(holder), { mode: 0o600, flag: "wx" });
    // If two processes find a stale lock, the second must not remove the new lock of the first.
    await holdPath(path, async () => {
      while (!claimLock(own, path)) removeStaleLock(path);
      removeLeftovers(path);
    });
  } finally {
    await rm(own, { force: true }).catch(() => {});
  }
  const forget = runAtExit(() => rmSync(path, { force: true }));
  return {
    release: () => {
      forget();
      rmSync(path, { force: true });
    },
  };
}

/** Returns a description of the process that writes to the session, or null if no live process does. */
export async function findLockHolder(logPath: string): Promise<string | null> {
  const holder = readHolder(resolveLockPath(logPath));
  return holder !== null && isHolderAlive(holder) ? formatHolder(holder) : null;
}

/** Creates the lock as a hard link to a complete file, so that no process ever sees a half-written lock. */
function claimLock(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (readErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Removes the lock of a process that has ended. Throws if the process is alive. */
function removeStaleLock(path: string): void {
  const holder = readHolder(path);
  if (holder !== null && isHolderAlive(holder)) {
    throw new SessionError(
      "in_use",
      [
        `The session is in use by ${formatHolder(holder)}.`,
        "Wait until that has ended, or continue a copy of it with --fork.",
        `(If it has surely ended, remove ${path}.)`,
      ].join(" "),
    );
  }
  rmSync(path, { force: true });
}

/** Removes files left by processes that were killed while they took this lock. */
function removeLeftovers(path: string): void {
  for (const { name } of tryReadEntries(dirname(path)).filter(({ name }) =>
    name.startsWith(`${basename(path)}.`),
  )) {
    const left = join(dirname(path), name);
    const holder = readHolder(left);
    if (holder !== null && !isHolderAlive(holder)) rmSync(left, { force: true });
  }
}

/** Reads the holder of a lock. Locks are written as a whole, so one that does not name its holder belongs to nobody. */
function readHolder(path: string): Holder | null {
  const holder = parseJson(tryReadBytes(path, MAX_BYTES)?.toString("utf8") ?? "");
  if (!isRecord(holder)) return null;
  const { pid, started, boot, space, host } = holder;
  const isWhole =
    typeof pid === "number" && [started, boot, space, host].every((one) => typeof one === "string");
  return isWhole ? (holder as unknown as Holder) : null;
}

function isHolderAlive(holder: Holder): boolean {
  return holder.host !== hostname() || mayBeRunning(holder);
}

function formatHolder({ pid, host }: Holder): string {
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}
