import type { EditRequest } from "./edit.ts";
import { decodeEntities } from "./fold.ts";
import { scoreAlikeness } from "./learned.ts";
import { hasUnpairedQuote, isBlank, readLineAround } from "./lines.ts";

type EditTexts = Pick<EditRequest, "oldText" | "newText">;

/** The two texts as they may be meant. */
export interface Reading extends EditTexts {
  /** The mistakes that were corrected to get there. */
  readonly repairs: readonly string[];
}

/** A mistake that affects a whole text, and the texts without it: none, one or several versions. */
type Repair = readonly [name: string, read: (texts: EditTexts) => readonly EditTexts[]];

/**
 * Numbers before all lines; the new text may have none, or none before new lines. A space after them may belong to
 * them.
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
    // Numbers that begin alike, or stay, are those of the lines, however like the old text without them the new one is.
    const isSame = isKept || (first === fresh && own === undefined);
    return isSame ? { oldText, newText: read(texts.newText) } : repairSigns(texts, oldText, read);
  });
  if (!spaced || !tight) return [];
  // A new text without numbers shows which lines are its own.
  const isShown = ({ oldText, newText }: EditTexts) => {
    const had = new Set(oldText.split("\n"));
    return newText === texts.newText && newText.split("\n").some((line) => !isBlank(line) && had.has(line));
  };
  const shown = [spaced, tight].filter(isShown);
  return shown.length > 0 ? shown : [spaced, tight];
}

type Read = (text: string) => string;

/**
 * A mistake in single characters. The new text has it too, unless it is nearer to the old text without it, has words
 * with backslashes as that one has them, or keeps no line with it and has characters that are there by mistake alone.
 */
function repairSigns({ oldText, newText }: EditTexts, read: string, repair: Read): EditTexts {
  const isNearer = scoreAlikeness(newText, read) > scoreAlikeness(newText, oldText);
  const words = listWords(newText);
  const [kept, slipped] = words.size === 0 ? [words, words] : [listWords(read), listWords(oldText)];
  const telling = [...words].filter((word) => kept.has(word) !== slipped.has(word));
  const hasKept = telling.length > 0 && telling.every((word) => kept.has(word));
  if (isNearer || hasKept) return { oldText: read, newText };
  const signs = BARE_SIGNS.filter((sign) => read.includes(sign) && newText.includes(sign));
  const bare = (text: string) => (signs.length === 0 ? "" : text.replace(ESCAPED_SIGN, ""));
  const [had, has] = [bare(oldText), bare(newText)];
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
    // If the text has line breaks, \n is not one.
    if (signs.includes("n") && hasSeveralLines(text))
      return createUnescape(signs.replace(/[ntr]/g, ""))(text);
    // A pattern is faster than a function in a text of many backslashes.
    return isOfLetters
      ? text.replace(escapes, (_, sign: string) => ESCAPED[sign] ?? sign)
      : text.replace(escapes, "$1");
  };
}

/**
 * Backslashes before some characters are superfluous. Characters that the old text does not show may be meant in
 * the new one.
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

/** Odd spaces are a slip if the file does not have them, or the text has no others; so is another Unicode normal form. */
export function removeForeign(content: string, { oldText, newText }: EditTexts): Reading {
  const isAll = !/\S \S/.test(oldText);
  const isForeign = (signs: RegExp) => oldText.search(signs) >= 0 && (isAll || content.search(signs) < 0);
  const foreign = FOREIGN_CHARACTERS.filter(([signs]) => isForeign(signs));
  const form = (["NFC", "NFD"] as const).find((one) => content.normalize(one) === content);
  const formed = (text: string) =>
    form !== undefined && oldText.normalize(form) !== oldText ? text.normalize(form) : text;
  const plain = (text: string) =>
    foreign.reduce((read, [signs, sign]) => read.replace(signs, sign), formed(text));
  const repairs = foreign.length > 0 ? ["invisible characters"] : [];
  return { oldText: plain(oldText), newText: plain(newText), repairs };
}

/** A line that begins with the marker of a diff. */
const PLUS = /^\+/m;

