import { join } from "node:path";
import { ODD_NAME } from "../processes/command-surroundings.ts";
import type { ProgramOutput } from "../processes/wait-for-output.ts";

type RunGit = (words: readonly string[]) => ProgramOutput;

/**
 * Returns names in the index, and in commits that the words may name, that a program would misread; null if unknown.
 */
export function findMisreadableNames(ask: RunGit, words: readonly string[]): string[] | null {
  const trees = findNamedObjects(ask, words);
  if (trees === null) return null;
  const lists = trees.map((tree) => ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree]);
  const listed = [["ls-files", "-z", "--full-name", ":/"], ...lists].map(ask);
  if (listed.some(({ fault }) => fault !== null)) return null;
  const names = listed.flatMap(({ output }) => output.toString("utf8").split("\0"));
  return names.filter((name) => ODD_NAME.test(name));
}

/**
 * Returns the path of every file whose content git keeps: in the index, in all commits that it still knows, and in
 * those that the words name. null when git does not answer, or when a word names content that has no path.
 */
export function listPathsInGit(ask: RunGit, words: readonly string[]): string[] | null {
  const top = ask(["rev-parse", "--show-toplevel"]);
  if (top.fault?.startsWith("fatal: not a git repository")) return [];
  const objects = top.fault === null ? findNamedObjects(ask, words) : null;
  if (objects === null || objects.some((object) => !isCommitOrTree(ask, object))) return null;
  const { output, fault } = ask([...LIST_ALL_OBJECTS, ...objects]);
  if (fault !== null) return null;
  const folder = top.output.toString("utf8").replace(/\n$/, "");
  // Each line is a hash and, for what is in a tree, a space and the path.
  const paths = output.toString("utf8").match(/(?<=^[0-9a-f]{40,64} ).+$/gm) ?? [];
  return paths.map((path) => join(folder, path));
}

const LIST_ALL_OBJECTS = ["rev-list", "--objects", "--all", "--reflog", "--indexed-objects"];

/** A commit or a tree, also behind a tag. */
function isCommitOrTree(ask: RunGit, object: string): boolean {
  const { output, fault } = ask(["cat-file", "-t", `${object}^{}`]);
  return fault === null && /^(?:commit|tree)$/m.test(output.toString("utf8"));
}

function findNamedObjects(ask: RunGit, words: readonly string[]): string[] | null {
  const { output, fault } = ask(["rev-parse", "--revs-only", "--no-flags", ...words]);
  if (fault !== null) return null;
  // git prints a `^` before the start of a range.
  return output.toString("utf8").replaceAll("^", "").split("\n").filter(Boolean);
}
