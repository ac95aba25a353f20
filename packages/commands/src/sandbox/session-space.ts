import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { withFallback } from "@burin/contract/with-fallback";
import { tryReadLink } from "@burin/files/disk/disk-looks";
import {
  findChild,
  findProcess,
  findProcessBelow,
  isBeingKilled,
  listProcesses,
  listProcessesBelow,
  type ProcessEntry,
  readInnerPid,
} from "../processes/process-table.ts";
import { tryRunProgram } from "../processes/run-process.ts";
import type { SupervisedProcess, Supervisor } from "../processes/supervisor.ts";
import { checkOnMachine } from "./check-on-machine.ts";
import { SpaceVisit } from "./space-visit.ts";

/** The options of nsenter for what the commands of a session share, and the kernel's names for it. */
const SHARED_NAMESPACES = {
  user: "user",
  net: "net",
  pid: "pid",
  ipc: "ipc",
  uts: "uts",
  mount: "mnt",
} as const;
type SharedNamespace = keyof typeof SHARED_NAMESPACES;

const MAX_START_MS = 20_000;
const CHECK_INTERVAL_MS = 400;
const MAX_DYING_MS = 5000;

export interface SpaceRequest {
  readonly bubblewrap: string;
  readonly nsenter: string;
  readonly supervisor: Supervisor;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  /** Arguments of bubblewrap that show whether a command can run in the space. */
  readonly probe: readonly string[];
}

/**
 * One pid namespace and one network for all sandboxed commands of a session. A bubblewrap process, the holder, keeps it
 * and ends with Burin. Commands enter from outside, each in its own user namespace: they can see and signal the holder
 * and each other, but not open, trace or change each other. Burin asks the kernel what is in it, and whether anything
 * still is.
 */
