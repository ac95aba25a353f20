import { constants } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { GitWork } from "@burin/commands/git/git-work";
import { onceFor } from "@burin/contract/async/once";
import { messageOf } from "@burin/contract/text/error-message";
import { lstatOf } from "@burin/files/disk/disk-looks";
import { isWithin } from "@burin/files/paths/paths";
import type { TreeRequest } from "@burin/files/tree";
import {
  findRepository,
  isAsInIndex,
  lookAtWork,
  MOST_KEPT_BYTES,
  type Repository,
  type RepositoryLook,
  RepositoryReader,
  readStamp,
  type WorkLook,
} from "@burin/files/tree";
import { type Content, contentOf, folderContent, linkContent } from "./content.ts";
import type { KeptContents } from "./kept-contents.ts";

/** What copying may take for one look, of bytes and of time. */
const MOST_COPIED_BYTES = 64 * 1024 * 1024;
const LONGEST_COPYING_MS = 300;
/** So many are copied however long it takes: what is covered must not depend on how busy the computer is. */
const LEAST_COPIED = 1000;
const COPIED_PER_TURN = 16;
/** Of those inside of the roots. */
const MOST_REPOSITORIES = 20;
/** Within this time the clock of a disk may not move on, so that a second write could not be seen. */
const CLOCK_STEP_MS = 10;

const TOO_LARGE = "it is larger than 64 MB";
const TOO_MUCH = "there was too much to copy before the call";

export interface TreeState {
  /** In milliseconds since 1970; what was written before has an earlier time. */
  readonly at: number;
  readonly work: WorkLook;
  /** Of each repository that a root is in. */
  readonly repositories: readonly RepositoryState[];
}

export interface RepositoryState {
  readonly reader: RepositoryReader;
  readonly look: RepositoryLook;
}

interface Known {
  readonly stamp: string;
  readonly content: Content;
}

export interface TreeNeeds {
  readonly request: TreeRequest;
  readonly environment: NodeJS.ProcessEnv;
  readonly kept: KeptContents;
}

/** Looks at the files of a project again and again, and knows the contents of what has not changed since. */
export class TreeStates {
  readonly #needs: TreeNeeds;
  readonly #readers = new Map<string, RepositoryReader>();
  readonly #gits = new Map<string, GitWork>();
  readonly #known = new Map<string, Known>();
  /** By path, why its bytes are not kept. */
  readonly #reasons = new Map<string, string>();

  constructor(needs: TreeNeeds) {
    this.#needs = needs;
  }

  /** Never reads a file of the project. */
  async look(signal: AbortSignal): Promise<TreeState> {
    const { request } = this.#needs;
    const at = Date.now();
    const lookAll = (folders: readonly string[]) =>
      this.#readersIn(folders).map((reader) => ({ reader, look: reader.look() }));
    // The repositories first: an index that is older than the files makes them changed ones, and never the opposite.
    const around = lookAll(request.roots);
    const work = await lookAtWork(request, signal);
    const inner = lookAll([...work.repositories].slice(0, MOST_REPOSITORIES).map((path) => dirname(path)));
    const isKnown = ({ reader }: RepositoryState) => around.some((one) => one.reader === reader);
    // A file belongs to the innermost one.
    return { at, work, repositories: [...inner.filter((one) => !isKnown(one)).reverse(), ...around] };
  }

  /** The same when the clock has moved on, so that whatever is written from now on shows. */
  async lookBeforeCall(signal: AbortSignal): Promise<TreeState> {
    for (let tries = 0; ; tries += 1) {
      const state = await this.look(signal);
      const recent = state.at - CLOCK_STEP_MS;
      const stamps = [state.work, ...state.repositories.map(({ look }) => look)].map((one) => one.stamps);
      const isRecent = stamps.some((all) => [...all.values()].some((stamp) => changedIn(stamp) > recent));
      if (!isRecent || tries === 3) return state;
      await new Promise((resolve) => setTimeout(resolve, CLOCK_STEP_MS));
    }
  }

