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

/** Names and signs through which a program in AWK reaches files and other programs. */
const REACHES_OUT = /system|getline|@|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|ENVIRON|[|>]|fflush|close|\\\n/;

/** Reads and prints, unless the program text holds anything that could do more. */
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

/** The value of an option that becomes many words puts another one in the place of the program. */
function valueFindings(words: readonly Argument[], options: Options["options"]): Finding[] {
  return options.flatMap(({ index }) => {
    const word = words[index];
    return word === undefined || word.value.startsWith("-") ? [] : manyFinding(word, index);
  });
}

/** Only a list of what one archive holds, from a file that no other machine has to send. */
const tar: ProgramReader = (words, reach) => {
  const [, options, archive, ...rest] = words;
  const isList = /^-?[tvzjJ]*t[vzjJ]*f$/.test(options?.value ?? "") && rest.length === 0;
  const isNamed = archive !== undefined && !archive.isGlob && archive.below === undefined;
  if (!isList || !isNamed || /[:]|^-/.test(archive.value)) return other(words, reach);
  return pathFinding(archive, 2, reach);
};

/** `command -v` tells where a program is; what `command` launches is judged as that. */
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

/** What speaks against running these words unasked; a program that is spelled with a path is not known. */
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
