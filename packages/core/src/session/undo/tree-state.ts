import { constants } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { GitWork } from "@burin/commands/git/git-work";
import { getOrCreate } from "@burin/contract/async/once";
import { describeError } from "@burin/contract/text/error-message";
import { tryLstat } from "@burin/files/disk/disk-looks";
import { isWithin } from "@burin/files/paths/paths";
import type { TreeRequest } from "@burin/files/tree";
import {
  findRepository,
  MAX_UNDO_BYTES,
  matchesIndexEntry,
  parseStamp,
  type Repository,
  RepositoryReader,
  type RepositorySnapshot,
  snapshotWork,
  type WorkSnapshot,
} from "@burin/files/tree";
import { type Content, describeFile, describeFolder, describeLink } from "./content.ts";
import type { StoredContents } from "./kept-contents.ts";

/** How much one look may copy, in bytes and in time. */
const MAX_COPIED_BYTES = 64 * 1024 * 1024;
const LONGEST_COPYING_MS = 300;
/** This many files are always copied, so that what undo covers does not depend on how busy the computer is. */
const MIN_COPIED = 1000;
const COPIED_PER_TURN = 16;
/** The maximum number of repositories inside the roots. */
const MAX_REPOSITORIES = 20;
/** The clock of a disk may not advance within this time, so that a second write would not be noticed. */
const CLOCK_STEP_MS = 10;

const TOO_LARGE = "it is larger than 64 MB";
const TOO_MUCH = "there was too much to copy before the call";

export interface TreeState {
  /** The time of the look in milliseconds since 1970. Anything written before it has an earlier time. */
  readonly at: number;
  readonly work: WorkSnapshot;
  /** The states of all repositories that contain a root or are inside one. */
  readonly repositories: readonly RepositoryState[];
}

export interface RepositoryState {
  readonly reader: RepositoryReader;
  readonly look: RepositorySnapshot;
}

interface KnownContent {
  readonly stamp: string;
  readonly content: Content;
}

export interface TreeOptions {
  readonly request: TreeRequest;
  readonly environment: NodeJS.ProcessEnv;
  readonly kept: StoredContents;
}

/** Looks at a project's files repeatedly, and remembers the contents of files that have not changed since. */
export class TreeStates {
  readonly #needs: TreeOptions;
  readonly #readers = new Map<string, RepositoryReader>();
  readonly #gits = new Map<string, GitWork>();
  readonly #known = new Map<string, KnownContent>();
  /** Why the bytes at a path are not stored. */
  readonly #reasons = new Map<string, string>();

  constructor(needs: TreeOptions) {
    this.#needs = needs;
  }

  /** Looks at the project's files. Never reads their content. */
  async readTree(signal: AbortSignal): Promise<TreeState> {
    const { request } = this.#needs;
    const at = Date.now();
    const lookAll = (folders: readonly string[]) =>
      this.#findReaders(folders).map((reader) => ({ reader, look: reader.readSnapshot() }));
    // Repositories first: with an older index, files at most seem changed; the opposite could hide a change.
    const around = lookAll(request.roots);
    const work = await snapshotWork(request, signal);
    const inner = lookAll([...work.repositories].slice(0, MAX_REPOSITORIES).map((path) => dirname(path)));
    const isKnown = ({ reader }: RepositoryState) => around.some((one) => one.reader === reader);
    // Innermost first, because a file belongs to the innermost repository.
    return { at, work, repositories: [...inner.filter((one) => !isKnown(one)).reverse(), ...around] };
  }

  /** Like `readTree`, but waits until the clock has advanced, so that any later write is noticed. */
  async lookBeforeCall(signal: AbortSignal): Promise<TreeState> {
    for (let tries = 0; ; tries += 1) {
      const state = await this.readTree(signal);
      const recent = state.at - CLOCK_STEP_MS;
      const stamps = [state.work, ...state.repositories.map(({ look }) => look)].map((one) => one.stamps);
      const isRecent = stamps.some((all) =>
        [...all.values()].some((stamp) => readChangeTime(stamp) > recent),
      );
      if (!isRecent || tries === 3) return state;
      await new Promise((resolve) => setTimeout(resolve, CLOCK_STEP_MS));
    }
  }

