import { PRINTABLE_VARIABLES } from "../grammar/literal-word.ts";
import { repeatRow } from "../tables.ts";
import {
  type Argument,
  createLaunchFinding,
  type Finding,
  judgeFollowedPath,
  judgePath,
  judgeScriptWord,
  type ProgramReader,
} from "./finding.ts";
import { type Options, type OptionTable, readOptions } from "./options.ts";

/** What the operands mean. */
type Operands = "paths" | "text" | "none" | "pattern then paths";

/** A program whose harmless options are listed; `check` covers what a table cannot express. */
function createListedReader(
  operands: Operands,
  table: OptionTable,
  check: (read: Options) => readonly Finding[] = () => [],
): ProgramReader {
  return (words, reach) => {
    const read = readOptions(words, table, reach);
    const findings = [...read.findings, ...check(read)];
    if (operands === "text") return findings;
    const skipped = operands === "pattern then paths" && !hasPatternOption(read) ? 1 : 0;
    const follows = read.options.find(({ name }) => table.following?.includes(name));
    const finding = follows ? judgeFollowedPath : judgePath;
    if (follows && read.operands.length <= skipped) findings.push(...finding(HERE, follows.index, reach));
    for (const [place, operand] of read.operands.entries()) {
      if (operands === "none")
        findings.push(createLaunchFinding(`it does not take \`${operand.value}\``, operand.index));
      else if (place >= skipped || operand.isGlob) findings.push(...finding(operand, operand.index, reach));
    }
    return findings;
  };
}

const HERE: Argument = { value: ".", isGlob: false };

export function hasPatternOption(read: Options): boolean {
  return read.options.some(({ name }) => /^(?:-[ef]|--(?:regexp|file|files|expression))$/.test(name));
}

/**
 * Creates a reader for a program that only reads, with any option except these. Other words are paths. With an option
 * that `follows` matches, it follows links.
 */
function createReader(letters = "", long: readonly string[] = [], follows?: RegExp): ProgramReader {
  return (words, reach) => {
    const isFollowing = follows !== undefined && words.some(({ value }) => follows.test(value));
    const finding = isFollowing ? judgeFollowedPath : judgePath;
    const end = words.findIndex(({ value }) => value === "--");
    const findings = words.flatMap((word, index) => {
      if (index === 0) return [];
      if (!isOptionWord(word) || (end !== -1 && index > end)) return finding(word, index, reach);
      const path = readAttachedValue(word);
      const what = `\`${word.value}\` is not known to be a harmless option`;
      const isUnclear = word.isGlob && !/^--[\w-]+=/.test(word.value);
      const asked =
        isUnclear || isSuspectOption(word.value, letters, long) ? [createLaunchFinding(what, index)] : [];
      return path === null ? asked : [...asked, ...finding(path, index, reach)];
    });
    const isHere = isFollowing && words.slice(1).every(isOptionWord);
    return isHere ? [...findings, ...finding(HERE, 0, reach)] : findings;
  };
}

function isOptionWord({ value }: Argument): boolean {
  return value.startsWith("-") && value !== "-";
}

function isSuspectOption(option: string, letters: string, long: readonly string[]): boolean {
  if (!option.startsWith("--")) return [...option.slice(1)].some((letter) => letters.includes(letter));
  // Perl leaves aside the case of the letters.
  const name = option.slice(2).replace(/=.*/s, "").toLowerCase();
  return option !== "--" && long.some((asked) => asked.startsWith(name));
}

/** The part of an option that may be a path: after `=`, or after the letters of `-f../x`. */
export function readAttachedValue(word: Argument): Argument | null {
  const value =
    /^--?[\w-]+=(.*)$/s.exec(word.value)?.[1] ?? /^-\w+?((?:\.\.|\/|~).*)$/s.exec(word.value)?.[1];
  return value === undefined ? null : { ...word, value };
}

const GREP_LONG = `
  extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case word-regexp
  line-regexp null-data no-messages invert-match version help byte-offset line-number line-buffered
  with-filename no-filename only-matching quiet silent text recursive dereference-recursive
  files-without-match files-with-matches count initial-tab null color colour binary regexp=~ max-count=
  label= binary-files= directories= devices= include=~ exclude=~ exclude-dir=~ before-context=
  after-context= context= file=@ exclude-from=@ group-separator=~ no-group-separator`;
