import { decodeEntity } from "./tokens.ts";

/** What the model sent, or what it would have sent without one kind of mistake. */
interface TextPair {
  readonly oldText: string;
  readonly newText: string;
}

/** Gives the pairs a text may stand for if it was written with one kind of mistake; none when it shows no sign. */
type Reading = (pair: TextPair) => TextPair[];

/**
 * The same repair for the new text, if it needs it: the form that has more in common with the repaired old text
 * is the one that was meant.
 */
function repairedPair(pair: TextPair, oldText: string, repair: (text: string) => string): TextPair {
  const repaired = repair(pair.newText);
  if (repaired === pair.newText) return { oldText, newText: repaired };
  const shared = (newText: string) => sharedLines({ oldText, newText });
  return { oldText, newText: shared(pair.newText) > shared(repaired) ? pair.newText : repaired };
}

function sharedLines({ oldText, newText }: TextPair): number {
  const known = new Set(linesOf(oldText));
  return linesOf(newText).filter((line) => known.has(line)).length;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

const LINE_NUMBER = /^[ \t]*(?:L(?:ine )?)?(\d+)(?: *(→|│|\||:)|(\t)|([.)])(?= |$))/i;

/**
 * The new text counts as numbered only if all of it is, with the same sign: `0: "none"` may be its own. If it is not,
 * it shows whether the blank after the sign is of the line.
 */
function withoutLineNumbers(pair: TextPair): TextPair[] {
  const found = linesOf(pair.oldText).map((line) => LINE_NUMBER.exec(line));
  const numbers = found.map((match) => Number(match?.[1] ?? Number.NaN));
  const rising = numbers.every((number, index) => number > (numbers[index - 1] ?? -1));
  if (numbers.length === 0 || !rising) return [];
  const signs = new Set(found.map(signOf));
  const isNumbered = (line: string) => signs.has(signOf(LINE_NUMBER.exec(line)));
  const newLines = linesOf(pair.newText);
  const isNew = newLines.length > 0 && newLines.every(isNumbered);
  if (!isNew && newLines.some((line) => isNumbered(line) && linesOf(pair.oldText).includes(line))) return [];
  const texts = isNew ? [pair.oldText, pair.newText] : [pair.oldText];
  const spaced = texts.flatMap(linesOf).every((line) => {
    const rest = line.replace(LINE_NUMBER, "");
    return rest.trim() === "" || rest.startsWith(" ");
  });
  const separators = spaced ? [/^ /, /^/] : [/^/];
  const pairs = separators.map((separator) => {
    const strip = (text: string) =>
      text
        .split("\n")
        .map((line) => (isNumbered(line) ? line.replace(LINE_NUMBER, "").replace(separator, "") : line))
        .join("\n");
    return { oldText: strip(pair.oldText), newText: isNew ? strip(pair.newText) : pair.newText };
  });
  const most = Math.max(...pairs.map(sharedLines));
  return isNew ? pairs : pairs.filter((other) => sharedLines(other) === most);
}

/** The sign between a line and its number. */
function signOf(match: RegExpExecArray | null): string | undefined {
  return match === null ? undefined : (match[2] ?? match[3] ?? match[4]);
}

const DIFF_LINE = /^(?:[-+ ]|\r?$)/;

function withoutDiffMarkers(pair: TextPair): TextPair[] {
  const lines = pair.oldText.split("\n");
  const marked = lines.every((line) => DIFF_LINE.test(line)) && lines.some((line) => /^[-+]/.test(line));
  if (!marked) return [];
  const strip = (text: string, dropped: "+" | "-") => {
    const all = text.split("\n");
    if (!all.every((line) => DIFF_LINE.test(line))) return text;
    const both = all.some((line) => line.startsWith("+")) && all.some((line) => line.startsWith("-"));
    return all
      .filter((line) => !both || !line.startsWith(dropped))
      .map((line) => (line === "\r" ? line : line.slice(1)))
      .join("\n");
  };
  return [repairedPair(pair, strip(pair.oldText, "+"), (text) => strip(text, "-"))];
}

function withoutByteOrderMark(pair: TextPair): TextPair[] {
  if (!pair.oldText.startsWith("\ufeff")) return [];
  return [{ oldText: pair.oldText.slice(1), newText: pair.newText.replace(/^\ufeff/, "") }];
}

