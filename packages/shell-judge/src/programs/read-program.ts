import { findRow, repeatRow } from "../tables.ts";
import { hasOutsideEffects } from "./awk.ts";
import { BUILTINS } from "./builtins.ts";
import { find } from "./find.ts";
import {
  type Argument,
  createLaunchFinding,
  createUnknownFinding,
  type Finding,
  judgeExpandedWord,
  judgePath,
  judgeScriptWord,
  type ProgramReader,
  type Reach,
} from "./finding.ts";
import { git } from "./git.ts";
import { isTransparentLauncher, isWrapper, type Launch, SHELLS } from "./launches.ts";
import { readOptions } from "./options.ts";
import { sed } from "./sed.ts";
import { SIMPLE_PROGRAMS } from "./simple-programs.ts";
import { judgeOtherProgram } from "./task-programs.ts";

/** Judges `awk`: it only reads and prints, unless its program text contains anything that could do more. */
const awk: ProgramReader = (words, reach) => {
  const { operands, findings, options } = readOptions(words, { texts: "Fv" }, reach);
  const [program, ...files] = operands;
  const reaching = hasOutsideEffects(program?.value ?? "")
    ? [createLaunchFinding("the program of `awk` may write or start another one", program?.index ?? 0)]
    : [];
  const assigned = options.filter(
    ({ name, value }) => name === "-v" && !/^(?:[a-z]\w*|O?[FR]S)=/.test(value ?? ""),
  );
  return [
    ...findings,
    ...(program === undefined ? [] : judgeScriptWord(program, program.index)),
    // If an option's value expands to several words, another word becomes the AWK program.
    ...options.flatMap(({ index }) => {
      const word = words[index];
      return word === undefined || word.value.startsWith("-") ? [] : judgeExpandedWord(word, index);
    }),
    ...reaching,
    ...assigned.map(({ index }) => createLaunchFinding("`awk -v` sets a variable of `awk` itself", index)),
    ...files.flatMap((file) => judgePath(file, file.index, reach)),
    ...files
      .filter(({ value }) => /^[A-Z]\w*=/.test(value))
      .map(({ index }) => createLaunchFinding("it sets a variable of `awk` itself", index)),
  ];
};

/** Allows only listing the contents of one archive, from a file on this machine. */
const tar: ProgramReader = (words, reach) => {
  const [, options, archive, ...rest] = words;
  const isList = /^-?[tvzjJ]*t[vzjJ]*f$/.test(options?.value ?? "") && rest.length === 0;
  const isNamed = archive !== undefined && !archive.isGlob && archive.below === undefined;
  if (!isList || !isNamed || /[:]|^-/.test(archive.value)) return judgeOtherProgram(words, reach);
  return judgePath(archive, 2, reach);
};

/**
 * Allows only showing what an archive contains. The names of archives may be patterns for `unzip` itself, and names are
 * completed.
 */
const judgePackedList: ProgramReader = (words, reach) => {
  const isCat = words[0]?.value === "zcat";
  const isZip = words[0]?.value === "unzip";
  const isShown = isCat || (isZip ? /^-(?:l|v|lv|Z1?|p)$/ : /^-(?:l|lv|d?c|cd)$/).test(words[1]?.value ?? "");
  const files = words.slice(isCat ? 1 : 2);
  const isOdd = files.some(
    ({ value }, index) => value.startsWith("-") || (isZip && index === 0 && /[*?[]/.test(value)),
  );
  if (!isShown || isOdd) return judgeOtherProgram(words, reach);
  const named = (isZip ? files.slice(0, 1) : files).flatMap((file) =>
    ["", ".zip", ".ZIP", ".gz", ".z", "-z", ".Z"].map((end) => ({ ...file, value: file.value + end })),
  );
  return named.flatMap((file) => judgePath(file, words.length - 1, reach));
};

/** `command -v` prints where a program is; what `command` launches is judged as that. */
const command: ProgramReader = (words) =>
  /^-[vV]$/.test(words[1]?.value ?? "") ? [] : [createLaunchFinding("`command` launches another program", 0)];

const READERS: Readonly<Record<string, ProgramReader>> = {
  ...SIMPLE_PROGRAMS,
  ...BUILTINS,
  ...repeatRow("awk gawk mawk", awk),
  find,
  sed,
  git,
  tar,
  ...repeatRow("unzip zcat gzip gunzip bzip2 bunzip2 xz unxz zstd", judgePackedList),
  command,
};

/** Whether there is a table of what it may do. */
export function hasReader(name: string): boolean {
  return Object.hasOwn(READERS, name);
}

/** The reasons not to run these words without a question; a program that is named with a path is unknown. */
export const readProgram: ProgramReader = (words, reach) => {
  const name = words[0]?.value ?? "";
  const reader = findRow(READERS, name);
  const isHelp = words.length === 2 && /^--(?:help|version)$/.test(words[1]?.value ?? "");
  if (reader !== undefined && isHelp) return [];
  const options = words.flatMap(({ value, isGlob }, index) =>
    isGlob && reach.mayBecomeOption(value)
      ? [createLaunchFinding(`\`${value}\` may match a name that begins with a dash`, index)]
      : [],
  );
  return [...options, ...(reader ?? judgeOtherProgram)(words, reach)];
};

/** A program that only the project provides is not the known program of that name. */
export function findProjectProgram(name: string, reach: Reach): Finding[] {
  const folder = name.includes("/") ? null : reach.findProjectFolder(name);
  return folder === null
    ? []
    : [createUnknownFinding(`\`${name}\` is found only in \`${folder}\`, a folder of the project`)];
}

/**
 * Judges a program that may start another one: by its own words where those say what it starts, and by where it is
 * found.
 */
export function judgeProgram(
  words: readonly Argument[],
  launches: readonly Launch[],
  reach: Reach,
): Finding[] {
  return [...judgeOwnWords(words, launches, reach), ...findProjectProgram(words[0]?.value ?? "", reach)];
}

function judgeOwnWords(
  words: readonly Argument[],
  launches: readonly Launch[],
  reach: Reach,
): readonly Finding[] {
  const [launch] = launches;
  const name = words[0]?.value ?? "";
  if (name === "find" || (launch === undefined && !isWrapper(name))) return readProgram(words, reach);
  const last = words.length - 1;
  const isSeen = launch !== undefined && launch.kind !== "unseen";
  const end = isSeen ? (launch.kind === "words" ? launch.from : launch.at) : last + 1;
  const own = words.slice(1, end).map(({ value }) => value);
  if (!isSeen && name !== "command") {
    const what = `what \`${name}\` runs is not in its arguments`;
    return [createUnknownFinding(what), ...(SHELLS.has(name) ? [] : [createLaunchFinding(what, last)])];
  }
  const isWhole = launch?.kind !== "script" || launch.at === last;
  if (isSeen && isWhole && isTransparentLauncher(name, own)) return [];
  const odd = `\`${[name, ...own].join(" ")}\` changes how it is run`;
  const settings = isSeen && isWrapper(name) ? [createLaunchFinding(odd, Math.max(end - 1, 1))] : [];
  return [...readProgram(words, reach), ...settings];
}
