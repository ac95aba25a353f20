import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Repository paths (always with `/`) and what is in the files. */
export type Files = ReadonlyMap<string, string>;

/** How many files a gate judged, so that a gate which looks at nothing cannot pass, and what it found. */
export interface Verdict {
  readonly looked: number;
  readonly violations: readonly string[];
}

export const repositoryRoot = fileURLToPath(new URL("..", import.meta.url));

/** All that git has or would take: what is ignored is no part of the repository. */
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

/** Code that is never shipped or run by a user: it may use any package and anything of its own room. */
export function isTest(path: string): boolean {
  return (
    /\.test\.[cm]?[jt]sx?$/.test(path) || /^packages\/[^/]+\/tests\//.test(path) || path.startsWith("gates/")
  );
}
