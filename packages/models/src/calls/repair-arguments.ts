import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";

const MAX_STEPS = 20_000;
const LONGEST_TEXT = 200_000;

type Reading = readonly [value: unknown, end: number];

/** Repairs almost valid JSON. Returns the only fitting object it can mean; undefined if there are several or none. */
export function repairArguments(text: string, fits: (value: JsonRecord) => boolean): JsonRecord | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  const body = /^\s*(?:```|~~~)[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*(?:```|~~~)\s*$/.exec(text)?.[1] ?? text;
  return withFallback(undefined, () => {
    const reader = new LenientReader(body);
    let found: JsonRecord | undefined;
    for (const [value, end] of reader.readValue(0)) {
      if (!isRecord(value) || reader.skipBlanks(end) < body.length || !fits(value)) continue;
      if (found && JSON.stringify(found) !== JSON.stringify(value)) return undefined;
      found = value;
    }
    // An apostrophe that is a letter in this reading may have been meant as an end.
    const [strict] = new LenientReader(body, true).readValue(0).next().value ?? [];
    return JSON.stringify(strict) === JSON.stringify(found) ? found : undefined;
  });
}

/** Reads Python arguments, `(key="value")`, at the start of a text. `end` is where the text after them begins. */
export function parsePythonArguments(text: string): { args: JsonRecord; end: number } | undefined {
  return withFallback(undefined, () => {
    const reader = new LenientReader(text, true);
    const [args, end = 0] = reader.readEntries(1, [], ")").next().value ?? [];
    return isRecord(args) ? { args, end: reader.skipBlanks(end) } : undefined;
  });
}

/** Reads a value in every possible way. Throws if there are too many ways. */
class LenientReader {
  readonly #text: string;
  readonly #isStrict: boolean;
  #steps = 0;

  /** Creates a reader. With `isStrict`, the first matching quote ends a string. */
  constructor(text: string, isStrict = false) {
    this.#text = text;
    this.#isStrict = isStrict;
  }

  skipBlanks(at: number): number {
    let end = at;
    while (/\s/.test(this.#text[end] ?? "")) end += 1;
    return end;
  }

  *readValue(from: number): Generator<Reading> {
    this.#count();
    const at = this.skipBlanks(from);
    const first = this.#text[at];
    if (first === "{" || first === "[") yield* this.readEntries(at + 1, [], first === "[" ? "]" : "}");
    else if (first === '"' || first === "'") yield* this.#readString(at);
    else yield* this.#readWord(at);
  }

  /** Reads the rest of an object or list after the entries in `made`. Every reading continues with its own copy. */
  *readEntries(
    from: number,
    made: readonly (readonly [unknown, unknown])[],
    closing: "]" | "}" | ")",
  ): Generator<Reading> {
    this.#count();
    const at = this.skipBlanks(from);
    const isList = closing === "]";
    if (this.#text[at] === closing) {
      yield [isList ? made.map(([, value]) => value) : Object.fromEntries(made), at + 1];
      return;
    }
    for (const [key, start] of isList ? [[made.length, at] as const] : this.#readKeys(at, closing)) {
      if (made.some(([known]) => known === key)) continue;
      for (const [value, end] of this.readValue(start)) {
        const next = this.skipBlanks(end);
        const isOver = this.#text[next] === closing;
        if (!isOver && this.#text[next] !== ",") continue;
        yield* this.readEntries(isOver ? next : next + 1, [...made, [key, value]], closing);
      }
    }
  }

  /** Yields each name that can be read here, and where its value begins. */
  *#readKeys(at: number, closing: string): Generator<Reading> {
    const [name = ""] = /^[A-Za-z_$][\w$]*/.exec(this.#text.slice(at, at + 200)) ?? [];
    const isQuoted = /^["']/.test(this.#text.charAt(at));
    for (const [key, end] of isQuoted ? this.#readString(at) : [[name, at + name.length] as const]) {
      const sign = this.skipBlanks(end);
      if (this.#text[sign] === (closing === ")" ? "=" : ":") && end > at) yield [key, sign + 1];
    }
  }

  /** Reads a string. An apostrophe within single quotes may end it or belong to it, so both are tried. */
  *#readString(at: number): Generator<Reading> {
    const quote = this.#text[at];
    for (let end = at + 1; end < this.#text.length; end += 1) {
      this.#count();
      if (this.#text[end] === "\\") end += 1;
      else if (this.#text[end] === quote) {
        this.#count((end - at) / 64);
        const value = parseString(this.#text.slice(at + 1, end));
        if (value !== undefined) yield [value, end + 1];
        if (quote === '"' || this.#isStrict) return;
      }
    }
  }

  *#readWord(at: number): Generator<Reading> {
    const [word = ""] =
      /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z]+)/.exec(this.#text.slice(at, at + 100)) ?? [];
    if (WORDS.has(word)) yield [WORDS.get(word), at + word.length];
    else if (/^[-\d]/.test(word)) yield [Number(word), at + word.length];
  }

  #count(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS + this.#text.length) throw new Error("too many possible readings");
  }
}

const WORDS: ReadonlyMap<string, unknown> = new Map(
  Object.entries({ true: true, false: false, null: null, True: true, False: false, None: null }),
);

/** Returns the text between the quotes with JSON's escapes decoded. Line breaks are taken literally. */
function parseString(inner: string): string | undefined {
  const escaped = inner
    .replace(/\\'/g, "'")
    .replace(/(\\[\s\S])|"/g, (match, kept: string | undefined) => kept ?? `\\${match}`)
    .replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return withFallback(undefined, () => JSON.parse(`"${escaped}"`) as string);
}