const ENTITY = /&(?:lt|gt|amp|quot|apos|nbsp|#0*39|#0*34|#x27|#x22|#160);/g;

/** A lone `&`, or a sign written as an entity elsewhere, shows that the text was not escaped throughout. */
function withoutHtmlEntities(pair: TextPair): TextPair[] {
  const used = new Set(pair.oldText.match(ENTITY));
  if (used.size === 0) return [];
  const bareAmpersand = (text: string) => text.replace(ENTITY, "").includes("&");
  const decode = (text: string, all: boolean) =>
    text.replace(ENTITY, (entity) =>
      !all && entity === "&amp;" ? entity : decodeEntity(entity) || "\u00a0",
    );
  const signs = [...used].map(decodeEntity).filter((sign) => sign !== "" && sign !== "&");
  const rest = pair.newText.replace(ENTITY, "");
  const unescaped = signs.some((sign) => rest.includes(sign)) || (used.has("&amp;") && bareAmpersand(rest));
  const all = !bareAmpersand(pair.oldText);
  return [
    { oldText: decode(pair.oldText, all), newText: unescaped ? pair.newText : decode(pair.newText, all) },
  ];
}

const BREAKS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Which backslashes are one too many: quotes only, template signs, doubled ones, line breaks, or all. Where the
 * new text has escapes the old text does not show to be mistaken, both ways to read it are given.
 */
const OVER_ESCAPES: readonly { readonly pattern: RegExp; readonly onOneLine: boolean }[] = [
  { pattern: /\\(["'])/g, onOneLine: false },
  { pattern: /\\([`$])/g, onOneLine: false },
  { pattern: /\\(\\)/g, onOneLine: false },
  { pattern: /\\(["'\\`$/])/g, onOneLine: false },
  { pattern: /\\(["\\])/g, onOneLine: false },
  { pattern: /\\(["'`])/g, onOneLine: false },
  { pattern: /\\([nt])/g, onOneLine: true },
  { pattern: /\\([nrt"\\])/g, onOneLine: true },
  { pattern: /\\([nrt"'])/g, onOneLine: true },
  { pattern: /\\([nrt"'\\`$/])/g, onOneLine: true },
];

function withoutExtraEscapes(pair: TextPair): TextPair[] {
  if (!pair.oldText.includes("\\")) return [];
  const found: TextPair[] = [];
  for (const { pattern, onOneLine } of OVER_ESCAPES) {
    if (onOneLine && pair.oldText.trim().includes("\n")) continue;
    const used = new Set([...pair.oldText.matchAll(pattern)].map((match) => match[1] ?? ""));
    if (used.size === 0) continue;
    const repair = (text: string, all: boolean) =>
      text.replace(pattern, (whole, sign: string) =>
        all || used.has(sign) ? (BREAKS[sign] ?? sign) : whole,
      );
    const escaped = isEscaped(pair.newText, pattern, used);
    for (const all of escaped ? [false, true] : [false]) {
      const newText = escaped ? repair(pair.newText, all) : pair.newText;
      const next = { oldText: repair(pair.oldText, true), newText };
      if (!found.some((other) => other.oldText === next.oldText && other.newText === next.newText))
        found.push(next);
    }
  }
  return found;
}

/** Whether a text that was escaped this way could look so: none of the signs stands without its backslash. */
function isEscaped(text: string, pattern: RegExp, signs: ReadonlySet<string>): boolean {
  const rest = text.trim().replace(pattern, "");
  return [...signs].every((sign) => !rest.includes(BREAKS[sign] ?? sign));
}

/** A mistake of the model in its whole text: each row gives the text without it. */
const READINGS: readonly { readonly name: string; readonly read: Reading }[] = [
  { name: "byte order mark", read: withoutByteOrderMark },
  { name: "line numbers", read: withoutLineNumbers },
  { name: "diff markers", read: withoutDiffMarkers },
  { name: "HTML entities", read: withoutHtmlEntities },
  { name: "extra escapes", read: withoutExtraEscapes },
];

/** One way to read what the model sent, and the mistakes it had then. */
export interface ReadPair extends TextPair {
  readonly repairs: readonly string[];
}

/** The text as it is, and as it would be without each mistake it shows signs of, and without several. */
export function readingsOf({ oldText, newText }: TextPair): ReadPair[] {
  let pairs: ReadPair[] = [{ oldText, newText, repairs: [] }];
  for (const { name, read } of READINGS) {
    const more = pairs.flatMap((pair) =>
      read(pair).map((next) => ({ ...next, repairs: [...pair.repairs, name] })),
    );
    pairs = [...pairs, ...more.filter((pair) => pair.oldText !== oldText || pair.newText !== newText)];
  }
  return pairs;
}
