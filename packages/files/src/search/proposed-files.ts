import { relative, sep } from "node:path";
import type { SearchRequest } from "@burin/contract/machine/workspace";
import { globCovers, globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Access } from "../ignore/access.ts";
import type { Slices, Stretch, Walk } from "../ignore/walk.ts";
import { patternWithin } from "../paths/paths.ts";
import type { Engine } from "./engine.ts";
import type { FileSearcher } from "./file-searcher.ts";
import { isFolderEnough } from "./ripgrep.ts";

export interface Proposing {
  readonly engine: Engine;
  readonly files: WantedFiles;
  readonly folder: string;
  readonly slices: Slices;
  readonly searcher: FileSearcher;
  readonly signal: AbortSignal;
  /** No engine knows the unsaved text of these files. */
  readonly unsaved: ReadonlyMap<string, string>;
}

/** The length of arguments that a program may get, well below the limit of each system. */
const MOST_ARGUMENT_BYTES =
  process.platform === "win32" ? 24_000 : process.platform === "linux" ? 800_000 : 300_000;
const POINTER_BYTES = 9;
/**
 * Starting a program takes as long as walking some thousand files, so each batch is larger than the one before. But
 * not so large that the program would wait for it, because the walk is two or three times as fast.
 */
const FIRST_BATCH_FILES = 1000;
const BATCH_GROWTH = 5;
/** While this thread walks on, it does not see that one has ended: then another is at work. */
const MOST_AT_ONCE = 2;

/**
 * The files that an engine proposes, in order. The engine works on one batch while the next is collected. Yields
 * null instead of a file when the time is over; a reader that stops early ends the engine.
 */
export async function* proposedFiles(proposing: Proposing): AsyncGenerator<string | null> {
  const { slices, signal } = proposing;
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener("abort", end, { once: true });
  const timer = setTimeout(end, slices.stopAt - performance.now());
  const source = new BatchSource(proposing.files, proposing.engine.takesFolders);
  const running: Running[] = [];
  try {
    for (;;) {
      source.gather(slices, running.length < MOST_AT_ONCE);
      const finished = running[0]?.isDone ? running.shift() : undefined;
      if (source.isWorthABatch && running.length < MOST_AT_ONCE) {
        running.push(propose(source.take(), proposing.engine, ending.signal));
      }
      if (finished !== undefined) yield* worthALook(finished, proposing);
      // Waits only when there is nothing more to collect.
      else if (source.isFull || source.isAtEnd) await running[0]?.names;
      if (running.length === 0 && source.isAtEnd) return;
      if (!(await slices.goOn()) || ending.signal.aborted) return yield null;
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    ending.abort();
    // No child is left when the call returns.
    await Promise.all(running.map(({ names }) => names));
  }
}

/** Collects files until an engine is free to take them. */
class BatchSource {
  isAtEnd = false;
  readonly #files: WantedFiles;
  readonly #takesFolders: boolean;
  #stretches: Stretch[] = [];
  #count = 0;
  #bytes = 0;
  #fewest = FIRST_BATCH_FILES;

  constructor(files: WantedFiles, takesFolders: boolean) {
    this.#files = files;
    this.#takesFolders = takesFolders;
  }

  get isFull(): boolean {
    return this.#bytes >= MOST_ARGUMENT_BYTES;
  }

  get isWorthABatch(): boolean {
    return this.isFull || this.#count >= (this.isAtEnd ? 1 : this.#fewest);
  }

  /** An idle engine gets a batch as soon as it is worth one. */
  gather(slices: Slices, isIdle: boolean): void {
    while (!this.isFull && !this.isAtEnd && !(isIdle && this.isWorthABatch)) {
      const stretch = this.#files.nextStretch();
      if (stretch === null) this.isAtEnd = true;
      else this.#add(stretch);
      if (slices.isOver) return;
    }
  }

  #add(stretch: Stretch): void {
    const { folder, names } = stretch;
    let taken = names.length;
    if (this.#takesFolders && isFolderEnough(stretch)) this.#bytes += argumentBytes(`./${folder}`);
    else {
      for (taken = 0; taken < names.length && !this.isFull; taken += 1) {
        this.#bytes += argumentBytes(folder + names[taken]);
      }
    }
    const isAll = taken === names.length;
    if (!isAll) this.#files.putBack(stretch, taken);
    this.#stretches.push(isAll ? stretch : { ...stretch, names: names.slice(0, taken) });
    this.#count += taken;
  }

  take(): Stretch[] {
    const stretches = this.#stretches;
    this.#fewest *= BATCH_GROWTH;
    this.#stretches = [];
    this.#count = 0;
    this.#bytes = 0;
    return stretches;
  }
}

function argumentBytes(argument: string): number {
  return Buffer.byteLength(argument) + POINTER_BYTES;
}

type Running = ReturnType<typeof propose>;

/** Lets an engine work on one batch. */
function propose(stretches: readonly Stretch[], engine: Engine, signal: AbortSignal) {
  const names = engine.propose(stretches, signal).finally(() => {
    running.isDone = true;
  });
  const running = { stretches, names, isDone: false };
  return running;
}

/** When the engine failed, every file is worth a look. */
async function* worthALook(batch: Running, proposing: Proposing): AsyncGenerator<string> {
  const { engine, folder: start, searcher, slices, unsaved } = proposing;
  const found = await batch.names;
  const asked = [...unsaved.keys()].map((path) => relative(start, path).split(sep).join("/"));
  const proposed = found === null ? null : new Set([...found, ...asked]);
  const known = engine.readsUtf16 && proposed !== null ? new Set([...proposed].map(folderOf)) : null;
  for (const { folder, names } of batch.stretches) {
    // Most folders have no hit, and then none of their files is checked.
    if (known?.has(folder) === false) continue;
    for (const name of names) {
      const file = folder + name;
      const isProposed = proposed === null || proposed.has(file);
      if (isProposed || (!engine.readsUtf16 && searcher.isUtf16(`${start}/${file}`))) yield file;
      if (slices.isOver && !(await slices.goOn())) return;
    }
  }
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf("/") + 1);
}