  /** Returns the content known for a path with this stamp. It is the same object as long as it stays valid. */
  findKnown(path: string, stamp: string): Content | null {
    const known = this.#known.get(path);
    return known?.stamp === stamp ? known.content : null;
  }

  /** Takes over a content that another process knew. */
  rememberContent(path: string, stamp: string, content: Content): void {
    this.#known.set(path, { stamp, content });
  }

  openGit({ repository }: RepositoryReader): GitWork {
    const known = this.#gits.get(repository.gitDir);
    if (known !== undefined) return known;
    const { request, environment } = this.#needs;
    const git = new GitWork(repository, { roots: request.roots, environment, passEnvironment: [] });
    this.#gits.set(repository.gitDir, git);
    return git;
  }

  /** Stores the bytes of files that git's objects cannot restore, as far as the limits allow. */
  async keepAll(state: TreeState): Promise<void> {
    this.#needs.kept.lookAgain();
    this.#reasons.clear();
    const unknown = [...this.#listUnknown(state)];
    const left = this.#noteFilesInGit(unknown, state);
    // Smallest first, so that more files are covered.
    const bySize = left.map(([path, stamp]) => ({ path, stamp, bytes: parseStamp(stamp).bytes }));
    bySize.sort((one, other) => one.bytes - other.bytes);
    const room = new CopyBudget();
    for (const { path, stamp, bytes } of bySize) {
      if (bytes > MAX_UNDO_BYTES) this.#reasons.set(path, TOO_LARGE);
      else if (!room.allowCopy(bytes)) this.#reasons.set(path, TOO_MUCH);
      else this.#keepContent(path, stamp);
      if (room.isTurnOver) await nextTurn();
    }
  }

  *#listUnknown({ work, repositories }: TreeState): Generator<[path: string, stamp: string]> {
    for (const { stamps } of [work, ...repositories.map(({ look }) => look)]) {
      for (const [path, stamp] of stamps) {
        const known = this.#known.get(path);
        const isKept = known?.content.kept === undefined || this.#needs.kept.has(known.content.kept);
        if (known?.stamp !== stamp || !isKept) yield [path, stamp];
      }
    }
  }

  /** Notes the files whose content git has. Returns the others, except those without bytes. */
  #noteFilesInGit(paths: readonly (readonly [string, string])[], { repositories }: TreeState) {
    const left: (readonly [string, string])[] = [];
    const inGit = new Map<RepositoryState, Map<string, readonly [string, string, Content]>>();
    for (const one of paths) {
      const [path, stamp] = one;
      if (this.#hasNoBytes(path, stamp)) continue;
      const repository = repositories.find(({ reader }) => isWithin(path, reader.repository.top));
      const content = repository && findGitContent(repository, path, stamp);
      if (!content) {
        left.push(one);
        continue;
      }
      const found = inGit.get(repository) ?? new Map();
      found.set(relative(repository.reader.repository.top, path), [path, stamp, content]);
      inGit.set(repository, found);
    }
    for (const [{ reader }, found] of inGit) {
      const converted = this.#listConverted(reader, [...found.keys()]);
      for (const [name, [path, stamp, content]] of found) {
        if (converted === null || converted.has(name)) left.push([path, stamp]);
        else this.#known.set(path, { stamp, content });
      }
    }
    return left;
  }