export class SessionSpace {
  readonly #nsenter: string;
  readonly #holder: SupervisedProcess;
  readonly #first: ProcessEntry;
  readonly #opened: Map<SharedNamespace, number>;
  readonly #id: string;
  /** What the holder itself runs in it. */
  readonly #own = new Map<number, string>();
  readonly #visits = new Set<SpaceVisit>();
  readonly #waiting = new Map<SpaceVisit, () => void>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** Resolves to null where the system does not allow it. */
  static async open(request: SpaceRequest): Promise<SessionSpace | null> {
    const { bubblewrap, supervisor, environment: env, isRoot } = request;
    const holder = await supervisor
      .start({
        ...{ program: bubblewrap, args: buildHolderArguments(isRoot), cwd: "/", env },
        ...{ writeEnd: null, hasInput: true, isVerbatim: false, sandbox: null },
      })
      .catch(() => null);
    if (holder === null) return null;
    const opened = (await isReady(holder)) ? openNamespaces(holder.child.pid, isRoot) : null;
    if (opened !== null) {
      supervisor.ledger.note({ pid: opened.first.pid, started: opened.first.started });
      const space = new SessionSpace(request.nsenter, holder, opened);
      if (space.#local() !== null && (await canRunInSpace(space, request))) return space;
      await space.close();
    } else {
      await holder.end();
      await holder.release();
    }
    return null;
  }

  private constructor(nsenter: string, holder: SupervisedProcess, { first, files }: OpenedSpace) {
    this.#nsenter = nsenter;
    this.#holder = holder;
    this.#first = first;
    this.#opened = files;
    this.#id = tryReadLink(`/proc/self/fd/${files.get("pid")}`) ?? "";
    for (const { pid, started } of this.#local() ?? []) this.#own.set(pid, started);
    holder.child.unrefChild();
    void holder.child.ended.then(() => this.#checkWaiting());
  }

  /** The kernel ends the first process only after all others in the space. */
  get isOpen(): boolean {
    return !this.#isClosed && isAlive(this.#first);
  }

  /** Whether a command can enter: a command that kills everything it sees also kills the holder. */
  get canBeEntered(): boolean {
    if (!this.isOpen || this.#opened.size === 0) return false;
    return [...this.#own].every(([pid, started]) => {
      const now = findProcessBelow(this.#table, pid);
      return now?.started === started && !now.isZombie && !isBeingKilled(this.#table, pid);
    });
  }

  /** The program and arguments that start a command line in it. */
  enter(hasHostNetwork: boolean, line: readonly string[]): readonly [string, ...string[]] {
    const parts = [...this.#opened].filter(([name]) => name !== "net" || !hasHostNetwork);
    const options = parts.map(([name, file]) => `--${name}=/proc/${process.pid}/fd/${file}`);
    const keep = this.#opened.has("user") ? ["--preserve-credentials"] : [];
    return [this.#nsenter, ...keep, ...options, "--", ...line];
  }

  /** Call before a command starts in it. */
  begin(): SpaceVisit {
    const visit = new SpaceVisit({
      list: () => this.#local(),
      listOtherEntrances: (one) => this.#entrancesBut(one),
      toOutside: (inside) => this.#outside(inside),
      whenClear: (one, clear) => this.#whenClear(one, clear),
      kill: () => this.kill(),
    });
    this.#visits.add(visit);
    return visit;
  }

  #entrancesBut(visit: SpaceVisit): ReadonlySet<number> {
    const outer = [...this.#visits].flatMap((one) => (one === visit ? [] : (one.outer ?? [])));
    return new Set(outer.flatMap((pid) => readInnerPid(findChild(pid)?.pid ?? 0) ?? []));
  }

  /** Its processes under their own ids, without the holder's; null when they cannot be listed. */
  #local(): readonly ProcessEntry[] | null {
    const all = this.isOpen ? this.#all() : [];
    if (all === null) return this.isOpen ? null : [];
    return all.filter(({ pid, started }) => this.#own.get(pid) !== started);
  }

  #all(): readonly ProcessEntry[] | null {
    const entries = listProcessesBelow(this.#table);
    return entries?.filter(({ isZombie }) => !isZombie) ?? null;
  }

  /** Its own /proc, in which its processes have their own ids. */
  get #table(): string {
    return join("/proc", String(this.#first.pid), "root", "proc");
  }

  /** The same processes as the whole system sees them. */
  #outside(inside: readonly ProcessEntry[]): readonly ProcessEntry[] {
    const wanted = new Set(inside.map(({ pid }) => pid));
    return listProcesses().flatMap((entry) => {
      if (tryReadLink(`/proc/${entry.pid}/ns/pid`) !== this.#id) return [];
      const id = readInnerPid(entry.pid);
      return id !== null && wanted.has(id) ? [{ ...entry, inside: id }] : [];
    });
  }

  #whenClear(visit: SpaceVisit, clear: () => void): void {
    this.#waiting.set(visit, clear);
    this.#checkWaiting();
    if (this.#waiting.size > 0)
      this.#timer ??= setInterval(() => this.#checkWaiting(), CHECK_INTERVAL_MS).unref();
  }

  #checkWaiting(): void {
    for (const [visit, clear] of this.#waiting) {
      if (visit.hasLiving()) continue;
      this.#waiting.delete(visit);
      this.#visits.delete(visit);
      clear();
    }
    if (this.#waiting.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Kills everything at once, without waiting for events, for when Burin itself is exiting. */
  kill(): void {
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (let waited = 0; this.isOpen && waited < MAX_DYING_MS; waited += 1) {
      withFallback(false, () => process.kill(this.#first.pid, "SIGKILL"));
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }

  /** Ends all that is in it. Resolves to what could not be ended. */
  async close(): Promise<readonly ProcessEntry[]> {
    if (this.#isClosed) return [];
    // Open these first: the rest reads files too, and the system may run out of descriptors.
    for (const file of this.#opened.values()) closeSync(file);
    this.#opened.clear();
    for (let waited = 0; this.isOpen && waited < MAX_DYING_MS; waited += 5) {
      withFallback(false, () => process.kill(this.#first.pid, "SIGKILL"));
      await pause(5);
    }
    if (this.isOpen) return [this.#first];
    this.#isClosed = true;
    const { child, started } = this.#holder;
    const holder = { pid: child.pid, started };
    // Bubblewrap itself ends with the last of its space; looking for more among all processes takes longer than that.
    for (let waited = 0; isAlive(holder) && waited < MAX_DYING_MS; waited += 5) await pause(5);
    if (isAlive(holder)) await this.#holder.end();
    await this.#holder.release();
    this.#checkWaiting();
    return [];
  }
}

function isAlive({ pid, started }: Pick<ProcessEntry, "pid" | "started">): boolean {
  const now = findProcess(pid);
  return now !== null && now.started === started && !now.isZombie;
}

/**
 * The holder waits until its input closes, which happens when Burin ends. Root needs no user namespace to protect the
 * others.
 */
function buildHolderArguments(isRoot: boolean): string[] {
  return [
    ...(isRoot ? [] : ["--unshare-user"]),
    ...["--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"],
    // Its own /dev would need a second user namespace, which could not be entered together with the network.
    ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--", "cat"],
  ];
}

/** When `cat` echoes the input, everything is mounted. */
async function isReady({ child }: SupervisedProcess): Promise<boolean> {
  const [output] = child.streams;
  const answer = new Promise<boolean>((resolve) => output?.once("data", () => resolve(true)));
  child.input?.write(".");
  const late = pause(MAX_START_MS, false, { ref: false });
  return Promise.race([answer, child.ended.then(() => false), late]);
}

async function canRunInSpace(
  space: SessionSpace,
  { bubblewrap, environment, probe }: SpaceRequest,
): Promise<boolean> {
  return checkOnMachine(`space ${bubblewrap}`, () => {
    const [program, ...args] = space.enter(false, [bubblewrap, ...probe]);
    return tryRunProgram(program, args, environment);
  });
}

interface OpenedSpace {
  readonly first: ProcessEntry;
  readonly files: Map<SharedNamespace, number>;
}

/** Opened once and kept: the pid may be reused by another process later. */
function openNamespaces(holder: number, isRoot: boolean): OpenedSpace | null {
  const first = findChild(holder);
  if (first === null) return null;
  const files = new Map<SharedNamespace, number>();
  try {
    for (const name of Object.keys(SHARED_NAMESPACES) as SharedNamespace[]) {
      if (name !== "user" || !isRoot)
        files.set(name, openSync(`/proc/${first.pid}/ns/${SHARED_NAMESPACES[name]}`, "r"));
    }
    const now = findProcess(first.pid);
    if (now?.started === first.started && now.parent === holder) return { first, files };
  } catch {
    // The system does not let us look at our own child.
  }
  for (const file of files.values()) closeSync(file);
  return null;
}
