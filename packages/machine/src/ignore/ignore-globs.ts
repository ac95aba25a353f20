import { onceFor } from "@burin/contract/async/once";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { Automaton } from "@burin/contract/patterns/automaton";
import { parseGlob } from "@burin/contract/patterns/glob-dialect";
import { PatternError } from "@burin/contract/patterns/pattern";

interface GlobRule {
  /** Its position among the rules of its file: the last one that matches decides. */
  readonly number: number;
  readonly onPath: boolean;
  readonly foldersOnly: boolean;
  readonly glob: string;
  /** Of a path, its beginning without special characters: git matches the rest apart from it. */
  readonly start?: string;
  automaton?: Automaton | null;
}

/** Up to this many globs are simply tried, because an index would cost more. */
const FEW = 32;
/** This many may have to be tried for one name; real files never have so many globs without a word of their own. */
const MOST_TRIED = 500;
/** Longer words are indexed by their beginning. */
const LONGEST_WORD = 24;

/**
 * The globs of an ignore file. Each is indexed by the rarest word that it cannot match without, so that a name is
 * compared only with globs whose word it contains, and a file of fifty thousand lines is almost as fast as a short
 * one.
 */
export class IgnoreGlobs {
  /** By their text: of equal globs the last one counts. */
  readonly #rules = new Map<string, GlobRule>();
  #index: Map<string, GlobRule[]> | null = null;
  /** The lengths of the indexed words. */
  #lengths: readonly number[] = [];
  /** Names are asked about folder by folder. */
  #asked = { folder: "", bytes: "" };

  add(rule: GlobRule): void {
    const key = `${rule.foldersOnly ? "/" : ""}${rule.onPath ? "p" : "n"}${rule.glob}`;
    this.#rules.delete(key);
    const glob = byteText(rule.glob);
    const [start = ""] = (rule.onPath && /^[^*?[\\]+/.exec(glob)) || [];
    this.#rules.set(key, { ...rule, glob, start });
  }

  assertBounded(place: string): void {
    if (this.#rules.size <= MOST_TRIED) return;
    const isBounded = [...this.#indexed().values()].every((rules) => rules.length <= MOST_TRIED);
    if (isBounded) return;
    throw new WorkspaceError(
      "too_large",
      `${place} is not followed: more than ${MOST_TRIED} of its patterns begin the same or have no letters of their own, so that every name would be compared with each. Make it shorter.`,
    );
  }

  /** Returns the number of the last rule after `above` that matches, or `above` if there is none. */
  lastMatch(
    folder: string,
    name: string,
    { above, isFolder }: { readonly above: number; readonly isFolder: boolean },
  ): number {
    let best = above;
    if (this.#rules.size === 0) return best;
    const bytes = byteText(name);
    if (this.#asked.folder !== folder) this.#asked = { folder, bytes: byteText(folder) };
    const path = this.#asked.bytes + bytes;
    for (const rule of this.#rules.size <= FEW ? this.#rules.values() : this.#lookedUp(path)) {
      if (rule.number < best || (rule.foldersOnly && !isFolder)) continue;
      if (matches(rule, rule.onPath ? path : bytes)) best = rule.number;
    }
    return best;
  }

  #lookedUp(path: string): GlobRule[] {
    const index = this.#indexed();
    const found = [...(index.get("") ?? [])];
    for (const length of this.#lengths) {
      for (let at = 0; at + length <= path.length; at += 1) {
        const rules = index.get(path.slice(at, at + length));
        if (rules !== undefined) found.push(...rules);
      }
    }
    return found;
  }

  #indexed(): Map<string, GlobRule[]> {
    if (this.#index !== null) return this.#index;
    const index = new Map<string, GlobRule[]>();
    for (const rule of this.#rules.values()) {
      const [first = "", ...others] = neededWords(rule.glob);
      let rarest = first;
      for (const word of others) {
        if ((index.get(word)?.length ?? 0) < (index.get(rarest)?.length ?? 0)) rarest = word;
      }
      onceFor(index, rarest, () => []).push(rule);
    }
    this.#lengths = [...new Set([...index.keys()].map((word) => word.length))].filter((length) => length > 0);
    this.#index = index;
    return index;
  }
}

/** One character for each byte of the UTF-8: git's `?` and brackets stand for a byte. */
function byteText(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Returns literal words that the glob cannot match without, the longest first; none if there are none. */
function neededWords(glob: string): string[] {
  // Brackets stand for one of several letters; after brackets with unusual syntax no words are taken.
  const plain = glob.replace(/\[[!^]?\]?[^[\]\\]*\]/g, "*").replace(/\[.*/s, "");
  // `**` may match no folder at all, so the slashes next to it are not required.
  const words = plain.split(/\\.?|[*?/]+/s).filter((word) => word !== "");
  return words.map((word) => word.slice(0, LONGEST_WORD)).sort((one, other) => other.length - one.length);
}

function matches(rule: GlobRule, text: string): boolean {
  const { glob, start = "" } = rule;
  if (!text.startsWith(start)) return false;
  if (rule.automaton === undefined) rule.automaton = automatonOf(glob.slice(start.length));
  return rule.automaton?.matches(text.slice(start.length)) ?? false;
}

/** An invalid glob matches nothing. */
function automatonOf(glob: string): Automaton | null {
  try {
    return new Automaton(parseGlob(glob, { caseSensitive: true, groups: false }), { whole: true });
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}
