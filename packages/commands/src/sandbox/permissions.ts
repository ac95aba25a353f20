import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import { bytesOf, lstatOf } from "@burin/files/disk/disk-looks";
import { randomName } from "@burin/files/disk/random-name";
import { findProcess, mayRun, type NotedProcess, thisSystem } from "../processes/process-table.ts";
import { filesBelow } from "./sandbox-survey.ts";

/** A protected path and the content that a user's yes covers there. */
interface Permission {
  readonly path: string;
  /** The SHA-256 of the whole content. */
  readonly hash: string;
}

/** One call that the user has allowed to change protected files, as all Burin processes of this user see it. */
interface CallNote {
  readonly owner: NotedProcess;
  /** Where the call has no limits: whatever changes there while it goes on may be its work. */
  readonly roots: readonly string[];
  /** What the call is allowed to write; its content is known when it has ended. */
  readonly paths: readonly string[];
  readonly permitted: readonly Permission[];
  readonly isOver: boolean;
}

/** Everyone who was there when a call ended has looked at what it wrote by then. */
const KEPT_MS = 24 * 3600 * 1000;
const MOST_NOTE_BYTES = 1024 * 1024;
const MOST_FILE_BYTES = 64 * 1024 * 1024;

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
  /** The same, and what it has written by now under the paths that it was allowed is what the user wanted there. */
  endWithFiles(): void;
}

/** Notes that an allowed call begins. A home that cannot be written has no guards that read it either. */
export function beginAllowedCall({ home, roots = [], paths = [] }: AllowedCall): OpenCall {
  const folder = join(home, "permissions");
  const file = join(folder, `${randomName()}.json`);
  const owner = { pid: process.pid, started: findProcess(process.pid)?.started ?? "", ...thisSystem() };
  const permitted: Permission[] = [];
  const filesNow = () => paths.flatMap((path) => (lstatOf(path)?.isDirectory() ? filesBelow(path) : [path]));
  const before = new Map(filesNow().map((path) => [path, hashOfFile(path)]));
  const note = (isOver: boolean) =>
    orElse(undefined, () => {
      const text: CallNote = { owner, roots, paths, permitted, isOver };
      writeFileSync(`${file}.tmp`, JSON.stringify(text), { mode: 0o600 });
      renameSync(`${file}.tmp`, file);
    });
  orElse(undefined, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
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
        const now = hashOfFile(path);
        // What was there before the call and is unchanged is not its work.
        if (now !== null && now !== before.get(path)) permitted.push({ path, hash: now });
      }
      note(true);
    },
  };
}

/** Only of those that have ended: the file of a call is written again with its end. */
function removeOldNotes(folder: string): void {
  for (const name of noteNames(folder)) {
    const stats = lstatOf(join(folder, name));
    if (stats === null || Date.now() - stats.mtimeMs < KEPT_MS) continue;
    const note = readNote(join(folder, name));
    if (note === null || !isLive(note)) orElse(undefined, () => rmSync(join(folder, name)));
  }
}

function noteNames(folder: string): string[] {
  return orElse([], () => readdirSync(folder)).filter((name) => name.endsWith(".json"));
}

function readNote(file: string): CallNote | null {
  const read = parseJson(bytesOf(file, MOST_NOTE_BYTES)?.toString() ?? "");
  return isRecord(read) && isRecord(read.owner) ? (read as unknown as CallNote) : null;
}

function isLive({ isOver, owner }: CallNote): boolean {
  return !isOver && mayRun(owner);
}

/** null for what is not a regular file, or too large to be one that somebody allows. */
export function hashOfFile(path: string): string | null {
  const bytes = lstatOf(path)?.isFile() ? bytesOf(path, MOST_FILE_BYTES) : null;
  return bytes === null ? null : createHash("sha256").update(bytes).digest("hex");
}

/** What one guard knows about allowed calls: those that had ended before it began mean nothing to it. */
export class AllowedCalls {
  readonly #folder: string;
  readonly #past: Set<string>;

  constructor(home: string) {
    this.#folder = join(home, "permissions");
    this.#past = new Set(noteNames(this.#folder).filter((name) => !this.#isLive(name)));
  }

  /** After a crash: those of the last day, as nobody remembers which had ended before. */
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
  read(): Allowed {
    const names = noteNames(this.#folder).filter((name) => !this.#past.has(name));
    return new Allowed(names.flatMap((name) => readNote(join(this.#folder, name)) ?? []));
  }
}

export class Allowed {
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
   * A call that may write there has not ended, so nobody knows yet what it leaves. When the guarded command has ended
   * (`isGoingOn` false), nothing waits for one that may write anywhere.
   */
  isAwaited(path: string, isGoingOn: boolean): boolean {
    const isAbout = (one: string) => isBelow(path, one) || isBelow(one, path);
    return this.#live.some(
      ({ roots, paths }) => paths.some(isAbout) || (isGoingOn && roots.some((root) => isBelow(path, root))),
    );
  }

  /** A call without limits went on beside the guarded command: which of the two wrote there cannot be known. */
  isDisputed(path: string): boolean {
    return this.#notes.some(({ roots }) => roots.some((root) => isBelow(path, root)));
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
