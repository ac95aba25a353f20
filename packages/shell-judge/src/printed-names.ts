import { splitWords } from "@burin/contract/text/words";
import type { SimpleCommand } from "./grammar/command-parts.ts";
import { readPrintedPaths } from "./programs/find.ts";
import type { PathSet } from "./programs/finding.ts";
import { findRow, repeatRow } from "./tables.ts";

/** Filters that print some of their input lines unchanged. */
const FILTERS: Readonly<Record<string, RegExp>> = {
  grep: /^(?:-[viEFPwx]+ )*(?:-e )?[^\s-]\S*$/,
  egrep: /^(?:-[viwx]+ )*[^\s-]\S*$/,
  head: /^(?:-n ?\d+|-\d+)?$/,
  tail: /^(?:-n ?[+-]?\d+|-\d+)?$/,
  sort: /^(?:-[urnVf]+)?$/,
  ...repeatRow("uniq cat", /^$/),
};

/** A program that prints names, unchanged and relative to the current folder, with no other options than these. */
interface NamePrinter {
  readonly options: RegExp;
  /** More of them: long ones without a value. */
  readonly flags?: string;
  /** Options that take the next word. */
  readonly values?: RegExp;
  /** Options of which one must be given; otherwise the program prints more than names. */
  readonly required?: RegExp;
  /** Options with which all operands are places to search; otherwise the first operand is a pattern. */
  readonly searches?: RegExp;
  readonly isGit?: boolean;
}

const GREP: NamePrinter = {
  options:
    /^(?:-[rRnlLiIEFPwxHhsvoqZ]+|-[em].+|--(?:in|ex)clude(?:-dir)?=.*|--files-with(?:out)?-match|--colou?r=never)$/s,
  values: /^(?:-[em]|--(?:in|ex)clude(?:-dir)?)$/,
  required: /^(?:-[rRnlLiIEFPwxHhsvoqZ]*[lL]|--files-with)/,
  searches: /^-e/,
};
const PRINTERS: Readonly<Record<string, NamePrinter>> = {
  // -a would also list the parent folder.
  ls: { options: /^-[1AtrSdR]+$/ },
  ...repeatRow("grep egrep fgrep", GREP),
  rg: {
    options: /^(?:-[lniwFSsHuL.]+|-[egtTm].+|--(?:glob|iglob|type|type-not)=.*)$/s,
    flags: `
      --files --hidden --no-ignore --follow --ignore-case --fixed-strings --word-regexp --smart-case
      --files-with-match --files-with-matches --files-without-match --files-without-matches`,
    values: /^(?:-[egtTm]|--(?:glob|iglob|type|type-not))$/,
    required: /^(?:-[lniwFSsHuL.]*l|--files)/,
    searches: /^(?:-e|--files$)/,
  },
  "git ls-files": {
    options: /^(?:-[cdmoz]+|--(?:cached|deleted|modified|others|exclude-standard|full-name|deduplicate))$/,
    isGit: true,
  },
  "git diff": {
    options: /^--(?:name-only|cached|staged|relative|merge-base|no-renames|diff-filter=\w+)$/,
    required: /^--name-only$/,
    isGit: true,
  },
};

/**
 * Finds the names that a command prints, one per line or separated by NUL. When a shell drops the NULs, neighboring
 * names are joined: `.` and `./a`.
 */
export function findPrintedNames(
  command: SimpleCommand | undefined,
  byNul = command?.isByNul === true,
): PathSet | null {
  if (command?.isSplit !== true) return findOutputNames(command, byNul);
  const below = findOutputNames(command, byNul);
  // A name that is itself a pattern would expand to others.
  return below && { ...below, names: [], hasLinks: true, isText: true };
}

function findOutputNames(command: SimpleCommand | undefined, byNul: boolean): PathSet | null {
  if (command === undefined) return null;
  const words = command.words.flatMap(({ value }) => value ?? []);
  // An error message is not a name; redirected elsewhere it does not get into the pipe.
  const isRedirected = command.redirections.some(({ text }) => !/^2>\s*\/dev\/null$/.test(text));
  if (isRedirected || words.length < command.words.length) return null;
  const [name = "", ...rest] = words;
  const isFilter = findRow(FILTERS, name)?.test(rest.join(" ")) === true;
  if (isFilter && command.input !== undefined) return findPrintedNames(command.input, byNul);
  const endsInNul = name === "find" ? /^-print0$/ : /^-[a-zA-Z]*[zZ]/;
  if (words.some((word) => endsInNul.test(word)) !== byNul || (byNul && words.includes("-print")))
    return null;
  if (name === "find") {
    const found = words.map((value) => ({ value, isGlob: false }));
    return command.words.some(({ isGlob }) => isGlob) ? null : readPrintedPaths(found);
  }
  const ofGit = name === "git" ? [`git ${rest[0]}`, ...rest.slice(1)] : null;
  return predictPrintedPaths(ofGit ?? words);
}

function predictPrintedPaths([name = "", ...rest]: readonly string[]): PathSet | null {
  const printer = findRow(PRINTERS, name);
  const read = printer === undefined ? null : readPrinterOptions(rest, printer);
  if (printer === undefined || read === null) return null;
  const { options, operands } = read;
  const { required, searches } = printer;
  if (required !== undefined && !options.some((option) => required.test(option))) return null;
  if (operands.some((word) => word.startsWith("/") || word.split("/").includes(".."))) return null;
  const isAllPlaces = searches !== undefined && options.some((option) => searches.test(option));
  const places = searches === undefined ? [] : operands.slice(isAllPlaces ? 0 : 1);
  const below = { folders: places.length > 0 ? places : ["."], names: [], hasLinks: true, isText: true };
  return printer.isGit ? { ...below, inGit: operands } : below;
}

/** null when there is an option that is not listed. */
function readPrinterOptions(words: readonly string[], { options: allowed, flags = "", values }: NamePrinter) {
  const options: string[] = [];
  const operands: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const takesNext = values?.test(word) === true;
    const isListed = !word.startsWith("-") || word === "--" || splitWords(flags).includes(word);
    if (!isListed && !takesNext && !allowed.test(word)) return null;
    (word.startsWith("-") ? options : operands).push(word);
    if (takesNext) at += 1;
  }
  return { options, operands };
}
