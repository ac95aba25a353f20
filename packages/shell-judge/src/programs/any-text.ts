import { createWordSet } from "@burin/contract/text/words";

/** Programs that print their words and read nothing, so unknown words are harmless. */
export const TAKES_ANY_WORD: ReadonlySet<string> = createWordSet("echo basename dirname");

/** Operators that compare two texts or numbers and read no file. */
export const STRING_COMPARES: ReadonlySet<string> = createWordSet("= == != =~ < > -eq -ne -lt -gt -le -ge");

/** Whether a command only shows or compares its words. A null stands for a word that is not known before it runs. */
export function isSafeWithUnknownWords([name, ...rest]: readonly (string | null)[]): boolean {
  if (name === "exit") return rest.length === 1;
  if (name === "printf") return typeof rest[0] === "string" && isHarmlessFormat(rest[0]);
  if (name === "test" || name === "[") return comparesText(name === "[" ? rest.slice(0, -1) : rest);
  return typeof name === "string" && (TAKES_ANY_WORD.has(name) || /^(?:true|false|:)$/.test(name));
}

/** `%n` sets the variable that the next word names. */
export function isHarmlessFormat(format: string): boolean {
  return !format.startsWith("-") && !/%[^%a-zA-Z]*[hlLjzt]*n/.test(format);
}

function comparesText(words: readonly (string | null)[]): boolean {
  const [first, second] = words;
  if (first === "!") return comparesText(words.slice(1));
  if (words.length === 2) return first === "-n" || first === "-z";
  return words.length === 3 && typeof second === "string" && STRING_COMPARES.has(second);
}
