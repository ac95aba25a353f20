/** JSON from outside that nobody has checked yet: an object with unknown values, or something else. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nothing that means anything nests so deep. */
const MOST_LEVELS = 10_000;
/** Each level takes many times the memory of its bracket. */
const TOO_DEEP = `objects and lists are nested more than ${MOST_LEVELS} levels deep`;

/** The value, or undefined when the text is not JSON (which has no undefined of its own). */
export function parseJson(text: string): unknown {
  try {
    return parseOutsideJson(text);
  } catch {
    return undefined;
  }
}

/** The same for whoever wants to know why not: throws as `JSON.parse` does, also for what nests too deep. */
export function parseOutsideJson(text: string): unknown {
  if (nestsTooDeep(text)) throw new SyntaxError(TOO_DEEP);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; text.length > MOST_LEVELS && at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // Both brackets of a kind differ from the other kind in one bit only.
    if (code === QUOTE) at = stringEnd(text, at);
    else if ((code | 0x20) === 0x7b) depth += 1;
    else if ((code | 0x20) === 0x7d) depth -= 1;
    if (depth > MOST_LEVELS) return true;
  }
  return false;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}
