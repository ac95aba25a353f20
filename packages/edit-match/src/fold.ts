/** What is ignored, besides white space and look-alike characters. */
export type FoldDepth = "signs" | "backslashes" | "escapes" | "entities";

const SPACE_CODE = 0x20;
const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
const HYPHEN = 0x2d;

const LOOK_ALIKES: readonly (readonly [signs: string, plain: string])[] = [
  ["‘’‚‛′", "'"],
  ["“”„‟″", '"'],
  ["‐‑‒–—―−", "-"],
  [
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
    " ",
  ],
  ["\u200b\u200c\u200d\u2060\ufeff\u00ad", ""],
  ["…", "..."],
  ["。", "."],
  ["、", ","],
];
/** Shared by sessions: the plain form of characters beyond ASCII. Unlisted ones are added when they occur. */
const PLAIN_CHARACTERS = new Map(
  LOOK_ALIKES.flatMap(([signs, plain]) => [...signs].map((sign) => [sign.charCodeAt(0), plain] as const)),
);

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
const ENTITY = /&(?:amp|lt|gt|quot|apos|nbsp|#x?[2-6]\d);/g;
const ENTITY_AT = new RegExp(ENTITY.source, "y");

/** Replaces HTML entities by their characters. */
export function decodeEntities(text: string): string {
  return text.replace(
    ENTITY,
    (entity) => ENTITIES[entity.slice(1, -1)] ?? String.fromCharCode(Number(`0${entity.slice(2, -1)}`)),
  );
}

function findPlainCharacter(code: number): string {
  const isWide = code >= 0xff01 && code <= 0xff5e;
  const plain =
    PLAIN_CHARACTERS.get(code) ?? String.fromCharCode(isWide ? code - 0xfee0 : code).normalize("NFD");
  PLAIN_CHARACTERS.set(code, plain);
  return plain;
}

/** Whether this is a letter, a digit or a character beyond ASCII: white space between two of them separates words. */
function isWordCode(code: number): boolean {
  if (code >= 0x80) return true;
  if (code >= 0x61) return code <= 0x7a;
  return code >= 0x41 ? code <= 0x5a || code === 0x5f : code >= 0x30 && code <= 0x39;
}

function isBlankCode(code: number): boolean {
  return code === SPACE_CODE || (code >= 9 && code <= 13);
}

/** Returns a dash's end. Two hyphens are a dash, except where one of them may be the marker of a diff. */
function findDashEnd(source: string, at: number): number {
  if (source[at - 1] === "-" || source[at + 1] !== "-" || source[at + 2] === "-") return at + 1;
  let before = at - 1;
  while (source[before] === " " || source[before] === "\t") before -= 1;
  if (source[before] === "-" || source[before] === "+") before -= 1;
  return before < 0 || source[before] === "\n" ? at + 1 : at + 2;
}

/**
 * A normalized text: without white space (except for one space between words), with plain characters instead of
 * look-alikes, and with letters separate from their accents. Each unit knows its source, so a match of folded texts
 * leads back to the original ones.
 */
export class FoldedText {
  readonly source: string;
  /** The UTF-16 code of each unit. */
  readonly codes: Uint16Array;
  /** Where each unit's source begins and ends; empty for further units of the same character. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  length = 0;
  #isParted = false;

  constructor(source: string, depth: FoldDepth) {
    this.source = source;
    // A space may precede each character, and no character becomes more than four units.
    const max = !/[^\t-\r -~]/.test(source) ? source.length : source.length * 4;
    this.codes = new Uint16Array(max);
    this.starts = new Int32Array(max);
    this.ends = new Int32Array(max);
    for (let at = 0; at < source.length; ) {
      const code = source.charCodeAt(at);
      if (code === BACKSLASH && (depth === "backslashes" || depth === "escapes")) {
        at = this.#takeEscape(at, depth);
      } else if (code === AMPERSAND && depth === "entities") at = this.#takeEntity(at);
      else at = this.#addCharacter(code, at, code === HYPHEN ? findDashEnd(source, at) : at + 1);
    }
  }

  /** The units as a string, for comparing and searching. Contains a space between words. */
  get text(): string {
    let text = "";
    for (let at = 0; at < this.length; at += 8192) {
      text += String.fromCharCode(...this.codes.subarray(at, Math.min(this.length, at + 8192)));
    }
    return text;
  }

  /** Whether a unit is not the first one of its character: a character may become several units. */
  isWithinCharacter(unit: number): boolean {
    return unit < this.length && this.starts[unit] === this.ends[unit];
  }

  /** Adds a character whose source is from `start` to `end`. Returns `end`. */
  #addCharacter(code: number, start: number, end: number): number {
    if (isBlankCode(code)) this.#isParted = true;
    else if (code < 0x80) this.#foldCharacter(code, start, end);
    else {
      const plain = findPlainCharacter(code);
      if (plain === " ") this.#isParted = true;
      else
        for (let part = 0; part < plain.length; part += 1) {
          this.#foldCharacter(plain.charCodeAt(part), part === 0 ? start : end, end);
        }
    }
    return end;
  }

  #foldCharacter(code: number, start: number, end: number): void {
    const last = this.length - 1;
    if (this.#isParted && last >= 0 && isWordCode(code) && isWordCode(this.codes[last] ?? 0)) {
      this.#write(SPACE_CODE, this.ends[last] ?? start, start);
    }
    this.#isParted = false;
    this.#write(code, start, end);
  }

  #write(code: number, start: number, end: number): void {
    this.codes[this.length] = code;
    this.starts[this.length] = start;
    this.ends[this.length] = end;
    this.length += 1;
  }

  /** Reads an escape. All backslashes before a character belong to it; before n, r or t it may be white space. */
  #takeEscape(start: number, depth: FoldDepth): number {
    const source = this.source;
    let at = start;
    while (source.charCodeAt(at) === BACKSLASH) at += 1;
    const next = source.charCodeAt(at);
    if (depth === "escapes" && (at - start) % 2 === 1 && (next === 0x6e || next === 0x72 || next === 0x74)) {
      this.#isParted = true;
      return at + 1;
    }
    // Before a space, backslashes are literal at one depth and ignored at the other.
    if (next === SPACE_CODE && depth === "backslashes") return this.#addCharacter(BACKSLASH, start, at);
    if (Number.isNaN(next) || isBlankCode(next)) return at;
    return this.#addCharacter(next, start, at + 1);
  }

  #takeEntity(start: number): number {
    ENTITY_AT.lastIndex = start;
    const [entity = "&"] = ENTITY_AT.exec(this.source) ?? [];
    return this.#addCharacter(decodeEntities(entity).charCodeAt(0), start, start + entity.length);
  }
}

