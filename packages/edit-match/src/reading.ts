import type { EditRequest } from "./edit.ts";
import { decodeEntities } from "./fold.ts";
import { scoreAlikeness } from "./learned.ts";
import { hasUnpairedQuote, isBlank, splitBeforeAfter } from "./lines.ts";

type EditTexts = Pick<EditRequest, "oldText" | "newText">;

/** The two texts as they may have been meant. */
export interface Reading extends EditTexts {
  /** The mistakes that were corrected to get this reading. */
  readonly repairs: readonly string[];
}

/** The name of a mistake in a whole text, and a function that returns no, one or several texts without it. */
type Repair = readonly [name: string, read: (texts: EditTexts) => readonly EditTexts[]];

/**
 * Removes line numbers, which the old text must have before all lines. The new text may have none, or none before new
 * lines. A space after a number may belong to it, so both versions are returned.
 */
function removeBothNumbers(texts: EditTexts): EditTexts[] {
  const numbered = new Set(texts.oldText.split("\n"));
  const [spaced, tight] = [true, false].map((isSpaced) => {
    const oldText = removeNumbers(texts.oldText, isSpaced, 1);
    if (oldText === undefined) return undefined;
    const isKept = texts.newText.split("\n").some((line) => LINE_NUMBER.test(line) && numbered.has(line));
    const read = (text: string) => removeNumbers(text, isSpaced, isKept ? 0 : 0.5) ?? text;
    const [first, fresh, own] = [texts.oldText, texts.newText, oldText].map(
      (text) => LINE_NUMBER.exec(text)?.[1],
    );
    // Numbers that begin alike, or that are kept, are line numbers, however much the new text resembles the old one.
    const isSame = isKept || (first === fresh && own === undefined);
    return isSame ? { oldText, newText: read(texts.newText) } : repairSigns(texts, oldText, read);
  });
  if (!spaced || !tight) return [];
  // A new text without numbers shows which version has its lines.
  const repeatsOldLine = ({ oldText, newText }: EditTexts) => {
    const had = new Set(oldText.split("\n"));
    return newText === texts.newText && newText.split("\n").some((line) => !isBlank(line) && had.has(line));
  };
  const shown = [spaced, tight].filter(repeatsOldLine);
  return shown.length > 0 ? shown : [spaced, tight];
}

type Read = (text: string) => string;

/**
 * Corrects a mistake in single characters. The new text has it too, unless it is more like the corrected old text,
 * spells words with backslashes as that does, or keeps no wrong line and has characters unescaped that the old text
 * only escapes.
 */
function repairSigns({ oldText, newText }: EditTexts, read: string, repair: Read): EditTexts {
  const isNearer = scoreAlikeness(newText, read) > scoreAlikeness(newText, oldText);
  const words = listWords(newText);
  const [kept, slipped] = words.size === 0 ? [words, words] : [listWords(read), listWords(oldText)];
  const telling = [...words].filter((word) => kept.has(word) !== slipped.has(word));
  const hasKept = telling.length > 0 && telling.every((word) => kept.has(word));
  if (isNearer || hasKept) return { oldText: read, newText };
  const signs = BARE_SIGNS.filter((sign) => read.includes(sign) && newText.includes(sign));
  const dropSigns = (text: string) => (signs.length === 0 ? "" : text.replace(ESCAPED_SIGN, ""));
  const [had, has] = [dropSigns(oldText), dropSigns(newText)];
  const lines = new Set(newText.split("\n"));
  const isKept = (line: string) => lines.has(line) && repair(line) !== line;
  const isBare = signs.some((sign) => !had.includes(sign) && has.includes(sign));
  return { oldText: read, newText: isBare && !oldText.split("\n").some(isKept) ? newText : repair(newText) };
}

const listWords = (text: string) => new Set(text.match(/(?<!\\)\\+\w{2,}/g));
const ESCAPES = /\\[\s\S]/g;
const ESCAPED_SIGN = /(?<!\\)\\+[^\\]|&#?\w+;/g;
const BARE_SIGNS = [..."\"'`$<>&/"];
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

