import { createWordSet } from "@burin/contract/text/words";
import {
  type Argument,
  createLaunchFinding,
  type Finding,
  judgePath,
  type PathSet,
  type ProgramReader,
  type Reach,
} from "./finding.ts";

const TESTS_WITHOUT_VALUE = createWordSet(`
  -nouser -nogroup -empty -depth -d -mount -xdev -prune -print -print0 -ls -quit -not -a -and -o -or
  -true -false -follow -readable -writable -executable -daystart -warn -nowarn -noleaf
  -ignore_readdir_race ! ( ) , -P -H -L -O0 -O1 -O2 -O3`);
const TESTS_WITH_VALUE = createWordSet(`
  -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size
  -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -maxdepth -mindepth -printf
  -links -inum -regextype -fstype -used`);
const TESTS_WITH_FILE = /^-(?:samefile|newer|anewer|cnewer|newer[aBcm][aBcm])$/;
const TESTS_WITH_TIME = /^-newer[aBcm]t$/;
/** Actions of `find` whose command is judged as a command of its own. */
const LAUNCHING_ACTIONS = new Set(["-exec", "-ok"]);
/** With one of these operators, a test may be false for a path that is printed or passed on. */
const OPERATORS = new Set(["-o", "-or", "!", "-not", ",", "(", ")"]);
const PRINTS_MORE = /^-(?:printf|fprint|fprintf|fprint0|fls|ls|exec|execdir|ok|okdir)$/;

/** Everything that `find` can do except tests and prints is a finding; what `-exec` launches is judged elsewhere. */
export const find: ProgramReader = (words, reach) => {
  const findings: Finding[] = [];
  const { folders, followsLinks } = splitStarts(words);
  const values = words.map(({ value }) => value);
  if (followsLinks) {
    const below = { folders, names: [], hasLinks: true, isText: false };
    findings.push(...judgePath({ value: ".", isGlob: false, below }, 0, reach));
  }
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    const { value } = word;
    if (word.isGlob && followsLinks) {
      findings.push(createLaunchFinding(`what \`${value}\` matches is not checked for links`, index));
    }
    if (LAUNCHING_ACTIONS.has(value)) {
      index = findLaunchEnd(values, index);
    } else if (TESTS_WITH_VALUE.has(value) || TESTS_WITH_TIME.test(value)) {
      index += 1;
    } else {
      if (TESTS_WITH_FILE.test(value)) index += 1;
      const found = judgeFindWord(words[index] ?? word, index, reach);
      findings.push(...(value === "-delete" ? found.map((one) => ({ ...one, deletes: folders })) : found));
    }
  }
  return findings;
};

function judgeFindWord(word: Argument, index: number, reach: Reach): Finding[] {
  if (TESTS_WITHOUT_VALUE.has(word.value)) return [];
  if (!word.value.startsWith("-")) return judgePath(word, index, reach);
  return [createLaunchFinding(`\`find ${word.value}\` can do more than read`, index)];
}

/** Returns where the command after `-exec` at `at` ends: the index of its `;` or of the `+` after `{}`. */
export function findLaunchEnd(words: readonly (string | null)[], from: number): number {
  for (let index = from + 1; index < words.length; index += 1) {
    if (words[index] === ";") return index;
    if (words[index] === "+" && words[index - 1] === "{}") return index;
  }
  return words.length;
}

/** Returns what is known about the paths that `find` prints; null when its words make it print something else. */
export function readPrintedPaths(words: readonly Argument[]): PathSet | null {
  return words.some(({ value }) => PRINTS_MORE.test(value)) ? null : readNameTests(words);
}

/** Returns what is known about the paths that `find` passes to the command that begins at this word. */
export function readHandedPaths(words: readonly Argument[], from: number): PathSet {
  return { ...readNameTests(words.slice(0, from - 1)), isText: false };
}

/** Splits the words into the folders and the tests, and says whether `find` follows links. */
function splitStarts(words: readonly Argument[]) {
  const values = words.slice(1).map(({ value }) => value);
  const isSearchOption = (value: string) => /^-[PHLO]/.test(value);
  const first = values.findIndex((value) => /^[-!(]/.test(value) && !isSearchOption(value));
  const starts = (first === -1 ? values : values.slice(0, first)).filter((value) => !isSearchOption(value));
  return {
    folders: starts.length === 0 ? ["."] : starts,
    tests: first === -1 ? [] : values.slice(first),
    followsLinks: values.includes("-L") || values.includes("-follow"),
  };
}

function readNameTests(words: readonly Argument[]): PathSet {
  const { folders, tests, followsLinks } = splitStarts(words);
  const listValues = (test: string) => tests.filter((_, index) => tests[index - 1] === test);
  if (followsLinks || tests.some((value) => OPERATORS.has(value) || PRINTS_MORE.test(value))) {
    return { folders, names: [], hasLinks: true, isText: true };
  }
  const names = listValues("-name").filter((name) => /^[\w.*?-]+$/.test(name));
  return { folders, names, hasLinks: !listValues("-type").includes("f"), isText: true };
}
