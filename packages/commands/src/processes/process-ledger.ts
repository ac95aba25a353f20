import { appendFileSync, constants, lstatSync, rmSync, unlinkSync, utimesSync } from "node:fs";
import { chmod, open, readdir, rm, stat } from "node:fs/promises";
import { hostname, tmpdir, uptime } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import { appendLine } from "@burin/files/disk/append-line";
import { entriesOf, realPlace } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/make-folders";
import { randomName } from "@burin/files/disk/random-name";
import { readText } from "@burin/files/disk/regular-file";
import { isWithinAny } from "@burin/files/paths/paths";
import type { BegunWrite } from "@burin/files/workspace/replace-file";
import { findProcess, listProcesses, mayRun, type NotedProcess, thisSystem } from "./process-table.ts";
import { endTree, membersOf } from "./process-tree.ts";

/** The start of the name of every temporary folder that a ledger may name. */
export const TEMPORARY_PREFIX = "burin-run-";

/** Around the id of a ledger, in the names of files that are not finished. */
const WRITE_PREFIX = ".burin-";
const WRITE_ENDING = ".tmp";

const BEAT_MS = 2000;
/** One line for each process of one run. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A process that was started, a temporary folder that was created, or a folder in which files are replaced. */
type Note =
  | { readonly pid: number; readonly started: string }
  | { readonly temporary: string }
  | { readonly writes: string }
  | NumberedGuard
  | { readonly guardDone: number };

/** What was protected when a command began; it is checked again after a crash of the command's Burin. */
export interface GuardNote {
  readonly since: number;
  readonly roots: readonly string[];
  readonly temporary: string;
  readonly named: readonly string[];
  /** The next Burin, which reads them, may be of another version. */
  readonly places: readonly (readonly [
    key: string,
    kind: "file" | "folder" | "link",
    target?: string | null,
  ])[];
  readonly tips?: readonly (readonly [folder: string, ids: readonly string[]])[];
  readonly steps?: readonly string[];
}

interface NumberedGuard extends GuardNote {
  readonly guard: number;
}

/** Takes back what the command of a note made before this time. */
export type LookAfter = (note: GuardNote, home: string, until: number) => Promise<void>;

interface Owner extends NotedProcess {
  readonly owner: string;
  /** Absent in ledgers of earlier versions. */
  readonly host?: string;
}

/** What this Burin has started, on disk while it runs, so that the next one can end what a crash left. */
export class ProcessLedger {
  /** The id of every run of this Burin begins with this. */
  readonly id = randomName();
  readonly #path: string;
  #isOpen = false;
  #guards = 0;
  #beat: NodeJS.Timeout | null = null;
  readonly #guarded = new Set<number>();
  readonly #written = new Set<string>();
  readonly #unfinished = new Set<string>();

  constructor(home: string) {
    this.#path = join(home, "running", `${this.id}.jsonl`);
  }