function createUnescape(signs: string): Read {
  const escapes = new RegExp(`\\\\([${signs.replace("\\", "\\\\")}])`, "g");
  const isOfLetters = /[ntr]/.test(signs);
  return (text) => {
    // In a text with several lines, `\n` is not a line break.
    if (signs.includes("n") && hasSeveralLines(text))
      return createUnescape(signs.replace(/[ntr]/g, ""))(text);
    // In a text with many backslashes, a replacement string is faster than a function.
    return isOfLetters
      ? text.replace(escapes, (_, sign: string) => ESCAPED[sign] ?? sign)
      : text.replace(escapes, "$1");
  };
}

/**
 * Removes superfluous backslashes before some characters. Before characters that are not escaped in the old text, they
 * may be meant in the new one.
 */
function createEscapeRepair(signs: string): Repair {
  const read = (texts: EditTexts) => {
    const escaped = new Set(texts.oldText.match(ESCAPES));
    const shown = [...signs].filter((sign) => escaped.has(`\\${sign}`)).join("");
    if (shown === "" || (signs.includes("n") && hasSeveralLines(texts.oldText))) return [];
    return [...new Set([shown, signs])]
      .map((some) => repairSigns(texts, createUnescape(shown)(texts.oldText), createUnescape(some)))
      .filter((one) => !splitsString(texts.oldText, one));
  };
  return ["escapes", read];
}

const REPAIRS: readonly Repair[] = [
  ["code fences", removeFences],
  ["line numbers", removeBothNumbers],
  ["diff markers", removeMarkers],
  createEscapeRepair("\"'`$\\"),
  createEscapeRepair("ntr\"'`\\/"),
  createEscapeRepair("t"),
  ["HTML entities", (texts) => [repairSigns(texts, decodeEntities(texts.oldText), decodeEntities)]],
];

const MAX_READINGS = 24;

const FOREIGN_CHARACTERS: readonly (readonly [signs: RegExp, plain: string])[] = [
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/[\u200b\u2060\ufeff\u00ad]/g, ""],
];

/** Replaces unusual spaces that the file does not have, and adopts the file's Unicode normal form. */
export function removeForeign(content: string, { oldText, newText }: EditTexts): Reading {
  const isAll = !/\S \S/.test(oldText);
  const isMissingInFile = (signs: RegExp) =>
    oldText.search(signs) >= 0 && (isAll || content.search(signs) < 0);
  const foreign = FOREIGN_CHARACTERS.filter(([signs]) => isMissingInFile(signs));
  const form = (["NFC", "NFD"] as const).find((one) => content.normalize(one) === content);
  const normalizeForm = (text: string) =>
    form !== undefined && oldText.normalize(form) !== oldText ? text.normalize(form) : text;
  const normalizeSigns = (text: string) =>
    foreign.reduce((read, [signs, sign]) => read.replace(signs, sign), normalizeForm(text));
  const repairs = foreign.length > 0 ? ["invisible characters"] : [];
  return { oldText: normalizeSigns(oldText), newText: normalizeSigns(newText), repairs };
}

/** Matches a line that begins with the marker for added lines in a diff. */
const PLUS = /^\+/m;

/** Returns the texts as they are, without each mistake that the old text has, and without two mistakes at once. */
export function listReadings(content: string, first: Reading, leaveOut: readonly string[]): Reading[] {
  const isForeign = !PLUS.test(content);
  const dropForeignMarkers = (one: Reading) =>
    leaveOut.includes("diff markers") ? one : removePluses(one, isForeign);
  const readings: Reading[] = [dropForeignMarkers(first)];
  const isKnownReading = ({ oldText, newText }: Reading) =>
    readings.some((known) => known.oldText === oldText && known.newText === newText);
  for (const one of readings) {
    if (one.repairs.length === 2) break;
    const open = REPAIRS.filter(([name]) => !leaveOut.includes(name) && !one.repairs.includes(name));
    const further = open.flatMap(([name, read]) =>
      read(one).map((texts) => dropForeignMarkers({ ...texts, repairs: [...one.repairs, name] })),
    );
    for (const fresh of further.filter(({ oldText }) => oldText !== one.oldText && !isBlank(oldText))) {
      if (readings.length < MAX_READINGS && !isKnownReading(fresh)) readings.push(fresh);
    }
  }
  return readings;
}

