import { type Depth, Folded, isLookAlike } from "./fold.ts";
import { type LineParts, partsOf, type Sides } from "./lines.ts";

/** A line of the old text, the same line in the file, and the line of the new text that it became. */
export interface Triple {
  readonly old: LineParts;
  readonly file: LineParts;
  readonly fresh: LineParts | undefined;
}

/** A part of a line, and the line that contains it. */
interface Part {
  readonly line: string;
  readonly start: number;
  readonly end: number;
}

export type Learned = ReturnType<typeof learn>;

/**
 * What the whole edit shows about the model's spelling of the file; applied to what is new in the new text. `indent`
 * and `signs` return nothing if the edit contradicts itself.
 */
export function learn(parts: readonly Triple[], { newLines, depth }: Sides) {
  const freshParts = newLines.map(partsOf).filter(({ body }) => body !== "");
  const filled = parts.filter(({ old }) => old.body !== "");
  const indentMap = indentMapOf(filled);
  const indents = mannerOf(parts, "indent") ?? unshownIndents(parts, freshParts);
  const isMoved =
    indents === "as file" && (movesAlike(filled) || (indentMap.isOneWay && wrapsShifted(filled, freshParts)));
  const signMap = new SignMap(parts, depth);
  const signs = mannerOf(parts, "body") ?? "as old";
  const trails = new Map<string, Set<string>>();
  for (const { old, file } of parts) addTo(trails, old.trail, file.trail);
  return {
    /** Whether the new text is indented like the file, and the old one differently. */
    isAsFile: indents === "as file",
    /** The indentation of a new line, or of one that was changed from a line of the file. */
    indent: (fresh: string, from?: { readonly old: string; readonly file: string }) => {
      if (isMoved) return undefined;
      if (fresh === from?.old && indents !== "as file") return from.file;
      return applied(indents, fresh, () => indentMap.apply(fresh));
    },
    signs: (line: string, start = 0, end = line.length) =>
      applied(signs, line.slice(start, end), () => signMap.apply({ line, start, end })),
    /** Spaces at the end of a line. They never contradict: if in doubt, they are kept. */
    trail: (trail: string) => {
      const [inFile = trail, ...more] = trails.get(trail) ?? [];
      return trail === "" || more.length > 0 ? trail : inFile;
    },
  };
}

/** Whether some lines are further in or out than in the file, and all that are so in the old text by as much. */
function movesAlike(parts: readonly Triple[]): boolean {
  const [fromOld, fromFile] = (["old", "file"] as const).map((side) => {
    const moves = parts.map(
      ({ fresh, [side]: { indent } }) => (fresh ?? { indent }).indent.length - indent.length,
    );
    return new Set(moves.filter((move) => move !== 0));
  });
  return (fromFile?.size ?? 0) > 0 && (fromOld?.size ?? 0) < 2;
}

/** Whether lines around what is shifted come, or go: what stays may have moved by as much. */
function wrapsShifted(parts: readonly Triple[], freshParts: readonly LineParts[]): boolean {
  const [first] = parts;
  const isFurtherIn = ({ old, file }: Triple) => old.indent.length > file.indent.length;
  const comes = ({ indent }: LineParts) =>
    !parts.some((part) => part.file.indent === indent || (part.old.indent === indent && isFurtherIn(part))) &&
    parts.some(({ old }) => old.indent === indent);
  const isInside = ({ old, fresh }: Triple) => !fresh || old.indent.length > (first?.old.indent.length ?? 0);
  return freshParts.some(comes) || (first !== undefined && isFurtherIn(first) && parts.every(isInside));
}

/** Whether the new text is written like the old one, or like the file. */
type Manner = "as old" | "as file" | "mixed";

/**
 * The manner that the first and the last line with evidence agree on: between them an edit may move lines on
 * purpose.
 */
function mannerOf(parts: readonly Triple[], part: "indent" | "body"): Manner | undefined {
  const votes = parts.flatMap(({ old, file, fresh }): Manner[] => {
    if (old.body === "" || fresh === undefined || old[part] === file[part]) return [];
    const [toOld, toFile] = [likeness(old[part], fresh[part], part), likeness(file[part], fresh[part], part)];
    return toOld === toFile ? [] : [toOld > toFile ? "as old" : "as file"];
  });
  return votes[0] === votes.at(-1) ? votes[0] : "mixed";
}

/**
 * Tabs, or spaces, that the file has nowhere here show that the new text is indented like the old one; unless its
 * lines moved by different amounts.
 */
function unshownIndents(parts: readonly Triple[], freshParts: readonly LineParts[]): Manner {
  const isForeign = (sign: string) =>
    freshParts.some(({ indent }) => indent.startsWith(sign)) &&
    parts.some(({ old }) => old.indent.startsWith(sign)) &&
    !parts.some(({ file }) => file.indent.includes(sign));
  const moved = parts.flatMap(({ old, file, fresh }) =>
    fresh === undefined || old.indent === file.indent ? [] : [fresh.indent.length - old.indent.length],
  );
  return new Set(moved).size < 2 && ["\t", " "].some(isForeign) ? "as old" : "mixed";
}

