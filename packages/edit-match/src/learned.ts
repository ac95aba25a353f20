import { type FoldDepth, FoldedText, isLookAlike } from "./fold.ts";
import { type AlignedLines, type LineParts, splitLine } from "./lines.ts";

/** A line of the old text, the same line in the file, and the line that the new text made of it. */
export interface LineTriple {
  readonly old: LineParts;
  readonly file: LineParts;
  readonly fresh: LineParts | undefined;
}

export type LearnedStyle = ReturnType<typeof learnFileStyle>;

/**
 * Learns from the whole edit how indentation, signs and trailing spaces of the model's text differ from the file's.
 * Returns functions that convert new lines.
 * `indent` and `signs` return undefined if the edit contradicts itself.
 */
export function learnFileStyle(parts: readonly LineTriple[], { newLines, depth }: AlignedLines) {
  const freshParts = newLines.map(splitLine).filter(({ body }) => body !== "");
  const filled = parts.filter(({ old }) => old.body !== "");
  const indentMap = buildIndentMap(filled);
  const indents = findStyle(parts, "indent") ?? findUnitStyle(filled, freshParts) ?? "mixed";
  const isMoved =
    indents === "as file" &&
    (shiftsUniformly(filled) || (indentMap.isUniform && hasLinesAroundShifted(filled, freshParts)));
  const signMap = new SignMap(parts, depth);
  const isThird = parts.some((part) => hasForeignCharacters(part, depth));
  const signs = isThird ? "as old" : (findStyle(parts, "body") ?? "as old");
  const trails = new Map<string, Set<string>>();
  for (const { old, file } of parts) addToSet(trails, old.trail, file.trail);
  return {
    /** Whether the new text is indented like the file although the old one is not. */
    isAsFile: indents === "as file",
    /** Returns the indentation of a new line, or of a line that was changed from a line of the file. */
    indent: (fresh: string, from?: { readonly old: string; readonly file: string }) => {
      if (isMoved) return undefined;
      if (fresh === from?.old && indents !== "as file") return from.file;
      return applyStyle(indents, fresh, () => indentMap.apply(fresh));
    },
    signs: (text: string) => applyStyle(signs, text, () => signMap.apply(text)),
    /** Returns the spaces at the end of a line. There is never a contradiction: if in doubt, they stay. */
    trail: (trail: string) => {
      const [inFile = trail, ...more] = trails.get(trail) ?? [];
      return trail === "" || more.length > 0 ? trail : inFile;
    },
  };
}

/** Whether the edit moves some lines away from the file's indentation, and from the old text's all by as much. */
function shiftsUniformly(lines: readonly LineTriple[]): boolean {
  const [fromOld, fromFile] = (["old", "file"] as const).map((side) => {
    const moves = lines.map(
      ({ fresh, [side]: { indent } }) => (fresh ?? { indent }).indent.length - indent.length,
    );
    return new Set(moves.filter((move) => move !== 0));
  });
  return (fromFile?.size ?? 0) > 0 && (fromOld?.size ?? 0) < 2;
}

/** Whether the edit adds or removes lines around the shifted ones: the kept lines may have moved as much. */
function hasLinesAroundShifted(parts: readonly LineTriple[], freshParts: readonly LineParts[]): boolean {
  const [first] = parts;
  const isIndentedFurther = ({ old, file }: LineTriple) => old.indent.length > file.indent.length;
  const isNewIndent = ({ indent }: LineParts) =>
    !parts.some(
      (part) => part.file.indent === indent || (part.old.indent === indent && isIndentedFurther(part)),
    ) && parts.some(({ old }) => old.indent === indent);
  const isInside = ({ old, fresh }: LineTriple) =>
    !fresh || old.indent.length > (first?.old.indent.length ?? 0);
  return (
    freshParts.some(isNewIndent) || (first !== undefined && isIndentedFurther(first) && parts.every(isInside))
  );
}

/** Whether the new text is written like the old text or like the file. */
type WritingStyle = "as old" | "as file" | "mixed";

/** Returns what the first and the last line with evidence agree on. Between them, an edit may move lines on purpose. */
function findStyle(parts: readonly LineTriple[], part: "indent" | "body"): WritingStyle | undefined {
  const votes = parts.flatMap(({ old, file, fresh }): WritingStyle[] => {
    if (old.body === "" || fresh === undefined || old[part] === file[part]) return [];
    const [toOld, toFile] = [
      countAlike(old[part], fresh[part], part),
      countAlike(file[part], fresh[part], part),
    ];
    return toOld === toFile ? [] : [toOld > toFile ? "as old" : "as file"];
  });
  return votes[0] === votes.at(-1) ? votes[0] : "mixed";
}

