import { splitWords } from "@burin/contract/text/words";
import { type Argument, createLaunchFinding, type Finding, judgePath, type Reach } from "./finding.ts";
import { CURL_VALUES } from "./network-others.ts";
import { type Options, readOptions } from "./options.ts";
import { WIDE_COMMANDS } from "./wide-commands.ts";
import { isWideningOption, type WideCommand } from "./wide-row.ts";

const ROWS = WIDE_COMMANDS.map((row) => ({
  row,
  pattern: row.words.split(" ").map((word) => word.split("|")),
}));
const SCRIPT_NAME = /^(?!.*\.\.)@?\w[\w:.@/-]*$/;
/** A folder of the project, as go names packages. */
const FOLDER = /^\.(?!.*\.\.)(?:\/[\w.@+-]+)*\/?$/;
/**
 * Matches a file with an extension that is not above the folder. `manage.py` is excluded: what a framework's own
 * program does depends on its next word.
 */
const FILE = /^(?:\.\/)?(?!.*\.\.)(?!.*\bmanage\.py$)\w[\w./@+-]*\.\w+$/;
/** The programs of this machine: `http://localhost:3000/x`, in front of its port or path. */
const OWN_ADDRESS = /^((?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]?)/i;

/** An address, which a path can look like. */
const ELSEWHERE = /:\/\/|^[\w.-]+@[\w.-]+:|::/;

/** The row about a command with these words, and how many of them the rule spells out. */
export function findWideRow(
  words: readonly string[],
): { readonly row: WideCommand; readonly count: number } | null {
  const found = ROWS.find(({ pattern }) =>
    pattern.every((names, at) => {
      const word = words[at] ?? "";
      if (names.includes("$file")) return FILE.test(word);
      if (names.includes("$folder")) return FOLDER.test(word);
      return names.includes("$") ? SCRIPT_NAME.test(word) : names.includes(word);
    }),
  );
  return found === undefined ? null : { row: found.row, count: found.pattern.length };
}

/** The words of a rule for this command with other arguments; null when its table knows of none. */
export function buildWideRule(words: readonly Argument[], reach: Reach): readonly string[] | null {
  const values = words.map(({ value }) => value);
  const found = findWideRow(values);
  if (found === null) return null;
  const { row, count } = found;
  const own =
    row.operands === "addresses" ? values.map((value) => OWN_ADDRESS.exec(value)?.[1]).find(Boolean) : "";
  if (own === undefined || findWordsBeyondRule({ row, count, address: own }, words, reach).length > 0)
    return null;
  const isHostAlone = own !== "" && !/[:/]$/.test(own.replace(/^https?:\/\//i, ""));
  return [...values.slice(0, count), `${own}${isHostAlone ? "/" : ""}*`];
}

interface RuleWidth {
  readonly row: WideCommand | undefined;
  readonly count: number;
  /** The beginning that every address must have. */
  readonly address?: string | undefined;
}

/** Finds the words that make a command a different kind of thing than the wide rule covers. */
export function findWordsBeyondRule(
  { row, count, address = "" }: RuleWidth,
  words: readonly Argument[],
  reach: Reach,
): Finding[] {
  if (row === undefined || row.operands === "addresses")
    return address === "" ? [] : findOtherAddresses(address, words, count);
  const createExcessFinding = (what: string, index: number) =>
    createLaunchFinding(`\`${what}\` makes it more than the grant covers`, index);
  const read = readOperands(words, row, { count, reach });
  const never = splitWords(row.never ?? "");
  return [
    ...read.findings,
    ...words.flatMap(({ value }, index) => {
      const widens = row.options === undefined && isWideningOption(value);
      return index >= count && (widens || never.includes(value)) ? [createExcessFinding(value, index)] : [];
    }),
    ...read.operands.flatMap((operand) => {
      const { value, index } = operand;
      if (row.operands === "text" || index < count) return [];
      if (row.operands === "paths" && !ELSEWHERE.test(value)) return judgePath(operand, index, reach);
      return row.operands === "names" && isPlainTargetName(operand)
        ? []
        : [createExcessFinding(value, index)];
    }),
  ];
}

/** The name of a branch, a target or a service: neither an address nor a path that leaves the folder. */
function isPlainTargetName({ value, isGlob, below }: Argument): boolean {
  const isPlain = /^\w[\w.@/+~^#,%-]*$/.test(value) && !/(?:^|\/)\.\.(?:\/|$)/.test(value);
  return isPlain && !isGlob && below === undefined;
}

function readOperands(
  words: readonly Argument[],
  { options }: WideCommand,
  { count, reach }: { readonly count: number; readonly reach: Reach },
): Pick<Options, "operands" | "findings"> {
  if (options === undefined) {
    const operands = words.map((word, index) => ({ ...word, index }));
    return { findings: [], operands: operands.filter(({ value }) => !value.startsWith("-")) };
  }
  // The words that the rule spells out are not read again.
  const blank = words.map((word, index) =>
    index > 0 && index < count ? { value: "", isGlob: false } : word,
  );
  return readOptions(blank, options, reach);
}

/** Addresses besides the one that the rule names, and words that a program could take for one. */
function findOtherAddresses(address: string, words: readonly Argument[], count: number): Finding[] {
  const values = splitWords(CURL_VALUES);
  return words.flatMap(({ value, below }, index) => {
    const before = words[index - 1]?.value ?? "";
    const isValue = values.includes(before) || /^-\w*[HdXAm]$/.test(before);
    if (index < count || value.startsWith("-") || isValue) return [];
    // Names that match a pattern begin as the pattern does.
    const isCovered = below === undefined && coversAddress(value, address);
    return isCovered ? [] : [createLaunchFinding(`\`${value}\` is not what the rule names`, index)];
  });
}

/**
 * Whether the rule's address covers a value. After `http://host:` only a port may follow, so that the rest cannot name
 * another host.
 */
function coversAddress(value: string, address: string): boolean {
  if (!value.startsWith(address)) return false;
  const rest = value.slice(address.length);
  if (/[\\\s{}]|\[|\.\.|%2e/i.test(rest)) return false;
  return address.endsWith(":")
    ? /^\d{1,5}(?:[/?#].*)?$/.test(rest)
    : /^(?:https?:\/\/)?[^/]+\//.test(address);
}