export type Units = Pick<FoldedText, "codes" | "length">;

/** Finds where the units of `part` occur in `whole`, at most `maxCount` times, including overlaps, in linear time. */
export function findPositions(part: Units, whole: Units, maxCount: number): number[] {
  const found: number[] = [];
  if (part.length === 0 || part.length > whole.length) return found;
  const fallback = buildFallbackTable(part);
  const [wanted, codes] = [part.codes, whole.codes];
  let known = 0;
  for (let at = 0; at < whole.length; at += 1) {
    const code = codes[at];
    while (known > 0 && code !== wanted[known]) known = fallback[known - 1] ?? 0;
    if (code === wanted[known]) known += 1;
    if (known < part.length) continue;
    found.push(at + 1 - known);
    if (found.length >= maxCount) break;
    known = fallback[known - 1] ?? 0;
  }
  return found;
}

/** Returns how much of the part still matches when the next unit does not. */
function buildFallbackTable({ codes, length }: Units): Int32Array {
  const fallback = new Int32Array(length);
  let known = 0;
  for (let at = 1; at < length; at += 1) {
    while (known > 0 && codes[at] !== codes[known]) known = fallback[known - 1] ?? 0;
    if (codes[at] === codes[known]) known += 1;
    fallback[at] = known;
  }
  return fallback;
}

/** Whether a character looks like a plainer one. */
export function isLookAlike(sign: string): boolean {
  return sign > "\x7f" && /^[ -~]*$/.test(findPlainCharacter(sign.charCodeAt(0)));
}
