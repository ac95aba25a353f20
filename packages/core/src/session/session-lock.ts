import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { thisSystem } from "../workspace/process-ledger.ts";
import { endAtExit, systemProcesses } from "../workspace/run-process.ts";
import { codeOf } from "../workspace/system-error.ts";
import { SessionError } from "./session-error.ts";

export interface SessionLock {
  release(): void;
}

/** Who writes to a session. */
interface Holder {
  readonly pid: number;
  /** With the process id it names one process for good. */
  readonly started: string;
  readonly boot: string;
  readonly space: string;
  readonly host: string;
}

export function lockPath(logPath: string): string {
  return logPath.replace(/\.jsonl$/, ".lock");
}

/**
 * Keeps other processes from writing to a session until `release`. The lock of a process that is no more is
 * taken over. Throws SessionError `in_use`, with who has it.
 */
export function takeLock(logPath: string): SessionLock {
  const path = lockPath(logPath);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const own = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(own, JSON.stringify(thisHolder()), { mode: 0o600, flag: "wx" });
  try {
    while (!claims(own, path)) endStale(path);
  } finally {
    unlinkSync(own);
  }
  const forget = endAtExit(() => rmSync(path, { force: true }));
  return {
    release: () => {
      forget();
      rmSync(path, { force: true });
    },
  };
}

/** null when nobody that lives writes to the session. */
export function holderOf(logPath: string): string | null {
  const holder = readHolder(lockPath(logPath));
  return holder !== null && lives(holder) ? nameOf(holder) : null;
}

function thisHolder(): Holder {
  const started = systemProcesses.find(process.pid)?.started ?? "";
  return { pid: process.pid, started, host: hostname(), ...thisSystem() };
}

/** A second name for a whole file: nobody ever sees a lock that is half written. */
function claims(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Takes away the lock of a process that is no more. Throws while it lives. */
function endStale(path: string): void {
  const holder = readHolder(path);
  if (holder !== null && lives(holder)) throw inUse(path, holder);
  const aside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  // Somebody may have been quicker, and have a lock of his own in that place by now.
  const moved = readHolder(aside);
  if (moved !== null && lives(moved)) claims(aside, path);
  unlinkSync(aside);
}

function readHolder(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    return null;
  }
}

function lives(holder: Holder): boolean {
  if (holder.host !== hostname()) return true;
  const { boot, space } = thisSystem();
  if (holder.boot !== boot) return false;
  if (holder.space !== space) return true;
  return systemProcesses.find(holder.pid)?.started === holder.started;
}

function nameOf({ pid, host }: Holder): string {
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}

function inUse(path: string, holder: Holder): SessionError {
  return new SessionError(
    "in_use",
    `The session is in use by ${nameOf(holder)}. Wait until that has ended, or go on with a copy of it: --fork. (If it has surely ended, remove ${path}.)`,
  );
}
