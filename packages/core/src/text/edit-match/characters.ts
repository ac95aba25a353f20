import { escapeOnLine, quotesString } from "./escapes-on-line.ts";
import { gapBefore, lineTextAt, plainForm, rawToken, type Tokens } from "./tokens.ts";

/** A token of the old text and the text the file has in its place. */
export interface TokenSample {
  readonly index: number;
  readonly file: string;
  /** Where the new text has it, if it kept it. */
  readonly after: number | undefined;
}

/** Turns a token of the new text into the file's way of writing; undefined when the evidence is divided. */
export type Respell = (after: Tokens, index: number) => string | undefined;

interface Evidence {
  readonly plain: Map<string, Set<string>>;
  readonly placed: Map<string, Set<string>>;
  /** By the sign and what follows it. */
  readonly followed: Map<string, Set<string>>;
  /** Each sign with the bracket or operator that it touches. */
  readonly behind: Set<string>;
  readonly content: string;
  readonly samples: readonly TokenSample[];
  form: "NFC" | "NFD" | undefined;
  /** The model wrote fancy signs where the file has plain ones, and never rightly. */
  fancy: boolean;
  /** A fancy sign that both have, and a quote among them. */
  kept: boolean;
  keptQuote: boolean;
}

const COUNTERPART: ReadonlyMap<string, string> = new Map([
  ["“", "”"],
  ["‘", "’"],
]);
const OPENING = "([{<“‘";

/** Learns how the model's signs differ from the file's: quotes made curly or straight, entities, escapes. */
export function learnSpelling(content: string, before: Tokens, samples: readonly TokenSample[]): Respell {
  const evidence: Evidence = {
    plain: new Map(),
    placed: new Map(),
    followed: new Map(),
    behind: new Set(),
    content,
    samples,
    form: undefined,
    fancy: false,
    kept: false,
    keptQuote: false,
  };
  let differs = false;
  for (const { index, file } of samples) {
    const raw = rawToken(before, index);
    note(evidence.plain, raw, file);
    note(evidence.placed, surroundings(before, index), file);
    note(evidence.followed, withNext(before, index), file);
    evidence.behind.add(signBefore(before, index) + raw);
    if (raw === file) {
      evidence.kept ||= isFancy(raw);
      evidence.keptQuote ||= isFancy(raw) && isQuote(plainForm(raw));
    } else {
      differs = true;
      evidence.fancy ||= isFancy(raw) && plainForm(raw) === file;
      if (raw.normalize("NFC") === file.normalize("NFC")) {
        evidence.form = file === file.normalize("NFC") ? "NFC" : "NFD";
      }
    }
  }
  if (!differs) return rawToken;
  return (after, index) => respell(evidence, after, index);
}

/** A sign that the file writes otherwise here, but plainly elsewhere, may be meant plainly in new text: not decided. */
function respell(evidence: Evidence, after: Tokens, index: number): string | undefined {
  const raw = rawToken(after, index);
  const known = evidence.plain.get(raw);
  if (known === undefined) return respellUnknown(evidence, raw);
  if ([...known].some((file) => file !== raw && /^[\\&]./.test(file))) {
    return respellEscaped(evidence, after, index);
  }
  if (known.size === 1 && known.has(raw)) return raw;
  if (!isFancy(raw)) {
    if (known.has(raw)) return raw;
    if (evidence.content.includes(raw) || quotesCode(after, index)) return undefined;
    if (!isPlacedAlike(evidence, after, index)) return undefined;
  }
  const file = known.size === 1 ? known : evidence.placed.get(surroundings(after, index));
  return file?.size === 1 ? closing(evidence, [...file][0] ?? raw, surroundings(after, index)) : undefined;
}

/** Whether a token is a quote in a line that ends as one of code may, and one of prose does not. */
function quotesCode(after: Tokens, index: number): boolean {
  return isQuote(rawToken(after, index)) && /[;{}(=>]$/.test(lineTextAt(after, index));
}

/** A sign that the file writes with an escape or an entity at least once. */
function respellEscaped(
  { plain, followed, samples }: Evidence,
  after: Tokens,
  index: number,
): string | undefined {
  const raw = rawToken(after, index);
  if (raw !== "\\") return plain.get(raw)?.has(`\\${raw}`) && quotesString(after, index) ? raw : undefined;
  const isEscape = /^\p{L}/u.test(after.keys[index + 1] ?? "");
  const seen = isEscape ? followed.get(withNext(after, index)) : undefined;
  return seen?.size === 1 ? [...seen][0] : escapeOnLine(after, index, samples);
}

/** A quote right after a sign, as in code, is not told by those of words in a sentence, nor either by apostrophes. */
function isPlacedAlike({ behind }: Evidence, after: Tokens, index: number): boolean {
  const [sign, raw] = [signBefore(after, index), rawToken(after, index)];
  return (sign === "" && !isQuote(raw)) || behind.has(sign + raw);
}

const BRACKET_OR_OPERATOR = /[([{<=:,+?]/;

function signBefore({ text, starts, ends }: Tokens, index: number): string {
  const [previous, next] = [text[(starts[index] ?? 0) - 1] ?? "", text[ends[index] ?? 0] ?? ""];
  if (/\p{L}/u.test(previous) && /\p{L}/u.test(next)) return "amid a word";
  return BRACKET_OR_OPERATOR.test(previous) ? previous : "";
}

/** An opening quote as the only witness says what the closing one is. */
function closing(evidence: Evidence, file: string, place: string): string {
  const other = COUNTERPART.get(file);
  if (other === undefined || evidence.placed.has(place) || !place.endsWith("closing")) return file;
  return other;
}

function respellUnknown(evidence: Evidence, raw: string): string | undefined {
  if (evidence.fancy && isFancy(raw)) {
    const plain = plainForm(raw);
    if (isQuote(plain)) return evidence.keptQuote ? undefined : plain;
    // Curly quotes for straight ones say nothing of dots and dashes.
    if (!evidence.kept) return undefined;
  }
  return evidence.form === undefined ? raw : raw.normalize(evidence.form);
}

function isQuote(raw: string): boolean {
  return raw === "'" || raw === '"';
}

function isFancy(raw: string): boolean {
  return raw.length === 1 && raw.charCodeAt(0) > 127 && plainForm(raw) !== raw;
}

function note(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key) ?? new Set();
  map.set(key, values.add(value));
}

/** Of escapes only the same one says something: `\\s` is not told by `\\.`. */
function withNext(tokens: Tokens, index: number): string {
  return rawToken(tokens, index) + gapBefore(tokens, index + 1) + rawToken(tokens, index + 1);
}

/** A sign with what it touches: an opening quote is told from a closing one by the blank before it. */
function surroundings(tokens: Tokens, index: number): string {
  const raw = rawToken(tokens, index);
  const start = tokens.starts[index] ?? 0;
  const previous = tokens.text[start - 1] ?? "\n";
  const opens = gapBefore(tokens, index) !== "" || start === 0 || OPENING.includes(previous);
  return `${raw} ${opens ? "opening" : "closing"}`;
}
