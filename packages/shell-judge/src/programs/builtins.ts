import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { findPatternFault } from "@burin/contract/patterns/pattern";
import { createWordSet } from "@burin/contract/text/words";
import { isPlainName } from "../grammar/loops-and-tests.ts";
import { repeatRow } from "../tables.ts";
import { isHarmlessFormat, STRING_COMPARES } from "./any-text.ts";
import {
  type Argument,
  createLaunchFinding,
  createUnknownFinding,
  type Finding,
  judgeExpandedWord,
  judgePath,
  judgeScriptWord,
  type ProgramReader,
} from "./finding.ts";

const TEST_OPERATORS = createWordSet(
  "-e -f -d -r -w -x -s -L -h -z -n -b -c -p -S -k -u -g -O -G -N -t -a -o -eq -ne -lt -gt -le -ge -nt -ot -ef",
);

const OPERATORS = [...TEST_OPERATORS, ...STRING_COMPARES, "!", "(", ")"];

/** `test -v name[subscript]` evaluates the subscript, so only known operators are allowed there. */
const test: ProgramReader = (words, reach) =>
  words.flatMap((word, index) => {
    if (index === 0 || isCompared(words, index)) return [];
    // File names that look like operators would be used as operators. An unclear pattern may be any name.
    const mayExpandToOperator = () => OPERATORS.some(createGlobMatcher(word.value, { caseSensitive: true }));
    if (word.isMany && (findPatternFault(mayExpandToOperator) !== null || mayExpandToOperator()))
      return judgeExpandedWord(word, index);
    const isOperator = word.value.startsWith("-") && !/^-\d+$/.test(word.value);
    if (!isOperator) return judgePath(word, index, reach);
    const isKnown = TEST_OPERATORS.has(word.value);
    return isKnown
      ? []
      : [createLaunchFinding(`\`${word.value}\` is not known to be a harmless test`, index)];
  });

/** Whether the word is next to a comparison operator, or after `-n` or `-z`, and is not an operator itself. */
function isCompared(words: readonly Argument[], index: number): boolean {
  const [word, before, after] = [words[index], words[index - 1]?.value ?? "", words[index + 1]?.value ?? ""];
  if (word === undefined || word.isGlob || word.value.startsWith("-")) return false;
  return STRING_COMPARES.has(before) || STRING_COMPARES.has(after) || /^-[nz]$/.test(before);
}

/** `printf -v name[subscript]` sets a variable, and evaluates the subscript. */
const printf: ProgramReader = (words) => {
  const at = words[1]?.value === "--" ? 2 : 1;
  const format = words[at];
  if (format === undefined) return [];
  const text = at === 2 ? format.value.replace(/^-+/, "") : format.value;
  return isHarmlessFormat(text)
    ? judgeScriptWord(format, at)
    : [createLaunchFinding("`printf` sets a variable", at)];
};

/** Sets variables that only the line itself uses. */
const read: ProgramReader = (words) =>
  words.flatMap(({ value }, index) => {
    if (/^(?:-r|-r?d|)$/.test(value) || isPlainName(value)) return [];
    return [createLaunchFinding(`\`read ${value}\` may set or evaluate more than a plain variable`, index)];
  });

/**
 * Builtins that set variables of the shell itself, that evaluate a variable's content now or later, or that replace a
 * command.
 */
const AFFECTS_SHELL =
  /^(?:\w+ (?:PATH|IFS|ENV|BASH_\w+|LD_\w+|GIT_\w+)$|let |(?:enable|hash) -\w*[fp]|(?:mapfile|readarray|declare|typeset|local|readonly|export) -\w*[Cin])/;

/** Builtins that evaluate text in brackets, and set variables that affect other programs. */
const judgeAssignment: ProgramReader = (words) => [
  createUnknownFinding(`\`${words[0]?.value}\` changes the shell`),
  ...words.flatMap(({ value }, index) => {
    const isPlain = /^-[a-zA-Z]+$|^\w+$/.test(value) && !AFFECTS_SHELL.test(`${words[0]?.value} ${value}`);
    return isPlain ? [] : [createLaunchFinding(`\`${value}\` may be evaluated`, index)];
  }),
];

function allowOnlyMatching(pattern: RegExp, what: string): ProgramReader {
  return (words) => {
    const rest = words.slice(1).map(({ value }) => value);
    return pattern.test(rest.join(" ")) ? [] : [createLaunchFinding(what, words.length - 1)];
  };
}

/** Shows the current time or a file's time in a format. Any other word may set the clock or name a file to read. */
const date: ProgramReader = (words, reach) =>
  words.flatMap((word, index) => {
    const { value, isGlob } = word;
    const isShown = /^(?:\+|-[uRr]$|-I|-d$|--(?:date|utc|universal|rfc-\w+|iso-\w+)\b)/.test(value);
    const before = words[index - 1]?.value ?? "";
    if (before === "-r" && !isGlob) return judgePath(word, index, reach);
    const isTime = /^-(?:d|-date)$/.test(before);
    if (index === 0 || (!isGlob && (isShown || isTime))) return [];
    return [createLaunchFinding(`\`${value}\` may set the clock or name a file`, index)];
  });

export const UNNAMED_FOLDER = /^-|^$|^(?:\.{0,2}\/)*(?!\.{0,2}(?:\/|$))[^/]+\/(?:.*\/)?\.\.(?:\/|$)/s;

/** Allows only a named folder: plain `cd` goes to the home folder, and `-` is the previous folder. */
const cd: ProgramReader = (words, reach): readonly Finding[] => {
  const [, folder] = words;
  // The shell itself drops the name before `..`, even if that name is a link to elsewhere.
  const isNamed =
    words.length === 2 && folder?.below === undefined && !UNNAMED_FOLDER.test(folder?.value ?? "");
  if (!isNamed || folder === undefined || folder.isGlob) {
    return [createLaunchFinding("it goes to a folder that is not named", words.length)];
  }
  return judgePath(folder, 1, reach);
};

/** Shell builtins that change nothing for later commands, except the current folder, and programs as plain as those. */
export const BUILTINS: Readonly<Record<string, ProgramReader>> = {
  test,
  "[": test,
  printf,
  cd,
  type: () => [],
  read,
  ...repeatRow(
    "mapfile readarray declare typeset local readonly export unset let getopts wait enable hash alias",
    judgeAssignment,
  ),
  ...repeatRow("break continue", allowOnlyMatching(/^\d?$/, "its value is not a number")),
  exit: allowOnlyMatching(/^\d{0,3}$/, "its value is not a number"),
  sleep: allowOnlyMatching(/^\d+(?:\.\d+)?[smhd]?$/, "its value is not a plain duration"),
  date,
  set: allowOnlyMatching(/^[-+][eux]+(?:o pipefail)?$|^[-+]o pipefail$/, "it changes the shell"),
  tput: allowOnlyMatching(/^(?:cols|lines|colors)$/, "it may change the terminal"),
  // `environ` shows variables that may hold secrets.
  ps: allowOnlyMatching(
    /^(?:(?:-?aux|auxf|-ef|-e|-f|-A|-p \d+|--forest|--no-headers?|-e?o (?:(?!environ)[a-z%]+(?:,|(?= |$)))+|--sort[= ][-+]?[a-z%]+)(?: |$))*$/,
    "its options are not known to be harmless",
  ),
};
