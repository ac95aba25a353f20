import { basename, join } from "node:path";
import { tryLstat } from "@burin/files/disk/disk-looks";
import { parseStamp, readStampAt } from "@burin/files/tree";
import { type Content, describeRepository, isSameContent } from "./content.ts";
import { findChangedStateFiles, findRefChanges, packDroppedCommits } from "./git-changes.ts";
import type { FileChange, GitChange } from "./journal-line.ts";
import type { ForeignChanges } from "./journal-tails.ts";
import type { TreeState, TreeStates } from "./tree-state.ts";
import { createChangeId } from "./undo-journal.ts";

/** The largest new content that is stored too, so that lines can be merged. */
const MAX_MERGED_BYTES = 8 * 1024 * 1024;

interface Looks {
  readonly before: TreeState;
  readonly after: TreeState;
  readonly others: ForeignChanges;
}

interface Comparison {
  readonly earlier: ReadonlyMap<string, string>;
  readonly now: ReadonlyMap<string, string>;
  readonly after: TreeState;
  readonly others: ForeignChanges;
}

/** Finds out what changed in a tree between two looks. */
export class TreeChanges {
  readonly #states: TreeStates;
  /** The folder in which contents are stored. */
  readonly #folder: string;

  constructor(states: TreeStates, folder: string) {
    this.#states = states;
    this.#folder = folder;
  }

  async find({ before, after, others }: Looks): Promise<{ changes: FileChange[]; git: GitChange[] }> {
    const changes = await this.#findFileChanges(before, after, others);
    return { changes, git: await this.#findGitChanges(before, after, others) };
  }

  /** Returns the changed files. A path that was not listed before is new, unless it existed but could not be listed. */
  async #findFileChanges(before: TreeState, after: TreeState, others: ForeignChanges): Promise<FileChange[]> {
    const [earlier, now] = [before.work.stamps, after.work.stamps];
    const differing = [...earlier].flatMap(([path, stamp]) => (now.get(path) === stamp ? [] : path));
    const unkept = after.work.missed;
    const added = [...now.keys(), ...unkept.keys()].filter(
      (path) => !earlier.has(path) && !before.work.missed.has(path),
    );
    const isRuleChanged = [...differing, ...added].some(isIgnoreFile);
    const isSure = before.work.isComplete && !isRuleChanged;
    const gone = differing.filter((path) => !now.has(path));
    const moved = new Set(
      gone.flatMap((path) => (this.#isRestorable(path, earlier) ? readInode(earlier.get(path)) : [])),
    );
    const isMoved = (path: string) => readInode(now.get(path)).some((inode) => moved.has(inode));
    const isNew = (path: string) => {
      const isIgnored = after.work.ignored.has(path) || unkept.has(path);
      if ((isSure && !isIgnored) || isMoved(path)) return true;
      // It may have been there before, among the ignored files that were too many to look at.
      if (isIgnored && before.work.hasMoreIgnored) return false;
      return (tryLstat(path)?.birthtimeMs ?? 0) >= before.at;
    };
    const fresh = added.filter((path) => isNew(path) && (isMoved(path) || !isOnlyCopy(path, before.at)));
    // Some of them are no longer listed, for example because they are ignored now.
    const stamps = new Map([...unkept, ...now]);
    for (const path of differing) {
      const stamp = now.get(path) ?? readStampAt(path);
      if (stamp !== null) stamps.set(path, stamp);
    }
    const changes = await this.#collectChanges([...differing, ...fresh], {
      earlier,
      now: stamps,
      after,
      others,
    });
    return [...changes, ...findNewRepositories(before, after)].sort((one, other) =>
      one.file < other.file ? -1 : 1,
    );
  }

