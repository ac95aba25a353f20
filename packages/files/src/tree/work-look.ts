import { lstatSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { entriesOf, lstatOf } from "../disk/disk-looks.ts";
import { lookAtTree, stampOf, type TreeRequest } from "../ignore/tree-look.ts";

/** Files, links and folders at one moment, and of the ignored files those that may hold work. */
export interface WorkLook {
  /** By path. Those of folders have no times. */
  readonly stamps: Map<string, string>;
  /** The `.git` of folders below the roots. */
  readonly repositories: ReadonlySet<string>;
  /** Those of them that are ignored. */
  readonly ignored: ReadonlyMap<string, string>;
  /** false when there was too much to look at, or a folder could not be read. */
  readonly isWhole: boolean;
  /** There was too much to look at. */
  readonly isCut: boolean;
  /** There are more ignored files than are looked at. */
  readonly hasMoreIgnored: boolean;
  /** Ignored files and folders that may hold work, and that are too large or too deep to be looked at. */
  readonly missed: readonly string[];
}

/** Made by programs: dependencies, products and caches. */
const MADE_FOLDERS = new Set(
  (
    ".angular .bundle .cache .dart_tool .direnv .docusaurus .eggs .expo .gradle .m2 .mypy_cache .next .nox .npm .nuxt " +
    ".nyc_output .output .parcel-cache .pnpm-store .pytest_cache .ruff_cache .serverless .svelte-kit .terraform .tox " +
    ".turbo .venv .vite .yarn Pods DerivedData __pycache__ _build bin bower_components build coverage deps dist env " +
    "htmlcov jspm_packages log logs node_modules obj out site-packages storybook-static target temp tmp vendor venv"
  ).split(" "),
);
const MADE_FILES =
  /(?:\/\.DS_Store|\.(?:o|a|so|obj|pyc|pyo|class|jar|log|pid|tsbuildinfo|map|tmp|swp|gz|zip|tgz))$/;
/** A larger file is not kept for undo. */
export const MOST_KEPT_BYTES = 64 * 1024 * 1024;
const MOST_IGNORED = 2000;
const MOST_IGNORED_BYTES = 1024 * 1024;
const DEEPEST_IGNORED = 6;

/** Looks at everything that undo can take back, without reading any file. */
export async function lookAtWork(request: TreeRequest, signal: AbortSignal): Promise<WorkLook> {
  const folders = new Map<string, string>();
  const repositories = new Set<string>();
  const ignored = new IgnoredWork();
  const look = await lookAtTree(
    {
      ...request,
      watchIn: (root) => ({
        entered: (folder) => {
          const path = join(root, folder.slice(0, -1));
          const stats = lstatOf(path);
          if (stats !== null) folders.set(path, folderStamp(stats));
        },
        leftOut: (found) => {
          const path = join(root, found.replace(/\/$/, ""));
          if (found.endsWith("/.git/") || found === ".git/") repositories.add(path);
          else if (basename(path) === ".git") ignored.lookAt(path);
          else if (found.endsWith("/")) ignored.lookBelow(path, 0);
          else ignored.lookAt(path);
        },
      }),
    },
    signal,
  );
  const stamps = new Map([...folders, ...look.stamps, ...ignored.stamps]);
  const { isWhole, isCut } = look;
  const { isFull: hasMoreIgnored, missed } = ignored;
  return { stamps, ignored: ignored.stamps, repositories, isWhole, isCut, hasMoreIgnored, missed };
}

/** Not its times, which change with what is in it. */
function folderStamp({ mode, ino }: Stats): string {
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

export function readStamp(stamp: string): FileStamp {
  const [mode = 0, inode = 0, bytes = 0, modified = 0, changed = 0] = stamp.split(" ").map(Number);
  return { mode, inode, bytes, modified, changed };
}

/** The stamp of what is at a path now; null when nothing is there, as far as can be seen. */
export function stampNow(path: string): string | null {
  const stats = lstatOf(path);
  if (stats === null) return null;
  if (stats.isDirectory()) return folderStamp(stats);
  return stats.isFile() || stats.isSymbolicLink() ? stampOf(stats) : null;
}

/** Ignored files that are small and that no program has made, as far as names tell. */
class IgnoredWork {
  readonly stamps = new Map<string, string>();
  readonly missed: string[] = [];
  isFull = false;

  lookAt(path: string): void {
    if (MADE_FILES.test(path)) return;
    const stats = orElse(null, () => lstatSync(path));
    if (stats === null || !(stats.isFile() || stats.isSymbolicLink())) return;
    if (stats.size > MOST_IGNORED_BYTES) return void this.missed.push(path);
    if (this.stamps.size >= MOST_IGNORED) this.isFull = true;
    else this.stamps.set(path, stampOf(stats));
  }

  lookBelow(folder: string, depth: number): void {
    if (this.isFull || MADE_FOLDERS.has(basename(folder))) return;
    if (depth > DEEPEST_IGNORED) return void this.missed.push(folder);
    const stats = lstatOf(folder);
    if (stats?.isDirectory()) this.stamps.set(folder, folderStamp(stats));
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.lookBelow(path, depth + 1);
      else this.lookAt(path);
    }
  }
}