/** The texts as they are, and without each mistake that the old one has; also without two at once. */
export function listReadings(content: string, first: Reading, leaveOut: readonly string[]): Reading[] {
  const isForeign = !PLUS.test(content);
  const plain = (one: Reading) => (leaveOut.includes("diff markers") ? one : removePluses(one, isForeign));
  const readings: Reading[] = [plain(first)];
  const isKnown = ({ oldText, newText }: Reading) =>
    readings.some((known) => known.oldText === oldText && known.newText === newText);
  for (const one of readings) {
    if (one.repairs.length === 2) break;
    const open = REPAIRS.filter(([name]) => !leaveOut.includes(name) && !one.repairs.includes(name));
    const further = open.flatMap(([name, read]) =>
      read(one).map((texts) => plain({ ...texts, repairs: [...one.repairs, name] })),
    );
    for (const fresh of further.filter(({ oldText }) => oldText !== one.oldText && !isBlank(oldText))) {
      if (readings.length < MAX_READINGS && !isKnown(fresh)) readings.push(fresh);
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
 * The new text without a fence that only it has. In a text about code it may be meant: around the same lines it is,
 * next to lines that stay it is not, and around other ones either may be.
 */
export function findNewFence(request: EditRequest): { readonly bare?: string; readonly isUnclear?: true } {
  const { content, oldText, newText } = request;
  const bare = newText.includes("```") || newText.includes("~~~") ? removeFence(newText) : undefined;
  if (bare === undefined || /^\s*(?:```|~~~)/.test(oldText)) return {};
  const wordsOf = (line: string) => line.trimEnd().replace(/^\W+/, "");
  const [had = [], has = []] = [oldText, bare].map((text) => text.trim().split("\n").map(wordsOf));
  const { fileName } = request;
  const isText = fileName === undefined ? content.search(FENCES) >= 0 : MARKDOWN.test(fileName);
  // Around a text as a whole a model puts the text's own language, or none.
  const [, language = ""] = /^\s*[`~]+([\w+.-]*)/.exec(newText) ?? [];
  const isOfText = /^(?:md|mdx|markdown|te?xt)$/i.test(language);
  if (isText && !isOfText && has.join("\n") === had.join("\n")) return {};
  const above = content.slice(0, content.indexOf(oldText)).match(FENCES)?.length ?? 0;
  // In a block of code another one cannot begin.
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

/** A bare fence inside ends the outer one, unless one with a language has begun there. */
function isFenceClosed(inside: string, mark: string): boolean {
  let isOpen = false;
  for (const line of inside.split("\n").map((line) => line.trim())) {
    if (!line.startsWith(mark)) continue;
    if ((line === mark) !== isOpen) return false;
    isOpen = !isOpen;
  }
  return !isOpen;
}

/** A text without a fence shows whether the other one ended with a line end before it was fenced. */
function removeFences({ oldText, newText }: EditTexts): EditTexts[] {
  const [old, fresh] = [removeFence(oldText), removeFence(newText)];
  if (old === undefined) return [];
  if (fresh !== undefined) return [{ oldText: `${old}\n`, newText: `${fresh}\n` }];
  // A new text that begins with a fence, and goes on behind it, has those of the file.
  if (/^\s*(?:```|~~~)/.test(newText)) return [];
  const endsOf = (text: string) => /\n*$/.exec(text)?.[0].length ?? 0;
  const lacksEnd = newText === "" || endsOf(newText) > endsOf(old);
  return [{ oldText: lacksEnd ? `${old}\n` : old, newText }];
}

const LINE_NUMBER = /^ *L?(\d+)(?: ?[:|→]|\t|$)/;

/** If all lines except blank ones have a number, or half of the lines of a new text. */
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

/** Only added and removed lines have a marker; all others may begin with a space for it. No text has those of the other. */
function removeMarkers(texts: EditTexts): EditTexts[] {
  if (/^-/m.test(texts.newText) || PLUS.test(texts.oldText)) return [];
  // Where lines only come, the texts were a diff from the beginning, or none.
  const isOpen = /^-/m.test(texts.oldText) || !PLUS.test(texts.newText);
  return [...(isOpen && isSpaced(texts) ? [removeMargin(texts)] : []), removeSigns(texts, /^-/gm, /^\+/gm)];
}

const isSpaced = ({ oldText, newText }: EditTexts) =>
  !/^[^ \n-]/m.test(oldText) && !/^[^ \n+]/m.test(newText);

const removeMargin = (texts: EditTexts) => removeSigns(texts, /^[ -]/gm, /^[ +]/gm);

function removeSigns({ oldText, newText }: EditTexts, gone: RegExp, come: RegExp): EditTexts {
  return { oldText: oldText.replace(gone, ""), newText: newText.replace(come, "") };
}

/** In a list a plus would have a space behind it. */
const PLUS_MARKER = /^\+(?!\+| \S)/;

/** Whether all lines that come, and no others, begin with the marker of a diff. Before numbers alone it may be theirs. */
function isMarked({ oldText, newText }: EditTexts): boolean {
  const had = new Set(oldText.split("\n").map((line) => line.trim()));
  const come = newText.split("\n").filter((line) => !isBlank(line) && !had.has(line.trim()));
  // No list, if lines are indented by a single space.
  const marked = /^ \S/m.test(oldText) ? /^\+(?!\+)/ : PLUS_MARKER;
  return come.every((line) => marked.test(line)) && come.some((line) => !/^\+\d/.test(line));
}

/**
 * A diff in which lines only come: all others stay, and begin with a space, which the file does not have, or only
 * what comes has a marker. If no line of the file begins with one, others may go.
 */
function removePluses(texts: Reading, isForeign: boolean): Reading {
  const { oldText, newText, repairs } = texts;
  if (!PLUS.test(newText) || PLUS.test(oldText)) return texts;
  const linesOf = (text: string) => text.split("\n").filter((line) => !isBlank(line));
  const has = new Set(linesOf(newText));
  const isKept = linesOf(oldText).every((line) => has.has(line));
  if (isKept && isSpaced(texts)) return { ...removeMargin(texts), repairs: [...repairs, "diff markers"] };
  const isClear = isKept || (isForeign && !/^-/m.test(oldText));
  if (!isClear || !isMarked(texts)) return texts;
  return { oldText, newText: newText.replace(/^\+/gm, ""), repairs: [...repairs, "diff markers"] };
}

/** The new text without the markers of a diff, where only lines that come have one, and no line of the file. */
export function removeNewPluses({ content, oldText, newText }: EditRequest): string {
  const at = PLUS.test(newText) ? content.indexOf(oldText) : -1;
  if (at < 0 || PLUS.test(content)) return newText;
  const [before] = readLineAround(content, at, at);
  const isWhole = before === "" || (isBlank(before) && !newText.startsWith("+"));
  return isWhole && isMarked({ oldText, newText }) ? newText.replace(/^\+/gm, "") : newText;
}

/** A line break in the middle of new text between quotes was meant as an escape. */
function splitsString(said: string, { oldText, newText }: EditTexts): boolean {
  if (hasSeveralLines(said)) return false;
  const had = new Set(oldText.split("\n"));
  const lines = newText.split("\n");
  const isOpen = (line: string, quote: string) => !had.has(line) && hasUnpairedQuote(line, quote);
  return ['"', "'"].some((quote) => lines.filter((line) => isOpen(line, quote)).length > 1);
}