function hasSeveralLines(text: string): boolean {
  return text.trim().includes("\n");
}

const MARKDOWN = /\.(?:md|mdx|markdown)$/i;
const FENCES = /^[ \t]*(?:```|~~~)/gm;

/**
 * Returns the new text without a fence that only it has. In a text about code the fence may be meant: it is if it
 * surrounds the same lines, it is not if kept lines are inside, and around other lines it is unclear.
 */
export function removeNewFence(request: EditRequest): { readonly bare?: string; readonly isUnclear?: true } {
  const { content, oldText, newText } = request;
  const bare = newText.includes("```") || newText.includes("~~~") ? removeFence(newText) : undefined;
  if (bare === undefined || /^\s*(?:```|~~~)/.test(oldText)) return {};
  const trimToWords = (line: string) => line.trimEnd().replace(/^\W+/, "");
  const [had = [], has = []] = [oldText, bare].map((text) => text.trim().split("\n").map(trimToWords));
  const { fileName } = request;
  const isText = fileName === undefined ? content.search(FENCES) >= 0 : MARKDOWN.test(fileName);
  // A model that fences a whole text names the text's own language, or none.
  const [, language = ""] = /^\s*[`~]+([\w+.-]*)/.exec(newText) ?? [];
  const isOfText = /^(?:md|mdx|markdown|te?xt)$/i.test(language);
  if (isText && !isOfText && has.join("\n") === had.join("\n")) return {};
  const above = content.slice(0, content.indexOf(oldText)).match(FENCES)?.length ?? 0;
  // A block of code cannot begin inside another one.
  const mayBegin = isText && above % 2 === 0;
  if (mayBegin && !isOfText && language !== "") return {};
  const isMeant = mayBegin && !has.some((line) => line !== "" && had.includes(line));
  return isMeant ? { isUnclear: true } : { bare: oldText.endsWith("\n") ? `${bare}\n` : bare };
}

function removeFence(text: string): string | undefined {
  const [, mark = "", inside] =
    /^\s*(`{3,}|~{3,})[\w+.-]*\n([\s\S]*?)\n?(?<![ \t])[ \t]*\1[ \t]*\n?$/.exec(text) ?? [];
  return inside !== undefined && isFenceClosed(inside, mark) ? inside : undefined;
}

/** Whether the fences inside are paired. A bare fence would end the outer one, unless one with a language is open. */
function isFenceClosed(inside: string, mark: string): boolean {
  let hasNewUnpairedQuote = false;
  for (const line of inside.split("\n").map((line) => line.trim())) {
    if (!line.startsWith(mark)) continue;
    if ((line === mark) !== hasNewUnpairedQuote) return false;
    hasNewUnpairedQuote = !hasNewUnpairedQuote;
  }
  return !hasNewUnpairedQuote;
}

/** Removes the fence around the old text. If the new text has none, its end shows whether the old one ended a line. */
function removeFences({ oldText, newText }: EditTexts): EditTexts[] {
  const [old, fresh] = [removeFence(oldText), removeFence(newText)];
  if (old === undefined) return [];
  if (fresh !== undefined) return [{ oldText: `${old}\n`, newText: `${fresh}\n` }];
  // If the new text begins with a fence but does not end with one, its fences are the file's.
  if (/^\s*(?:```|~~~)/.test(newText)) return [];
  const countTrailingNewlines = (text: string) => /\n*$/.exec(text)?.[0].length ?? 0;
  const lacksEnd = newText === "" || countTrailingNewlines(newText) > countTrailingNewlines(old);
  return [{ oldText: lacksEnd ? `${old}\n` : old, newText }];
}

const LINE_NUMBER = /^ *L?(\d+)(?: ?[:|→]|\t|$)/;

/** Removes the line numbers if enough lines have one: `share` is the share of non-blank lines. */
function removeNumbers(text: string, isSpaced: boolean, share: number): string | undefined {
  const lines = text.split("\n");
  let numbered = 0;
  const read = lines.map((line) => {
    const [prefix] = LINE_NUMBER.exec(line) ?? [];
    if (prefix === undefined) return line;
    numbered += 1;
    const rest = line.slice(prefix.length);
    return isSpaced ? rest.replace(/^ /, "") : rest;
  });
  const filled = lines.filter((line) => line.trim() !== "").length;
  return numbered > 0 && numbered >= filled * share ? read.join("\n") : undefined;
}

