import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { bytesOf, entriesOf, linkTarget, lstatOf, realOf } from "../disk/disk-looks.ts";
import { gitTopOf, readSmallFile } from "../ignore/git-excludes.ts";
import { stampOf } from "../ignore/tree-look.ts";
import { type IndexEntry, parseIndex } from "./git-index.ts";

/** The folders of a repository with a work tree. */
export interface Repository {
  readonly top: string;
  /** Of this work tree. */
  readonly gitDir: string;
  /** Of all work trees of the repository. */
  readonly commonDir: string;
  /** How long an object's id is. */
  readonly idBytes: number;
}

/** The state of a repository at one moment, apart from objects. */
export interface RepositoryLook {
  /** By the paths of small files: HEAD, the index, settings, hooks, the stash, and how far a merge or rebase is. */
  readonly stamps: ReadonlyMap<string, string>;
  /** By name, what each ref points to; null where refs are not stored in files. */
  readonly refs: ReadonlyMap<string, string> | null;
  /** By path from the top; null when the index cannot be read. */
  readonly index: ReadonlyMap<string, IndexEntry> | null;
  readonly indexModified: number;
  /** What HEAD says. */
  readonly head: string;
  /** The ids of the stashes. */
  readonly stashes: readonly string[];
}

/** Returns the repository whose work tree a folder is in, or null. */
export function findRepository(folder: string): Repository | null {
  const top = gitTopOf(folder);
  if (top === null) return null;
  const link = join(top, ".git");
  const named = lstatOf(link)?.isDirectory() ? link : gitDirIn(readSmallFile(link, true), top);
  const gitDir = named === null ? null : realOf(named);
  if (gitDir === null) return null;
  const common = readSmallFile(join(gitDir, "commondir"), true)?.trim();
  const commonDir = common ? realOf(resolve(gitDir, common)) : gitDir;
  if (commonDir === null || lstatOf(join(gitDir, "HEAD")) === null) return null;
  if (!lstatOf(join(commonDir, "objects"))?.isDirectory()) return null;
  return { top, gitDir, commonDir, idBytes: idBytesOf(commonDir) };
}

function gitDirIn(text: string | null, top: string): string | null {
  const path = /^gitdir: (.+)/.exec(text ?? "")?.[1]?.trim();
  return path === undefined ? null : resolve(top, path);
}

/** What differs when something was committed, staged or checked out in a repository with this `.git` folder. */
export function markOf(gitDir: string): string {
  const { head, refs, index } = new RepositoryReader({
    top: dirname(gitDir),
    gitDir,
    commonDir: gitDir,
    idBytes: idBytesOf(gitDir),
  }).look();
  const ids = [...(index ?? [])].map(([path, { id, mode }]) => [path, id, mode]);
  return createHash("sha256")
    .update(JSON.stringify([head, [...(refs ?? [])].sort(), ids]))
    .digest("base64");
}

function idBytesOf(commonDir: string): number {
  const config = readSmallFile(join(commonDir, "config"), true) ?? "";
  return /^\s*objectformat\s*=\s*"?sha256/im.test(config) ? 32 : 20;
}

/** Locks, what git can make again, and what says nothing about the state of the work. */
const NO_STATE =
  /\.lock$|^(?:packed-refs|sharedindex\..*|gc\.(?:pid|log)|FETCH_HEAD|gitk\.cache|index\.stash\..*)$/;
/** Of a repository with several work trees, what they share. */
const SHARED = /^(?:config|shallow|description)$/;
const STATE_FOLDERS = ["rebase-merge", "rebase-apply", "sequencer"];
const SHARED_FOLDERS = ["info", "hooks"];
const MOST_INDEX_BYTES = 256 * 1024 * 1024;
const MOST_PACKED_BYTES = 64 * 1024 * 1024;
const MOST_TEXT_BYTES = 1024 * 1024;
const STASH_LOG = "logs/refs/stash";
const MOST_LOOSE_REFS = 20_000;
/** Folders in `refs` and in the state of a rebase. */
const DEEPEST = 12;

