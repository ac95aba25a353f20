const MOST_FOUND = 50;

/** Finds paths by letters that stand in them in this order, the best first. */
export class FileNames {
  readonly #paths: readonly string[];
  readonly #lower: readonly string[];
  /** What the last words were found in: with more letters only these can be meant. */
  #last: { words: string; among: readonly number[] } | null = null;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#lower = paths.map((path) => path.toLowerCase());
  }

  find(words: string): string[] {
    const wanted = words.toLowerCase();
    if (wanted === "") return this.#paths.slice(0, MOST_FOUND);
    const { last } = { last: this.#last };
    const among = last !== null && wanted.startsWith(last.words) ? last.among : this.#lower.keys();
    const found: number[] = [];
    const best: { index: number; score: number }[] = [];
    for (const index of among) {
      const score = scoreOf(this.#lower[index] ?? "", wanted);
      if (score === 0) continue;
      found.push(index);
      if (best.length === MOST_FOUND && score <= (best.at(-1)?.score ?? 0)) continue;
      let at = best.length;
      while (at > 0 && (best[at - 1]?.score ?? 0) < score) at -= 1;
      best.splice(at, 0, { index, score });
      if (best.length > MOST_FOUND) best.pop();
    }
    this.#last = { words: wanted, among: found };
    return best.map(({ index }) => this.#paths[index] ?? "");
  }
}

/** 0 when the letters are not all there; a name that begins with them is best, letters far apart are worst. */
function scoreOf(path: string, wanted: string): number {
  const name = path.lastIndexOf("/") + 1;
  const at = path.indexOf(wanted, name);
  const shortness = 1 / (1 + path.length);
  if (at === name) return 4 + shortness;
  if (at !== -1) return 3 + shortness;
  if (path.includes(wanted)) return 2 + shortness;
  let from = 0;
  for (let index = 0; index < wanted.length; index += 1) {
    from = path.indexOf(wanted[index] ?? "", from) + 1;
    if (from === 0) return 0;
  }
  return 1 + shortness;
}
