import { findRow, repeatRow } from "../tables.ts";
import { isOneOf } from "./options.ts";

interface Destruction {
  readonly letters?: string;
  readonly long?: string;
  /** Operands that are destructive as the first operand. */
  readonly actions?: readonly string[];
  /** The subcommand is destructive whatever its words. */
  readonly always?: boolean;
  /** true if a copy of git's folder and of all files that are not ignored would restore what it destroys. */
  readonly isRestorable?: boolean;
}

const DESTRUCTION: Readonly<Record<string, Destruction>> = {
  ...repeatRow("prune filter-branch", { always: true }),
  ...repeatRow("clean restore", { always: true, isRestorable: true }),
  reset: { long: "--hard --merge", isRestorable: true },
  checkout: {
    letters: "fBp",
    long: "--force --patch --ours --theirs --pathspec-from-file",
    isRestorable: true,
  },
  switch: { letters: "fC", long: "--force --discard-changes --force-create", isRestorable: true },
  push: {
    letters: "fd",
    long: "--force --force-with-lease --force-if-includes --mirror --delete --prune",
  },
  branch: { letters: "DMCf", long: "--force", isRestorable: true },
  tag: { letters: "df", long: "--delete --force", isRestorable: true },
  stash: { actions: ["drop", "clear"], isRestorable: true },
  reflog: { actions: ["expire", "delete"] },
  rm: { letters: "fr", long: "--force", isRestorable: true },
  gc: { long: "--prune --aggressive" },
  worktree: { letters: "f", long: "--force", actions: ["remove", "prune"] },
  "update-ref": { letters: "d", long: "--stdin", isRestorable: true },
  "checkout-index": { letters: "f", long: "--force", isRestorable: true },
  "read-tree": { letters: "u", long: "--reset", isRestorable: true },
  submodule: { letters: "f", long: "--force", actions: ["deinit"] },
};

/** Returns the index of the word that makes a git command destructive, or -1. The words begin with the subcommand. */
export function findDestructiveWord(words: readonly string[]): number {
  const [subcommand = "", ...rest] = words;
  const destruction = findRow(DESTRUCTION, subcommand);
  if (destruction === undefined) return -1;
  if (destruction.always === true) return onlyUnstages(words) ? -1 : 0;
  const { letters = "", long = "", actions = [] } = destruction;
  const option = rest.findIndex((word) => isOneOf(word, letters, long) || actions.includes(word));
  if (option !== -1) return option + 1;
  if (subcommand === "checkout") return findOverwritingWord(rest);
  const forced = subcommand === "push" ? rest.findIndex((word) => /^[+:]/.test(word)) : -1;
  return forced === -1 ? -1 : forced + 1;
}

/** Whether a copy of git's folder and of all files that are not ignored gives back what the command destroys. */
export function isRestorable([subcommand = "", ...rest]: readonly string[]): boolean {
  const letters = rest.filter((word) => /^-[a-z]/i.test(word)).join("");
  // With `-x` it deletes ignored files; with a second `-f`, repositories inside this one.
  if (subcommand === "clean" && /x|f.*f/i.test(letters)) return false;
  return findRow(DESTRUCTION, subcommand)?.isRestorable === true;
}

function onlyUnstages([subcommand, ...rest]: readonly string[]): boolean {
  const isStaged = rest.some((word) => word === "--staged" || word === "-S");
  const alsoFiles = rest.some((word) => isOneOf(word, "W", "--worktree"));
  return subcommand === "restore" && isStaged && !alsoFiles;
}

/** Finds the word that may be a file to overwrite: without `-b`, a word may be a branch or a file. */
function findOverwritingWord(rest: readonly string[]): number {
  if (rest.some((word) => word === "-b" || word === "--orphan")) return -1;
  const marked = rest.indexOf("--");
  if (marked !== -1) return marked + 1;
  const operand = rest.findIndex((word) => !word.startsWith("-"));
  return operand === -1 ? -1 : operand + 1;
}
