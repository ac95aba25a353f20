import type { SimpleCommand } from "./grammar/command-parts.ts";
import { findPrintedNames } from "./printed-names.ts";
import { TAKES_ANY_WORD } from "./programs/any-text.ts";
import { readHandedPaths } from "./programs/find.ts";
import type { Argument, PathSet } from "./programs/finding.ts";
import type { Launch } from "./programs/launches.ts";

/** Reads the words that the program gets; null when one is known only at run time. */
export function readArguments(command: SimpleCommand): Argument[] | null {
  const words: Argument[] = [];
  for (const { value, isGlob, isMany = false, lineOf } of command.words) {
    const below = value === null ? findPrintedNames(lineOf) : null;
    if (value === null && below === null) return null;
    if (below === null) words.push({ value: value ?? "", isGlob, isMany });
    else if (isMany)
      words.push({ ...createPathArgument(below), isMany }, { ...createPathArgument(below), isMany });
    else words.push(createPathArgument(below));
  }
  const [program] = words;
  return program?.isGlob === true || program?.below !== undefined ? null : words;
}

export function createPathArgument(below: PathSet): Argument {
  return { value: below.folders[0] ?? ".", isGlob: false, below };
}

/**
 * Inserts the words that are passed to the launched command, twice if there may be several. Returns `program` if they
 * would be the program itself or a part of a word.
 */
export function insertPassedWords(
  words: readonly Argument[],
  { from, to, isOpen, placeholder }: Extract<Launch, { kind: "words" }>,
  input: SimpleCommand | undefined,
): readonly Argument[] | "program" | null {
  const launched = words.slice(from, to);
  if (!isOpen && placeholder === undefined) return launched;
  const containsPlaceholder = ({ value }: Argument) =>
    placeholder !== undefined && value !== placeholder && value.includes(placeholder);
  const takesAny = TAKES_ANY_WORD.has(launched[0]?.value ?? "");
  if (launched[0]?.value === placeholder || (launched.some(containsPlaceholder) && !takesAny))
    return "program";
  const own = words.slice(1, from).map(({ value }) => value);
  const byNul = words[0]?.value === "xargs" && own.some((word) => /^(?:-0|--null)$/.test(word));
  const below = isOpen ? findPrintedNames(input, byNul) : readHandedPaths(words, from);
  if (below === null) return null;
  const isWhole = byNul && input?.words[0]?.value === "find";
  const word = createPathArgument(isWhole ? { ...below, isText: false } : below);
  if (placeholder === undefined) return [...launched, word, word];
  const isMany = words[to]?.value === "+";
  return launched.flatMap((each) => (each.value !== placeholder ? [each] : isMany ? [word, word] : [word]));
}
