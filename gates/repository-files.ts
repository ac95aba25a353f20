import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The content of each file by its path in the repository. Paths always use `/`. */
export type Files = ReadonlyMap<string, string>;

/** What a gate found, and how many files it checked: a gate that checks nothing cannot pass. */
export interface Verdict {
  readonly looked: number;
  readonly violations: readonly string[];
}

export const repositoryRoot = fileURLToPath(new URL("..", import.meta.url));

/** Reads all files that git tracks or would add. Ignored files are not part of the repository. */
export function readRepositoryFiles(): Files {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = new Map<string, string>();
  for (const path of listed.split("\0").filter(Boolean).sort()) {
    const place = join(repositoryRoot, path);
    if (lstatSync(place, { throwIfNoEntry: false })?.isFile()) files.set(path, readFileSync(place, "utf8"));
  }
  return files;
}

export function isCode(path: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(path);
}

/** Whether this code is never shipped or run by a user: it may use any package, and anything in its own room. */
export function isTest(path: string): boolean {
  return (
    /\.test\.[cm]?[jt]sx?$/.test(path) || /^packages\/[^/]+\/tests\//.test(path) || path.startsWith("gates/")
  );
}