  /** Whether the bytes that were at a path are stored, so that it may be taken from where it was moved to. */
  #isRestorable(path: string, earlier: ReadonlyMap<string, string>): boolean {
    const { kind, bytes, kept, git } = this.#states.findContentThen(path, earlier.get(path) ?? "");
    return kind !== undefined || bytes === 0 || kept !== undefined || git !== undefined;
  }

  async #collectChanges(
    paths: readonly string[],
    { earlier, now, after, others }: Comparison,
  ): Promise<FileChange[]> {
    const findContent = (stamps: ReadonlyMap<string, string>, path: string) => {
      const stamp = stamps.get(path);
      return stamp === undefined ? null : this.#states.findContentThen(path, stamp);
    };
    const differing = paths.filter((path) => earlier.get(path) !== now.get(path)).sort();
    // Get the old contents first, because learning the new contents replaces them.
    const contents = differing.map((path) => [path, findContent(earlier, path)] as const);
    const present = differing.flatMap((path) => {
      const stamp = now.get(path);
      // What is not kept is known by its times alone, because reading it could take long.
      const isUnread = after.work.missed.has(path) && !earlier.has(path);
      return stamp === undefined || isUnread ? [] : [[path, stamp] as const];
    });
    await this.#states.learnContents(present, after, MAX_MERGED_BYTES);
    return contents.flatMap(([path, content]) => {
      const known = others.files.get(path);
      return describeChange(path, known === undefined ? content : known, findContent(now, path)) ?? [];
    });
  }

  async #findGitChanges(before: TreeState, after: TreeState, others: ForeignChanges): Promise<GitChange[]> {
    const found: GitChange[] = [];
    for (const { reader, look: now } of after.repositories) {
      const earlier = before.repositories.find(({ reader: other }) => other === reader)?.look;
      if (earlier === undefined) continue;
      const { repository } = reader;
      const files = await this.#collectChanges(findChangedStateFiles(repository, { earlier, now }), {
        earlier: earlier.stamps,
        now: now.stamps,
        after,
        others,
      });
      const refs = findRefChanges(earlier.refs, now.refs, others.refs);
      if (files.length === 0 && refs.length === 0) continue;
      const change = { repository, files, refs };
      const file = `${createChangeId(this.#folder)}.pack`;
      const looks = { earlier, now, change };
      const isPacked = packDroppedCommits(this.#states.openGit(reader), looks, join(this.#folder, file));
      found.push(isPacked ? { ...change, pack: file } : change);
    }
    return found;
  }
}

/** Returns the repositories that the call created, by `git init` or by a clone. */
function findNewRepositories(before: TreeState, after: TreeState): FileChange[] {
  return [...after.work.repositories].flatMap((path) => {
    const stats = before.work.repositories.has(path) ? null : tryLstat(path);
    if (!stats?.isDirectory() || stats.birthtimeMs < before.at || tryLstat(join(path, "HEAD")) === null)
      return [];
    return describeChange(path, null, describeRepository(path, stats.mode)) ?? [];
  });
}

/** The time stamps of new files may lag behind the clock by as much. */
const TIME_STEP_MS = 20;

/**
 * Whether an unlisted file is older than the call: it was moved here from where nothing was stored, and to remove it
 * would lose it.
 */
function isOnlyCopy(path: string, begun: number): boolean {
  const stats = tryLstat(path);
  if (!stats?.isFile() || stats.nlink > 1) return false;
  return stats.birthtimeMs > 0 && stats.birthtimeMs < begun - TIME_STEP_MS;
}

function isIgnoreFile(path: string): boolean {
  return /^\.(?:git|burin)ignore$/.test(basename(path));
}

/** Returns the inode of a file or link, which it keeps when it is moved. */
function readInode(stamp = ""): number[] {
  const { inode } = parseStamp(stamp);
  return inode === 0 ? [] : [inode];
}

function describeChange(path: string, was: Content | null, is: Content | null): FileChange | null {
  const hasSameMode = was?.mode === is?.mode || was?.kind === "link";
  if (isSameContent(was, is) && hasSameMode) return null;
  return { type: "change", id: "", at: "", file: path, before: was, after: is, madeFolders: 0 };
}