  /** The content that is known of a path with this stamp; the same object as long as it is. */
  knownAt(path: string, stamp: string): Content | null {
    const known = this.#known.get(path);
    return known?.stamp === stamp ? known.content : null;
  }

  /** Takes over what another process has known. */
  recall(path: string, stamp: string, content: Content): void {
    this.#known.set(path, { stamp, content });
  }

  gitOf({ repository }: RepositoryReader): GitWork {
    const known = this.#gits.get(repository.gitDir);
    if (known !== undefined) return known;
    const { request, environment } = this.#needs;
    const git = new GitWork(repository, { roots: request.roots, environment, passEnvironment: [] });
    this.#gits.set(repository.gitDir, git);
    return git;
  }

  /** Keeps the bytes of what git's objects cannot give back, as far as the limits allow. */
  async keepAll(state: TreeState): Promise<void> {
    this.#needs.kept.lookAgain();
    this.#reasons.clear();
    const unknown = [...this.#unknown(state)];
    const left = this.#findInGit(unknown, state);
    // More files are covered when small ones come first.
    const bySize = left.map(([path, stamp]) => ({ path, stamp, bytes: readStamp(stamp).bytes }));
    bySize.sort((one, other) => one.bytes - other.bytes);
    const room = new CopyingRoom();
    for (const { path, stamp, bytes } of bySize) {
      if (bytes > MOST_KEPT_BYTES) this.#reasons.set(path, TOO_LARGE);
      else if (!room.take(bytes)) this.#reasons.set(path, TOO_MUCH);
      else this.#keep(path, stamp);
      if (room.isTurnOver) await nextTurn();
    }
  }

  *#unknown({ work, repositories }: TreeState): Generator<[path: string, stamp: string]> {
    for (const { stamps } of [work, ...repositories.map(({ look }) => look)]) {
      for (const [path, stamp] of stamps) {
        const known = this.#known.get(path);
        const isKept = known?.content.kept === undefined || this.#needs.kept.has(known.content.kept);
        if (known?.stamp !== stamp || !isKept) yield [path, stamp];
      }
    }
  }

  /** Notes what git has. Returns the others that have bytes. */
  #findInGit(paths: readonly (readonly [string, string])[], { repositories }: TreeState) {
    const left: (readonly [string, string])[] = [];
    const inGit = new Map<RepositoryState, Map<string, readonly [string, string, Content]>>();
    for (const one of paths) {
      const [path, stamp] = one;
      if (this.#hasNoBytes(path, stamp)) continue;
      const repository = repositories.find(({ reader }) => isWithin(path, reader.repository.top));
      const content = repository && gitContent(repository, path, stamp);
      if (!content) {
        left.push(one);
        continue;
      }
      const found = inGit.get(repository) ?? new Map();
      found.set(relative(repository.reader.repository.top, path), [path, stamp, content]);
      inGit.set(repository, found);
    }
    for (const [{ reader }, found] of inGit) {
      const converted = this.#converted(reader, [...found.keys()]);
      for (const [name, [path, stamp, content]] of found) {
        if (converted === null || converted.has(name)) left.push([path, stamp]);
        else this.#known.set(path, { stamp, content });
      }
    }
    return left;
  }

