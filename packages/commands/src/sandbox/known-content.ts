import { createHash } from "node:crypto";
import { dirname, join, relative, resolve } from "node:path";
import { bytesOf, entriesOf, linkTarget, lstatOf, realOf } from "@burin/files/disk/disk-looks";
import { gitTopOf } from "@burin/files/ignore/git-excludes";
import { readObjects, recentCommits } from "../git/git-objects.ts";
import { folderOfLink } from "./judge-repository.ts";
import { type Place, placeAt } from "./sandbox-place.ts";

const MOST_BYTES = 10 * 1024 * 1024;
const MOST_REF_BYTES = 16 * 1024 * 1024;
const MOST_COMMITS = 2000;
const OBJECT_ID = /\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g;

/** Files of a git folder, and folders of such files, that name commits. */
const NAME_COMMITS =
  "HEAD ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD REBASE_HEAD packed-refs logs/refs/stash refs rebase-merge/onto rebase-merge/orig-head";

/** The commits that a repository's refs named before any command of the session could write them, by git folder. */
export type Tips = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * What repositories had before a command. Only hashes prove that: commits are known by what refs named when the
 * command began, and everything below them by the hash that names it. A commit made since proves nothing.
 */
export class KnownContent {
  readonly #trusted = new Map<string, Set<string>>();
  /** What commands of this session have made refs name. */
  readonly #madeHere = new Set<string>();