  /**
   * Writes a note. Without one it only makes sure that there is a ledger, by which marked processes are found. If the
   * home cannot be written, only the cleaning after a crash is lost; the command runs.
   */
  note(note?: Note): void {
    orElse(undefined, () => {
      if (!this.#isOpen) this.#begin();
      if (note !== undefined) appendLine(this.#path, note);
    });
  }

  /**
   * Call before a file in this folder is replaced: one note for each folder, however many files. By the name of its
   * temporary file a Burin that finds this ledger after a crash knows it.
   */
  beginWrite(folder: string): BegunWrite {
    if (!this.#written.has(folder)) {
      this.#written.add(folder);
      this.note({ writes: folder });
    }
    const name = `${WRITE_PREFIX}${this.id}-${randomName(4)}${WRITE_ENDING}`;
    this.#unfinished.add(name);
    return { name, end: () => void this.#unfinished.delete(name) };
  }

  /** Call when a command begins; call the returned function when it has been checked. */
  noteGuard(note: GuardNote): () => void {
    this.#guards += 1;
    const guard = this.#guards;
    this.note({ guard, ...note });
    this.#guarded.add(guard);
    // A file that was created long after the last heartbeat cannot come from a command of this Burin.
    this.#beat ??= setInterval(
      () => orElse(undefined, () => utimesSync(this.#path, new Date(), new Date())),
      BEAT_MS,
    ).unref();
    return () => {
      this.#guarded.delete(guard);
      if (this.#isOpen) this.note({ guardDone: guard });
      if (this.#guarded.size > 0 || this.#beat === null) return;
      clearInterval(this.#beat);
      this.#beat = null;
    };
  }

  #begin(): void {
    makeFolders(dirname(this.#path));
    const started = findProcess(process.pid)?.started ?? "";
    const owner: Owner = { owner: this.id, pid: process.pid, started, host: hostname(), ...thisSystem() };
    appendLine(this.#path, owner);
    this.#isOpen = true;
  }

  /** Call when everything that was noted has ended. What cannot be removed, the next Burin removes. */
  close(): void {
    if (!this.#isOpen || this.#unfinished.size > 0) return;
    orElse(undefined, () => rmSync(this.#path, { force: true }));
    this.#isOpen = false;
    this.#written.clear();
  }
}

/** Ends what a crashed Burin left, if its mark or its pid and start time prove that. Resolves to the number. */
export async function endLeftBehind(home: string, lookAfter: LookAfter): Promise<number> {
  const folder = join(home, "running");
  const names = await readdir(folder).catch(() => []);
  let ended = 0;
  for (const name of names.filter((one) => /^[0-9a-f]{16}\.jsonl$/.test(one)))
    ended += await settle(join(folder, name), lookAfter).catch(() => 0);
  return ended;
}

async function settle(path: string, lookAfter: LookAfter): Promise<number> {
  const lastBeat = (await stat(path)).mtimeMs;
  const read = (readText(path, MOST_BYTES) ?? "").split("\n").map(parseJson);
  const lines = read.filter(isRecord) as unknown as (Note | Owner)[];
  const owner = lines.find((line) => "owner" in line);
  if (owner === undefined || `${owner.owner}.jsonl` !== basename(path)) return 0;
  if (mayRun(owner) || isElsewhere(owner, lastBeat)) return 0;
  let ended = 0;
  if (owner.boot === thisSystem().boot) {
    const known = lines.flatMap((line) =>
      "pid" in line && !("owner" in line) && findProcess(line.pid)?.started === line.started
        ? [[line.pid, line.started] as const]
        : [],
    );
    const marks = { runId: `${owner.owner}.`, known: new Map(known) };
    ended = membersOf(marks, listProcesses()).length;
    const left = await endTree(marks);
    if (left.length > 0) return ended - left.length;
  }
  const done = new Set(lines.flatMap((line) => ("guardDone" in line ? [line.guardDone] : [])));
  for (const line of lines) {
    if ("guard" in line) {
      if (!done.has(line.guard)) await lookAfter(line, dirname(dirname(path)), lastBeat + 2 * BEAT_MS);
    } else if ("temporary" in line) await removeTemporary(line.temporary, dirname(dirname(path)));
    else if ("writes" in line) removeWrites(line.writes, owner);
  }
  await rm(path, { force: true });
  return ended;
}

/**
 * Whether a Burin on another machine, which shares the disk, may have this ledger: no process of an earlier boot can
 * have written since this machine started.
 */
function isElsewhere({ boot, host }: Owner, lastBeat: number): boolean {
  const here = thisSystem().boot;
  if (here === "") return host !== undefined && host !== hostname();
  return boot !== here && lastBeat >= bootTime();
}

function bootTime(): number {
  return Date.now() - uptime() * 1000;
}

/** Only regular files whose names hold the id of the crashed Burin, and that nobody has written since. */
function removeWrites(folder: string, { owner, boot }: Owner): void {
  const isOurs = (name: string) => name.startsWith(`${WRITE_PREFIX}${owner}-`) && name.endsWith(WRITE_ENDING);
  const end = boot === thisSystem().boot ? Number.POSITIVE_INFINITY : bootTime();
  for (const { name } of entriesOf(folder)) {
    if (!isOurs(name)) continue;
    orElse(undefined, () => {
      const stats = lstatSync(join(folder, name));
      if (stats.isFile() && stats.mtimeMs < end) unlinkSync(join(folder, name));
    });
  }
}

/**
 * In the usual place, otherwise where there is room: cleaning systems may have removed the usual folder. Not in a root,
 * where commands could replace what Burin keeps in it; home is hidden from them.
 */
export function makeTemporary(home: string, roots: readonly string[]): string {
  const name = TEMPORARY_PREFIX + randomName();
  const isApart = (place: string) => dirname(place) === home || !isWithinAny(realPlace(place), roots);
  let fault: unknown;
  for (const place of temporaryPlaces(home).filter(isApart)) {
    const folder = join(place, name);
    try {
      makeFolders(folder);
      // A full disk still takes folders, and then no command could run, not even one that makes room.
      appendFileSync(join(folder, "room"), "?");
      rmSync(join(folder, "room"));
      return folder;
    } catch (error) {
      fault ??= error;
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw fault;
}

function temporaryPlaces(home: string): string[] {
  const places = [tmpdir(), ...(process.platform === "win32" ? [] : ["/tmp"]), join(home, "tmp")];
  // A relative one would be a folder of the project.
  return places.filter(isAbsolute);
}

/** Also where a command has left folders in which their owner may not remove anything, as caches of modules are. */
export async function removeTemporary(folder: string, home: string): Promise<void> {
  const isOurs =
    temporaryPlaces(home).includes(dirname(folder)) && basename(folder).startsWith(TEMPORARY_PREFIX);
  if (!isOurs) return;
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(() => openFolders(folder).then(remove));
}

/** On Linux it opens also what its owner may not read; Node has no name for it. */
const O_PATH = process.platform === "linux" ? 0o10_000_000 : 0;

/** Through what is open, so that a link in the place of a folder leads nowhere. */
async function openFolders(folder: string): Promise<void> {
  const opened = await open(folder, constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH);
  try {
    const inside = O_PATH === 0 ? folder : `/proc/self/fd/${opened.fd}`;
    await (O_PATH === 0 ? opened.chmod(0o700) : chmod(inside, 0o700));
    for (const entry of await readdir(inside, { withFileTypes: true }))
      if (entry.isDirectory()) await openFolders(join(inside, entry.name));
  } finally {
    await opened.close();
  }
}
