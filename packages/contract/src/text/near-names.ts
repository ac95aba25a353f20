import { distance } from "fastest-levenshtein";

/** Normalizes what users and models mix up: case, spaces, `-` and `_`, composed and decomposed letters. */
function foldName(name: string): string {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\s_-]+/g, "");
}

/** Returns the known names most similar to the given one, best first; empty when none is close. */
export function findNearNames(asked: string, known: Iterable<string>, maxNames = 3): string[] {
  const wanted = foldName(asked);
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const candidate = foldName(name);
    const part = wanted.length > 2 && (candidate.includes(wanted) || wanted.includes(candidate));
    const almost = part && candidate.length > 2 ? 0.5 : countTypos(wanted, candidate);
    const score = candidate === wanted ? 0 : almost;
    const length = Math.max(wanted.length, candidate.length);
    // Allow one typo per three letters: with two typos, a word of five letters is a different word.
    if (score <= Math.floor(length / 3)) scored.push({ name, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, maxNames).map((entry) => entry.name);
}

/** Counts the typos between two names. Two swapped letters are one typo. */
function countTypos(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const swapped = one.slice(0, at) + one.charAt(at + 1) + one.charAt(at) + one.slice(at + 2);
  return swapped === other ? 1 : distance(one, other);
}
