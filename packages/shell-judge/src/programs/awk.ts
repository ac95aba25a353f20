import { launchFinding, type ProgramReader, pathFinding } from "./finding.ts";
import { readOptions } from "./options.ts";

/** Names and signs through which a program in AWK reaches files and other programs. */
const REACHES_OUT = /system|getline|@|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|ENVIRON|[|>]|fflush|close|\\\n/;

/** Reads and prints, unless the program text holds anything that could do more. */
export const awk: ProgramReader = (words, reach) => {
  const { operands, findings, options } = readOptions(words, { values: "Fv" }, reach);
  const [program, ...files] = operands;
  const text = program?.value.replaceAll(">=", "").replaceAll("||", "") ?? "";
  const reaching = REACHES_OUT.test(text)
    ? [launchFinding("the program of `awk` may write or start another one", program?.index ?? 0)]
    : [];
  const assigned = options.filter(({ name, value }) => name === "-v" && !/^[a-z]\w*=/.test(value ?? ""));
  return [
    ...findings,
    ...reaching,
    ...assigned.map(({ index }) => launchFinding("`awk -v` sets a variable of `awk` itself", index)),
    ...files.flatMap((file) => pathFinding(file, file.index, reach)),
    ...files
      .filter(({ value }) => /^[A-Z]\w*=/.test(value))
      .map(({ index }) => launchFinding("it sets a variable of `awk` itself", index)),
  ];
};
