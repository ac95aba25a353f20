import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import {
  findWorkTreeTop,
  readSmallFile,
  tryLstat,
  tryReadBytes,
  tryReadEntries,
  tryReadLink,
  tryRealPath,
} from "../disk/disk-looks.ts";
import { formatFileStamp } from "../ignore/tree-look.ts";
import { type IndexEntry, parseIndex } from "./git-index.ts";

/** The folders of a repository with a work tree. */
export interface Repository {
  readonly top: string;
  /** The folder with this work tree's own state. */
  readonly gitDir: string;
  /** The folder that all work trees of the repository share. */
  readonly commonDir: string;
  /** How long an object's id is. */
  readonly idBytes: number;
}

/** The state of a repository at one moment, without its objects. */
export interface RepositorySnapshot {
  /**
   * Stamps of the small files by path: HEAD, the index, settings, hooks, the stash, and the progress of a merge or
   * rebase.
   */
  readonly stamps: ReadonlyMap<string, string>;
  /** What each ref points to, by name; null where refs are not stored in files. */
  readonly refs: ReadonlyMap<string, string> | null;
  /** The entries of the index, by path from the top; null when the index cannot be read. */
  readonly index: ReadonlyMap<string, IndexEntry> | null;
  readonly indexModified: number;
  /** The content of HEAD. */
  readonly head: string;
  /** The ids of the stashes. */
  readonly stashes: readonly string[];
}

/** Returns the repository whose work tree a folder is in, or null. */
export function findRepository(folder: string): Repository | null {
  const top = findWorkTreeTop(folder);
  if (top === null) return null;
  const link = join(top, ".git");
  const named = tryLstat(link)?.isDirectory() ? link : parseGitFile(readSmallFile(link, true), top);
  const gitDir = named === null ? null : tryRealPath(named);
  if (gitDir === null) return null;
  const common = readSmallFile(join(gitDir, "commondir"), true)?.trim();
  const commonDir = common ? tryRealPath(resolve(gitDir, common)) : gitDir;
  if (commonDir === null || tryLstat(join(gitDir, "HEAD")) === null) return null;
  if (!tryLstat(join(commonDir, "objects"))?.isDirectory()) return null;
  return { top, gitDir, commonDir, idBytes: readIdBytes(commonDir) };
}

function parseGitFile(text: string | null, top: string): string | null {
  const path = /^gitdir: (.+)/.exec(text ?? "")?.[1]?.trim();
  return path === undefined ? null : resolve(top, path);
}

/** Returns a hash that changes with every commit, staged change or checkout in a repository with this `.git` folder. */
export function hashRepository(gitDir: string): string {
  const { head, refs, index } = new RepositoryReader({
    top: dirname(gitDir),
    gitDir,
    commonDir: gitDir,
    idBytes: readIdBytes(gitDir),
  }).readSnapshot();
  const ids = [...(index ?? [])].map(([path, { id, mode }]) => [path, id, mode]);
  return createHash("sha256")
    .update(JSON.stringify([head, [...(refs ?? [])].sort(), ids]))
    .digest("base64");
}

function readIdBytes(commonDir: string): number {
  const config = readSmallFile(join(commonDir, "config"), true) ?? "";
  return /^\s*objectformat\s*=\s*"?sha256/im.test(config) ? 32 : 20;
}

/**
 * Files that are not part of the state: locks, files that git can recreate, and files that say nothing about the work.
 */
const IGNORED_FILES =
  /\.lock$|^(?:packed-refs|sharedindex\..*|gc\.(?:pid|log)|FETCH_HEAD|gitk\.cache|index\.stash\..*)$/;
/** Files that several work trees of one repository share. */
const SHARED_FILES = /^(?:config|shallow|description)$/;
const STATE_FOLDERS = ["rebase-merge", "rebase-apply", "sequencer"];
const SHARED_FOLDERS = ["info", "hooks"];
const MAX_INDEX_BYTES = 256 * 1024 * 1024;
const MAX_PACKED_BYTES = 64 * 1024 * 1024;
const MAX_TEXT_BYTES = 1024 * 1024;
const STASH_LOG = "logs/refs/stash";
const MAX_LOOSE_REFS = 20_000;
/** The deepest folders in `refs` and in the state of a rebase. */
const MAX_DEPTH = 12;

/** Reads the state of a repository. Caches what it has parsed as long as the files are unchanged. */
export class RepositoryReader {
  readonly repository: Repository;
  #index = { stamp: "", entries: null as Map<string, IndexEntry> | null };
  #packed = { stamp: "", refs: new Map<string, string>() };

  constructor(repository: Repository) {
    this.repository = repository;
  }

