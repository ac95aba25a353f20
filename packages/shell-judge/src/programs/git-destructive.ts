import { alike, rowOf } from "../tables.ts";
import { isOneOf } from "./options.ts";

interface Destruction {
  readonly letters?: string;
  readonly long?: string;
  /** First operands that are destructive. */
  readonly actions?: readonly string[];
  /** The subcommand is destructive whatever its words. */
  readonly always?: boolean;
}

const DESTRUCTION: Readonly<Record<string, Destruction>> = {
  ...alike("clean restore prune filter-branch", { always: true }),
  reset: { long: "--hard --merge" },
  checkout: { letters: "fBp", long: "--force --patch --ours --theirs --pathspec-from-file" },
  switch: { letters: "fC", long: "--force --discard-changes --force-create" },
  push: {
    letters: "fd",
    long: "--force --force-with-lease --force-if-includes --mirror --delete --prune",
  },
  branch: { letters: "DMCf", long: "--force" },
  tag: { letters: "df", long: "--delete --force" },
  stash: { actions: ["drop", "clear"] },
  reflog: { actions: ["expire", "delete"] },
  rm: { letters: "fr", long: "--force" },
  gc: { long: "--prune --aggressive" },
  worktree: { letters: "f", long: "--force", actions: ["remove", "prune"] },
  "update-ref": { letters: "d", long: "--stdin" },
  "checkout-index": { letters: "f", long: "--force" },
  "read-tree": { letters: "u", long: "--reset" },
  submodule: { letters: "f", long: "--force", actions: ["deinit"] },
};

/** The index of the word that makes a git command destructive, or -1. The words begin with the subcommand. */
export function destructiveWord(words: readonly string[]): number {
  const [subcommand = "", ...rest] = words;
  const destruction = rowOf(DESTRUCTION, subcommand);
  if (destruction === undefined) return -1;
  if (destruction.always === true) return onlyUnstages(words) ? -1 : 0;
  const { letters = "", long = "", actions = [] } = destruction;
  const option = rest.findIndex((word) => isOneOf(word, letters, long) || actions.includes(word));
  if (option !== -1) return option + 1;
  if (subcommand === "checkout") return overwritingCheckout(rest);
  const forced = subcommand === "push" ? rest.findIndex((word) => /^[+:]/.test(word)) : -1;
  return forced === -1 ? -1 : forced + 1;
}

function onlyUnstages([subcommand, ...rest]: readonly string[]): boolean {
  const isStaged = rest.some((word) => word === "--staged" || word === "-S");
  const alsoFiles = rest.some((word) => isOneOf(word, "W", "--worktree"));
  return subcommand === "restore" && isStaged && !alsoFiles;
}

/** Without `-b` a word may be a file as well as a branch, and a file would be overwritten. */
function overwritingCheckout(rest: readonly string[]): number {
  if (rest.some((word) => word === "-b" || word === "--orphan")) return -1;
  const marked = rest.indexOf("--");
  if (marked !== -1) return marked + 1;
  const operand = rest.findIndex((word) => !word.startsWith("-"));
  return operand === -1 ? -1 : operand + 1;
}
