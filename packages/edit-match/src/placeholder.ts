import { indexByKey, isBlank, listFilledLines, matchKeptLines, type Texts } from "./lines.ts";

const COMMENT_START = /^(?:\/\/+|\/\*+|#+|--+|%+|;+|<!--|\{\s*\/\*+|'{3}|"{3}|\(\*|\*|rem\b)\s*/i;
const COMMENT_END = /\s*(?:\*+\/\s*\}?|-->|\*\)|'{3}|"{3})$/;
const BRACKETS = /^[[(<{]\s*(.*?)\s*[\])>}]$/;

/** A phrase with spaces between its words, and a comment with dots in which it stands for left-out lines. */
type Phrase = readonly [words: string, example: string];

/** How such a comment begins. */
export const BEGINNINGS: readonly Phrase[] = [
  ["(?:the )?(?:rest|remainder)\\b", "the rest of the file"],
  ["remaining|existing|previous|earlier|original|other|same", "existing imports"],
  ["unchanged|unmodified|omitted|truncated|snip(?:ped)?|keep", "omitted for brevity"],
  ["no (?:other |further )?changes?", "no other changes"],
  ["as (?:before|above|is)", "as before"],
  ["and so on", "and so on"],
  ["more code|code", "more code here"],
];
/** What it names: these, and the plurals of the nouns. */
const THINGS = `
  of the this that your all existing remaining other original previous around code text logic body entries
  props class classes config`
  .trim()
  .split(/\s+/);
const NOUNS = `
  file content document page component module script function method import implementation row line section
  item style test case definition configuration field`
  .trim()
  .split(/\s+/);
const VERBS = "remains?|stays?|is|are|kept|left|goes|follows?";
/** How it ends. */
export const ENDINGS: readonly Phrase[] = [
  ["here", "existing code here"],
  ["(?:the )?same(?: as (?:before|above))?", "rest of the file stays the same as before"],
  ["unchanged|unmodified|untouched|omitted", "rest of the file unchanged"],
  ["as (?:it )?(?:is|was|before|above)", "other methods as it was"],
  ["for brevity", "remaining rows for brevity"],
];

const joinPhrases = (rows: readonly Phrase[]) =>
  `(?:${rows.map(([words]) => words.replaceAll(" ", "\\s+")).join("|")})`;
const LEFT_OUT_WORDS = `(?:all\\s+)?${joinPhrases(BEGINNINGS)}`;
const THING_WORDS = `(?:\\s+(?:${THINGS.join("|")}|(?:${NOUNS.join("|")})s?))*`;
const KEPT_WORDS = [
  "\\s*[,:(-]?\\s*(?:(?:code|content|file)\\s+)?",
  `(?:(?:${VERBS})\\s*)?${joinPhrases(ENDINGS)}?\\s*(?:\\s*for\\s+brevity)?\\)?`,
].join("");
const PHRASE = new RegExp(`^${LEFT_OUT_WORDS}${THING_WORDS}${KEPT_WORDS}$`, "i");
/** Words that occur in no other kind of comment. */
const CERTAIN_WORDS = [
  /^(?:the\s+)?(?:rest|remainder)\s+of\b/i,
  /^(?:existing|remaining)\s+(?:code|content|logic)\b/i,
  /\b(?:unchanged|unmodified|untouched|omitted|here|for brevity)\)?$/i,
  /\b(?:the same|as (?:it )?(?:is|was|before))\)?$/i,
];
const AFTER_DOTS = new RegExp(String.raw`^(?:${LEFT_OUT_WORDS}|(?:\d+\s+)?more)\b`, "i");
const DOTTED = /^(?:\.\.|…)|(?:\.\.|…)$/;
const removeDots = (text: string) =>
  DOTTED.test(text) ? text.replace(/^(?:\.{2,}|…)+\s*|\s*(?:\.{2,}|…)+$/g, "") : text;
/** Every placeholder has one of these: dots, or the beginning of a comment or bracket. */
const SIGN = new RegExp(String.raw`\.\.|…|^[[(<{]|${COMMENT_START.source}`, "i");