/** Whether a kept line has signs that neither the old text nor the file has there. */
function hasForeignCharacters({ old, file, fresh }: LineTriple, depth: FoldDepth): boolean {
  const [was, there, is] = [old, file, fresh ?? old].map(({ body }) => body.replace(/\s+/g, ""));
  if (was === undefined || is === undefined || was === there || is === was || is === there) return false;
  return new FoldedText(is, depth).text === new FoldedText(was, depth).text;
}

/** Whether a line has tabs where the file has spaces, or the reverse. */
const usesOtherIndentUnit = ({ old, file }: LineTriple) =>
  old.indent.includes("\t") !== file.indent.includes("\t");

/**
 * Finds the style of new lines when only the unit of indentation differs. If the edit keeps no shifted line, new lines
 * in the old text's unit are treated like the old text.
 */
function findUnitStyle(
  parts: readonly LineTriple[],
  freshParts: readonly LineParts[],
): WritingStyle | undefined {
  const shifted = parts.filter(({ old, file }) => old.indent !== file.indent);
  const [first] = shifted;
  if (first === undefined || !shifted.every((part) => usesOtherIndentUnit(part) && !part.fresh))
    return undefined;
  // A single space may belong to a block comment.
  const indents = freshParts.map(({ indent }) => indent).filter((indent) => indent !== "" && indent !== " ");
  const usesOldIndentUnit = (indent: string) => indent.includes("\t") === first.old.indent.includes("\t");
  return indents.length > 0 && indents.every(usesOldIndentUnit) ? "as old" : undefined;
}

function countAlike(one: string, other: string, part: "indent" | "body"): number {
  if (part === "indent") return one === other ? 1 : 0;
  const dropSpaces = (text: string) => text.replace(/\s+/g, "");
  return scoreAlikeness(dropSpaces(one), dropSpaces(other));
}

function applyStyle(manner: WritingStyle, text: string, map: () => string | undefined): string | undefined {
  if (manner === "as file") return text;
  const mapped = map();
  return manner === "mixed" && mapped !== text ? undefined : mapped;
}

/** Counts the equal characters at the beginning of two texts, and those in the rest at the end. */
export function countCommonEnds(one: string, other: string) {
  const max = Math.min(one.length, other.length);
  let [head, tail] = [0, 0];
  while (head < max && one.charCodeAt(head) === other.charCodeAt(head)) head += 1;
  const [end, otherEnd] = [one.length - 1, other.length - 1];
  while (tail < max - head && one.charCodeAt(end - tail) === other.charCodeAt(otherEnd - tail)) tail += 1;
  return { head, tail };
}

/** Counts the characters at both ends that show a likeness: backslashes before a different character do not. */
export function scoreAlikeness(one: string, other: string): number {
  let { head, tail } = countCommonEnds(one, other);
  while (head > 0 && one[head - 1] === "\\") head -= 1;
  return head + tail;
}

/** A rule from the old text's indentation to the file's. Returns undefined if it does not apply. */
type IndentRule = (indent: string) => string | undefined;

/** Learns how to convert indentation. Lines keep theirs unless all lines were shifted in the same way. */
function buildIndentMap(parts: readonly LineTriple[]): {
  readonly isUniform: boolean;
  readonly apply: IndentRule;
} {
  const known = new Map<string, Set<string>>();
  for (const { old, file } of parts) addToSet(known, old.indent, file.indent);
  const pairs = [...known].flatMap(([old, files]) => [...files].map((file) => ({ old, file })));
  const shift = pairs.find(({ old, file }) => old !== file);
  const isPartly = pairs.some(({ old, file }) => old === file);
  const hasTabs = pairs.some(({ file }) => file.includes("\t"));
  const shiftedLines = parts.filter(({ old, file }) => old.indent !== file.indent);
  const isMostly = shiftedLines.length > parts.length / 2;
  /** The indentation in the file of the only shifted line. */
  const oneOff = shiftedLines.length === 1 ? shiftedLines[0]?.file.indent : undefined;
  const tried = shift === undefined ? [(indent: string) => indent] : listIndentRules(shift);
  const rules = tried.filter((rule) => pairs.every(({ old, file }) => rule(old) === file));
  const findOnlyValue = (files = new Set<string>()) => (files.size === 1 ? [...files][0] : undefined);
  if (rules.length === 0 && isPartly) {
    // A single shifted line says nothing about others. Several suggest that this one may be shifted, most that it is.
    const isIndentKept = (indent: string) =>
      oneOff !== undefined ||
      (findOnlyValue(known.get(indent)) ?? (isMostly ? undefined : indent)) === indent;
    const isUnit = shiftedLines.every(usesOtherIndentUnit);
    const apply = (indent: string) => {
      if (isUnit && indent !== "") return findOnlyValue(known.get(indent));
      return (hasTabs || !indent.includes("\t")) && isIndentKept(indent) ? indent : undefined;
    };
    return { isUniform: false, apply };
  }
  const apply = (indent: string) => {
    const only = findOnlyValue(known.get(indent));
    if (only !== undefined || (isPartly && indent === oneOff)) return only;
    return findOnlyValue(new Set(rules.flatMap((rule) => rule(indent) ?? [])));
  };
  return { isUniform: rules.length > 0, apply };
}