  #converted(reader: RepositoryReader, names: readonly string[]): Set<string> | null {
    return this.gitOf(reader).converted(names);
  }

  /** Links and folders are known by what they are. */
  #hasNoBytes(path: string, stamp: string): boolean {
    const { mode } = readStamp(stamp);
    const kind = mode & constants.S_IFMT;
    if (kind === constants.S_IFREG) return false;
    try {
      const stats = kind === constants.S_IFLNK ? lstatOf(path) : null;
      const content = stats === null ? folderContent(mode) : linkContent(path, stats);
      this.#known.set(path, { stamp, content });
    } catch {
      this.#reasons.set(path, "it changed while it was looked at");
    }
    return true;
  }

  #keep(path: string, stamp: string): void {
    try {
      this.#known.set(path, { stamp, content: this.#needs.kept.keep(path, isSecret(path)) });
    } catch (error) {
      this.#known.delete(path);
      this.#reasons.set(path, messageOf(error));
    }
  }

  /** What was at a path then. Without kept bytes it is only known that something was there. */
  contentThen(path: string, stamp: string): Content {
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.content;
    const { mode, bytes, inode, modified } = readStamp(stamp);
    return { bytes, mode: mode & 0o7777, inode, modified };
  }

  /** Why the bytes that were at a path then cannot be given back. */
  reasonFor(path: string): string {
    return this.#reasons.get(path) ?? TOO_MUCH;
  }

  /** Learns what is at these paths now. Small files are kept too, so that lines can be merged. */
  async learnContents(paths: readonly (readonly [string, string])[], state: TreeState, mostBytes: number) {
    const unknown = paths.filter(([path, stamp]) => this.#known.get(path)?.stamp !== stamp);
    const room = new CopyingRoom();
    for (const [path, stamp] of this.#findInGit(unknown, state)) {
      const { bytes } = readStamp(stamp);
      if (bytes <= mostBytes && room.take(bytes)) this.#keep(path, stamp);
      else this.#recognize(path, stamp);
      if (room.isTurnOver) await nextTurn();
    }
  }

  /** What was written a moment ago could be written again without a trace. */
  forgetRecent({ at }: TreeState): void {
    for (const [path, { stamp }] of this.#known)
      if (changedIn(stamp) > at - CLOCK_STEP_MS) this.#known.delete(path);
  }

  #recognize(path: string, stamp: string): void {
    const stats = lstatOf(path);
    try {
      if (stats?.isFile()) this.#known.set(path, { stamp, content: contentOf(path, stats) });
    } catch {
      // It cannot be read; its times still show whether it changes.
      this.#known.delete(path);
    }
  }

  #readersIn(roots: readonly string[]): RepositoryReader[] {
    const found = new Map<string, RepositoryReader>();
    for (const root of roots) {
      const repository = findRepository(root);
      if (repository !== null) found.set(repository.gitDir, this.readerOf(repository));
    }
    return [...found.values()];
  }

  readerOf(repository: Repository): RepositoryReader {
    return onceFor(this.#readers, repository.gitDir, () => new RepositoryReader(repository));
  }
}

/** How much may still be copied. */
class CopyingRoom {
  #bytes = MOST_COPIED_BYTES;
  #count = 0;
  readonly #until = performance.now() + LONGEST_COPYING_MS;

  take(bytes: number): boolean {
    const isInTime = this.#count < LEAST_COPIED || performance.now() <= this.#until;
    if (!isInTime || bytes > this.#bytes) return false;
    this.#bytes -= bytes;
    this.#count += 1;
    return true;
  }

  get isTurnOver(): boolean {
    return this.#count % COPIED_PER_TURN === 0;
  }
}

function changedIn(stamp: string): number {
  return Number(stamp.slice(stamp.lastIndexOf(" ") + 1));
}

function gitContent({ reader, look }: RepositoryState, path: string, stamp: string): Content | null {
  const entry = look.index?.get(relative(reader.repository.top, path));
  if (entry === undefined) return null;
  const { mode, inode, bytes, modified, changed } = readStamp(stamp);
  const isSame = isAsInIndex(entry, { mode, inode, bytes, modified, changed }, look.indexModified);
  return isSame ? { bytes, mode: mode & 0o7777, git: entry.id } : null;
}

/** Files of settings that often hold passwords are kept for a shorter time. */
function isSecret(path: string): boolean {
  return /^\.env(?:\.|$)/.test(basename(path));
}
