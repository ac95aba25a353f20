/**
 * A text as words and signs, blanks left out. `keys` is what two texts are compared by; the raw text of a
 * token and the blanks before it ("gap") stay reachable, so that a match never loses what stood in the file.
 */
export interface Tokens {
  readonly text: string;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly keys: readonly string[];
}

/** How a text is cut: into words and signs, and what else counts as one token. */
export interface Fold {
  /** What that begins with; "" for nothing else. */
  readonly sign: string;
  readonly pattern: RegExp;
  /** What it is compared by ("" makes it a blank). */
  readonly key: (raw: string) => string;
}

/** Joiners (U+200C, U+200D) are letters of many scripts; other signs without a width are blanks. */
const WORD_OR_SIGN = /[\p{L}\p{N}\p{M}_$\u200c\u200d]+|[^\s\u200b\u2060\u00ad]/uy;
const ENTITY = /&(?:lt|gt|amp|quot|apos|nbsp|#0*39|#0*34|#x27|#x22|#160);/y;
const ESCAPE = /\\[nrt\\"'`$/]/y;
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map([
  ...sameAs("'", "‘’‚‛′ʼ＇´"),
  ...sameAs('"', "“”„‟″＂"),
  ...sameAs("-", "‐‑‒–—―−﹣－"),
  ...sameAs("...", "…"),
]);

function sameAs(plain: string, fancy: string): [string, string][] {
  return [...fancy].map((sign) => [sign, plain]);
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: "",
};

/** The one form that all look-alikes of a character or word share. */
export function plainForm(raw: string): string {
  const code = raw.charCodeAt(0);
  if (raw.length === 1 && code < 128) return raw;
  return LOOK_ALIKES.get(raw) ?? raw.normalize("NFC");
}

export function decodeEntity(entity: string): string {
  const name = entity.slice(1, -1).replace(/^#0*/, "#");
  if (name === "#39" || name === "#x27") return "'";
  if (name === "#34" || name === "#x22") return '"';
  return ENTITIES[name] ?? "";
}

export const PLAIN: Fold = { sign: "", pattern: WORD_OR_SIGN, key: plainForm };

/** Only doubled backslashes are one; every other escape stays what it is. */
export const BACKSLASH_BLIND: Fold = { sign: "\\", pattern: /\\\\/y, key: () => "\\" };

export const ENTITY_BLIND: Fold = { sign: "&", pattern: ENTITY, key: decodeEntity };

/** Line ends and tabs by their escapes, behind a backslash too: `\\\\n` that was written as `\\\\` and a line end. */
export const BREAK_BLIND: Fold = { sign: "\\", pattern: /\\[nrt]/y, key: () => "" };

/** The same where only tabs were lost, and where only line ends were. */
export const TAB_BLIND: Fold = { ...BREAK_BLIND, pattern: /\\t/y };
export const LINE_END_BLIND: Fold = { ...BREAK_BLIND, pattern: /\\n/y };

export const ESCAPE_BLIND: Fold = {
  sign: "\\",
  pattern: ESCAPE,
  key: (raw) => (/[nrt]/.test(raw) ? "" : raw.slice(1)),
};

/** Files are nearly all ASCII, whose signs need no search by pattern. */
const BLANK = 0;
const LETTER = 1;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  return /\s/.test(sign) ? BLANK : /[A-Za-z0-9_$]/.test(sign) ? LETTER : 2;
});

export function cut(text: string, fold: Fold): Tokens {
  const found = new TokenList();
  const known = new Map<string, string>();
  let end = 0;
  for (let at = 0; at < text.length; at = Math.max(end, at + 1)) {
    const special = text[at] === fold.sign ? endOf(fold.pattern, text, at) : at;
    const ascii = special > at ? at : asciiEnd(text, at);
    end = special > at ? special : (ascii ?? endOf(WORD_OR_SIGN, text, at));
    if (end === at) continue;
    const raw = text.slice(at, end);
    const key = special > at ? fold.key(raw) : ascii === undefined ? plainForm(raw) : raw;
    if (key === "") continue;
    const shared = known.get(key);
    if (shared === undefined) known.set(key, key);
    found.add(at, end, shared ?? key);
  }
  return { text, ...found.arrays() };
}

/** Where the token at `at` ends, at `at` itself for a blank; undefined when it is not all ASCII. */
function asciiEnd(text: string, at: number): number | undefined {
  const kind = KINDS[text.charCodeAt(at)];
  if (kind === undefined || kind === BLANK) return kind === BLANK ? at : undefined;
  if (kind !== LETTER) return text.startsWith("...", at) ? at + 3 : at + 1;
  let end = at + 1;
  while (KINDS[text.charCodeAt(end)] === LETTER) end++;
  return text.charCodeAt(end) > 127 ? undefined : end;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Grows as it needs; a large file has millions of tokens. */
class TokenList {
  #starts = new Int32Array(64);
  #ends = new Int32Array(64);
  readonly #keys: string[] = [];

  add(start: number, end: number, key: string): void {
    const at = this.#keys.length;
    if (at === this.#starts.length) {
      this.#starts = grown(this.#starts);
      this.#ends = grown(this.#ends);
    }
    this.#starts[at] = start;
    this.#ends[at] = end;
    this.#keys.push(key);
  }

  arrays() {
    const count = this.#keys.length;
    return { starts: this.#starts.subarray(0, count), ends: this.#ends.subarray(0, count), keys: this.#keys };
  }
}

function grown(list: Int32Array): Int32Array<ArrayBuffer> {
  const next = new Int32Array(list.length * 2);
  next.set(list);
  return next;
}

export function rawToken(tokens: Tokens, index: number): string {
  return tokens.text.slice(tokens.starts[index], tokens.ends[index]);
}

/** The blanks before token `index`; `index` may be the count of tokens, for what follows the last one. */
export function gapBefore(tokens: Tokens, index: number): string {
  return tokens.text.slice(tokens.ends[index - 1] ?? 0, tokens.starts[index] ?? tokens.text.length);
}

/** The tokens of the line that a token is on. */
export function lineAround(tokens: Tokens, index: number): { readonly first: number; readonly last: number } {
  let [first, last] = [index, index];
  while (first > 0 && !gapBefore(tokens, first).includes("\n")) first--;
  while (last + 1 < tokens.keys.length && !gapBefore(tokens, last + 1).includes("\n")) last++;
  return { first, last };
}

/** The line that a token is on, from its first token to its last. */
export function lineTextAt(tokens: Tokens, index: number): string {
  const { first, last } = lineAround(tokens, index);
  return tokens.text.slice(tokens.starts[first], tokens.ends[last]);
}

/** Every position, overlapping ones too, at which `needle` stands in `hay`; stops after `limit`. Linear. */
export function positionsOf(hay: readonly string[], needle: readonly string[], limit: number): number[] {
  const found: number[] = [];
  if (needle.length === 0 || needle.length > hay.length) return found;
  const back = borders(needle);
  let matched = 0;
  for (let at = 0; at < hay.length; at++) {
    while (matched > 0 && hay[at] !== needle[matched]) matched = back[matched - 1] ?? 0;
    if (hay[at] === needle[matched]) matched++;
    if (matched < needle.length) continue;
    found.push(at - needle.length + 1);
    if (found.length >= limit) break;
    matched = back[matched - 1] ?? 0;
  }
  return found;
}

function borders(needle: readonly string[]): number[] {
  const back = [0];
  let length = 0;
  for (let at = 1; at < needle.length; at++) {
    while (length > 0 && needle[at] !== needle[length]) length = back[length - 1] ?? 0;
    if (needle[at] === needle[length]) length++;
    back.push(length);
  }
  return back;
}

const COMMENT_OPEN = String.raw`(?:\/\/+|#+|\{?\/\*+|<!--|--|;+|\*|%)`;
const ELISION = new RegExp(
  String.raw`^[^\S\n]*(?:${COMMENT_OPEN}[^\S\n]*(?:\.{3}|…)[^\n]*|[[(]?(?:\.{3}|…)[\])]?[^\S\n]*)$`,
  "gmu",
);

/** Whether a line such as `// ... rest` stands for text that was left out. */
export function hasElision(text: string): boolean {
  return text.search(ELISION) >= 0;
}

/** The tokens of a text whose `...` lines count as blanks: gaps that stand for whatever the file has there. */
export function cutAroundElisions(text: string): Tokens {
  const masked = text.replace(ELISION, (line) => " ".repeat(line.length));
  return { ...cut(masked, PLAIN), text };
}