interface Choice extends Pick<SearchRequest, "include" | "exclude"> {
  readonly access: Access;
  /** The real path of the searched folder. */
  readonly place: string;
}

/** The files that are to be searched, in the order of their paths. */
export class WantedFiles {
  readonly #walk: Walk;
  /** null when all are. */
  readonly #isWanted: ((path: string) => boolean) | null;
  #left: Stretch | null = null;

  constructor(walk: Walk, choice: Choice) {
    this.#walk = walk;
    this.#isWanted = wantedBy(choice);
  }

  /** Files of one folder that follow each other, without links; null at the end. */
  nextStretch(): Stretch | null {
    const left = this.#left;
    this.#left = null;
    if (left !== null) return left;
    const isWanted = this.#isWanted;
    for (let stretch = this.#walk.nextStretch(); stretch !== null; stretch = this.#walk.nextStretch()) {
      const { folder, names, links, isWhole } = stretch;
      const files = links.size === 0 ? names : names.filter((name) => !links.has(name));
      const wanted = isWanted === null ? files : files.filter((name) => isWanted(folder + name));
      if (wanted.length === 0) continue;
      return { folder, links, names: wanted, isWhole: isWhole && wanted.length === files.length };
    }
    return null;
  }

  /** The files of the last stretch from that one on come once more. */
  putBack(stretch: Stretch, from: number): void {
    this.#left = { ...stretch, names: stretch.names.slice(from) };
  }
}

function wantedBy({ include, exclude, access, place }: Choice): ((path: string) => boolean) | null {
  if (include.length + exclude.length === 0 && !access.hasDenials) return null;
  const within = (glob: string) => patternWithin(glob, place);
  const included = include.map((glob) => globMatcher(within(glob), { caseSensitive: true }));
  const excluded = exclude.map((glob) => globCovers(within(glob), { caseSensitive: true }));
  return (path) =>
    (included.length === 0 || included.some((matches) => matches(path))) &&
    !excluded.some((matches) => matches(path)) &&
    access.deniedBy(`${place}/${path}`) === null;
}