/**
 * Says how certainly a line stands for left-out lines: "certain" if its words say so, "bare" for a comment of only
 * dots, null for a line of content.
 */
export function classifyOmission(line: string): "certain" | "bare" | null {
  const trimmed = line.trim();
  if (trimmed === "" || trimmed.length > 120 || !SIGN.test(trimmed)) return null;
  const uncommented = trimmed.replace(COMMENT_START, "").replace(COMMENT_END, "").trim();
  const isComment = uncommented !== trimmed;
  const inside = BRACKETS.exec(uncommented)?.[1] ?? uncommented;
  const words = removeDots(inside);
  const hasDots = words !== inside;
  if (words === "" && hasDots) return isComment ? "bare" : null;
  const phrase = (BRACKETS.exec(words)?.[1] ?? words).replace(/[.!]$/, "").trim();
  if (isComment && /^(?:\.\.|…)/.test(inside) && AFTER_DOTS.test(phrase)) return "certain";
  // At least three of these signs are required, of which dots count as two: `...rest` alone spreads a value.
  const signs = [
    isComment,
    inside !== uncommented,
    /\s/.test(phrase),
    hasDots,
    hasDots || CERTAIN_WORDS.some((words) => words.test(phrase)),
  ];
  return PHRASE.test(phrase) && signs.filter(Boolean).length > 2 ? "certain" : null;
}

type FoundPlaceholder = ReturnType<typeof findPlaceholders>[number];

function findPlaceholders(lines: readonly string[], certaintyOf: typeof classifyOmission) {
  return lines.flatMap((text, at) => {
    const line = text.trim();
    const certainty = certaintyOf(line);
    return certainty === null ? [] : [{ line, at, isCertain: certainty === "certain" }];
  });
}

/** Returns the placeholders that occur more often than in the old text. */
function filterNew(found: readonly FoundPlaceholder[], old: readonly string[]): FoundPlaceholder[] {
  const left = indexByKey(old);
  return found.filter(({ line }) => left.get(line)?.pop() === undefined);
}

