import { appendFileSync, constants, lstatSync, rmSync, unlinkSync, utimesSync } from "node:fs";
import { chmod, open, readdir, rm, stat } from "node:fs/promises";
import { hostname, tmpdir, uptime } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";
import { resolvePossiblyMissing, tryReadEntries } from "@burin/files/disk/disk-looks";
import { appendLine, makeFolders, randomName } from "@burin/files/disk/own-files";
import { readText } from "@burin/files/disk/regular-file";
import { isWithinAny } from "@burin/files/paths/paths";
import type { PendingWrite } from "@burin/files/workspace/replace-file";
import {
  findProcess,
  identifySystem,
  listProcesses,
  mayBeRunning,
  type NotedProcess,
} from "./process-table.ts";
import { endTree, findMembers } from "./process-tree.ts";

/** The start of the name of every temporary folder that a ledger may name. */
export const TEMPORARY_PREFIX = "burin-run-";

/** Surrounds the ledger's id in the names of unfinished files. */
const WRITE_PREFIX = ".burin-";
const WRITE_ENDING = ".tmp";

const HEARTBEAT_MS = 2000;
/** The maximum number of bytes of a ledger, which has one line for each process of a run. */
const MAX_BYTES = 64 * 1024 * 1024;

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
  /** A note about a command. Another version of Burin may read it. */
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

/** Takes back the files that the command of a note created before this time. */
export type CheckGuard = (note: GuardNote, home: string, until: number) => Promise<void>;

interface Owner extends NotedProcess {
  readonly owner: string;
  /** Absent in ledgers of earlier versions. */
  readonly host?: string;
}

