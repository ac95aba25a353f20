import { createWordSet } from "@burin/contract/text/words";
import type { ShellWord, SimpleCommand } from "./grammar/command-parts.ts";
import { baseName } from "./programs/launches.ts";

/** A source of file names that only the disk knows. */
export type NameSource =
  | { readonly kind: "word"; readonly value: string; readonly isPattern: boolean }
  /** `words`: the tests of `find`, with `-print0` for each name that is passed on. */
  | { readonly kind: "find"; readonly starts: readonly StartWord[]; readonly words: readonly string[] }
  | { readonly kind: "git"; readonly words: readonly string[] }
  /** The names are the lines of a file. */
  | { readonly kind: "file"; readonly path: string };

interface StartWord {
  readonly value: string;
  readonly isPattern: boolean;
}

const MAX_FILTERS = 5;
/** Programs that print some of the lines that they read. */
const FILTERS = createWordSet("sort uniq head tail tac shuf grep egrep fgrep");
const LAUNCHING = /^-(?:exec|ok)(?:dir)?$/;
const PRINTING = /^-(?:print0?|ls)$/;
/** Options that write a file, or whose value can be anything. */
const UNREADABLE = /^-(?:f(?:printf?|print0|ls)|files0-from|printf)$/;

export function findNameSources({ value, isGlob, lineOf }: ShellWord): readonly NameSource[] {
  if (value !== null) return [{ kind: "word", value, isPattern: isGlob }];
  return lineOf === undefined ? [] : findPrintedNameSources(lineOf);
}

/**
 * Returns where the names that a command prints come from. The source may contain more names than are printed. Returns
 * nothing if the words do not say it.
 */
export function findPrintedNameSources(command: SimpleCommand | undefined, depth = 0): readonly NameSource[] {
  const [program, ...words] = command?.words ?? [];
  const name = baseName(program?.value ?? "");
  const values = words.map(({ value }) => value ?? "");
  const operands = words.filter(({ value }) => value !== null && !value.startsWith("-"));
  if (FILTERS.has(name) && depth < MAX_FILTERS && command?.input !== undefined)
    return findPrintedNameSources(command.input, depth + 1);
  switch (name) {
    case "find":
      return readFind(words, (value) => PRINTING.test(value));
    case "ls":
      if (operands.length > 0) return [];
      return ["*", ...(values.some((value) => /^-\w*[aA]/.test(value)) ? [".*"] : [])].map(makePattern);
    case "git":
      return values[0] === "ls-files" ? [{ kind: "git", words: values }] : [];
    case "cat":
      return operands.map(({ value }) => ({ kind: "file", path: value ?? "" }));
    case "echo":
    case "printf":
      return operands.flatMap((word) => findNameSources(word)).flatMap(splitWords);
    default:
      return [];
  }
}

/** Splits a printed text into names: one with spaces or line ends is more than one name. */
function splitWords(source: NameSource): readonly NameSource[] {
  if (source.kind !== "word" || source.isPattern) return [source];
  const words = source.value.split(/(?:\s|\\[n0])+/).filter((value) => value !== "");
  return words.map((value) => ({ ...source, value }));
}

function makePattern(value: string): NameSource {
  return { kind: "word", value, isPattern: true };
}

/** Returns the names for which `find` reaches this word: `-delete`, or the start of a command that it launches. */
export function readFind(
  words: readonly ShellWord[],
  isHanding: (value: string, at: number) => boolean,
): readonly NameSource[] {
  const values = words.map(({ value }) => value);
  if (values.some((value) => value === null || UNREADABLE.test(value))) return [];
  const first = values.findIndex((value) => /^[-!(]/.test(value ?? "") && !/^-[PHL]$/.test(value ?? ""));
  const named = words.slice(0, first === -1 ? words.length : first);
  const starts = named.map(({ value, isGlob }) => ({ value: value ?? "", isPattern: isGlob }));
  const tests: string[] = [];
  let hasActions = false;
  for (let at = first; at !== -1 && at < values.length; at += 1) {
    const value = values[at] ?? "";
    const isAction = LAUNCHING.test(value) || PRINTING.test(value) || value === "-delete";
    // `-delete` visits what is in a folder before the folder itself.
    if (value === "-delete") tests.push("-depth");
    tests.push(!isAction ? value : isHanding(value, at) ? "-print0" : "-true");
    hasActions ||= isAction;
    if (LAUNCHING.test(value)) at = findExecEnd(values, at);
  }
  const isPrinted = !hasActions && isHanding("-print", -1);
  const all = tests.length === 0 ? ["-print0"] : ["(", ...tests, ")", "-print0"];
  return [{ kind: "find", starts, words: isPrinted ? all : tests }];
}

function findExecEnd(values: readonly (string | null)[], from: number): number {
  const end = values.findIndex(
    (value, at) => at > from && (value === ";" || (value === "+" && values[at - 1] === "{}")),
  );
  return end === -1 ? values.length : end;
}