function likeness(one: string, other: string, part: "indent" | "body"): number {
  if (part === "indent") return one === other ? 1 : 0;
  const signs = (text: string) => text.replace(/\s+/g, "");
  return alikeness(signs(one), signs(other));
}

function applied(manner: Manner, text: string, map: () => string | undefined): string | undefined {
  if (manner === "as file") return text;
  const mapped = map();
  return manner === "mixed" && mapped !== text ? undefined : mapped;
}

/** The number of equal characters at the beginning of two texts, and of the rest at their end. */
export function commonEnds(one: string, other: string) {
  const most = Math.min(one.length, other.length);
  let [head, tail] = [0, 0];
  while (head < most && one.charCodeAt(head) === other.charCodeAt(head)) head += 1;
  const [end, otherEnd] = [one.length - 1, other.length - 1];
  while (tail < most - head && one.charCodeAt(end - tail) === other.charCodeAt(otherEnd - tail)) tail += 1;
  return { head, tail };
}

/** How many characters at the ends say that two texts are alike: backslashes before a different character do not. */
export function alikeness(one: string, other: string): number {
  let { head, tail } = commonEnds(one, other);
  while (head > 0 && one[head - 1] === "\\") head -= 1;
  return head + tail;
}

/** A rule from the old text's indentation to the file's; returns nothing if it does not apply. */
type IndentRule = (indent: string) => string | undefined;

/** Lines keep their indentation unless all lines were shifted alike. */
function indentMapOf(parts: readonly Triple[]): { readonly isOneWay: boolean; readonly apply: IndentRule } {
  const known = new Map<string, Set<string>>();
  for (const { old, file } of parts) addTo(known, old.indent, file.indent);
  const pairs = [...known].flatMap(([old, files]) => [...files].map((file) => ({ old, file })));
  const shift = pairs.find(({ old, file }) => old !== file);
  const isPartly = pairs.some(({ old, file }) => old === file);
  const hasTabs = pairs.some(({ file }) => file.includes("\t"));
  const shiftedLines = parts.filter(({ old, file }) => old.indent !== file.indent);
  const isMostly = shiftedLines.length > parts.length / 2;
  /** The file's indentation of the only line that is shifted. */
  const oneOff = shiftedLines.length === 1 ? shiftedLines[0]?.file.indent : undefined;
  const tried = shift === undefined ? [(indent: string) => indent] : indentRules(shift);
  const rules = tried.filter((rule) => pairs.every(({ old, file }) => rule(old) === file));
  const onlyIn = (files = new Set<string>()) => (files.size === 1 ? [...files][0] : undefined);
  if (rules.length === 0 && isPartly) {
    // One shifted line says nothing about others; several suggest that this one may be shifted, most that it is.
    const isKept = (indent: string) =>
      oneOff !== undefined || (onlyIn(known.get(indent)) ?? (isMostly ? undefined : indent)) === indent;
    const apply = (indent: string) =>
      (hasTabs || !indent.includes("\t")) && isKept(indent) ? indent : undefined;
    return { isOneWay: false, apply };
  }
  const apply = (indent: string) => {
    const only = onlyIn(known.get(indent));
    if (only !== undefined || (isPartly && indent === oneOff)) return only;
    return onlyIn(new Set(rules.flatMap((rule) => rule(indent) ?? [])));
  };
  return { isOneWay: rules.length > 0, apply };
}

const UNITS = ["\t", ...[1, 2, 3, 4, 6, 8].map((width) => " ".repeat(width))];

/** All simple rules from one to the other: more or less indentation, or another unit. */
function indentRules({ old, file }: { readonly old: string; readonly file: string }): IndentRule[] {
  const rules: IndentRule[] = [];
  if (file.endsWith(old)) rules.push((indent) => file.slice(0, file.length - old.length) + indent);
  if (old.endsWith(file)) {
    const more = old.slice(0, old.length - file.length);
    rules.push((indent) => (indent.startsWith(more) ? indent.slice(more.length) : undefined));
  }
  for (const from of UNITS) {
    for (const to of UNITS) if (from !== to) rules.push((indent) => rescaled(indent, from, to));
  }
  return rules;
}

function rescaled(indent: string, from: string, to: string): string | undefined {
  let levels = 0;
  while (indent.startsWith(from, levels * from.length)) levels += 1;
  return indent.length === levels * from.length ? to.repeat(levels) : undefined;
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}

