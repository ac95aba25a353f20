import { relative, sep } from "node:path";
import type { SearchRequest } from "@burin/contract/machine/workspace";
import { createGlobExcluder, createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Access } from "../ignore/access.ts";
import type { TimeSlices, Walk, WalkBatch } from "../ignore/walk.ts";
import { relativizePattern } from "../paths/paths.ts";
import type { Engine } from "./engine.ts";
import type { FileSearcher } from "./file-searcher.ts";
import { canSearchFolder } from "./ripgrep.ts";

export interface ProposalOptions {
  readonly engine: Engine;
  readonly files: WantedFiles;
  readonly folder: string;
  readonly slices: TimeSlices;
  readonly searcher: FileSearcher;
  readonly signal: AbortSignal;
  /** Files with unsaved text, which no engine knows. */
  readonly unsaved: ReadonlyMap<string, string>;
}

/** The maximum number of bytes of arguments for one program, well below each system's limit. */
const MAX_ARGUMENT_BYTES =
  process.platform === "win32" ? 24_000 : process.platform === "linux" ? 800_000 : 300_000;
const POINTER_BYTES = 9;
/**
 * Starting a program costs as much as walking a few thousand files, so each batch is larger than the last. It stops
 * growing before the program would have to wait for the walk, which is two to three times as fast.
 */
const FIRST_BATCH_FILES = 1000;
const BATCH_GROWTH = 5;
/** While this thread walks, it does not notice that a batch has finished, so a second one runs beside it. */
const MAX_AT_ONCE = 2;

/**
 * The files that an engine proposes, in order. The engine works on one batch while the next is collected. Yields
 * null instead of a file when the time is over; a reader that stops early ends the engine.
 */