/**
 * A record on disk of what this Burin has started, kept while it runs, so that the next Burin can clean up after a
 * crash.
 */
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
   * Writes a note. Without a note, it only makes sure that the ledger exists, so that marked processes can be found. If
   * the home folder cannot be written, only the clean-up after a crash is lost; the command still runs.
   */
  note(note?: Note): void {
    withFallback(undefined, () => {
      if (!this.#isOpen) this.#openLedger();
      if (note !== undefined) appendLine(this.#path, note);
    });
  }

  /**
   * Call before a file in this folder is replaced. It writes one note per folder, however many files. After a crash,
   * the next Burin recognizes the temporary file by its name.
   */
  beginWrite(folder: string): PendingWrite {
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
    // A file created long after the last heartbeat cannot come from this Burin's commands.
    this.#beat ??= setInterval(
      () => withFallback(undefined, () => utimesSync(this.#path, new Date(), new Date())),
      HEARTBEAT_MS,
    ).unref();
    return () => {
      this.#guarded.delete(guard);
      if (this.#isOpen) this.note({ guardDone: guard });
      if (this.#guarded.size > 0 || this.#beat === null) return;
      clearInterval(this.#beat);
      this.#beat = null;
    };
  }

  #openLedger(): void {
    makeFolders(dirname(this.#path));
    const started = findProcess(process.pid)?.started ?? "";
    const owner: Owner = { owner: this.id, pid: process.pid, started, host: hostname(), ...identifySystem() };
    appendLine(this.#path, owner);
    this.#isOpen = true;
  }

  /** Call when everything that was noted has ended. What cannot be removed, the next Burin removes. */
  close(): void {
    if (!this.#isOpen || this.#unfinished.size > 0) return;
    withFallback(undefined, () => rmSync(this.#path, { force: true }));
    this.#isOpen = false;
    this.#written.clear();
  }
}

/**
 * Ends what a crashed Burin left running, if a mark, or a pid with its start time, proves where it came from. Resolves
 * to the number of ended processes.
 */
export async function endLeftovers(home: string, lookAfter: CheckGuard): Promise<number> {
  const folder = join(home, "running");
  const names = await readdir(folder).catch(() => []);
  let ended = 0;
  for (const name of names.filter((one) => /^[0-9a-f]{16}\.jsonl$/.test(one)))
    ended += await settleLedger(join(folder, name), lookAfter).catch(() => 0);
  return ended;
}

async function settleLedger(path: string, lookAfter: CheckGuard): Promise<number> {
  const lastBeat = (await stat(path)).mtimeMs;
  const read = (readText(path, MAX_BYTES) ?? "").split("\n").map(parseJson);
  const lines = read.filter(isRecord) as unknown as (Note | Owner)[];
  const owner = lines.find((line) => "owner" in line);
  if (owner === undefined || `${owner.owner}.jsonl` !== basename(path)) return 0;
  if (mayBeRunning(owner) || mayBelongToOtherMachine(owner, lastBeat)) return 0;
  let ended = 0;
  if (owner.boot === identifySystem().boot) {
    const known = lines.flatMap((line) =>
      "pid" in line && !("owner" in line) && findProcess(line.pid)?.started === line.started
        ? [[line.pid, line.started] as const]
        : [],
    );
    const marks = { runId: `${owner.owner}.`, known: new Map(known) };
    ended = findMembers(marks, listProcesses()).length;
    const left = await endTree(marks);
    if (left.length > 0) return ended - left.length;
  }
  const done = new Set(lines.flatMap((line) => ("guardDone" in line ? [line.guardDone] : [])));
  for (const line of lines) {
    if ("guard" in line) {
      if (!done.has(line.guard)) await lookAfter(line, dirname(dirname(path)), lastBeat + 2 * HEARTBEAT_MS);
    } else if ("temporary" in line) await removeTemporary(line.temporary, dirname(dirname(path)));
    else if ("writes" in line) removePendingWrites(line.writes, owner);
  }
  await rm(path, { force: true });
  return ended;
}

/**
 * Whether the ledger may belong to a Burin on another machine that shares the disk: no process from before this
 * machine's start can have written to it since.
 */
function mayBelongToOtherMachine({ boot, host }: Owner, lastBeat: number): boolean {
  const here = identifySystem().boot;
  if (here === "") return host !== undefined && host !== hostname();
  return boot !== here && lastBeat >= readBootTime();
}

function readBootTime(): number {
  return Date.now() - uptime() * 1000;
}

/** Removes only regular files whose names contain the crashed Burin's id and that nobody has written since. */
function removePendingWrites(folder: string, { owner, boot }: Owner): void {
  const isOwnersWriteFile = (name: string) =>
    name.startsWith(`${WRITE_PREFIX}${owner}-`) && name.endsWith(WRITE_ENDING);
  const end = boot === identifySystem().boot ? Number.POSITIVE_INFINITY : readBootTime();
  for (const { name } of tryReadEntries(folder)) {
    if (!isOwnersWriteFile(name)) continue;
    withFallback(undefined, () => {
      const stats = lstatSync(join(folder, name));
      if (stats.isFile() && stats.mtimeMs < end) unlinkSync(join(folder, name));
    });
  }
}

/**
 * Creates the folder in the usual place, or elsewhere if that was removed or is full. Never in a root, where commands
 * could replace Burin's files; the home folder is hidden from them.
 */
export function createTemporary(home: string, roots: readonly string[]): string {
  const name = TEMPORARY_PREFIX + randomName();
  const isSeparateFromRoots = (place: string) =>
    dirname(place) === home || !isWithinAny(resolvePossiblyMissing(place), roots);
  let fault: unknown;
  for (const place of listTemporaryPlaces(home).filter(isSeparateFromRoots)) {
    const folder = join(place, name);
    try {
      makeFolders(folder);
      // A full disk still accepts folders, but then no command could run, not even one that frees space.
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

function listTemporaryPlaces(home: string): string[] {
  const places = [tmpdir(), ...(process.platform === "win32" ? [] : ["/tmp"]), join(home, "tmp")];
  // A relative path would be inside the project.
  return places.filter(isAbsolute);
}

/** Works even if a command left folders whose owner may not delete from them, as module caches do. */
export async function removeTemporary(folder: string, home: string): Promise<void> {
  const isOurs =
    listTemporaryPlaces(home).includes(dirname(folder)) && basename(folder).startsWith(TEMPORARY_PREFIX);
  if (!isOurs) return;
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(() => unlockFolders(folder).then(remove));
}

/** On Linux, O_PATH opens even what its owner may not read. Node has no name for it. */
const O_PATH = process.platform === "linux" ? 0o10_000_000 : 0;

/** Works through open descriptors, so that a link in place of a folder leads nowhere. */
async function unlockFolders(folder: string): Promise<void> {
  const opened = await open(folder, constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH);
  try {
    const inside = O_PATH === 0 ? folder : `/proc/self/fd/${opened.fd}`;
    await (O_PATH === 0 ? opened.chmod(0o700) : chmod(inside, 0o700));
    for (const entry of await readdir(inside, { withFileTypes: true }))
      if (entry.isDirectory()) await unlockFolders(join(inside, entry.name));
  } finally {
    await opened.close();
  }
}
