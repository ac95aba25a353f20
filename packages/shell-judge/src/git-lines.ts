import { createWordSet } from "@burin/contract/text/words";
import type { SimpleCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { findRow, repeatRow } from "./tables.ts";

/** What git itself may start when it runs a line of git commands. */
export interface GitTriggers {
  /** The hooks that git may run; "any" if that depends on more than the words. */
  readonly hooks: readonly string[] | "any";
  /** One of them after which git starts nothing, and reads no settings again; null if the line has none. */
  readonly lastHook: string | null;
  /** true if it writes or compares files, because settings may name filters and other programs for that. */
  readonly usesFiles: boolean;
}

/** A line in which only git, and what git's hooks and settings start, can write files. */
export interface GitLine extends GitTriggers {
  /** The names of the settings that the words set or remove. */
  readonly keys: readonly string[];
  /** true if every command of git in it is `git config`. */
  readonly isAboutSettings: boolean;
}

/** Other commands that write no file and start no program. */
const HARMLESS = createWordSet("cd true false : echo printf pwd ls cat head tail wc grep cut");
/** Subcommands that do not touch files, each with the hook that git may run for it. */
const SUBCOMMANDS_WITHOUT_FILES = createWordSet("branch remote config rev-parse");
const CHANGES_REFS = ["reference-transaction"];
const CHANGES_INDEX = ["post-index-change"];
/** The other known subcommands, each with the hooks that git may run for it. */
const HOOKS_BY_SUBCOMMAND: Readonly<Record<string, readonly string[] | "any">> = {
  ...repeatRow("add restore sparse-checkout status log show diff ls-files", CHANGES_INDEX),
  ...repeatRow("checkout switch worktree", ["post-checkout", ...CHANGES_REFS, ...CHANGES_INDEX]),
  ...repeatRow("reset stash", [...CHANGES_REFS, ...CHANGES_INDEX]),
  fetch: ["pre-auto-gc", ...CHANGES_REFS],
  // The repository that it pushes to may be in the project too.
  push: "pre-push pre-receive update proc-receive post-receive post-update push-to-checkout reference-transaction".split(
    " ",
  ),
  ...repeatRow("merge pull rebase cherry-pick revert", "any"),
  // Git may merge or rebase in a submodule.
  submodule: (
    "post-checkout post-merge pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-rewrite " +
    "applypatch-msg pre-applypatch post-applypatch pre-auto-gc reference-transaction post-index-change"
  ).split(" "),
};
/** The hook that git runs when it has done all else, or before it only sends. */
const LAST_HOOKS: Readonly<Record<string, string>> = {
  ...repeatRow("checkout switch worktree", "post-checkout"),
  push: "pre-push",
};
const LAUNCHING_OPTION =
  /^(?:--(?:exe|int|edit-t|up|rece|conf|temp|sep|textc|tool|filt|trail|e)|foreach$|-[a-z]*[uxi]$)|::/;
const SETTING_OPTIONS =
  /^--(?:local|worktree|add|unset|unset-all|replace-all|bool|int|path|get|get-all|list|type=\w+)$/;
const MAIN_OPTIONS = createWordSet("-C -P --no-pager");

/** Words of `git remote` with which git may talk to the remote. */
const REMOTE_TALKS = /^(?:-(?:-f|[a-z]*f)|show$|update$|prune$|set-head$)/;

/**
 * Returns what git may start for this line; null if the line contains anything but git commands. Does not judge whether
 * the line is allowed.
 */
export function readGitLine(command: string): GitLine | null {
  const { commands, problems, evaluated, isWhole } = parseShellCommand(command);
  if (!isWhole || problems.length > 0 || evaluated.length > 0) return null;
  const lines = commands.map(readPlainGitCommand);
  const found = lines.filter((line) => line !== null);
  if (found.length < lines.length || !found.some(({ isGit }) => isGit)) return null;
  const hooks = new Set<string>();
  for (const line of found) for (const hook of line.hooks) hooks.add(hook);
  const isChain = commands.every(
    ({ isApart, followsSuccess }, at) => !isApart && (at === 0 || followsSuccess),
  );
  return {
    keys: found.flatMap(({ keys }) => keys),
    isAboutSettings: found.every(({ isGit, subcommand }) => !isGit || subcommand === "config"),
    hooks: hooks.has("any") ? "any" : [...hooks],
    lastHook: isChain ? findLastHook(found.filter(({ isGit }) => isGit)) : null,
    usesFiles: found.some(({ usesFiles }) => usesFiles),
  };
}

type GitCommand = NonNullable<ReturnType<typeof readPlainGitCommand>>;

function findLastHook(commands: readonly GitCommand[]): string | null {
  const hook = findRow(LAST_HOOKS, commands.at(-1)?.subcommand ?? "");
  return hook === undefined || commands.slice(0, -1).some(({ hooks }) => hooks.includes(hook)) ? null : hook;
}

function readPlainGitCommand({ words, assignments, redirections, problems }: SimpleCommand) {
  const isPlain =
    problems.length + assignments.length === 0 &&
    redirections.every(({ kind, target }) => kind !== "write" || target === "/dev/null");
  const values = words.flatMap(({ value, isGlob }) => (value === null || isGlob ? [] : [value]));
  if (!isPlain || values.length < words.length) return null;
  // Bash runs what it finds in the subscript of a variable.
  if (values[0] === "printf" && values[1]?.startsWith("-v")) return null;
  if (HARMLESS.has(values[0] ?? ""))
    return { isGit: false, subcommand: "", keys: [], hooks: [], usesFiles: false };
  return values[0] === "git" ? readGitSubcommand(values.slice(findSubcommand(values))) : null;
}

function readGitSubcommand([subcommand = "", ...rest]: readonly string[]) {
  const isAboutRefs = SUBCOMMANDS_WITHOUT_FILES.has(subcommand);
  const hooks = findRow(HOOKS_BY_SUBCOMMAND, subcommand);
  if (!isAboutRefs && hooks === undefined) return null;
  // For these subcommands, the option only sets which branch tracks which, or refers to untracked files.
  const mayHaveU = /^(?:push|branch|stash|add)$/.test(subcommand);
  if (rest.some((word) => LAUNCHING_OPTION.test(word) && !(mayHaveU && word === "-u"))) return null;
  const isConfig = subcommand === "config";
  if (isConfig && rest.some((word) => word.startsWith("-") && !SETTING_OPTIONS.test(word))) return null;
  const keys = isConfig ? rest.filter((word) => !word.startsWith("-")).slice(0, 1) : [];
  const talks = subcommand === "remote" && rest.some((word) => REMOTE_TALKS.test(word));
  return {
    isGit: true,
    subcommand,
    keys,
    hooks: hooks === "any" ? ["any"] : (hooks ?? CHANGES_REFS),
    usesFiles: !isAboutRefs || talks,
  };
}

const READS_SETTINGS = /^(?:--get.*|-l|--list|get|list)$/;
const OTHER_SETTINGS = /^(?:--(?:global|system|file|blob)|-f$|-[a-z]*f)/;

/** Returns the keys and sections of the repository's own settings that `git config` changes with these words. */
export function listChangedSettings([subcommand, ...rest]: readonly string[]): readonly string[] {
  if (subcommand !== "config" || rest.some((word) => READS_SETTINGS.test(word) || OTHER_SETTINGS.test(word)))
    return [];
  const operands = rest.filter((word) => !word.startsWith("-") && !/^(?:set|unset)$/.test(word));
  const isShown = operands.length === 1 && operands.length === rest.length;
  return isShown ? [] : operands.slice(0, 1);
}

function findSubcommand(values: readonly string[]): number {
  let at = 1;
  while (MAIN_OPTIONS.has(values[at] ?? "")) at += values[at] === "-C" ? 2 : 1;
  return at;
}