  /** `isAlone`: no command of the session goes on that could have made the commits that are new. */
  begin(places: Iterable<Place>, isAlone: boolean): Tips {
    for (const { part, path } of places) {
      if (part !== "git folder") continue;
      const known = this.#trusted.get(path);
      const tips = known ?? new Set<string>();
      for (const id of namedCommits(path)) {
        if (known?.has(id) || this.#madeHere.has(id)) continue;
        if (isAlone) tips.add(id);
        else this.#madeHere.add(id);
      }
      this.#trusted.set(path, tips);
    }
    return new Map([...this.#trusted].map(([folder, tips]) => [folder, new Set(tips)]));
  }

  /** Call when a command has ended: what is new by now may be its work. */
  end(places: Iterable<Place>): void {
    for (const { part, path } of places) {
      if (part !== "git folder") continue;
      const known = this.#trusted.get(path);
      for (const id of namedCommits(path)) if (!known?.has(id)) this.#madeHere.add(id);
    }
  }
}

function namedCommits(folder: string): Set<string> {
  const found = new Set<string>();
  const read = (path: string): void => {
    const stats = lstatOf(path);
    if (stats?.isDirectory()) for (const { name } of entriesOf(path)) read(join(path, name));
    else if (stats?.isFile())
      for (const [id] of bytesOf(path, MOST_REF_BYTES)?.toString("latin1").matchAll(OBJECT_ID) ?? [])
        if (/[1-9a-f]/.test(id)) found.add(id);
  };
  for (const name of NAME_COMMITS.split(" ")) read(join(folder, name));
  return found;
}

/** Whether a repository had this content at this path in what the tips name. Looks at a file or a link. */
export function hadBefore(path: string, tips: Tips): boolean {
  const workTree = gitTopOf(dirname(path));
  if (workTree === null) return false;
  const folder = gitFolderOf(workTree);
  if (folder === null) return false;
  const name = relative(realOf(workTree) ?? workTree, path);
  const known = [folder, commonFolder(folder)].flatMap((one) => {
    const own = tips.get(one);
    return own === undefined ? [] : [[one, own] as const];
  });
  // A repository made since proves nothing by itself; it may be a copy of one that was there.
  return (known.length > 0 ? known : [...tips]).some(([git, ids]) => hasBlob({ git, ids, name, path }));
}

function gitFolderOf(workTree: string): string | null {
  const link = join(workTree, ".git");
  if (lstatOf(link)?.isDirectory()) return link;
  const place = placeAt(link, "", "git link");
  return place === null ? null : folderOfLink(place);
}

function commonFolder(folder: string): string {
  const shared = bytesOf(join(folder, "commondir"), MOST_REF_BYTES)?.toString().trim();
  return shared === undefined || shared === "" ? folder : resolve(folder, shared);
}

interface Wanted {
  readonly git: string;
  readonly ids: ReadonlySet<string>;
  readonly name: string;
  readonly path: string;
}

function hasBlob({ git, ids, name, path }: Wanted): boolean {
  const length = [...ids][0]?.length;
  if (length === undefined) return false;
  const wanted = blobIds(path, length === 40 ? "sha1" : "sha256");
  if (wanted.length === 0) return false;
  // Most often it is in what a ref names itself.
  if (treesHave({ git, trees: treesOf(git, ids, ids), name, wanted })) return true;
  const commits = recentCommits(git, [...ids], MOST_COMMITS);
  return treesHave({ git, trees: treesOf(git, ids, commits), name, wanted });
}

/** The ids that the content would have in git, also with the line ends that git stores. */
function blobIds(path: string, algorithm: string): string[] {
  const stats = lstatOf(path);
  const target = stats?.isSymbolicLink() ? linkTarget(path) : undefined;
  const bytes = target === undefined ? bytesOf(path, MOST_BYTES) : Buffer.from(target);
  if (bytes === null || !(target !== undefined || stats?.isFile())) return [];
  const plain = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  const mode = target === undefined ? "100" : "120";
  return [bytes, plain].map((content) => `${mode} ${idOfObject("blob", content, algorithm)}`);
}

function idOfObject(type: string, content: Buffer, algorithm: string): string {
  return createHash(algorithm).update(`${type} ${content.length}\0`).update(content).digest("hex");
}

/** Objects that have the content that their ids say; a command can put another under any id. */
function soundObjects(git: string, ids: Iterable<string>) {
  const found = readObjects(git, [...ids]);
  return found.filter(({ id, type, content }) => {
    return idOfObject(type, content, id.length === 40 ? "sha1" : "sha256") === id;
  });
}

/** The root trees of the commits among `commits` to which the tips lead, tags followed. */
function treesOf(git: string, tips: Iterable<string>, commits: Iterable<string>): Set<string> {
  const objects = new Map(soundObjects(git, commits).map((one) => [one.id, one]));
  const queue = [...tips];
  const trees = new Set<string>();
  const seen = new Set(queue);
  const follow = (ids: readonly string[]): void => {
    for (const id of ids) if (!seen.has(id)) queue.push(id);
    for (const id of ids) seen.add(id);
  };
  for (let at = 0; at < queue.length; at += 1) {
    const object = objects.get(queue[at] ?? "");
    if (object === undefined) continue;
    const head = object.content.toString("latin1").split("\n\n", 1)[0] ?? "";
    const named = (key: string) =>
      [...head.matchAll(new RegExp(`^${key} ([0-9a-f]+)$`, "gm"))].map(([, id = ""]) => id);
    if (object.type === "tag") follow(named("object"));
    if (object.type !== "commit") continue;
    for (const tree of named("tree")) trees.add(tree);
    follow(named("parent"));
  }
  return trees;
}

interface Search {
  readonly git: string;
  readonly trees: ReadonlySet<string>;
  readonly name: string;
  readonly wanted: readonly string[];
}

function treesHave({ git, trees, name, wanted }: Search): boolean {
  let level = trees;
  const segments = name.split("/");
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const entries = soundObjects(git, level).flatMap(({ type, content, id }) =>
      type === "tree" ? entryOf(content, segment, id.length / 2) : [],
    );
    if (isLast) return entries.some(({ mode, id }) => wanted.includes(`${mode.slice(0, 3)} ${id}`));
    level = new Set(entries.flatMap(({ mode, id }) => (mode === "40000" ? [id] : [])));
  }
  return false;
}

/** The entry of that name in the content of a tree. */
function entryOf(tree: Buffer, name: string, idBytes: number): { mode: string; id: string }[] {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space === -1 || end === -1) return [];
    const next = end + 1 + idBytes;
    if (tree.toString("utf8", space + 1, end) === name)
      return [{ mode: tree.toString("latin1", at, space), id: tree.toString("hex", end + 1, next) }];
    at = next;
  }
  return [];
}
