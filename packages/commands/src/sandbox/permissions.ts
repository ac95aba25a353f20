import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryReadBytes } from "@burin/files/disk/disk-looks";
import { randomName } from "@burin/files/disk/own-files";
import { findProcess, identifySystem, mayBeRunning, type NotedProcess } from "../processes/process-table.ts";
import { listFiles } from "./sandbox-survey.ts";

/** A protected path, and the content that the user has approved for it. */
interface Permission {
  readonly path: string;
  /** The SHA-256 of the whole content. */
  readonly hash: string;
}

/** One call that the user has allowed to change protected files, as every Burin process of this user sees it. */
interface CallNote {
  readonly owner: NotedProcess;
  /** The roots in which the call has no limits. A change there during the call may be its work. */
  readonly roots: readonly string[];
  /** What the call is allowed to write; its content is known when it has ended. */
  readonly paths: readonly string[];
  readonly permitted: readonly Permission[];
  readonly isOver: boolean;
}

/** How long to keep a note. By then, every guard that ran when the call ended has looked at what it wrote. */
const KEPT_MS = 24 * 3600 * 1000;
const MAX_NOTE_BYTES = 1024 * 1024;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export interface AllowedCall {
  readonly home: string;
  readonly roots?: readonly string[];
  readonly paths?: readonly string[];
}

export interface OpenCall {
  /** Says what is about to be written. */
  permit(permission: Permission): void;
  /** Ends the permission to write. */
  end(): void;
  /** Ends the permission to write, and records everything written so far under the allowed paths as approved. */
  endWithFiles(): void;
}

/** Notes that an allowed call begins. If the home folder cannot be written, no guard could read the note either. */
export function beginAllowedCall({ home, roots = [], paths = [] }: AllowedCall): OpenCall {
  const folder = join(home, "permissions");
  const file = join(folder, `${randomName()}.json`);
  const owner = { pid: process.pid, started: findProcess(process.pid)?.started ?? "", ...identifySystem() };
  const permitted: Permission[] = [];
  const filesNow = () => paths.flatMap((path) => (tryLstat(path)?.isDirectory() ? listFiles(path) : [path]));
  const before = new Map(filesNow().map((path) => [path, hashFile(path)]));
  const note = (isOver: boolean) =>
    withFallback(undefined, () => {
      const text: CallNote = { owner, roots, paths, permitted, isOver };
      writeFileSync(`${file}.tmp`, JSON.stringify(text), { mode: 0o600 });
      renameSync(`${file}.tmp`, file);
    });
  withFallback(undefined, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  removeOldNotes(folder);
  note(false);
  return {
    permit: (permission) => {
      permitted.push(permission);
      note(false);
    },
    end: () => note(true),
    endWithFiles: () => {
      for (const path of filesNow()) {
        const now = hashFile(path);
        // Files that existed before the call and did not change are not its work.
        if (now !== null && now !== before.get(path)) permitted.push({ path, hash: now });
      }
      note(true);
    },
  };
}

/** Removes only notes of calls that have ended: the file of a running call is written again at its end. */
function removeOldNotes(folder: string): void {
  for (const name of listNotes(folder)) {
    const stats = tryLstat(join(folder, name));
    if (stats === null || Date.now() - stats.mtimeMs < KEPT_MS) continue;
    const note = readNote(join(folder, name));
    if (note === null || !isLive(note)) withFallback(undefined, () => rmSync(join(folder, name)));
  }
}

function listNotes(folder: string): string[] {
  return withFallback([], () => readdirSync(folder)).filter((name) => name.endsWith(".json"));
}

function readNote(file: string): CallNote | null {
  const read = parseJson(tryReadBytes(file, MAX_NOTE_BYTES)?.toString() ?? "");
  return isRecord(read) && isRecord(read.owner) ? (read as unknown as CallNote) : null;
}

function isLive({ isOver, owner }: CallNote): boolean {
  return !isOver && mayBeRunning(owner);
}

/** null for what is not a regular file, or too large to be one that somebody allows. */
export function hashFile(path: string): string | null {
  const bytes = tryLstat(path)?.isFile() ? tryReadBytes(path, MAX_FILE_BYTES) : null;
  return bytes === null ? null : createHash("sha256").update(bytes).digest("hex");
}

/** What one guard knows about allowed calls. Calls that had ended before the guard began do not count. */
export class AllowedCalls {
  readonly #folder: string;
  readonly #past: Set<string>;

  constructor(home: string) {
    this.#folder = join(home, "permissions");
    this.#past = new Set(listNotes(this.#folder).filter((name) => !this.#isLive(name)));
  }

  /** After a crash, the calls of the last day count: nobody remembers which of them had ended before. */
  static all(home: string): AllowedCalls {
    const calls = new AllowedCalls(home);
    calls.#past.clear();
    return calls;
  }

  #isLive(name: string): boolean {
    const note = readNote(join(this.#folder, name));
    return note !== null && isLive(note);
  }

  /** What is allowed by now. */
  read(): WritePermissions {
    const names = listNotes(this.#folder).filter((name) => !this.#past.has(name));
    return new WritePermissions(names.flatMap((name) => readNote(join(this.#folder, name)) ?? []));
  }
}

export class WritePermissions {
  readonly #notes: readonly CallNote[];
  readonly #live: readonly CallNote[];

  constructor(notes: readonly CallNote[]) {
    this.#notes = notes;
    this.#live = notes.filter(isLive);
  }

  covers(path: string, hash: string): boolean {
    return this.#notes.some(({ permitted }) =>
      permitted.some((one) => one.path === path && one.hash === hash),
    );
  }

  get isEmpty(): boolean {
    return this.#notes.length === 0;
  }

  /**
   * A call that may write there is still running, so its result is not known yet. After the guarded command has ended
   * (`isGoingOn` is false), a call that may write anywhere is not waited for.
   */
  mayStillChange(path: string, isGoingOn: boolean): boolean {
    const isAbout = (one: string) => isBelow(path, one) || isBelow(one, path);
    return this.#live.some(
      ({ roots, paths }) => paths.some(isAbout) || (isGoingOn && roots.some((root) => isBelow(path, root))),
    );
  }

  /** A call without limits ran beside the guarded command, so it cannot be known which of them wrote there. */
  isDisputed(path: string): boolean {
    return this.#notes.some(({ roots }) => roots.some((root) => isBelow(path, root)));
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
