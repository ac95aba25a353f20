import { type Argument, type Finding, launchFinding, type ProgramReader, pathFinding } from "./finding.ts";

const TEST_OPERATORS = new Set(
  "-e -f -d -r -w -x -s -L -h -z -n -b -c -p -S -k -u -g -O -G -N -t -a -o -eq -ne -lt -gt -le -ge -nt -ot -ef".split(
    " ",
  ),
);

/** `test -v name[subscript]` evaluates the subscript, so only operators that are known may stand there. */
const test: ProgramReader = (words, reach) =>
  words.flatMap((word, index) => {
    if (index === 0) return [];
    const isOperator = word.value.startsWith("-") && !/^-\d+$/.test(word.value);
    if (!isOperator) return pathFinding(word, index, reach);
    const isKnown = TEST_OPERATORS.has(word.value);
    return isKnown ? [] : [launchFinding(`\`${word.value}\` is no test that is known to be harmless`, index)];
  });

/** `printf -v name[subscript]` assigns, and evaluates the subscript. */
const printf: ProgramReader = ([, first]) =>
  first?.value.startsWith("-") && first.value !== "--" ? [launchFinding("`printf -v` assigns", 1)] : [];

function matching(pattern: RegExp, what: string): ProgramReader {
  return (words) => {
    const text = texts(words).join(" ");
    return pattern.test(text) ? [] : [launchFinding(what, words.length - 1)];
  };
}

function texts(words: readonly Argument[]): string[] {
  return words.slice(1).map((word) => word.value);
}

/** Only into a folder that is named: without one it goes home, and `-` is wherever it came from. */
const cd: ProgramReader = (words, reach): readonly Finding[] => {
  const [, folder] = words;
  if (words.length !== 2 || folder === undefined || folder.isGlob || /^-|^$/.test(folder.value)) {
    return [launchFinding("it goes to a folder that is not named", words.length)];
  }
  return pathFinding(folder, 1, reach);
};

/** Commands of the shell itself that change nothing which a later command depends on, but the folder. */
export const BUILTINS: Readonly<Record<string, ProgramReader>> = {
  test,
  "[": test,
  printf,
  cd,
  type: () => [],
  exit: matching(/^\d{0,3}$/, "it leaves with something that is no number"),
  sleep: matching(/^\d+(?:\.\d+)?[smhd]?$/, "its time is not plain"),
  set: matching(/^-[eux]+(?:o pipefail)?$|^-o pipefail$/, "it changes the shell"),
  ps: matching(
    /^(?:(?:-?aux|auxf|-ef|-e|-f|-A|-p \d+|--forest)(?: |$))*$/,
    "its options are not known to be harmless",
  ),
};
