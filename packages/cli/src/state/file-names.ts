const MAX_FOUND = 50;
/** No system opens a longer path, and a regular expression for many more letters is rejected. */
const LONGEST_PATH = 4096;

/**
 * Finds the paths that contain the given letters in this order, best first. All paths are one text, the shortest first,
 * so a search takes a few passes of a regular expression and can stop once it has enough paths.
 */
export class FileNames {
  readonly #given: readonly string[];
  readonly #shortFirst: readonly string[];
  readonly #text: string;
  /** The positions in the text at which the paths start. */
  readonly #starts: Uint32Array;

  constructor(paths: readonly string[]) {
    this.#given = paths;
    this.#shortFirst = paths.toSorted((one, other) => one.length - other.length);
    // This is the only letter that becomes longer in lower case; it would shift what follows.
    this.#text = `\n/${this.#shortFirst.join("\n/")}\n`.replaceAll("\u0130", "i").toLowerCase();
    this.#starts = new Uint32Array(paths.length);
    let start = 0;
    for (const [index, path] of this.#shortFirst.entries()) {
      this.#starts[index] = start;
      start += path.length + "\n/".length;
    }
  }

  find(words: string): string[] {
    const wanted = words.toLowerCase();
    const found = new Set<string>();
    const isPath = wanted !== "" && wanted.length <= LONGEST_PATH;
    const isPossible = isPath && wanted.split("").every((letter) => this.#text.includes(letter));
    for (const pattern of isPossible ? buildPatterns(wanted, this.#text.includes(wanted)) : []) {
      for (const { index } of this.#text.matchAll(pattern)) {
        found.add(this.#findPath(index));
        if (found.size === MAX_FOUND) return [...found];
      }
    }
    return wanted === "" ? this.#given.slice(0, MAX_FOUND) : [...found];
  }

  #findPath(place: number): string {
    let index = 0;
    for (let end = this.#starts.length; end - index > 1; ) {
      const middle = (index + end) >> 1;
      if ((this.#starts[middle] as number) <= place) index = middle;
      else end = middle;
    }
    return this.#shortFirst[index] ?? "";
  }
}

/** Returns the parent folders of these paths, each with a trailing `/`. */
export function listFolders(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end + 1);
      if (found.has(folder)) break;
      found.add(folder);
    }
  return [...found];
}

/** Returns the patterns to try, best first. If no path contains the letters in one piece, only the last can match. */
function buildPatterns(wanted: string, isWhole: boolean): RegExp[] {
  const letters = wanted
    .split("")
    .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const whole = letters.join("");
  const apart = letters.map((letter) => `[^${letter}\\n]*${letter}`).join("");
  const wholes = isWhole ? [`/${whole}[^/\\n]*/?\\n`, `${whole}[^/\\n]*/?\\n`, whole] : [];
  return [...wholes, `\\n${apart}`].map((pattern) => new RegExp(pattern, "g"));
}
