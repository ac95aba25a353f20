import { getOrCreate } from "@burin/contract/async/once";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { Automaton } from "@burin/contract/patterns/automaton";
import { parseGlob } from "@burin/contract/patterns/glob-pattern";
import { PatternError } from "@burin/contract/patterns/pattern";

interface IgnoreRule {
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
}

const SPECIAL = /[*?[\\]/;

/**
 * The rules of one ignore file, in git's syntax; the last one that matches a path decides. Plain names, extensions
 * and paths are looked up in maps, so that a long file is as fast as a short one.
 */
export class IgnoreFile {
  readonly #rules: IgnoreRule[] = [];
  readonly #names = new Map<string, number[]>();
  readonly #endings = new Map<string, number[]>();
  readonly #paths = new Map<string, number[]>();
  /** Folders that path rules mention; for any other folder, no path has to be built. */
  readonly #pathFolders = new Set<string>();
  readonly #globs = new IgnoreGlobs();
  readonly #ignoresCase: boolean;

  /** Throws WorkspaceError when its globs cannot be matched in bounded time. */
  constructor(text: string, place = "The ignore file", ignoresCase = false) {
    this.#ignoresCase = ignoresCase;
    for (const line of text.replace(/^\uFEFF/, "").split("\n")) this.#addRule(line.replace(/\r$/, ""));
    this.#globs.assertBounded(place);
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** `folder` is relative to the ignore file's folder and ends with `/`. Returns null when no rule matches. */
  judge(folder: string, name: string, isFolder: boolean): "ignored" | "kept" | null {
    if (!this.#ignoresCase) return this.#judgeName(folder, name, isFolder);
    return this.#judgeName(folder.toLowerCase(), name.toLowerCase(), isFolder);
  }

  #judgeName(folder: string, name: string, isFolder: boolean): "ignored" | "kept" | null {
    let best = this.#findLastRule(this.#names.get(name), -1, isFolder);
    if (this.#endings.size > 0) {
      const dot = name.lastIndexOf(".");
      if (dot !== -1) best = this.#findLastRule(this.#endings.get(name.slice(dot)), best, isFolder);
    }
    if (this.#pathFolders.has(folder))
      best = this.#findLastRule(this.#paths.get(folder + name), best, isFolder);
    best = this.#globs.findLastMatch(folder, name, { above: best, isFolder });
    if (best === -1) return null;
    return this.#rules[best]?.isNegated ? "kept" : "ignored";
  }

  /** The last of these rules that counts, or `best` if that comes after it. */
  #findLastRule(numbers: readonly number[] | undefined, best: number, isFolder: boolean): number {
    const last = numbers?.findLast((number) => isFolder || !this.#rules[number]?.foldersOnly);
    return Math.max(last ?? -1, best);
  }

  #addRule(line: string): void {
    if (line.startsWith("#")) return;
    let glob = trimTrailingSpaces(this.#ignoresCase ? line.toLowerCase() : line);
    const keeps = glob.startsWith("!");
    if (keeps) glob = glob.slice(1);
    const foldersOnly = glob.endsWith("/");
    if (foldersOnly) glob = glob.slice(0, -1);
    if (glob === "") return;
    const number = this.#rules.length;
    this.#rules.push({ isNegated: keeps, foldersOnly });
    const onPath = glob.includes("/");
    if (glob.startsWith("/")) glob = glob.slice(1);
    if (!SPECIAL.test(glob)) {
      this.#indexRule(onPath ? this.#paths : this.#names, glob, number);
      if (onPath) this.#pathFolders.add(glob.slice(0, glob.lastIndexOf("/") + 1));
    } else if (!onPath && /^\*\.[^*?[\\.]+$/.test(glob))
      this.#indexRule(this.#endings, glob.slice(1), number);
    else this.#globs.add({ number, onPath, foldersOnly, glob });
  }

  /**
   * Adds a rule. Of several rules for the same name, keeps only the last one, and the last one that is not for folders
   * only.
   */
  #indexRule(map: Map<string, number[]>, key: string, number: number): void {
    const before = this.#rules[number]?.foldersOnly ? (map.get(key) ?? []) : [];
    const forAll = before.find((one) => !this.#rules[one]?.foldersOnly);
    map.set(key, forAll === undefined ? [number] : [forAll, number]);
  }
}

/** A space at the end counts only after a backslash. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") {
    let backslashes = 0;
    while (line[end - 2 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 1) break;
    end -= 1;
  }
  return line.slice(0, end);
}

interface GlobRule {
  /** The rule's position in its file: the last rule that matches decides. */
  readonly number: number;
  readonly onPath: boolean;
  readonly foldersOnly: boolean;
  readonly glob: string;
  /** For a path glob, the literal text before its first wildcard; git compares that part separately. */
  readonly start?: string;
  automaton?: Automaton | null;
}

/** Up to this many globs are tried one by one, because an index would cost more. */
const MAX_UNINDEXED = 32;
/** The maximum number of globs to try for one name. Real files never have so many globs without a literal word. */
const MAX_TRIED = 500;
/** Longer words are indexed by their beginning. */
const MAX_WORD = 24;

/**
 * The globs of an ignore file. Each is indexed by the rarest word that it cannot match without, so that a name is
 * compared only with globs whose word it contains, and a file of fifty thousand lines is almost as fast as a short
 * one.
 */
class IgnoreGlobs {
  /** Keyed by the glob's text: of equal globs, the last one counts. */
  readonly #rules = new Map<string, GlobRule>();
  #index: Map<string, GlobRule[]> | null = null;
  /** The lengths of the indexed words. */
  #lengths: readonly number[] = [];
  /** The names of one folder are looked up together. */
  #asked = { folder: "", bytes: "" };

  add(rule: GlobRule): void {
    const key = `${rule.foldersOnly ? "/" : ""}${rule.onPath ? "p" : "n"}${rule.glob}`;
    this.#rules.delete(key);
    const glob = toByteText(rule.glob);
    const [start = ""] = (rule.onPath && /^[^*?[\\]+/.exec(glob)) || [];
    this.#rules.set(key, { ...rule, glob, start });
  }

  assertBounded(place: string): void {
    if (this.#rules.size <= MAX_TRIED) return;
    const isBounded = [...this.#buildIndex().values()].every((rules) => rules.length <= MAX_TRIED);
    if (isBounded) return;
    throw new WorkspaceError(
      "too_large",
      [
        `${place} is not followed: more than ${MAX_TRIED} of its patterns begin with the same letters,`,
        "or have no letters, so every name would be compared with each of them. Remove some of them.",
      ].join(" "),
    );
  }

  /** Returns the number of the last rule after `above` that matches, or `above` if there is none. */
  findLastMatch(
    folder: string,
    name: string,
    { above, isFolder }: { readonly above: number; readonly isFolder: boolean },
  ): number {
    let best = above;
    if (this.#rules.size === 0) return best;
    const bytes = toByteText(name);
    if (this.#asked.folder !== folder) this.#asked = { folder, bytes: toByteText(folder) };
    const path = this.#asked.bytes + bytes;
    for (const rule of this.#rules.size <= MAX_UNINDEXED ? this.#rules.values() : this.#lookUpRules(path)) {
      if (rule.number < best || (rule.foldersOnly && !isFolder)) continue;
      if (matchesGlob(rule, rule.onPath ? path : bytes)) best = rule.number;
    }
    return best;
  }

  #lookUpRules(path: string): GlobRule[] {
    const index = this.#buildIndex();
    const found = [...(index.get("") ?? [])];
    for (const length of this.#lengths) {
      for (let at = 0; at + length <= path.length; at += 1) {
        const rules = index.get(path.slice(at, at + length));
        if (rules !== undefined) found.push(...rules);
      }
    }
    return found;
  }

  #buildIndex(): Map<string, GlobRule[]> {
    if (this.#index !== null) return this.#index;
    const index = new Map<string, GlobRule[]>();
    for (const rule of this.#rules.values()) {
      const [first = "", ...others] = findRequiredWords(rule.glob);
      let rarest = first;
      for (const word of others) {
        if ((index.get(word)?.length ?? 0) < (index.get(rarest)?.length ?? 0)) rarest = word;
      }
      getOrCreate(index, rarest, () => []).push(rule);
    }
    this.#lengths = [...new Set([...index.keys()].map((word) => word.length))].filter((length) => length > 0);
    this.#index = index;
    return index;
  }
}

/** Returns one character for each UTF-8 byte, because git's `?` and brackets match a byte. */
function toByteText(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Returns literal words that every match must contain, the longest first; none if there are no such words. */
function findRequiredWords(glob: string): string[] {
  // Brackets match one of several characters; after unusual brackets, no words are extracted.
  const plain = glob.replace(/\[[!^]?\]?[^[\]\\]*\]/g, "*").replace(/\[.*/s, "");
  // `**` may match no folder at all, so the slashes next to it are not required.
  const words = plain.split(/\\.?|[*?/]+/s).filter((word) => word !== "");
  return words.map((word) => word.slice(0, MAX_WORD)).sort((one, other) => other.length - one.length);
}

function matchesGlob(rule: GlobRule, text: string): boolean {
  const { glob, start = "" } = rule;
  if (!text.startsWith(start)) return false;
  if (rule.automaton === undefined) rule.automaton = compileGlob(glob.slice(start.length));
  return rule.automaton?.matches(text.slice(start.length)) ?? false;
}

/** An invalid glob matches nothing. */
function compileGlob(glob: string): Automaton | null {
  try {
    return new Automaton(parseGlob(glob, { caseSensitive: true, groups: false }), { whole: true });
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}
