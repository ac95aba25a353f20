import { distance } from "fastest-levenshtein";

/** Ignores what users and models mix up: case, spaces, `-` and `_`, composed and decomposed letters. */
function folded(name: string): string {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\s_-]+/g, "");
}

/** Returns the names most similar to the given one, best first; empty when none is close. */
export function nearNames(asked: string, known: Iterable<string>, most = 3): string[] {
  const wanted = folded(asked);
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const candidate = folded(name);
    const part = wanted.length > 2 && (candidate.includes(wanted) || wanted.includes(candidate));
    const almost = part && candidate.length > 2 ? 0.5 : typosBetween(wanted, candidate);
    const score = candidate === wanted ? 0 : almost;
    const length = Math.max(wanted.length, candidate.length);
    // Two typos in five letters make another word.
    if (score <= Math.floor(length / 3)) scored.push({ name, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, most).map((entry) => entry.name);
}

/** Two swapped letters are one typo. */
function typosBetween(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const swapped = one.slice(0, at) + one.charAt(at + 1) + one.charAt(at) + one.slice(at + 2);
  return swapped === other ? 1 : distance(one, other);
}
