const MOST_FOUND = 50;

/** Finds paths with the given letters in this order, best first; fast among hundreds of thousands. */
export class FileNames {
  readonly #paths: readonly string[];
  readonly #lower: readonly string[];
  /** Where the name starts in each path. */
  readonly #nameAt: Uint32Array;
  /** Which letters and digits are in each path: this alone rules out most paths. */
  readonly #letters: Int32Array;
  /** The matches of the last search: more letters can match only among these. */
  #last: { readonly words: string; readonly among: Uint32Array } | null = null;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#lower = paths.map((path) => path.toLowerCase());
    this.#nameAt = new Uint32Array(paths.length);
    this.#letters = new Int32Array(paths.length);
    for (const [index, path] of this.#lower.entries()) {
      this.#nameAt[index] = path.lastIndexOf("/") + 1;
      this.#letters[index] = lettersIn(path);
    }
  }

  find(words: string): string[] {
    const wanted = words.toLowerCase();
    if (wanted === "") return this.#paths.slice(0, MOST_FOUND);
    const among = this.#last !== null && wanted.startsWith(this.#last.words) ? this.#last.among : null;
    const needed = lettersIn(wanted);
    const count = among?.length ?? this.#lower.length;
    const found = new Uint32Array(count);
    let length = 0;
    const best = new Best();
    for (let at = 0; at < count; at += 1) {
      const index = among === null ? at : (among[at] as number);
      if (((this.#letters[index] as number) & needed) !== needed) continue;
      const score = scoreOf(this.#lower[index] as string, wanted, this.#nameAt[index] as number);
      if (score === 0) continue;
      found[length] = index;
      length += 1;
      best.add(index, score);
    }
    this.#last = { words: wanted, among: found.subarray(0, length) };
    return best.indexes.map((index) => this.#paths[index] ?? "");
  }
}

/** The indexes with the highest scores; the first of equal ones. */
class Best {
  readonly indexes: number[] = [];
  readonly #scores: number[] = [];

  add(index: number, score: number): void {
    const { length } = this.indexes;
    if (length === MOST_FOUND && score <= (this.#scores[length - 1] ?? 0)) return;
    let at = length;
    while (at > 0 && (this.#scores[at - 1] ?? 0) < score) at -= 1;
    this.indexes.splice(at, 0, index);
    this.#scores.splice(at, 0, score);
    if (length === MOST_FOUND) {
      this.indexes.pop();
      this.#scores.pop();
    }
  }
}

/** One bit per letter, one per pair of digits; other characters have none. */
function lettersIn(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 97 && code <= 122) bits |= 1 << (code - 97);
    else if (code >= 48 && code <= 57) bits |= 1 << (26 + ((code - 48) >> 1));
  }
  return bits;
}

/** 0 when letters are missing; best for a name that starts with them, worst when they are far apart. */
function scoreOf(path: string, wanted: string, nameAt: number): number {
  const shortness = 1 / (1 + path.length);
  const at = path.indexOf(wanted, nameAt);
  if (at === nameAt) return 4 + shortness;
  if (at !== -1) return 3 + shortness;
  if (path.includes(wanted)) return 2 + shortness;
  let from = 0;
  for (let index = 0; index < wanted.length; index += 1) {
    from = path.indexOf(wanted[index] as string, from) + 1;
    if (from === 0) return 0;
  }
  return 1 + shortness;
}
