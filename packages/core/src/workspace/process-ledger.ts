import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type ProcessSource, thisSystem } from "./process-table.ts";
import { endTree, membersOf } from "./process-tree.ts";

/** Begins the name of every temporary folder that a ledger may name. */
export const TEMPORARY_PREFIX = "burin-run-";

/** What a ledger tells of: a process that was started, or a folder that was made for a while. */
type Note =
  | { readonly pid: number; readonly started: string }
  | { readonly temporary: string }
  | { readonly mountPoint: string };

interface Owner {
  readonly owner: string;
  readonly pid: number;
  readonly started: string;
  /** Process ids mean something only within one run of the system... */
  readonly boot: string;
  /** ... and one space of process ids. */
  readonly space: string;
}

/**
 * What this Burin has started, on disk while it runs, so that the next one can end what a crash left. Lines
 * are appended; the file goes when everything has ended.
 */
export class ProcessLedger {
  /** Every run of this Burin has an id that begins so. */
  readonly id = randomBytes(8).toString("hex");
  readonly #path: string;
  readonly #source: ProcessSource;
  #isOpen = false;

  constructor(home: string, source: ProcessSource) {
    this.#path = join(home, "running", `${this.id}.jsonl`);
    this.#source = source;
  }

  note(note: Note): void {
    try {
      if (!this.#isOpen) this.#begin();
      this.#append(note);
    } catch {
      // A home that cannot be written costs the cleaning after a crash, never the command.
    }
  }

  #begin(): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const started = this.#source.find(process.pid)?.started ?? "";
    this.#append({ owner: this.id, pid: process.pid, started, ...thisSystem() });
    this.#isOpen = true;
  }

  #append(line: Note | Owner): void {
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  }

  /** To be called when everything that was noted has ended. */
  close(): void {
    if (this.#isOpen) rmSync(this.#path, { force: true });
    this.#isOpen = false;
  }
}

/**
 * Ends the processes that a Burin which is no more has left, as far as it is proven that they are its: by the
 * mark they were started with, or by process id and start time. Resolves to their count.
 */
export async function endLeftBehind(home: string, source: ProcessSource): Promise<number> {
  const folder = join(home, "running");
  const names = await readdir(folder).catch(() => []);
  let ended = 0;
  for (const name of names) {
    if (/^[0-9a-f]{16}\.jsonl$/.test(name)) {
      ended += await settle(join(folder, name), source).catch(() => 0);
    }
  }
  return ended;
}

async function settle(path: string, source: ProcessSource): Promise<number> {
  const lines = (await readFile(path, "utf8")).split("\n").flatMap(parsedLine);
  const owner = lines.find((line) => "owner" in line);
  if (owner === undefined || `${owner.owner}.jsonl` !== basename(path)) return 0;
  const { boot, space } = thisSystem();
  const isRunning = ({ pid, started }: Owner | { pid: number; started: string }) =>
    source.find(pid)?.started === started;
  if (owner.boot === boot && (owner.space !== space || isRunning(owner))) return 0;
  let ended = 0;
  if (owner.boot === boot) {
    const known = lines.flatMap((line) =>
      "pid" in line && !("owner" in line) && isRunning(line) ? [[line.pid, line.started] as const] : [],
    );
    const marks = { runId: `${owner.owner}.`, known: new Map(known) };
    ended = membersOf(marks, source.list()).length;
    const left = await endTree(marks, source);
    if (left.length > 0) return ended - left.length;
  }
  for (const line of lines) {
    if ("temporary" in line) await removeTemporary(line.temporary);
    if ("mountPoint" in line) await rmdir(line.mountPoint).catch(() => {});
  }
  await rm(path, { force: true });
  return ended;
}

function parsedLine(text: string): (Note | Owner)[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? [value as Note | Owner] : [];
  } catch {
    return [];
  }
}

async function removeTemporary(folder: string): Promise<void> {
  const isOurs = dirname(folder) === tmpdir() && basename(folder).startsWith(TEMPORARY_PREFIX);
  if (isOurs) await rm(folder, { recursive: true, force: true });
}
