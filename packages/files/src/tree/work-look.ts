import { lstatSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryReadEntries } from "../disk/disk-looks.ts";
import { formatFileStamp, snapshotTree, type TreeRequest } from "../ignore/tree-look.ts";

/** A snapshot of files, links and folders, including ignored files that may hold the user's work. */
export interface WorkSnapshot {
  /** Stamps by path. The stamps of folders contain no times. */
  readonly stamps: Map<string, string>;
  /** The `.git` entries of folders below the roots. */
  readonly repositories: ReadonlySet<string>;
  /** The stamps of the ignored files. */
  readonly ignored: ReadonlyMap<string, string>;
  /** false when there was too much to look at, or a folder could not be read. */
  readonly isComplete: boolean;
  /** true if there was too much to look at. */
  readonly isTruncated: boolean;
  /** true if there are more ignored files than were looked at. */
  readonly hasMoreIgnored: boolean;
  /** The stamps of ignored files and folders that may hold work but are too large to keep or too deep to look at. */
  readonly missed: ReadonlyMap<string, string>;
}

/** Folders that programs create: dependencies, build output and caches. */
const GENERATED_FOLDERS = new Set(
  (
    ".angular .bundle .cache .dart_tool .direnv .docusaurus .eggs .expo .gradle .m2 .mypy_cache .next .nox .npm .nuxt " +
    ".nyc_output .output .parcel-cache .pnpm-store .pytest_cache .ruff_cache .serverless .svelte-kit .terraform .tox " +
    ".turbo .venv .vite .yarn Pods DerivedData __pycache__ _build bin bower_components build coverage deps dist env " +
    "htmlcov jspm_packages log logs node_modules obj out site-packages storybook-static target temp tmp vendor venv"
  ).split(" "),
);
const GENERATED_FILES =
  /(?:\/\.DS_Store|\.(?:o|a|so|obj|pyc|pyo|class|jar|log|pid|tsbuildinfo|map|tmp|swp|gz|zip|tgz))$/;
/** What a session beside this one writes before it takes a file's place. */
const WRITE_IN_PROGRESS = /\/\.burin-[\da-f-]+\.tmp$/;
/** A larger file is not kept for undo. */
export const MAX_UNDO_BYTES = 64 * 1024 * 1024;
const MAX_IGNORED = 2000;
const MAX_IGNORED_BYTES = 1024 * 1024;
const MAX_IGNORED_DEPTH = 6;

/** Takes a snapshot of everything that undo can restore, without reading any file. */
export async function snapshotWork(request: TreeRequest, signal: AbortSignal): Promise<WorkSnapshot> {
  const folders = new Map<string, string>();
  const repositories = new Set<string>();
  const ignored = new IgnoredWork();
  const look = await snapshotTree(
    {
      ...request,
      watchIn: (root) => ({
        onFolder: (folder) => {
          const path = join(root, folder.slice(0, -1));
          const stats = tryLstat(path);
          if (stats !== null) folders.set(path, formatFolderStamp(stats));
        },
        onSkipped: (found) => {
          const path = join(root, found.replace(/\/$/, ""));
          if (found.endsWith("/.git/") || found === ".git/") repositories.add(path);
          else if (basename(path) === ".git") ignored.visitFile(path);
          else if (found.endsWith("/")) ignored.visitFolder(path, 0);
          else ignored.visitFile(path);
        },
      }),
    },
    signal,
  );
  const stamps = new Map([...folders, ...look.stamps, ...ignored.stamps]);
  for (const path of stamps.keys())
    if (path.endsWith(".tmp") && WRITE_IN_PROGRESS.test(path)) stamps.delete(path);
  const { isComplete, isTruncated } = look;
  const { isFull: hasMoreIgnored, missed } = ignored;
  return { stamps, ignored: ignored.stamps, repositories, isComplete, isTruncated, hasMoreIgnored, missed };
}

/** Finds the files and folders that undo could not restore. Returns their stamps by path. */
export function findUnrestorable({ stamps, missed }: WorkSnapshot): Map<string, string> {
  const large = [...stamps].filter(([, stamp]) => parseStamp(stamp).bytes > MAX_UNDO_BYTES);
  return new Map([...missed, ...large]);
}

/** Formats the stamp of a folder without its times, which change with its content. */
function formatFolderStamp({ mode, ino }: Stats): string {
  return `${mode} ${ino} 0 0 0`;
}

/** The fields of a stamp; times in milliseconds. */
export interface FileStamp {
  readonly mode: number;
  readonly inode: number;
  readonly bytes: number;
  readonly modified: number;
  readonly changed: number;
}

export function parseStamp(stamp: string): FileStamp {
  const [mode = 0, inode = 0, bytes = 0, modified = 0, changed = 0] = stamp.split(" ").map(Number);
  return { mode, inode, bytes, modified, changed };
}

/** Returns the stamp of what is at a path now; null when nothing is there, as far as can be seen. */
export function readStamp(path: string): string | null {
  const stats = tryLstat(path);
  if (stats === null) return null;
  if (stats.isDirectory()) return formatFolderStamp(stats);
  return stats.isFile() || stats.isSymbolicLink() ? formatFileStamp(stats) : null;
}

/** Finds ignored files that are small and, by their names, not generated. */
class IgnoredWork {
  readonly stamps = new Map<string, string>();
  readonly missed = new Map<string, string>();
  isFull = false;

  visitFile(path: string): void {
    if (GENERATED_FILES.test(path)) return;
    const stats = withFallback(null, () => lstatSync(path));
    if (stats === null || !(stats.isFile() || stats.isSymbolicLink())) return;
    if (stats.size > MAX_IGNORED_BYTES) return void this.missed.set(path, formatFileStamp(stats));
    if (this.stamps.size >= MAX_IGNORED) this.isFull = true;
    else this.stamps.set(path, formatFileStamp(stats));
  }

  visitFolder(folder: string, depth: number): void {
    if (this.isFull || GENERATED_FOLDERS.has(basename(folder))) return;
    const stats = tryLstat(folder);
    if (!stats?.isDirectory()) return;
    if (depth > MAX_IGNORED_DEPTH) return void this.missed.set(folder, formatFolderStamp(stats));
    this.stamps.set(folder, formatFolderStamp(stats));
    for (const entry of tryReadEntries(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.visitFolder(path, depth + 1);
      else this.visitFile(path);
    }
  }
}