const INDENT_UNITS = ["\t", ...[1, 2, 3, 4, 6, 8].map((width) => " ".repeat(width))];

/** Returns all simple rules from one indentation to the other: more or less of it, or another unit. */
function listIndentRules({ old, file }: { readonly old: string; readonly file: string }): IndentRule[] {
  const rules: IndentRule[] = [];
  if (file.endsWith(old)) rules.push((indent) => file.slice(0, file.length - old.length) + indent);
  if (old.endsWith(file)) {
    const more = old.slice(0, old.length - file.length);
    rules.push((indent) => (indent.startsWith(more) ? indent.slice(more.length) : undefined));
  }
  for (const from of INDENT_UNITS) {
    for (const to of INDENT_UNITS) if (from !== to) rules.push((indent) => rescaleIndent(indent, from, to));
  }
  return rules;
}

/** Converts between units. Between tabs and spaces, the lines of a block comment keep their one additional space. */
function rescaleIndent(indent: string, from: string, to: string): string | undefined {
  let levels = 0;
  while (indent.startsWith(from, levels * from.length)) levels += 1;
  const rest = indent.slice(levels * from.length);
  return rest === "" || (rest === " " && (from + to).includes("\t")) ? to.repeat(levels) + rest : undefined;
}

function addToSet(map: Map<string, Set<string>>, key: string, value: string): void {
  map.set(key, (map.get(key) ?? new Set()).add(value));
}

