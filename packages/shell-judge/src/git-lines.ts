import type { SimpleCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { setOf } from "./tables.ts";

/** A line in which nothing but git, and what git's hooks and settings start, can write a file. */
export interface GitLine {
  /** The names of the settings that its words set or remove. */
  readonly keys: readonly string[];
  /** Whether one of its commands works on files or talks to others, so that hooks and filters may run. */
  readonly runsHooks: boolean;
}

const SHELL_ONLY = setOf("cd true : echo printf pwd");
const WITHOUT_HOOKS = setOf("branch remote config rev-parse");
const WITH_HOOKS = setOf(
  "add checkout switch fetch pull push merge stash restore sparse-checkout submodule worktree status log show diff ls-files",
);
const LAUNCHES = /^(?:--(?:up|rece|conf|temp|sep|textc|tool|filt|trail|e)|foreach$|-[a-z]*u$)|::/;
const SETTING_OPTIONS =
  /^--(?:local|worktree|add|unset|unset-all|replace-all|bool|int|path|get|get-all|list|type=\w+)$/;
const MAIN_OPTIONS = setOf("-C -P --no-pager");

/** It may talk to a remote. */
const REMOTE_TALKS = /^(?:-(?:-f|[a-z]*f)|show$|update$|prune$|set-head$)/;

/** Returns null for a line with anything else in it. Says nothing about whether the line is allowed. */
export function readGitLine(command: string): GitLine | null {
  const { commands, problems, evaluated, isWhole } = parseShellCommand(command);
  if (!isWhole || problems.length > 0 || evaluated.length > 0) return null;
  const lines = commands.map(readCommand);
  const found = lines.filter((line) => line !== null);
  if (found.length < lines.length || !found.some(({ isGit }) => isGit)) return null;
  return { keys: found.flatMap(({ keys }) => keys), runsHooks: found.some(({ runsHooks }) => runsHooks) };
}

function readCommand({ words, assignments, redirections, problems }: SimpleCommand) {
  const isPlain =
    problems.length + assignments.length === 0 && redirections.every(({ kind }) => kind !== "write");
  const values = words.flatMap(({ value, isGlob }) => (value === null || isGlob ? [] : [value]));
  if (!isPlain || values.length < words.length) return null;
  if (SHELL_ONLY.has(values[0] ?? "")) return { isGit: false, keys: [], runsHooks: false };
  return values[0] === "git" ? readGit(values.slice(subcommandOf(values))) : null;
}

function readGit([subcommand = "", ...rest]: readonly string[]) {
  const isHookless = WITHOUT_HOOKS.has(subcommand);
  if (!isHookless && !WITH_HOOKS.has(subcommand)) return null;
  // There it only notes which branch follows which, or means untracked files.
  const mayHaveU = /^(?:push|branch|stash|add)$/.test(subcommand);
  if (rest.some((word) => LAUNCHES.test(word) && !(mayHaveU && word === "-u"))) return null;
  const isConfig = subcommand === "config";
  if (isConfig && rest.some((word) => word.startsWith("-") && !SETTING_OPTIONS.test(word))) return null;
  const key = isConfig ? rest.filter((word) => !word.startsWith("-")).slice(0, 1) : [];
  const talks = subcommand === "remote" && rest.some((word) => REMOTE_TALKS.test(word));
  return { isGit: true, keys: key, runsHooks: !isHookless || talks };
}

function subcommandOf(values: readonly string[]): number {
  let at = 1;
  while (MAIN_OPTIONS.has(values[at] ?? "")) at += values[at] === "-C" ? 2 : 1;
  return at;
}
