import { createHash } from "node:crypto";
import { dirname, join, relative, resolve } from "node:path";
import {
  findWorkTreeTop,
  tryLstat,
  tryReadBytes,
  tryReadEntries,
  tryReadLink,
  tryRealPath,
} from "@burin/files/disk/disk-looks";
import { listRecentCommits, type ObjectStore, readObjects } from "../git/git-objects.ts";
import { readLinkedFolder } from "./judge-repository.ts";
import { findProtectedPath, type ProtectedPath } from "./sandbox-place.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const MAX_REF_BYTES = 16 * 1024 * 1024;
const MAX_COMMITS = 2000;
const OBJECT_ID = /\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g;

/** Files of a git folder, and folders of such files, that name commits. */
const NAME_COMMITS =
  "HEAD ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD REBASE_HEAD packed-refs logs/refs/stash refs rebase-merge/onto rebase-merge/orig-head";

/** The commits that each git folder's refs named before any command of the session could write to them. */
export type RefTips = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * What repositories contained before a command. Only hashes prove that: the refs named these commits when the command
 * began, and a commit's hash covers everything below it. Commits made since then prove nothing.
 */
export class KnownContent {
  readonly #trusted = new Map<string, Set<string>>();
  /** Commits that refs name because of commands in this session. */
  readonly #madeHere = new Set<string>();

  /** `isAlone`: no other command is running that could have made the new commits. */
  begin(places: Iterable<ProtectedPath>, isAlone: boolean): RefTips {
    for (const { part, path } of places) {
      if (part !== "git folder") continue;
      const known = this.#trusted.get(path);
      const tips = known ?? new Set<string>();
      for (const id of readNamedCommits(path)) {
        if (known?.has(id) || this.#madeHere.has(id)) continue;
        if (isAlone) tips.add(id);
        else this.#madeHere.add(id);
      }
      this.#trusted.set(path, tips);
    }
    return new Map([...this.#trusted].map(([folder, tips]) => [folder, new Set(tips)]));
  }

  /** Call when a command has ended: commits that are new by then may be its work. */
  end(places: Iterable<ProtectedPath>): void {
    for (const { part, path } of places) {
      if (part !== "git folder") continue;
      const known = this.#trusted.get(path);
      for (const id of readNamedCommits(path)) if (!known?.has(id)) this.#madeHere.add(id);
    }
  }
}

function readNamedCommits(folder: string): Set<string> {
  const found = new Set<string>();
  const read = (path: string): void => {
    const stats = tryLstat(path);
    if (stats?.isDirectory()) for (const { name } of tryReadEntries(path)) read(join(path, name));
    else if (stats?.isFile())
      for (const [id] of tryReadBytes(path, MAX_REF_BYTES)?.toString("latin1").matchAll(OBJECT_ID) ?? [])
        if (/[1-9a-f]/.test(id)) found.add(id);
  };
  for (const name of NAME_COMMITS.split(" ")) read(join(folder, name));
  return found;
}

/** Whether the tips contain this content at this path. Accepts a file or a link. */
export function wasInCommits(path: string, tips: RefTips, environment: NodeJS.ProcessEnv): boolean {
  const workTree = findWorkTreeTop(dirname(path));
  if (workTree === null) return false;
  const folder = findGitFolder(workTree);
  if (folder === null) return false;
  const name = relative(tryRealPath(workTree) ?? workTree, path);
  const known = [folder, findCommonFolder(folder)].flatMap((one) => {
    const own = tips.get(one);
    return own === undefined ? [] : [[one, own] as const];
  });
  // A repository created since then proves nothing by itself; it may be a copy of one that existed.
  return (known.length > 0 ? known : [...tips]).some(([store, ids]) =>
    hasBlob({ git: { folder: store, environment }, ids, name, path }),
  );
}

function findGitFolder(workTree: string): string | null {
  const link = join(workTree, ".git");
  if (tryLstat(link)?.isDirectory()) return link;
  const place = findProtectedPath(link, "", "git link");
  return place === null ? null : readLinkedFolder(place);
}

function findCommonFolder(folder: string): string {
  const shared = tryReadBytes(join(folder, "commondir"), MAX_REF_BYTES)?.toString().trim();
  return shared === undefined || shared === "" ? folder : resolve(folder, shared);
}

interface WantedBlob {
  readonly git: ObjectStore;
  readonly ids: ReadonlySet<string>;
  readonly name: string;
  readonly path: string;
}

function hasBlob({ git, ids, name, path }: WantedBlob): boolean {
  const length = [...ids][0]?.length;
  if (length === undefined) return false;
  const wanted = computeBlobIds(path, length === 40 ? "sha1" : "sha256");
  if (wanted.length === 0) return false;
  // It is usually in a commit that a ref names directly.
  if (isInTrees({ git, trees: findTrees(git, ids, ids), name, wanted })) return true;
  const commits = listRecentCommits(git, [...ids], MAX_COMMITS);
  return isInTrees({ git, trees: findTrees(git, ids, commits), name, wanted });
}

/** The ids that the content would have in git, also with the line ends that git stores. */
function computeBlobIds(path: string, algorithm: string): string[] {
  const stats = tryLstat(path);
  const target = stats?.isSymbolicLink() ? tryReadLink(path) : undefined;
  const bytes = target === undefined ? tryReadBytes(path, MAX_BYTES) : Buffer.from(target);
  if (bytes === null || !(target !== undefined || stats?.isFile())) return [];
  const plain = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  const mode = target === undefined ? "100" : "120";
  return [bytes, plain].map((content) => `${mode} ${computeObjectId("blob", content, algorithm)}`);
}

function computeObjectId(type: string, content: Buffer, algorithm: string): string {
  return createHash(algorithm).update(`${type} ${content.length}\0`).update(content).digest("hex");
}

/** Returns only objects whose content matches their id; a command can store other content under any id. */
function readVerifiedObjects(git: ObjectStore, ids: Iterable<string>) {
  const found = readObjects(git, [...ids]);
  return found.filter(({ id, type, content }) => {
    return computeObjectId(type, content, id.length === 40 ? "sha1" : "sha256") === id;
  });
}

/** The root trees of the commits among `commits` to which the tips lead, tags followed. */
function findTrees(git: ObjectStore, tips: Iterable<string>, commits: Iterable<string>): Set<string> {
  const objects = new Map(readVerifiedObjects(git, commits).map((one) => [one.id, one]));
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

interface TreeSearch {
  readonly git: ObjectStore;
  readonly trees: ReadonlySet<string>;
  readonly name: string;
  readonly wanted: readonly string[];
}

function isInTrees({ git, trees, name, wanted }: TreeSearch): boolean {
  let level = trees;
  const segments = name.split("/");
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const entries = readVerifiedObjects(git, level).flatMap(({ type, content, id }) =>
      type === "tree" ? findTreeEntries(content, segment, id.length / 2) : [],
    );
    if (isLast) return entries.some(({ mode, id }) => wanted.includes(`${mode.slice(0, 3)} ${id}`));
    level = new Set(entries.flatMap(({ mode, id }) => (mode === "40000" ? [id] : [])));
  }
  return false;
}

/** The entry of that name in the content of a tree. */
function findTreeEntries(tree: Buffer, name: string, idBytes: number): { mode: string; id: string }[] {
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
