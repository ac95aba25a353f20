import type { ProcessEntry } from "../processes/process-table.ts";

interface VisitOptions {
  /** All processes of the space by their own ids, without the holder's; null when they cannot be listed now. */
  readonly list: () => readonly ProcessEntry[] | null;
  /** The ids of the processes by which other commands have entered. */
  readonly listOtherEntrances: (visit: SpaceVisit) => ReadonlySet<number>;
  readonly toOutside: (inside: readonly ProcessEntry[]) => readonly ProcessEntry[];
  readonly whenClear: (visit: SpaceVisit, clear: () => void) => void;
  readonly kill: () => void;
}

/**
 * One command in its session's space. Its processes are those that were not there before, except those whose living
 * ancestors belong to another command: a process can only get an ancestor of its own as its new parent.
 */
export class SpaceVisit {
  /** The outside pid of the process that has entered, from its start to its end. */
  #outer: number | null = null;
  #hasEnded = false;
  /** Nothing of it is left, and so nothing of it can come again. */
  #isClear = false;
  readonly #ground: VisitOptions;
  readonly #before: ReadonlyMap<number, string>;

  constructor(ground: VisitOptions) {
    this.#ground = ground;
    this.#before = new Map((ground.list() ?? []).map(({ pid, started }) => [pid, started]));
  }

  get outer(): number | null {
    return this.#outer;
  }

  set outer(pid: number | null) {
    this.#hasEnded = pid === null && this.#outer !== null;
    this.#outer = pid;
  }

  /** Lists its processes by their outside pids, without the processes through which commands enter. */
  members(): readonly ProcessEntry[] {
    const found = (this.#newcomers() ?? []).filter(({ parent }) => parent !== 0);
    return found.length === 0 ? [] : this.#ground.toOutside(found);
  }

  /** Whether anything of the command may be alive; true when that cannot be seen. */
  hasLiving(): boolean {
    // A process that forks and exits at once is missed only if the pids wrap around meanwhile, so looking twice is
    // enough.
    if (!this.#isClear && [1, 2].some(() => this.#newcomers()?.length !== 0)) return true;
    this.#isClear = this.#hasEnded;
    return false;
  }

  /** Calls back once nothing of it is alive. */
  whenClear(clear: () => void): void {
    this.#ground.whenClear(this, clear);
  }

  /** Ends the whole space, with the other commands. */
  killSpace(): void {
    this.#ground.kill();
  }

  #newcomers(): readonly ProcessEntry[] | null {
    const all = this.#ground.list();
    if (all === null) return null;
    const found = all.filter(({ pid, started }) => this.#before.get(pid) !== started);
    if (found.length === 0) return found;
    const byId = new Map(all.map((entry) => [entry.pid, entry]));
    const entrances = this.#ground.listOtherEntrances(this);
    return found.filter((entry) => !this.#isOfOthers(entry, byId, entrances));
  }

  #isOfOthers(
    entry: ProcessEntry,
    byId: ReadonlyMap<number, ProcessEntry>,
    entrances: ReadonlySet<number>,
  ): boolean {
    let now: ProcessEntry | undefined = entry;
    for (let steps = 0; now !== undefined && steps <= byId.size; steps += 1) {
      if (this.#before.get(now.pid) === now.started || entrances.has(now.pid)) return true;
      now = byId.get(now.parent);
    }
    return false;
  }
}