/** How a placeholder without dots begins when trimmed. Characters beyond ASCII may be spaces to trim. */
const FIRST_SIGN = /[[(<{/#%;'"*rR-]|[^\0-\x7f]/;
const SPACE = 0x20;

/** Returns the lines that may be placeholders. In a large text these are few, and only they are copied. */
function listSuspectLines(text: string): string[] {
  const findSignOrEnd = (sign: string, from: number) => (text.indexOf(sign, from) + 1 || text.length + 1) - 1;
  const lines: string[] = [];
  let [dots, ellipsis] = [-1, -1];
  for (let start = 0; start < text.length; ) {
    const end = findSignOrEnd("\n", start);
    if (dots < start) dots = findSignOrEnd("..", start);
    if (ellipsis < start) ellipsis = findSignOrEnd("…", start);
    let first = start;
    while (first < end && text.charCodeAt(first) <= SPACE) first += 1;
    const isSigned = dots < end || ellipsis < end || FIRST_SIGN.test(text.charAt(first));
    if (isSigned) lines.push(text.slice(start, end));
    start = end + 1;
  }
  return lines;
}

/**
 * Returns the first new line of a whole text that stands for left-out lines: writing it would lose those lines. A
 * comment of only dots counts only if the text also became shorter, and bare dots only if lines are missing there.
 */
export function findNewOmission(oldText: string, newText: string): string | null {
  if (isBlank(oldText)) return null;
  const found = findPlaceholders(listSuspectLines(newText), classifyDots);
  if (found.length === 0) return null;
  const known = findPlaceholders(listSuspectLines(oldText), classifyOmission).map(({ line }) => line);
  const isShorter = newText.split("\n").length < oldText.split("\n").length;
  const consistsOfDots = ({ line }: FoundPlaceholder) => DOTS.test(line);
  const first = filterNew(found, known).find((one) => one.isCertain || (isShorter && !consistsOfDots(one)));
  return first?.line ?? (found.some(consistsOfDots) ? findDotsForLines(oldText, newText) : null);
}

const DOTS = /^[[(<]?(?:\.{3}|…)[\])>]?$/;
const classifyDots = (line: string) => (DOTS.test(line) ? "bare" : classifyOmission(line));
/** Dots that replace a single line may be meant literally. */
const MIN_LINES_GONE = 2;
/** Matches the line above a body of only dots. */
const BODY_HEAD = /:$|"""$|'''$/;

/** Finds new dots directly between two kept lines, between which the old text had other lines. */
function findDotsForLines(oldText: string, newText: string): string | null {
  const [oldLines, newLines] = [listFilledLines(oldText), listFilledLines(newText)];
  const kept = matchKeptLines({ oldLines, newLines });
  const stay = new Set(newLines);
  const wouldLoseLines = (line: string, at: number) => {
    const [above = "", below = ""] = [newLines[at - 1], newLines[at + 1]];
    const isBody = BODY_HEAD.test(above) && readIndent(below) < readIndent(line);
    if (!DOTS.test(line.trim()) || isBody) return false;
    return kept.every((places) => {
      const [from = -1, own = -1, to = -1] = [places?.[at - 1], places?.[at], places?.[at + 1]];
      if (own >= 0 || (from < 0 && at > 0)) return false;
      // At the end of the text, dots stand for everything that follows.
      const end = at + 1 === newLines.length ? oldLines.length : Math.max(to, 0);
      const gone = oldLines.slice(from + 1, end);
      return gone.filter((old) => !stay.has(old)).length >= MIN_LINES_GONE;
    });
  };
  return newLines.find(wouldLoseLines)?.trim() ?? null;
}

const readIndent = (line: string) => line.length - line.trimStart().length;

/** Finds a line of an edit's new text that stands for lines of the old text, which would be deleted. */
export function findPlaceholder(oldText: string, newText: string): string | undefined {
  if (isBlank(oldText)) return undefined;
  const [oldLines, newLines] = [listFilledLines(oldText), listFilledLines(newText)];
  const found = findPlaceholders(newLines, classifyDots);
  if (found.length === 0) return undefined;
  const texts = { oldLines, newLines };
  // Either of several equal lines may be the kept one.
  const isRealPlaceholder = ({ at, isCertain }: FoundPlaceholder) =>
    isCertain || matchKeptLines(texts).some((kept) => standsForLines(texts, kept, at));
  const old = oldLines.map((line) => line.trim());
  return filterNew(found, old).find(isRealPlaceholder)?.line;
}

/** Matches the line above a body. */
const BLOCK_OPENING = /[:{([]$/;

/**
 * Whether dots stand for left-out lines. They are content only if no line is missing between the kept lines around
 * them, and if they are the body of a new head or not next to a line that had another neighbour in the old text.
 */
function standsForLines({ oldLines, newLines }: Texts, kept: Int32Array | undefined, at: number): boolean {
  if (kept === undefined) return true;
  const [above = "", dots = "", below] = [newLines[at - 1], newLines[at], newLines[at + 1]];
  const isHead =
    BLOCK_OPENING.test(above) && !oldLines.includes(above) && readIndent(dots) > readIndent(above);
  // The file may have a body after the last line.
  const isClosed = below !== undefined || (above.endsWith(":") && !BLOCK_OPENING.test(oldLines.at(-1) ?? ""));
  const isBody = isHead && isClosed;
  if (newLines.length > 1 && (at === 0 || below === undefined) && !isBody) return true;
  const isLineKept = (line = -1) => line >= 0;
  const gone = oldLines.length - kept.filter(isLineKept).length;
  if (gone === oldLines.length) return gone >= MIN_LINES_GONE;
  const from = kept.slice(0, at).findLast(isLineKept) ?? -1;
  const to = kept.slice(at).find(isLineKept) ?? oldLines.length;
  if (to - from > 1) return true;
  const isDifferentLine = (line?: string) => gone > 0 || ![above, below, dots].includes(line);
  const isBesideDots = (line: string, old: number) =>
    (line === above && isDifferentLine(oldLines[old + 1])) ||
    (line === below && isDifferentLine(oldLines[old - 1]));
  return !isBody && oldLines.some(isBesideDots);
}