const BACKSLASH = /\\/;
/** Matches the places in a text where characters have often lost an escape. */
const PATTERN = /\[\^|[\])}][+*?]|\.[+*]|\(\?|[/"'`]\^|\b[dDwWsS][+*]|[=(,:;[!&|?{}]\s*\/(?!\*)/;

const PLAIN_SIGN = /^(?:[!-~]|--|\.{3})$/;
const DOTS = "...";

/** Returns a sign with the kind of character on its left, and with that on its right, which tell its purpose. */
function splitContext(text: string, start: number, end: number): readonly [string, string] {
  const classifyCharacter = (at: number) =>
    (text[at] ?? " ").replace(/\p{L}/u, "a").replace(/\d/, "0").replace(/\s/, " ");
  const written = text.slice(start, end);
  return [`${classifyCharacter(start - 1)}${written}`, `${written}${classifyCharacter(end)}`];
}

/** How the file spells what the model writes, learned for each character. */
class SignMap {
  readonly #known = new Map<string, Set<string>>();
  /**
   * How much more often the file has the same character than another one, by the context on the left, on the right and
   * on both sides.
   */
  readonly #beside = [0, 1, 2].map(() => new Map<string, number>());
  readonly #depth: FoldDepth;
  #changesAny = false;
  /** The plain characters that the file has where the model wrote a look-alike. */
  readonly #plain = new Set<string>();
  /** Patterns for places in a new line that may have lost an escape, as the old text has. */
  readonly #lost = new Set<RegExp>();

  constructor(parts: readonly LineTriple[], depth: FoldDepth) {
    this.#depth = depth;
    // If nothing is written differently, there is nothing to learn.
    if (parts.every(({ old, file }) => old.body === file.body)) return;
    // A backslash at the end of a line has no character to belong to.
    const findEndingBackslashes = ({ body }: LineParts) => /\\*$/.exec(body)?.[0];
    if (parts.some(({ old, file }) => findEndingBackslashes(old) !== findEndingBackslashes(file))) {
      this.#lost.add(/\\$/);
      this.#changesAny = true;
    }
    const spelled = parts.flatMap(({ old, file }) => alignCharacters(old.body, file.body, depth));
    for (const { written, inFile, halves } of spelled) {
      if (/^\w$/.test(written) && written === inFile) continue;
      addToSet(this.#known, written, inFile);
      this.#countNeighbors(halves, written === inFile ? 1 : -1);
      if (written === inFile) continue;
      this.#changesAny = true;
      if (isLookAlike(written.replace(/^\\+/, "")) && !isLookAlike(inFile)) this.#plain.add(inFile);
      if (inFile.length > written.length && inFile.includes("\\")) {
        this.#lost.add(PATTERN);
        // One backslash may stand for two.
        if (written.startsWith("\\")) this.#lost.add(BACKSLASH);
      }
    }
  }

  apply(body: string): string | undefined {
    // If an escape counts as a line break or tab, it may be either.
    if (this.#depth === "escapes" && /\\[nrt]|\t/.test(body)) return undefined;
    if (!this.#changesAny) return body;
    if ([...this.#lost].some((sign) => sign.test(body))) return undefined;
    const folded = new FoldedText(body, this.#depth);
    const pieces: string[] = [];
    let done = 0;
    for (let unit = 0; unit < folded.length; unit += 1) {
      const from = folded.starts[unit] ?? 0;
      while (/^\p{M}/u.test(body.slice(folded.ends[unit] ?? 0))) unit += 1;
      if (body.startsWith(DOTS, from)) unit += 2;
      const to = folded.ends[unit] ?? 0;
      const written = body.slice(from, to);
      if (/^[ \t]+$/.test(written)) continue;
      const meant = this.#findMeaning(written, splitContext(body, from, to));
      if (meant === undefined) return undefined;
      pieces.push(body.slice(done, from), meant);
      done = to;
    }
    return pieces.join("") + body.slice(done);
  }

  #findMeaning(written: string, halves: readonly [string, string]): string | undefined {
    const known = [...(this.#known.get(written) ?? [])];
    if (PLAIN_SIGN.test(written)) {
      // The file may spell this character differently here, as it does elsewhere. The characters next to it decide.
      const isPlain = (this.#depth === "signs" || this.#depth === "entities") && known.includes(written);
      const isOnly = known.every((inFile) => inFile === written);
      return isOnly || (isPlain && this.#isOwnBeside(halves)) ? written : undefined;
    }
    if (known.length > 0) return known.length === 1 ? known[0] : undefined;
    // If look-alikes stand for plain characters, one that was not learned about may do so as well.
    if (isLookAlike(written) && this.#plain.size > 0) {
      const plain = new FoldedText(written, "signs").text;
      return this.#plain.has(plain) ? plain : undefined;
    }
    return this.#depth !== "signs" && /^[&\\]/.test(written) ? undefined : written;
  }

  #countNeighbors(halves: readonly [string, string], count: number): void {
    for (const [at, key] of [...halves, halves.join("")].entries()) {
      this.#beside[at]?.set(key, (this.#beside[at].get(key) ?? 0) + count);
    }
  }

  #isOwnBeside(halves: readonly [string, string]): boolean {
    const [left = 0, right = 0, both = Math.min(left, right)] = [...halves, halves.join("")].map((key, at) =>
      this.#beside[at]?.get(key),
    );
    return both >= 0;
  }
}

/** Pairs the characters of two texts that have the same folded form. */
function alignCharacters(oldBody: string, fileBody: string, depth: FoldDepth) {
  const [old, file] = [new FoldedText(oldBody, depth), new FoldedText(fileBody, depth)];
  const found: {
    readonly written: string;
    readonly inFile: string;
    readonly halves: readonly [string, string];
  }[] = [];
  if (old.text !== file.text) return found;
  for (let from = 0; from < old.length; ) {
    let to = from + 1;
    if (oldBody.startsWith(DOTS, old.starts[from])) to += 2;
    while (old.isWithinCharacter(to) || file.isWithinCharacter(to)) to += 1;
    const [start = 0, end] = [old.starts[from], old.ends[to - 1] ?? 0];
    const written = oldBody.slice(start, end);
    const inFile = fileBody.slice(file.starts[from], file.ends[to - 1]);
    if (/[^ \t]/.test(written)) found.push({ written, inFile, halves: splitContext(oldBody, start, end) });
    from = to;
  }
  return found;
}