/** Looks at a repository. Keeps what it has parsed, as long as the files stay the same. */
export class RepositoryReader {
  readonly repository: Repository;
  #index = { stamp: "", entries: null as Map<string, IndexEntry> | null };
  #packed = { stamp: "", refs: new Map<string, string>() };

  constructor(repository: Repository) {
    this.repository = repository;
  }

  look(): RepositoryLook {
    const stamps = new Map<string, string>();
    for (const path of stateFiles(this.repository)) {
      const stats = lstatOf(path);
      if (stats?.isFile()) stamps.set(path, stampOf(stats));
    }
    const path = join(this.repository.gitDir, "index");
    const indexModified = lstatOf(path)?.mtimeMs ?? 0;
    const { gitDir, commonDir } = this.repository;
    const textOf = (file: string) => bytesOf(file, MOST_TEXT_BYTES)?.toString("latin1") ?? "";
    const stashes = textOf(join(commonDir, STASH_LOG)).split("\n");
    return {
      stamps,
      refs: this.#refs(stamps),
      index: this.#entries(path, stamps.get(path)),
      indexModified,
      head: textOf(join(gitDir, "HEAD")).trim(),
      stashes: stashes.flatMap((line) => /^[0-9a-f]+ ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []),
    };
  }

  #entries(path: string, stamp: string | undefined): Map<string, IndexEntry> | null {
    if (stamp === undefined) return new Map();
    if (this.#index.stamp !== stamp) {
      const bytes = bytesOf(path, MOST_INDEX_BYTES);
      this.#index = { stamp, entries: bytes && parseIndex(bytes, this.repository.idBytes) };
    }
    return this.#index.entries;
  }

  /** A ref that stands for another one is one of the small files. */
  #refs(stamps: Map<string, string>): Map<string, string> | null {
    const { commonDir } = this.repository;
    if (lstatOf(join(commonDir, "reftable")) !== null) return null;
    const refs = new Map(this.#packedRefs(join(commonDir, "packed-refs")));
    const loose = filesBelow(join(commonDir, "refs"), DEEPEST);
    if (loose.length > MOST_LOOSE_REFS) return null;
    for (const path of loose) {
      if (path.endsWith(".lock")) continue;
      const text = bytesOf(path, 4096)?.toString("latin1").trim() ?? "";
      const stats = lstatOf(path);
      if (/^[0-9a-f]{40,64}$/.test(text)) refs.set(path.slice(commonDir.length + 1), text);
      else if (text.startsWith("ref:") && stats !== null) stamps.set(path, stampOf(stats));
    }
    return refs;
  }

  #packedRefs(path: string): ReadonlyMap<string, string> {
    const stats = lstatOf(path);
    const stamp = stats === null ? "" : stampOf(stats);
    if (this.#packed.stamp === stamp) return this.#packed.refs;
    const lines = bytesOf(path, MOST_PACKED_BYTES)?.toString("utf8").split("\n") ?? [];
    const found = lines.flatMap((line) => {
      const [, id, name] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
      return id && name ? [[name, id] as const] : [];
    });
    this.#packed = { stamp, refs: new Map(found) };
    return this.#packed.refs;
  }
}

function stateFiles({ gitDir, commonDir }: Repository): string[] {
  const isAlone = gitDir === commonDir;
  const namesIn = (folder: string) => entriesOf(folder).flatMap((one) => (one.isFile() ? one.name : []));
  const own = namesIn(gitDir).filter((name) => !NO_STATE.test(name));
  const shared = isAlone ? [] : namesIn(commonDir).filter((name) => SHARED.test(name));
  const below = [
    ...STATE_FOLDERS.map((name) => join(gitDir, name)),
    ...SHARED_FOLDERS.map((name) => join(commonDir, name)),
  ].flatMap((folder) => filesBelow(folder, 2).filter((path) => !path.endsWith(".sample")));
  const stash = join(commonDir, STASH_LOG);
  return [
    ...own.map((name) => join(gitDir, name)),
    ...shared.map((name) => join(commonDir, name)),
    ...below,
    ...(linkTarget(stash) === undefined ? [stash] : []),
  ];
}

function filesBelow(folder: string, depth: number): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return [path];
    return entry.isDirectory() && depth > 0 ? filesBelow(path, depth - 1) : [];
  });
}
