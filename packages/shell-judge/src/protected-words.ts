import type { CommandReach } from "./command-place.ts";
import type { Argument, Finding } from "./programs/finding.ts";
import { readAttachedValue } from "./programs/simple-programs.ts";

/** Longer names of protected files contain a dot or a folder anyway. */
const MAX_LETTERS = 64;

export function judgeProtectedPath(path: string, reach: CommandReach, isGlob = false): Finding[] {
  const what = reach.explainProtected(path, isGlob);
  const reason = `\`${path}\` is protected (${what}), so only the user can allow a change`;
  return what === null ? [] : [{ nature: "protected", what: reason, upTo: 0, path }];
}

/** Any word may be a file that a program writes, unless the program is known to only read. */
export function judgeProtectedWords(words: readonly Argument[], reach: CommandReach): Finding[] {
  return words.flatMap((word, index) => {
    const option = word.value.startsWith("-") ? word.value : (words[index - 1]?.value ?? "");
    if (index === 0 || /^--?[\w-]*(?:exclude|ignore)/.test(option)) return [];
    const isOption = word.value.startsWith("-");
    const paths = isOption ? new Set(splitAttachedPaths(word)) : [word.value.replace(/^\w+=/, "")];
    return [...paths].flatMap((path) => (path ? judgeProtectedPath(path, reach, word.isGlob) : []));
  });
}

/**
 * Paths may be attached to one or more option letters, as in `-omise.toml` and `-Dtmise.toml`; where the path begins is
 * not known.
 */
function splitAttachedPaths(word: Argument): (string | undefined)[] {
  const { length } = /^-\w*/.exec(word.value)?.[0] ?? "";
  const inLetters = Array.from({ length: Math.min(length - 2, MAX_LETTERS) }, (_, index) => length - index);
  return [readAttachedValue(word)?.value, ...[2, ...inLetters].map((from) => word.value.slice(from))];
}