const BACKSLASH = /\\/;
/** Places where characters have more often lost an escape. */
const PATTERN = /\[\^|[\])}][+*?]|\.[+*]|\(\?|[/"'`]\^|\b[dDwWsS][+*]|[=(,:;[!&|?{}]\s*\/(?!\*)/;

const PLAIN_SIGN = /^(?:[!-~]|--)$/;

/**
 * How the file spells what the model writes: learned for each character and, if a character may also be correct as
 * it is, by its neighbors.
 */
class SignMap {
  readonly #known = new Map<string, Set<string>>();
  readonly #depth: Depth;
  #changesAny = false;
  /** Plain characters that the file has where the model wrote a look-alike. */
  readonly #plain = new Set<string>();
  /** Where a new line may have lost an escape, as the old text has. */
  readonly #lost = new Set<RegExp>();

  constructor(parts: readonly Triple[], depth: Depth) {
    this.#depth = depth;
    // If everything is written alike there is nothing to learn.
    if (parts.every(({ old, file }) => old.body === file.body)) return;
    const spelled = parts.flatMap(({ old, file }) => spellings(old.body, file.body, depth));
    for (const { written, inFile, ...part } of spelled) {
      if (/^\w$/.test(written) && written === inFile) continue;
      for (const key of [written, ...besideOf(part)]) addTo(this.#known, key, inFile);
      if (written === inFile) continue;
      this.#changesAny = true;
      if (isLookAlike(written.replace(/^\\+/, "")) && PLAIN_SIGN.test(inFile)) this.#plain.add(inFile);
      if (inFile.length > written.length && inFile.includes("\\")) {
        this.#lost.add(PATTERN);
        // One backslash stands for two.
        if (written.startsWith("\\")) this.#lost.add(BACKSLASH);
      }
    }
  }

  apply({ line, start, end }: Part): string | undefined {
    const body = line.slice(start, end);
    // If an escape and a line break or a tab count as the same, it may be either.
    if (this.#depth === "escapes" && /\\[nrt]|\t/.test(body)) return undefined;
    if (!this.#changesAny) return body;
    if ([...this.#lost].some((sign) => sign.test(body))) return undefined;
    const folded = new Folded(body, this.#depth);
    const pieces: string[] = [];
    let done = 0;
    for (let unit = 0; unit < folded.length; unit += 1) {
      const from = folded.starts[unit] ?? 0;
      while (/^\p{M}/u.test(body.slice(folded.ends[unit] ?? 0))) unit += 1;
      const to = folded.ends[unit] ?? 0;
      if (/^[ \t]+$/.test(body.slice(from, to))) continue;
      const meant = this.#meant({ line, start: start + from, end: start + to });
      if (meant === undefined) return undefined;
      pieces.push(body.slice(done, from), meant);
      done = to;
    }
    return pieces.join("") + body.slice(done);
  }

  #meant(part: Part): string | undefined {
    const written = part.line.slice(part.start, part.end);
    if (PLAIN_SIGN.test(written)) return this.#isLost(part, written) ? undefined : written;
    const known = this.#known.get(written);
    if (known !== undefined) return known.size === 1 ? [...known][0] : undefined;
    // Where look-alikes stand for plain characters, one that nothing was learned about may do so as well.
    if (isLookAlike(written) && this.#plain.size > 0) {
      const plain = new Folded(written, "signs").text;
      return this.#plain.has(plain) ? plain : undefined;
    }
    return this.#depth !== "signs" && /^[&\\]/.test(written) ? undefined : written;
  }

  /** Whether the file may have another character for it here, as it has elsewhere. */
  #isLost(part: Part, written: string): boolean {
    if (![...(this.#known.get(written) ?? [])].some((inFile) => inFile !== written)) return false;
    const isSame = (key: string) => this.#known.get(key)?.has(written) === true;
    if (this.#depth === "signs" || this.#depth === "entities") return !isSame(written);
    const keys = besideOf(part);
    if (/\w/.test(written)) {
      // A letter in a word is a letter, unless the file has an escape before one like it.
      const isOfWord = keys.some((key) => /^w<|>w$/.test(key));
      return !isOfWord || keys.every((key) => this.#known.has(key));
    }
    return !keys.every((key) => isSame(key) && this.#known.get(key)?.size === 1);
  }
}

/** The character with its left neighbor, and with its right one. */
function besideOf({ line, start, end }: Part): [string, string] {
  const kindOf = (sign = " ") => (/\w/.test(sign) ? "w" : sign.trim() || " ");
  const written = line.slice(start, end);
  const before = kindOf(/\w'$/.test(line.slice(Math.max(0, start - 2), start)) ? "w" : line[start - 1]);
  return [`${before}<${written}`, `${written}>${kindOf(line[end])}`];
}

/** The characters of two texts with the same folded form, side by side. */
function spellings(oldBody: string, fileBody: string, depth: Depth) {
  const [old, file] = [new Folded(oldBody, depth), new Folded(fileBody, depth)];
  const found: (Part & { readonly written: string; readonly inFile: string })[] = [];
  if (old.text !== file.text) return found;
  for (let from = 0; from < old.length; ) {
    let to = from + 1;
    while (old.isWithinCharacter(to) || file.isWithinCharacter(to)) to += 1;
    const [start, end] = [old.starts[from] ?? 0, old.ends[to - 1] ?? 0];
    const written = oldBody.slice(start, end);
    const inFile = fileBody.slice(file.starts[from], file.ends[to - 1]);
    if (/[^ \t]/.test(written)) found.push({ written, inFile, line: oldBody, start, end });
    from = to;
  }
  return found;
}
