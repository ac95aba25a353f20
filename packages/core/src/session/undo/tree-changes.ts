import { basename, join } from "node:path";
import { lstatOf } from "@burin/files/disk/disk-looks";
import { readStamp, stampNow } from "@burin/files/tree";
import { type Content, isSame, repositoryContent } from "./content.ts";
import { changedState, packDropped, refChanges } from "./git-changes.ts";
import type { FileChange, GitChange } from "./journal-line.ts";
import type { OthersChanges } from "./journal-tails.ts";
import type { TreeState, TreeStates } from "./tree-state.ts";
import { newChangeId } from "./undo-journal.ts";

/** Up to this size the new bytes are kept too, so that lines can be merged. */
const MOST_MERGED_BYTES = 8 * 1024 * 1024;

interface Looks {
  readonly before: TreeState;
  readonly after: TreeState;
  readonly others: OthersChanges;
}

interface Comparison {
  readonly earlier: ReadonlyMap<string, string>;
  readonly now: ReadonlyMap<string, string>;
  readonly after: TreeState;
  readonly others: OthersChanges;
}

/** Finds out what happened to a tree between two looks. */
export class TreeChanges {
  readonly #states: TreeStates;
  /** Where contents are kept. */
  readonly #folder: string;

  constructor(states: TreeStates, folder: string) {
    this.#states = states;
    this.#folder = folder;
  }

  async find({ before, after, others }: Looks): Promise<{ changes: FileChange[]; git: GitChange[] }> {
    const changes = await this.#fileChanges(before, after, others);
    return { changes, git: await this.#gitChanges(before, after, others) };
  }

  /** A path that was not seen before is new, unless it was there and could not be seen. */
  async #fileChanges(before: TreeState, after: TreeState, others: OthersChanges): Promise<FileChange[]> {
    const [earlier, now] = [before.work.stamps, after.work.stamps];
    const differing = [...earlier].flatMap(([path, stamp]) => (now.get(path) === stamp ? [] : path));
    const added = [...now.keys()].filter((path) => !earlier.has(path));
    const isRuleChanged = [...differing, ...added].some(isIgnoreFile);
    const isSure = before.work.isWhole && !isRuleChanged;
    const gone = new Set(differing.flatMap((path) => (now.has(path) ? [] : inodeIn(earlier.get(path)))));
    const isNew = (path: string) =>
      (isSure && !after.work.ignored.has(path)) ||
      (lstatOf(path)?.birthtimeMs ?? 0) >= before.at ||
      inodeIn(now.get(path)).some((inode) => gone.has(inode));
    const fresh = added.filter(isNew);
    // Some are not looked at any more, for example because they are ignored by now.
    const stamps = new Map(now);
    for (const path of differing) {
      const stamp = now.get(path) ?? stampNow(path);
      if (stamp !== null) stamps.set(path, stamp);
    }
    const changes = await this.#changesOf([...differing, ...fresh], { earlier, now: stamps, after, others });
    return [...changes, ...newRepositories(before, after)].sort((one, other) =>
      one.file < other.file ? -1 : 1,
    );
  }

  async #changesOf(
    paths: readonly string[],
    { earlier, now, after, others }: Comparison,
  ): Promise<FileChange[]> {
    const contentIn = (stamps: ReadonlyMap<string, string>, path: string) => {
      const stamp = stamps.get(path);
      return stamp === undefined ? null : this.#states.contentThen(path, stamp);
    };
    const differing = paths.filter((path) => earlier.get(path) !== now.get(path)).sort();
    // Before what is there now is learned in its place.
    const contents = differing.map((path) => [path, contentIn(earlier, path)] as const);
    const present = differing.flatMap((path) => {
      const stamp = now.get(path);
      return stamp === undefined ? [] : [[path, stamp] as const];
    });
    await this.#states.learnContents(present, after, MOST_MERGED_BYTES);
    return contents.flatMap(([path, content]) => {
      const known = others.files.get(path);
      return changeOf(path, known === undefined ? content : known, contentIn(now, path)) ?? [];
    });
  }

  async #gitChanges(before: TreeState, after: TreeState, others: OthersChanges): Promise<GitChange[]> {
    const found: GitChange[] = [];
    for (const { reader, look: now } of after.repositories) {
      const earlier = before.repositories.find(({ reader: other }) => other === reader)?.look;
      if (earlier === undefined) continue;
      const { repository } = reader;
      const files = await this.#changesOf(changedState(repository, { earlier, now }), {
        earlier: earlier.stamps,
        now: now.stamps,
        after,
        others,
      });
      const refs = refChanges(earlier.refs, now.refs, others.refs);
      if (files.length === 0 && refs.length === 0) continue;
      const change = { repository, files, refs };
      const file = `${newChangeId(this.#folder)}.pack`;
      const looks = { earlier, now, change };
      const isPacked = packDropped(this.#states.gitOf(reader), looks, join(this.#folder, file));
      found.push(isPacked ? { ...change, pack: file } : change);
    }
    return found;
  }
}

/** A call has made them, by git init or by a clone. */
function newRepositories(before: TreeState, after: TreeState): FileChange[] {
  return [...after.work.repositories].flatMap((path) => {
    const stats = before.work.repositories.has(path) ? null : lstatOf(path);
    if (!stats?.isDirectory() || stats.birthtimeMs < before.at || lstatOf(join(path, "HEAD")) === null)
      return [];
    return changeOf(path, null, repositoryContent(path, stats.mode)) ?? [];
  });
}

function isIgnoreFile(path: string): boolean {
  return /^\.(?:git|burin)ignore$/.test(basename(path));
}

/** Of a file or link. One that was moved keeps it. */
function inodeIn(stamp = ""): number[] {
  const { inode } = readStamp(stamp);
  return inode === 0 ? [] : [inode];
}

function changeOf(path: string, was: Content | null, is: Content | null): FileChange | null {
  const hasSameMode = was?.mode === is?.mode || was?.kind === "link";
  if (isSame(was, is) && hasSameMode) return null;
  return { type: "change", id: "", at: "", file: path, before: was, after: is, madeFolders: 0 };
}