const GREP = createListedReader("pattern then paths", {
  flags: "EFGPivwxzsVbnHhoqaIrRLlcTZUuy",
  following: ["-R", "--dereference-recursive"],
  values: "mABCdD",
  texts: "e",
  files: "f",
  long: GREP_LONG,
  numbers: true,
});

const RG_LONG = `
  after-context= before-context= context= color= colors= encoding= engine= glob=~ iglob=~ max-columns=
  max-count= max-depth= max-filesize= path-separator=~ regexp=~ replace=~ sort= sortr= threads= type=
  type-not= context-separator=~ field-match-separator=~ regex-size-limit= dfa-size-limit= file=@
  ignore-file=@ binary block-buffered byte-offset case-sensitive column count count-matches crlf files
  files-with-matches files-without-match fixed-strings glob-case-insensitive heading no-heading follow
  no-follow hidden no-hidden ignore-case include-zero invert-match json line-buffered line-number
  line-regexp max-columns-preview multiline multiline-dotall no-config no-filename no-ignore
  no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-parent no-ignore-vcs
  no-line-number no-messages null null-data one-file-system only-matching passthru pcre2 pretty quiet
  smart-case stats stop-on-nonmatch text trim type-list unrestricted vimgrep with-filename word-regexp
  version`;
const RG = createListedReader("pattern then paths", {
  flags: "acFHiIlLnNoPpqsSuUvwx0.bV",
  following: ["-L", "--follow"],
  values: "ABCEMmTtjd",
  texts: "egr",
  files: "f",
  long: RG_LONG,
});

const FD_LONG = `
  hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex
  fixed-strings absolute-path full-path follow print0 max-depth= min-depth= exact-depth= exclude=~ type=
  extension= size= changed-within= changed-before= max-results= color= threads= prune quiet
  one-file-system strip-cwd-prefix path-separator=~ show-errors version`;
const FD = createListedReader("pattern then paths", {
  flags: "HIusiFgapL01qV",
  following: ["-L", "--follow"],
  values: "detSj",
  texts: "E",
  long: FD_LONG,
});

const SORT_LONG = `
  reverse numeric-sort unique key= field-separator=~ human-numeric-sort version-sort ignore-case
  general-numeric-sort month-sort random-sort check stable zero-terminated dictionary-order
  ignore-leading-blanks ignore-nonprinting merge parallel= buffer-size=`;

const JQ_LONG = `
  null-input raw-input slurp compact-output raw-output join-output ascii-output sort-keys color-output
  monochrome-output tab indent= exit-status stream seq arg== argjson== rawfile==@ slurpfile==@ argfile==@`;

/**
 * jq fields may have such names, but variables and functions may not. Before a colon it is a field only inside braces.
 */