export async function* proposeFiles(proposing: ProposalOptions): AsyncGenerator<string | null> {
  const { slices, signal } = proposing;
  const ending = new AbortController();
  const endEngine = () => ending.abort();
  signal.addEventListener("abort", endEngine, { once: true });
  const timer = setTimeout(endEngine, slices.stopAt - performance.now());
  const source = new BatchSource(proposing.files, proposing.engine.canTakeFolders);
  const running: RunningBatch[] = [];
  try {
    for (;;) {
      source.collectBatch(slices, running.length < MAX_AT_ONCE);
      const finished = running[0]?.isDone ? running.shift() : undefined;
      if (source.isWorthABatch && running.length < MAX_AT_ONCE) {
        running.push(startBatch(source.takeBatch(), proposing.engine, ending.signal));
      }
      if (finished !== undefined) yield* listCandidates(finished, proposing);
      // Waits only when there is nothing more to collect.
      else if (source.isFull || source.isAtEnd) await running[0]?.names;
      if (running.length === 0 && source.isAtEnd) return;
      if (!(await slices.yieldTurn()) || ending.signal.aborted) return yield null;
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", endEngine);
    ending.abort();
    // Waits for the child, so that none is left when the call returns.
    await Promise.all(running.map(({ names }) => names));
  }
}

/** Collects files until an engine is free to take them. */
class BatchSource {
  isAtEnd = false;
  readonly #files: WantedFiles;
  readonly #takesFolders: boolean;
  #stretches: WalkBatch[] = [];
  #count = 0;
  #bytes = 0;
  #fewest = FIRST_BATCH_FILES;

  constructor(files: WantedFiles, takesFolders: boolean) {
    this.#files = files;
    this.#takesFolders = takesFolders;
  }

  get isFull(): boolean {
    return this.#bytes >= MAX_ARGUMENT_BYTES;
  }

  get isWorthABatch(): boolean {
    return this.isFull || this.#count >= (this.isAtEnd ? 1 : this.#fewest);
  }

  /** An idle engine gets a batch as soon as it is worth one. */
  collectBatch(slices: TimeSlices, isIdle: boolean): void {
    while (!this.isFull && !this.isAtEnd && !(isIdle && this.isWorthABatch)) {
      const stretch = this.#files.nextStretch();
      if (stretch === null) this.isAtEnd = true;
      else this.#add(stretch);
      if (slices.isOver) return;
    }
  }

  #add(stretch: WalkBatch): void {
    const { folder, names } = stretch;
    let taken = names.length;
    if (this.#takesFolders && canSearchFolder(stretch)) this.#bytes += countArgumentBytes(`./${folder}`);
    else {
      for (taken = 0; taken < names.length && !this.isFull; taken += 1) {
        this.#bytes += countArgumentBytes(folder + names[taken]);
      }
    }
    const isAll = taken === names.length;
    if (!isAll) this.#files.pushBack(stretch, taken);
    this.#stretches.push(isAll ? stretch : { ...stretch, names: names.slice(0, taken) });
    this.#count += taken;
  }

  takeBatch(): WalkBatch[] {
    const stretches = this.#stretches;
    this.#fewest *= BATCH_GROWTH;
    this.#stretches = [];
    this.#count = 0;
    this.#bytes = 0;
    return stretches;
  }
}

function countArgumentBytes(argument: string): number {
  return Buffer.byteLength(argument) + POINTER_BYTES;
}

type RunningBatch = ReturnType<typeof startBatch>;

/** Lets an engine work on one batch. */
function startBatch(stretches: readonly WalkBatch[], engine: Engine, signal: AbortSignal) {
  const names = engine.proposeFiles(stretches, signal).finally(() => {
    running.isDone = true;
  });
  const running = { stretches, names, isDone: false };
  return running;
}

/** Lists the files that the engine proposes; every file when the engine has failed. */
async function* listCandidates(batch: RunningBatch, proposing: ProposalOptions): AsyncGenerator<string> {
  const { engine, folder: start, searcher, slices, unsaved } = proposing;
  const found = await batch.names;
  const asked = [...unsaved.keys()].map((path) => relative(start, path).split(sep).join("/"));
  const proposed = found === null ? null : new Set([...found, ...asked]);
  const known = engine.canReadUtf16 && proposed !== null ? new Set([...proposed].map(findFolder)) : null;
  for (const { folder, names } of batch.stretches) {
    // Most folders have no hit, and then none of their files has to be checked.
    if (known?.has(folder) === false) continue;
    for (const name of names) {
      const file = folder + name;
      const isProposed = proposed === null || proposed.has(file);
      if (isProposed || (!engine.canReadUtf16 && searcher.isUtf16(`${start}/${file}`))) yield file;
      if (slices.isOver && !(await slices.yieldTurn())) return;
    }
  }
}

function findFolder(file: string): string {
  return file.slice(0, file.lastIndexOf("/") + 1);
}

interface FileFilterOptions extends Pick<SearchRequest, "include" | "exclude"> {
  readonly access: Access;
  /** The real path of the searched folder. */
  readonly place: string;
}

/** The files that are to be searched, in the order of their paths. */
export class WantedFiles {
  readonly #walk: Walk;
  /** Whether a file is wanted; null when all are. */
  readonly #isWanted: ((path: string) => boolean) | null;
  #left: WalkBatch | null = null;

  constructor(walk: Walk, choice: FileFilterOptions) {
    this.#walk = walk;
    this.#isWanted = createFileFilter(choice);
  }

  /** Returns the next consecutive files of one folder, without links; null at the end. */
  nextStretch(): WalkBatch | null {
    const left = this.#left;
    this.#left = null;
    if (left !== null) return left;
    const isWanted = this.#isWanted;
    for (let stretch = this.#walk.nextBatch(); stretch !== null; stretch = this.#walk.nextBatch()) {
      const { folder, names, links, isWhole } = stretch;
      const files = links.size === 0 ? names : names.filter((name) => !links.has(name));
      const wanted = isWanted === null ? files : files.filter((name) => isWanted(folder + name));
      if (wanted.length === 0) continue;
      return { folder, links, names: wanted, isWhole: isWhole && wanted.length === files.length };
    }
    return null;
  }

  /** Puts the files of the last batch back, from the given one on, so that they are returned again. */
  pushBack(stretch: WalkBatch, from: number): void {
    this.#left = { ...stretch, names: stretch.names.slice(from) };
  }
}

function createFileFilter({
  include,
  exclude,
  access,
  place,
}: FileFilterOptions): ((path: string) => boolean) | null {
  if (include.length + exclude.length === 0 && !access.hasDenials) return null;
  const toRelativePattern = (glob: string) => relativizePattern(glob, place);
  const included = include.map((glob) => createGlobMatcher(toRelativePattern(glob), { caseSensitive: true }));
  const excluded = exclude.map((glob) =>
    createGlobExcluder(toRelativePattern(glob), { caseSensitive: true }),
  );
  return (path) =>
    (included.length === 0 || included.some((matches) => matches(path))) &&
    !excluded.some((matches) => matches(path)) &&
    access.findDenyRule(`${place}/${path}`) === null;
}
