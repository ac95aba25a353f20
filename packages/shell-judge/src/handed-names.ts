import type { ShellWord, SimpleCommand } from "./grammar/command-parts.ts";
import { printedByFind } from "./programs/find.ts";
import type { Below } from "./programs/finding.ts";

/** Words of a command, all of them known; null otherwise. */
function plainWords({ words, redirections }: SimpleCommand): string[] | null {
  const values = words.map(({ value }) => value);
  // What an error says is no name; elsewhere it does not get into the pipe.
  if (redirections.some(({ text }) => !/^2>\s*\/dev\/null$/.test(text))) return null;
  return values.includes(null) ? null : (values as string[]);
}

/** They print some of the lines that they read, each whole. */
const FILTERS: Readonly<Record<string, RegExp>> = {
  grep: /^(?:-[viEFPwx]+ )*(?:-e )?[^\s-]\S*$/,
  egrep: /^(?:-[viwx]+ )*[^\s-]\S*$/,
  head: /^(?:-n ?\d+|-\d+)?$/,
  tail: /^(?:-n ?[+-]?\d+|-\d+)?$/,
  sort: /^(?:-[urnVf]+)?$/,
  uniq: /^$/,
  cat: /^$/,
};

/** What is known of the names that a command prints, one a line or each before a NUL; null when nothing is. */
export function printedNames(command: SimpleCommand | undefined): Below | null {
  if (command === undefined) return null;
  const words = plainWords(command);
  const [name = "", ...rest] = words ?? [];
  const isFilter = Object.hasOwn(FILTERS, name) && FILTERS[name]?.test(rest.join(" ")) === true;
  if (isFilter && command.input !== undefined) return printedNames(command.input);
  if (words === null) return null;
  if (name === "find") {
    return command.words.some(({ isGlob }) => isGlob) ? null : printedByFind(command.words.map(asArgument));
  }
  if (!printsRelativeNames(words)) return null;
  return { folders: searchedFolders(words), names: [], hasLinks: true, isText: true };
}

/** Where the names of files that hold a text come from, if the words say it plainly. */
function searchedFolders([name = "", ...rest]: readonly string[]): readonly string[] {
  // Letters without a value; a pattern given in another way would leave the first operand a folder.
  const isPlain = rest.every((word) =>
    /^(?:[^-].*|-[rRnlLiIEFwxHhsZzoPvq]+|--(?:in|ex)clude[\w-]*=.*)$/s.test(word),
  );
  const [, ...folders] = rest.filter((word) => !word.startsWith("-"));
  const isSearch = name.endsWith("grep") || name === "rg";
  return isSearch && isPlain && folders.length > 0 ? folders : ["."];
}

function asArgument({ value, isGlob }: ShellWord) {
  return { value: value ?? "", isGlob };
}

/** Names that are counted from here and go up nowhere, as far as the operands do not. */
function printsRelativeNames([name = "", ...rest]: readonly string[]): boolean {
  if (rest.some((word) => word.startsWith("/") || word.split(/[/=]/).includes(".."))) return false;
  const options = rest.filter((word) => word.startsWith("-")).join(" ");
  switch (name) {
    case "ls":
      return /^(?:-[1AatrSdR]+ ?)*$/.test(options);
    case "git":
      return (
        /^(?:ls-files|diff(?: \S+)* --name-only)\b/.test(rest.join(" ")) &&
        !/--(?:format|stage|eol)|-[sutk]/.test(options)
      );
    case "grep":
    case "egrep":
    case "fgrep":
      return /(?:^| )(?:-[a-zA-Z]*[lL][a-zA-Z]*|--files-with(?:out)?-match(?:es)?)(?: |$)/.test(options);
    case "rg":
      return /(?:^| )(?:-[a-zA-Z]*l[a-zA-Z]*|--files(?:-with-matches|-without-match)?)(?: |$)/.test(options);
    default:
      return false;
  }
}