  readSnapshot(): RepositorySnapshot {
    const stamps = new Map<string, string>();
    for (const path of listStateFiles(this.repository)) {
      const stats = tryLstat(path);
      if (stats?.isFile()) stamps.set(path, formatFileStamp(stats));
    }
    const path = join(this.repository.gitDir, "index");
    const indexModified = tryLstat(path)?.mtimeMs ?? 0;
    const { gitDir, commonDir } = this.repository;
    const readShortText = (file: string) => tryReadBytes(file, MAX_TEXT_BYTES)?.toString("latin1") ?? "";
    const stashes = readShortText(join(commonDir, STASH_LOG)).split("\n");
    return {
      stamps,
      refs: this.#readRefs(stamps),
      index: this.#readIndexEntries(path, stamps.get(path)),
      indexModified,
      head: readShortText(join(gitDir, "HEAD")).trim(),
      stashes: stashes.flatMap((line) => /^[0-9a-f]+ ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []),
    };
  }

  #readIndexEntries(path: string, stamp: string | undefined): Map<string, IndexEntry> | null {
    if (stamp === undefined) return new Map();
    if (this.#index.stamp !== stamp) {
      const bytes = tryReadBytes(path, MAX_INDEX_BYTES);
      this.#index = { stamp, entries: bytes && parseIndex(bytes, this.repository.idBytes) };
    }
    return this.#index.entries;
  }

  /** Reads what each ref points to. Symbolic refs are among the small files instead. */
  #readRefs(stamps: Map<string, string>): Map<string, string> | null {
    const { commonDir } = this.repository;
    if (tryLstat(join(commonDir, "reftable")) !== null) return null;
    const refs = new Map(this.#readPackedRefs(join(commonDir, "packed-refs")));
    const loose = listFiles(join(commonDir, "refs"), MAX_DEPTH);
    if (loose.length > MAX_LOOSE_REFS) return null;
    for (const path of loose) {
      if (path.endsWith(".lock")) continue;
      const text = tryReadBytes(path, 4096)?.toString("latin1").trim() ?? "";
      const stats = tryLstat(path);
      if (/^[0-9a-f]{40,64}$/.test(text)) refs.set(path.slice(commonDir.length + 1), text);
      else if (text.startsWith("ref:") && stats !== null) stamps.set(path, formatFileStamp(stats));
    }
    return refs;
  }

  #readPackedRefs(path: string): ReadonlyMap<string, string> {
    const stats = tryLstat(path);
    const stamp = stats === null ? "" : formatFileStamp(stats);
    if (this.#packed.stamp === stamp) return this.#packed.refs;
    const lines = tryReadBytes(path, MAX_PACKED_BYTES)?.toString("utf8").split("\n") ?? [];
    const found = lines.flatMap((line) => {
      const [, id, name] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
      return id && name ? [[name, id] as const] : [];
    });
    this.#packed = { stamp, refs: new Map(found) };
    return this.#packed.refs;
  }
}

function listStateFiles({ gitDir, commonDir }: Repository): string[] {
  const isAlone = gitDir === commonDir;
  const listFileNames = (folder: string) =>
    tryReadEntries(folder).flatMap((one) => (one.isFile() ? one.name : []));
  const own = listFileNames(gitDir).filter((name) => !IGNORED_FILES.test(name));
  const shared = isAlone ? [] : listFileNames(commonDir).filter((name) => SHARED_FILES.test(name));
  const below = [
    ...STATE_FOLDERS.map((name) => join(gitDir, name)),
    ...SHARED_FOLDERS.map((name) => join(commonDir, name)),
  ].flatMap((folder) => listFiles(folder, 2).filter((path) => !path.endsWith(".sample")));
  const stash = join(commonDir, STASH_LOG);
  return [
    ...own.map((name) => join(gitDir, name)),
    ...shared.map((name) => join(commonDir, name)),
    ...below,
    ...(tryReadLink(stash) === undefined ? [stash] : []),
  ];
}

function listFiles(folder: string, depth: number): string[] {
  return tryReadEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return [path];
    return entry.isDirectory() && depth > 0 ? listFiles(path, depth - 1) : [];
  });
}

const MAX_COMMIT_BYTES = 1024 * 1024;

/**
 * Returns the parents of a commit that is stored in its own file, as new commits are; null for any other object, and
 * for a forged one.
 */
export function readNewParents({ commonDir, idBytes }: Repository, id: string): readonly string[] | null {
  const { inflateSync } = process.getBuiltinModule("node:zlib");
  const packed = tryReadBytes(join(commonDir, "objects", id.slice(0, 2), id.slice(2)), MAX_COMMIT_BYTES);
  const object =
    packed && withFallback(null, () => inflateSync(packed, { maxOutputLength: MAX_COMMIT_BYTES }));
  const algorithm = idBytes === 20 ? "sha1" : "sha256";
  if (object === null || createHash(algorithm).update(object).digest("hex") !== id) return null;
  const [head = ""] = object.toString("latin1").split("\n\n", 1);
  if (!head.startsWith("commit ")) return null;
  return [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = ""]) => parent);
}
