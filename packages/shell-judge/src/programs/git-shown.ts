import { createWordSet } from "@burin/contract/text/words";
import { findGitSubcommand, HARMLESS_GLOBALS } from "./git.ts";

// Which files' contents git may print. An unknown subcommand or option may print any file's: it may be an alias, or
// newer than these lists.

/** Subcommands that show names and commits, or change what is in the folder. */
const NAME_SUBCOMMANDS = createWordSet(`
  add branch check-attr check-ignore checkout cherry cherry-pick clean commit config count-objects
  describe fetch for-each-ref gc init ls-files ls-remote ls-tree merge merge-base mv name-rev pull
  push rebase remote reset rev-parse revert rm show-ref status switch tag version`);
/** With one of these options, they show contents after all. */
const SHOWS_CHANGES = /^(?:add|checkout|reset|commit|status) (?:-[a-zA-Z]*[pvie]|--(?:pat|v|int|edit))/;
/** Subcommands that show commits, and changes only with an option. */
const COMMIT_SUBCOMMANDS = createWordSet(
  "log shortlog reflog rev-list whatchanged diff-tree diff-index diff-files",
);
const LOCATION_OPTION =
  /^(?:-s|--(?:(?:num|short|dir)?stat|summary|name-only|name-status|quiet|raw|no-patch))(?:=|$)/;
/** The others say which commits are shown, and how. */
const QUIET_LETTERS = /^-(?:\d+|n\d*|[sqzrtMDRiEFgebwn]+|[SG].*)$/s;
const QUIET_OPTIONS = createWordSet(`
  oneline graph decorate no-decorate all branches tags remotes since until after before author committer
  grep max-count skip format pretty abbrev no-abbrev abbrev-commit no-abbrev-commit color no-color cached
  staged date reverse merges no-merges first-parent count stat numstat shortstat dirstat summary name-only
  name-status relative no-renames find-renames diff-filter follow no-ext-diff no-textconv no-patch quiet raw
  objects numbered email exit-code`);

function isQuietOption(option: string): boolean {
  return QUIET_LETTERS.test(option) || QUIET_OPTIONS.has(/^--([\w-]+)(?:=|$)/.exec(option)?.[1] ?? "");
}

/** The files whose content git may print. */
export interface GitOutput {
  /** The words that may name commits; null when it would run in another folder or with other settings. */
  readonly revisions: readonly string[] | null;
  /** When absent, everything in all commits; otherwise what is in these folders, or these files. */
  readonly below?: readonly string[];
  /** The ends of the paths that are shown; they may be below any folder of any commit. */
  readonly ends?: readonly string[];
}

/** Null when it prints no content of a file, or only of files that stand as such among the words. */
export function findGitOutput(words: readonly string[]): GitOutput | null {
  const at = findGitSubcommand(words);
  const [name = "", ...given] = words.slice(at);
  const end = given.indexOf("--");
  const own = end === -1 ? given : given.slice(0, end);
  const options = own.filter((word) => word.startsWith("-"));
  const operands = own.filter((word) => !word.startsWith("-"));
  if (printsNoContent(name, options, operands[0])) return null;
  const isElsewhere = words.slice(1, at).some((word) => !HARMLESS_GLOBALS.has(word));
  if (isElsewhere || options.some((option) => option.includes("submodule"))) return { revisions: null };
  if (name === "blame" || name === "annotate") return null;
  const revisions = operands.filter((word) => !word.includes(":"));
  const below = end === -1 ? [] : given.slice(end + 1);
  const isLimited = !options.includes("--follow") && below.every((path) => /^[^:*?[\\]+$/.test(path));
  if (below.length > 0 && isLimited) return { revisions, below };
  const ends = operands.flatMap((word) => /^[^:]*:(?:\d:)?(?:\.?\/)*(.+)$/s.exec(word)?.[1] ?? []);
  const isNamed = ends.length > 0 && ends.length === operands.length && NAMES_CONTENT.test(name);
  return isNamed ? { revisions, ends } : { revisions };
}

const NAMES_CONTENT = /^(?:show|cat-file|diff)$/;

function printsNoContent(name: string, options: readonly string[], operand: string | undefined): boolean {
  if (NAME_SUBCOMMANDS.has(name)) return !options.some((option) => SHOWS_CHANGES.test(`${name} ${option}`));
  if (name === "cat-file") return options.some((option) => /^-[tse]$/.test(option));
  if (!options.every((option) => isQuietOption(option))) return false;
  const isList = name === "stash" ? operand !== "show" : name === "" || COMMIT_SUBCOMMANDS.has(name);
  return isList || options.some((option) => LOCATION_OPTION.test(option));
}