  #listConverted(reader: RepositoryReader, names: readonly string[]): Set<string> | null {
    return this.openGit(reader).listConverted(names);
  }

  /** Whether a path has no bytes to store. Links and folders are recorded here by what they are. */
  #hasNoBytes(path: string, stamp: string): boolean {
    const { mode } = parseStamp(stamp);
    const kind = mode & constants.S_IFMT;
    if (kind === constants.S_IFREG) return false;
    try {
      const stats = kind === constants.S_IFLNK ? tryLstat(path) : null;
      const content = stats === null ? describeFolder(mode) : describeLink(path, stats);
      this.#known.set(path, { stamp, content });
    } catch {
      this.#reasons.set(path, "it changed while it was looked at");
    }
    return true;
  }

  #keepContent(path: string, stamp: string): void {
    try {
      this.#known.set(path, { stamp, content: this.#needs.kept.keepFile(path, isSecret(path)) });
    } catch (error) {
      this.#known.delete(path);
      this.#reasons.set(path, describeError(error));
    }
  }

  /** Returns what was at a path at that time. Without stored bytes, only facts such as size and time are known. */
  findContentThen(path: string, stamp: string): Content {
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.content;
    const { mode, bytes, inode, modified } = parseStamp(stamp);
    return { bytes, mode: mode & 0o7777, inode, modified };
  }

  /** Returns why the bytes that were at a path cannot be restored. */
  explainLoss(path: string): string {
    return this.#reasons.get(path) ?? TOO_MUCH;
  }

  /** Records what is at these paths now. Small files are stored too, so that lines can be merged. */
  async learnContents(paths: readonly (readonly [string, string])[], state: TreeState, maxBytes: number) {
    const unknown = paths.filter(([path, stamp]) => this.#known.get(path)?.stamp !== stamp);
    const room = new CopyBudget();
    for (const [path, stamp] of this.#noteFilesInGit(unknown, state)) {
      const { bytes } = parseStamp(stamp);
      if (bytes <= maxBytes && room.allowCopy(bytes)) this.#keepContent(path, stamp);
      else this.#recognizeContent(path, stamp);
      if (room.isTurnOver) await nextTurn();
    }
  }

  /** Forgets files written a moment ago, because another write within the same clock step would not be noticed. */
  forgetRecent({ at }: TreeState): void {
    for (const [path, { stamp }] of this.#known)
      if (readChangeTime(stamp) > at - CLOCK_STEP_MS) this.#known.delete(path);
  }

  #recognizeContent(path: string, stamp: string): void {
    const stats = tryLstat(path);
    try {
      if (stats?.isFile()) this.#known.set(path, { stamp, content: describeFile(path, stats) });
    } catch {
      // The file cannot be read. Its times still show whether it changes.
      this.#known.delete(path);
    }
  }

  #findReaders(roots: readonly string[]): RepositoryReader[] {
    const found = new Map<string, RepositoryReader>();
    for (const root of roots) {
      const repository = findRepository(root);
      if (repository !== null) found.set(repository.gitDir, this.openReader(repository));
    }
    return [...found.values()];
  }

  openReader(repository: Repository): RepositoryReader {
    return getOrCreate(this.#readers, repository.gitDir, () => new RepositoryReader(repository));
  }
}

/** Tracks how much may still be copied. */
class CopyBudget {
  #bytes = MAX_COPIED_BYTES;
  #count = 0;
  readonly #until = performance.now() + LONGEST_COPYING_MS;

  allowCopy(bytes: number): boolean {
    const isInTime = this.#count < MIN_COPIED || performance.now() <= this.#until;
    if (!isInTime || bytes > this.#bytes) return false;
    this.#bytes -= bytes;
    this.#count += 1;
    return true;
  }

  get isTurnOver(): boolean {
    return this.#count % COPIED_PER_TURN === 0;
  }
}

function readChangeTime(stamp: string): number {
  return Number(stamp.slice(stamp.lastIndexOf(" ") + 1));
}

function findGitContent({ reader, look }: RepositoryState, path: string, stamp: string): Content | null {
  const entry = look.index?.get(relative(reader.repository.top, path));
  if (entry === undefined) return null;
  const { mode, inode, bytes, modified, changed } = parseStamp(stamp);
  const isSame = matchesIndexEntry(entry, { mode, inode, bytes, modified, changed }, look.indexModified);
  return isSame ? { bytes, mode: mode & 0o7777, git: entry.id } : null;
}

/** Whether the file often holds passwords. Its content is stored for a shorter time. */
function isSecret(path: string): boolean {
  return /^\.env(?:\.|$)/.test(basename(path));
}
