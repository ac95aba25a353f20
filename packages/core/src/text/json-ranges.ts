/** Where a JSON value stands in its text. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

const BLANK = /\s*/y;
const PRIMITIVE = /[^\s,\]}]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/sy;

/** The ranges of the values of an object's keys. The text must be valid JSON; `at` is where the object begins. */
export function memberRanges(json: string, at: number): Map<string, JsonRange> {
  const members = new Map<string, JsonRange>();
  for (let next = skip(BLANK, json, at + 1); json[next] !== "}"; next = afterComma(json, next)) {
    const keyEnd = valueEnd(json, next);
    const start = skip(BLANK, json, skip(BLANK, json, keyEnd) + 1);
    const end = valueEnd(json, start);
    members.set(JSON.parse(json.slice(next, keyEnd)), { start, end });
    next = end;
  }
  return members;
}

/** The ranges of an array's elements. The text must be valid JSON; `at` is where the array begins. */
export function elementRanges(json: string, at: number): JsonRange[] {
  const elements: JsonRange[] = [];
  for (let next = skip(BLANK, json, at + 1); json[next] !== "]"; next = afterComma(json, next)) {
    const end = valueEnd(json, next);
    elements.push({ start: next, end });
    next = end;
  }
  return elements;
}

function afterComma(json: string, at: number): number {
  const next = skip(BLANK, json, at);
  return json[next] === "," ? skip(BLANK, json, next + 1) : next;
}

function valueEnd(json: string, at: number): number {
  const first = json[at];
  if (first === '"') return skip(STRING, json, at);
  if (first !== "{" && first !== "[") return skip(PRIMITIVE, json, at);
  let depth = 0;
  for (let next = at; ; ) {
    const character = json[next];
    if (character === undefined) return next;
    if (character === '"') {
      next = skip(STRING, json, next);
      continue;
    }
    if (character === "{" || character === "[") depth += 1;
    if (character === "}" || character === "]") depth -= 1;
    next += 1;
    if (depth === 0) return next;
  }
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? at + 1 : pattern.lastIndex;
}
