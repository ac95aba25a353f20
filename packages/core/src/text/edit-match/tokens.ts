/**
 * A text as words and signs, blanks left out. `keys` is what two texts are compared by; the raw text of a
 * token and the blanks before it ("gap") stay reachable, so that a match never loses what stood in the file.
 */
export interface Tokens {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly keys: readonly string[];
}

/** How a text is cut: what counts as one token, and the key it is compared by ("" makes it a blank). */
export interface Fold {
  readonly pattern: () => RegExp;
  readonly key: (raw: string) => string;
}

const WORD = String.raw`[\p{L}\p{N}\p{M}_$]+`;
const SIGN = String.raw`\.{3}|[^\s\u200b-\u200d\u2060\u00ad]`;
const ENTITY = `&(?:lt|gt|amp|quot|apos|nbsp|#0*39|#0*34|#x27|#x22|#160);`;
const ESCAPE = String.raw`\\[nrt]|\\[\\"'\x60$/]`;
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...sameAs("'", "‘’‚‛′ʼ＇´"),
  ...sameAs('"', "“”„‟″＂"),
  ...sameAs("-", "‐‑‒–—―−﹣－"),
  "…": "...",
};

function sameAs(plain: string, fancy: string): Record<string, string> {
  return Object.fromEntries([...fancy].map((sign) => [sign, plain]));
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
  return LOOK_ALIKES[raw] ?? raw.normalize("NFC");
}

export function decodeEntity(entity: string): string {
  const name = entity.slice(1, -1).replace(/^#0*/, "#");
  if (name === "#39" || name === "#x27") return "'";
  if (name === "#34" || name === "#x22") return '"';
  return ENTITIES[name] ?? "";
}

/** Only doubled backslashes are one; every other escape stays what it is. */
export const BACKSLASH_BLIND: Fold = {
  pattern: cutBy(`\\\\\\\\|${WORD}|${SIGN}`),
  key: (raw) => (raw.length === 2 && raw.startsWith("\\") ? "\\" : plainForm(raw)),
};

function cutBy(source: string): () => RegExp {
  return () => new RegExp(source, "gmu");
}

export const PLAIN: Fold = { pattern: cutBy(`${WORD}|${SIGN}`), key: plainForm };

export const ENTITY_BLIND: Fold = {
  pattern: cutBy(`${ENTITY}|${WORD}|${SIGN}`),
  key: (raw) => (raw.length > 3 && raw.startsWith("&") ? decodeEntity(raw) : plainForm(raw)),
};

export const ESCAPE_BLIND: Fold = {
  pattern: cutBy(`${ESCAPE}|${WORD}|${SIGN}`),
  key: (raw) => {
    if (raw.length !== 2 || !raw.startsWith("\\")) return plainForm(raw);
    return /[nrt]/.test(raw) ? "" : plainForm(raw.slice(1));
  },
};

export function cut(text: string, fold: Fold): Tokens {
  const starts: number[] = [];
  const ends: number[] = [];
  const keys: string[] = [];
  for (const match of text.matchAll(fold.pattern())) {
    const key = fold.key(match[0]);
    if (key === "") continue;
    starts.push(match.index);
    ends.push(match.index + match[0].length);
    keys.push(key);
  }
  return { text, starts, ends, keys };
}

export function rawToken(tokens: Tokens, index: number): string {
  return tokens.text.slice(tokens.starts[index], tokens.ends[index]);
}

/** The blanks before token `index`; `index` may be the count of tokens, for what follows the last one. */
export function gapBefore(tokens: Tokens, index: number): string {
  return tokens.text.slice(tokens.ends[index - 1] ?? 0, tokens.starts[index] ?? tokens.text.length);
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
