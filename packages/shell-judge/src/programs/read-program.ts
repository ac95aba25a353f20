import { BUILTINS } from "./builtins.ts";
import { find } from "./find.ts";
import {
  type Argument,
  alike,
  type Finding,
  launchFinding,
  manyFinding,
  type ProgramReader,
  pathFinding,
  scriptFinding,
} from "./finding.ts";
import { git } from "./git.ts";
import { type Options, readOptions } from "./options.ts";
import { other } from "./other-programs.ts";
import { sed } from "./sed.ts";
import { SIMPLE_PROGRAMS } from "./simple-programs.ts";

/** Names and characters through which an AWK program reaches files and other programs. */
const REACHES_OUT = /system|getline|@|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|ENVIRON|[|>]|fflush|close|\\\n/;

/** Reads and prints, unless the program text contains anything that could do more. */
const awk: ProgramReader = (words, reach) => {
  const { operands, findings, options } = readOptions(words, { values: "Fv" }, reach);
  const [program, ...files] = operands;
  const text = program?.value.replaceAll(">=", "").replaceAll("||", "") ?? "";
  const reaching = REACHES_OUT.test(text)
    ? [launchFinding("the program of `awk` may write or start another one", program?.index ?? 0)]
    : [];
  const assigned = options.filter(
    ({ name, value }) => name === "-v" && !/^(?:[a-z]\w*|O?[FR]S)=/.test(value ?? ""),
  );
  return [
    ...findings,
    ...(program === undefined ? [] : scriptFinding(program, program.index)),
    ...valueFindings(words, options),
    ...reaching,
    ...assigned.map(({ index }) => launchFinding("`awk -v` sets a variable of `awk` itself", index)),
    ...files.flatMap((file) => pathFinding(file, file.index, reach)),
    ...files
      .filter(({ value }) => /^[A-Z]\w*=/.test(value))
      .map(({ index }) => launchFinding("it sets a variable of `awk` itself", index)),
  ];
};

/** If the value of an option becomes many words, another one takes the place of the program. */
function valueFindings(words: readonly Argument[], options: Options["options"]): Finding[] {
  return options.flatMap(({ index }) => {
    const word = words[index];
    return word === undefined || word.value.startsWith("-") ? [] : manyFinding(word, index);
  });
}

/** Only listing the contents of one archive, from a file on this machine. */
const tar: ProgramReader = (words, reach) => {
  const [, options, archive, ...rest] = words;
  const isList = /^-?[tvzjJ]*t[vzjJ]*f$/.test(options?.value ?? "") && rest.length === 0;
  const isNamed = archive !== undefined && !archive.isGlob && archive.below === undefined;
  if (!isList || !isNamed || /[:]|^-/.test(archive.value)) return other(words, reach);
  return pathFinding(archive, 2, reach);
};

/** `command -v` prints where a program is; what `command` launches is judged as that. */
const command: ProgramReader = (words) =>
  /^-[vV]$/.test(words[1]?.value ?? "") ? [] : [launchFinding("`command` launches another program", 0)];

const READERS: Readonly<Record<string, ProgramReader>> = {
  ...SIMPLE_PROGRAMS,
  ...BUILTINS,
  ...alike("awk gawk mawk", awk),
  find,
  sed,
  git,
  tar,
  command,
};

/** The reasons not to run these words without a question; a program that is named with a path is unknown. */
export const readProgram: ProgramReader = (words, reach) => {
  const name = words[0]?.value ?? "";
  const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  const options = words.flatMap(({ value, isGlob }, index) =>
    isGlob && reach.mayBecomeOption(value)
      ? [launchFinding(`\`${value}\` may match a name that begins with a dash`, index)]
      : [],
  );
  return [...options, ...(reader ?? other)(words, reach)];
};