/** Removes diff markers: added and removed lines begin with one, and the other lines may begin with a space instead. */
function removeMarkers(texts: EditTexts): EditTexts[] {
  if (/^-/m.test(texts.newText) || PLUS.test(texts.oldText)) return [];
  // If the edit only adds lines, the texts either were a diff from the start or are none.
  const isOpen = /^-/m.test(texts.oldText) || !PLUS.test(texts.newText);
  return [
    ...(isOpen && hasMarkerColumn(texts) ? [removeMargin(texts)] : []),
    removeSigns(texts, /^-/gm, /^\+/gm),
  ];
}

const hasMarkerColumn = ({ oldText, newText }: EditTexts) =>
  !/^[^ \n-]/m.test(oldText) && !/^[^ \n+]/m.test(newText);

const removeMargin = (texts: EditTexts) => removeSigns(texts, /^[ -]/gm, /^[ +]/gm);

function removeSigns({ oldText, newText }: EditTexts, gone: RegExp, come: RegExp): EditTexts {
  return { oldText: oldText.replace(gone, ""), newText: newText.replace(come, "") };
}

/** Matches an added line. In a list, a space would follow the plus. */
const PLUS_MARKER = /^\+(?!\+| \S)/;

/** Whether all added lines, and no others, begin with a diff marker. Before numbers alone, it may be theirs. */
function hasPlusOnAddedLines({ oldText, newText }: EditTexts): boolean {
  const had = new Set(oldText.split("\n").map((line) => line.trim()));
  const come = newText.split("\n").filter((line) => !isBlank(line) && !had.has(line.trim()));
  // If lines are indented by a single space, this is not a list.
  const marked = /^ \S/m.test(oldText) ? /^\+(?!\+)/ : PLUS_MARKER;
  return come.every((line) => marked.test(line)) && come.some((line) => !/^\+\d/.test(line));
}

/**
 * Removes the markers from a diff that only adds lines: all other lines are kept and begin with a space, which the file
 * does not have, or only added lines have a marker. If no line of the file begins with a plus, lines may be removed.
 */
function removePluses(texts: Reading, isForeign: boolean): Reading {
  const { oldText, newText, repairs } = texts;
  if (!PLUS.test(newText) || PLUS.test(oldText)) return texts;
  const splitFilledLines = (text: string) => text.split("\n").filter((line) => !isBlank(line));
  const has = new Set(splitFilledLines(newText));
  const isKept = splitFilledLines(oldText).every((line) => has.has(line));
  if (isKept && hasMarkerColumn(texts))
    return { ...removeMargin(texts), repairs: [...repairs, "diff markers"] };
  const isClear = isKept || (isForeign && !/^-/m.test(oldText));
  if (!isClear || !hasPlusOnAddedLines(texts)) return texts;
  return { oldText, newText: newText.replace(/^\+/gm, ""), repairs: [...repairs, "diff markers"] };
}

/** Removes diff markers from the new text if only added lines have one and no line of the file begins with one. */
export function removeNewPluses({ content, oldText, newText }: EditRequest): string {
  const at = PLUS.test(newText) ? content.indexOf(oldText) : -1;
  if (at < 0 || PLUS.test(content)) return newText;
  const [before] = splitBeforeAfter(content, at, at);
  const isWhole = before === "" || (isBlank(before) && !newText.startsWith("+"));
  return isWhole && hasPlusOnAddedLines({ oldText, newText }) ? newText.replace(/^\+/gm, "") : newText;
}

/** Whether a reading has a line break in the middle of a quoted string: that line break was meant as an escape. */
function splitsString(said: string, { oldText, newText }: EditTexts): boolean {
  if (hasSeveralLines(said)) return false;
  const had = new Set(oldText.split("\n"));
  const lines = newText.split("\n");
  const isOpen = (line: string, quote: string) => !had.has(line) && hasUnpairedQuote(line, quote);
  return ['"', "'"].some((quote) => lines.filter((line) => isOpen(line, quote)).length > 1);
}
