import { repeatRow } from "../tables.ts";
import type { OptionTable } from "./options.ts";

export interface ReadingSubcommand extends OptionTable {
  /**
   * Options of which one must be given for the subcommand to only read its operands; otherwise it would change
   * something.
   */
  readonly needs?: readonly string[];
  /** The maximum number of operands with which the subcommand only reads in any case. */
  readonly freeOperands?: number;
  /** The first operands that are allowed; an empty string stands for none. */
  readonly actions?: readonly string[];
  readonly operands?: "pattern then paths";
  /** true if the subcommand is judged like one that changes something whenever it does not only read. */
  readonly mostlyChanges?: boolean;
}

/** Options of the reading subcommands that print, select or format, and do nothing else. */
const LONG = `
  patch no-patch stat numstat shortstat dirstat name-only name-status summary raw oneline graph decorate
  no-decorate decorate-refs= all branches tags remotes glob= since=~ until=~ after=~ before=~ author=~
  committer=~ grep=~ max-count= skip= format= pretty abbrev-commit no-abbrev-commit abbrev color no-color
  word-diff word-diff-regex=~ color-words color-moved cached staged merge-base unified minimal patience
  histogram diff-algorithm= ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines
  ignore-cr-at-eol no-ext-diff no-textconv no-renames find-renames find-copies diff-filter= quiet
  exit-code check full-index binary text relative no-prefix src-prefix= dst-prefix= merges no-merges
  first-parent reverse topo-order date-order author-date-order follow full-history simplify-merges
  ancestry-path left-right cherry-pick cherry-mark left-only right-only date= relative-date
  pickaxe-regex pickaxe-all full-diff source no-notes invert-grep regexp-ignore-case extended-regexp
  fixed-strings perl-regexp walk-reflogs boundary parents children line-prefix= inter-hunk-context=
  function-context count cc not objects no-walk no-commit-id max-parents= min-parents= no-index`;

const LOG: OptionTable = {
  flags: "puswbazRriEFPgcmvt",
  values: "nl",
  texts: "SGL",
  // Options whose value must be attached; otherwise the next word is a file.
  attached: "MCBXU",
  long: LONG,
  numbers: true,
};

const GREP_LONG = `
    line-number files-with-matches files-without-match count word-regexp ignore-case heading break
    untracked no-index show-function max-depth= and or invert-match only-matching column null`;

/** What each reading subcommand allows; a subcommand that is not here changes something. */
export const READING_SUBCOMMANDS: Readonly<Record<string, ReadingSubcommand>> = {
  ...repeatRow("log show diff whatchanged diff-tree diff-index diff-files range-diff rev-list", LOG),
  shortlog: { ...LOG, flags: "nsecpi", long: `${LONG} numbered email group=` },
  status: {
    flags: "sbvz",
    attached: "u",
    long: `
      short branch long verbose porcelain show-stash ahead-behind no-ahead-behind untracked-files
      ignored column no-column renames no-renames find-renames null`,
  },
  branch: {
    flags: "avrqi",
    long: `
      list all remotes verbose contains= no-contains= merged no-merged sort= points-at= show-current
      format= color no-color column no-column ignore-case abbrev no-abbrev`,
    needs: ["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"],
  },
  tag: {
    flags: "li",
    attached: "n",
    long: "list contains= no-contains= merged no-merged sort= points-at= format= color no-color column no-column ignore-case",
    needs: ["-l", "--list", "-n", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"],
  },
  fsck: {
    long: "full strict connectivity-only unreachable dangling no-dangling root tags cache reflogs no-reflogs verbose progress no-progress name-objects",
    needs: [],
    freeOperands: 0,
    mostlyChanges: true,
  },
  submodule: { flags: "q", long: "quiet cached", actions: ["", "status"], mostlyChanges: true },
  apply: {
    flags: "vR",
    values: "pC",
    long: "check stat numstat summary verbose reverse index cached recount unidiff-zero",
    needs: ["--check", "--stat", "--numstat", "--summary"],
    freeOperands: -1,
    mostlyChanges: true,
  },
  clean: {
    flags: "ndxXq",
    texts: "e",
    long: "dry-run quiet exclude=~",
    needs: ["-n", "--dry-run"],
    freeOperands: -1,
    mostlyChanges: true,
  },
  remote: { flags: "v", long: "verbose all push", actions: ["", "get-url"] },
  stash: { ...LOG, actions: ["list", "show"] },
  reflog: { ...LOG, actions: ["", "show", "HEAD"] },
  worktree: { flags: "vz", long: "porcelain verbose", actions: ["list"] },
  config: {
    flags: "lz",
    long: "get get-all get-regexp list show-origin show-scope global local system worktree null name-only type= bool int path default= includes no-includes",
    needs: ["-l", "--list", "--get", "--get-all", "--get-regexp"],
  },
  "symbolic-ref": { flags: "q", long: "short quiet", needs: [], freeOperands: 1 },
  "rev-parse": {
    flags: "q",
    long: `
      show-toplevel git-dir git-common-dir abbrev-ref short verify is-inside-work-tree is-inside-git-dir
      is-bare-repository show-prefix show-cdup symbolic symbolic-full-name all branches tags remotes
      absolute-git-dir show-superproject-working-tree quiet git-path`,
  },
  "ls-files": {
    flags: "cdmoiskutvfz",
    texts: "x",
    long: `
      modified others ignored stage unmerged killed directory no-empty-directory cached deleted
      exclude=~ exclude-standard full-name error-unmatch eol deduplicate abbrev`,
  },
  "ls-tree": {
    flags: "drtlz",
    long: "long name-only name-status object-only full-name full-tree abbrev format=",
  },
  blame: {
    flags: "lstfnewpcbM",
    texts: "L",
    attached: "C",
    long: "porcelain line-porcelain incremental show-email show-name show-number root date= abbrev since= reverse first-parent",
  },
  annotate: { flags: "lt", texts: "L" },
  describe: {
    long: "tags all always dirty long match= exclude= abbrev contains exact-match first-parent candidates= broken",
  },
  "cat-file": { flags: "tpse" },
  "merge-base": { flags: "a", long: "all is-ancestor octopus independent fork-point" },
  "name-rev": { long: "tags all name-only always refs=" },
  "for-each-ref": {
    long: "count= sort= format= points-at= contains= no-contains= merged no-merged color ignore-case",
  },
  "show-ref": { flags: "dqs", long: "heads tags head dereference verify quiet hash abbrev branches" },
  "count-objects": { flags: "vH", long: "verbose human-readable" },
  "check-ignore": { flags: "vnqz", long: "verbose no-index quiet non-matching" },
  "check-attr": { flags: "az", long: "all cached" },
  cherry: { flags: "v", long: "abbrev" },
  version: { long: "build-options" },
  grep: {
    flags: "inIwvEFGPlLchHopqzWar",
    values: "ABCm",
    texts: "e",
    long: `${LONG} ${GREP_LONG} regexp=~ context= after-context= before-context=`,
    numbers: true,
    operands: "pattern then paths",
  },
};