const JQ_REACHES =
  /\b(?:import|include|modulemeta|get_search_list|__prog_\w+)\b|(?<![.\w])(?:env|ENV)\b(?!(?<=\{[^[{$]*)\s*:)/;

const jq = createListedReader("pattern then paths", { flags: "nrjaSscCMeR", long: JQ_LONG }, judgeJqFilter);

/** Two programs have this name, and both take a file as well where the expression stands. */
const YQ = createListedReader(
  "paths",
  { flags: "rPeNMCc", long: "raw-output prettyPrint no-colors compact-output" },
  (read) =>
    read.operands.flatMap((operand) => [
      ...judgeJqFilter({ ...read, operands: [operand] }),
      ...(/(?<!\.[\w-]*)(?:load|env\(|envsubst|eval(?!$)|system)/.test(operand.value)
        ? [createLaunchFinding("the expression reads more than the file", operand.index)]
        : []),
    ]),
);

function judgeJqFilter({ operands }: Options): Finding[] {
  const [filter] = operands;
  if (filter === undefined) return [];
  const reaches = JQ_REACHES.test(filter.value);
  return reaches
    ? [createLaunchFinding("the filter reads a file or the environment", filter.index)]
    : judgeScriptWord(filter, filter.index);
}

/** Allows `strings`, which reads options from a file named after an `@`. */
const strings: ProgramReader = (words, reach) => [
  ...createReader()(words, reach),
  ...words.flatMap(({ value, isGlob, below }, index) => {
    const mayName = /^@/.test(value) || (isGlob && /^[*?[]/.test(value)) || below?.isText === true;
    return mayName ? [createLaunchFinding(`\`${value}\` may name a file with more words`, index)] : [];
  }),
];

/** Allows printing only variables that contain no secret. */
const printenv: ProgramReader = (words) => {
  const names = words.slice(1);
  const isHarmless =
    names.length > 0 && names.every(({ value, isGlob }) => PRINTABLE_VARIABLES.has(value) && !isGlob);
  return isHarmless
    ? []
    : [createLaunchFinding("it shows variables that may hold secrets", words.length - 1)];
};

/** Allows `xxd`, whose options cannot be grouped and whose second operand is a file that it writes. */
const xxd: ProgramReader = (words, reach) => {
  const OPTIONS = /^(?:(?:-[abeiup]|-[lscgo] ?-?\d+)(?: |$))*$/;
  const given = words.slice(1);
  const areOptions = (some: readonly Argument[]) => OPTIONS.test(some.map(({ value }) => value).join(" "));
  const file = areOptions(given) ? undefined : given.pop();
  const isShown = areOptions(given) && !words.some(({ isMany }) => isMany);
  if (file === undefined) return [];
  return isShown
    ? judgePath(file, words.length - 1, reach)
    : [createLaunchFinding("it may write a file", words.length)];
};

/** Programs that read and print, by name. */
export const SIMPLE_PROGRAMS: Readonly<Record<string, ProgramReader>> = {
  ...repeatRow(
    "cat pgrep pidof head tail nl tac rev stat df realpath readlink fold fmt expand unexpand comm cmp join od column",
    createReader(),
  ),
  ...repeatRow(
    "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum",
    createReader("c", ["check"]),
  ),
  ...repeatRow("whoami uptime tty nproc arch hostname logname", createListedReader("none", {})),
  lscpu: createListedReader("none", { flags: "aebcJpxy" }),
  ...repeatRow("locale getconf", createListedReader("text", { flags: "a" })),
  ...repeatRow("echo true false : seq basename dirname id groups which expr factor numfmt", () => []),
  strings,
  yq: YQ,
  xxd,
  ...repeatRow("bzcat xzcat zstdcat", createListedReader("paths", { flags: "cdfkqv" })),
  bc: createListedReader("paths", { flags: "lqs" }),
  shuf: createListedReader("paths", { flags: "erz", values: "ni" }),
  // Elsewhere than in GNU's it names a file to write.
  ...repeatRow("base64 base32", createReader("o", ["output"])),
  ls: createReader("", [], /^-(?:[^-]*[LH]|-deref)/),
  hexdump: createReader("f"),
  wc: createReader("", ["files0-from"]),
  du: createReader("X", ["files0-from"], /^-(?:[^-]*[LD]|-deref)/),
  // Allows `diff`, which compares the contents of folders and follows the links there.
  diff: createReader("lX", ["paginate"], /^/),
  uname: createListedReader("none", { flags: "asnrvmpio" }),
  pwd: createListedReader("none", { flags: "LP" }),
  free: createListedReader("none", { flags: "bkmghtlw", numbers: true }),
  tr: createListedReader("text", { flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1" }),
  cut: createListedReader("paths", {
    flags: "nsz",
    values: "bcf",
    texts: "d",
    long: "bytes= characters= fields= delimiter=~ only-delimited output-delimiter=~ complement",
  }),
  paste: createListedReader("paths", {
    flags: "sz",
    texts: "d",
    long: "delimiters=~ serial zero-terminated",
  }),
  ...repeatRow("grep egrep fgrep", GREP),
  rg: RG,
  ...repeatRow("fd fdfind", FD),
  sort: createListedReader("paths", {
    flags: "bdfghiMnRrVcCmsuz",
    values: "kS",
    texts: "t",
    long: SORT_LONG,
  }),
  uniq: createListedReader(
    "paths",
    {
      flags: "cdDiuz",
      values: "fsw",
      long: "count repeated unique ignore-case skip-fields= skip-chars= check-chars=",
    },
    ({ operands }) => {
      const written = operands.filter(({ isMany }, place) => place > 0 || isMany);
      return written.map(({ value, index }) => createLaunchFinding(`it writes to \`${value}\``, index));
    },
  ),
  // It writes a page for each folder, or reads names, rules and addresses from files.
  tree: createReader(
    "oRH",
    ["output", "fromfile", "fromtabfile", "infofile", "gitfile", "hintro", "houtro"],
    /^-\w*l/,
  ),
  file: createListedReader("paths", {
    flags: "bikNnr0h",
    long: "brief mime mime-type mime-encoding no-dereference",
  }),
  jq,
  printenv,
};
