import { IgnoreGlobs } from "./ignore-globs.ts";

interface Rule {
  readonly keeps: boolean;
  readonly foldersOnly: boolean;
}

const SPECIAL = /[*?[\\]/;

/**
 * The rules of one ignore file, in git's syntax; the last one that matches a path decides. Plain names, extensions
 * and paths are looked up in maps, so that a long file is as fast as a short one.
 */
export class IgnoreFile {
  readonly #rules: Rule[] = [];
  readonly #names = new Map<string, number[]>();
  readonly #endings = new Map<string, number[]>();
  readonly #paths = new Map<string, number[]>();
  /** Folders that path rules name; in any other folder no path has to be built for the lookup. */
  readonly #pathFolders = new Set<string>();
  readonly #globs = new IgnoreGlobs();
  readonly #ignoresCase: boolean;

  /** Throws WorkspaceError when its globs cannot be matched in bounded time. */
  constructor(text: string, place = "The ignore file", ignoresCase = false) {
    this.#ignoresCase = ignoresCase;
    for (const line of text.replace(/^\uFEFF/, "").split("\n")) this.#add(line.replace(/\r$/, ""));
    this.#globs.assertBounded(place);
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** `folder` is relative to the ignore file's folder and ends with `/`. Returns null when no rule matches. */
  verdict(folder: string, name: string, isFolder: boolean): "ignored" | "kept" | null {
    if (!this.#ignoresCase) return this.#verdict(folder, name, isFolder);
    return this.#verdict(folder.toLowerCase(), name.toLowerCase(), isFolder);
  }

  #verdict(folder: string, name: string, isFolder: boolean): "ignored" | "kept" | null {
    let best = this.#later(this.#names.get(name), -1, isFolder);
    if (this.#endings.size > 0) {
      const dot = name.lastIndexOf(".");
      if (dot !== -1) best = this.#later(this.#endings.get(name.slice(dot)), best, isFolder);
    }
    if (this.#pathFolders.has(folder)) best = this.#later(this.#paths.get(folder + name), best, isFolder);
    best = this.#globs.lastMatch(folder, name, { above: best, isFolder });
    if (best === -1) return null;
    return this.#rules[best]?.keeps ? "kept" : "ignored";
  }

  /** The last of these rules that counts, or `best` if that comes after it. */
  #later(numbers: readonly number[] | undefined, best: number, isFolder: boolean): number {
    const last = numbers?.findLast((number) => isFolder || !this.#rules[number]?.foldersOnly);
    return Math.max(last ?? -1, best);
  }

  #add(line: string): void {
    if (line.startsWith("#")) return;
    let glob = withoutTrailingSpaces(this.#ignoresCase ? line.toLowerCase() : line);
    const keeps = glob.startsWith("!");
    if (keeps) glob = glob.slice(1);
    const foldersOnly = glob.endsWith("/");
    if (foldersOnly) glob = glob.slice(0, -1);
    if (glob === "") return;
    const number = this.#rules.length;
    this.#rules.push({ keeps, foldersOnly });
    const onPath = glob.includes("/");
    if (glob.startsWith("/")) glob = glob.slice(1);
    if (!SPECIAL.test(glob)) {
      this.#push(onPath ? this.#paths : this.#names, glob, number);
      if (onPath) this.#pathFolders.add(glob.slice(0, glob.lastIndexOf("/") + 1));
    } else if (!onPath && /^\*\.[^*?[\\.]+$/.test(glob)) this.#push(this.#endings, glob.slice(1), number);
    else this.#globs.add({ number, onPath, foldersOnly, glob });
  }

  /** Of rules for the same name, the last one counts, and the last one that is not for folders only. */
  #push(map: Map<string, number[]>, key: string, number: number): void {
    const before = this.#rules[number]?.foldersOnly ? (map.get(key) ?? []) : [];
    const forAll = before.find((one) => !this.#rules[one]?.foldersOnly);
    map.set(key, forAll === undefined ? [number] : [forAll, number]);
  }
}

/** A space at the end counts only after a backslash. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") {
    let backslashes = 0;
    while (line[end - 2 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 1) break;
    end -= 1;
  }
  return line.slice(0, end);
}
