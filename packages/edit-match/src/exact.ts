import type { EditMatch, EditRequest, Replacement } from "./edit.ts";
import { isBlank, listFilledLines, readFilledNeighbours, splitBeforeAfter } from "./lines.ts";
import { findOccurrences, MAX_WORD_LENGTH } from "./windows.ts";
import { convertLineEnds, createAmbiguous, createMatch, detectLineEnd, detectLineEndNear } from "./write.ts";

/** Makes the edit if the old text occurs exactly. Returns undefined if it does not occur. */
export function findExactly(request: EditRequest, stage: string): EditMatch | undefined {
  const { content, expected, oldText, newText } = request;
  // A match must not begin between the two characters of a line end.
  const beginsAtLineEnd = (start: number) => !oldText.startsWith("\n") || content[start - 1] !== "\r";
  const all = findOccurrences(content, oldText).filter(beginsAtLineEnd);
  if (all.length === 0) return undefined;
  const starts = removeOverlaps(all, oldText.length);
  const fromEnd = removeOverlaps(all.toReversed(), oldText.length).reverse();
  if (starts.length !== expected || starts.some((start, at) => start !== fromEnd[at])) {
    // If it matters which of the overlapping matches are used, count all: the number must not be right by chance.
    const found = starts.length === expected ? all.length : starts.length;
    return createAmbiguous(content, found, starts);
  }
  const isDoubtfulMatch = (start: number) => {
    const [before, after] = splitBeforeAfter(content, start, start + oldText.length);
    return hasOtherIndent(request, before) || lacksFirstLine(request, before) || cutsWord(request, after);
  };
  if (starts.some(isDoubtfulMatch)) return undefined;
  for (const start of starts) {
    if (isAlreadyThere(request, start)) return { status: "no_change" };
    const line =
      findDoubledPunctuation(request, start) ??
      findDoubledLineEnding(request, start) ??
      findDoubledLine(request, start);
    if (line !== undefined) return { status: "doubled", line };
  }
  // A file of a single line has no line ends to follow.
  const isSingle = !content.includes("\n") && !newText.includes("\r");
  const lineEnd = isSingle ? "\n" : detectLineEnd(content);
  const edits = starts.map((start) => addLineBreaks(request, start));
  const replacements = edits.map((edit, at) => createReplacement(edit, starts[at] ?? 0, lineEnd));
  return createMatch(content, edits.every((edit) => edit === request) ? stage : "line endings", replacements);
}

function removeOverlaps(starts: readonly number[], length: number): number[] {
  const apart: number[] = [];
  for (const start of starts) {
    if (Math.abs(start - (apart.at(-1) ?? Number.NEGATIVE_INFINITY)) >= length) apart.push(start);
  }
  return apart;
}

/** Whether the old text begins after or in an indentation that the new text or its next line does not have. */
function hasOtherIndent({ oldText, newText }: EditRequest, before: string): boolean {
  if (!/^[ \t]+$/.test(before) || /^[\r\n]/.test(oldText) || oldText.trim() === newText.trim()) return false;
  const [first = "", next = "", ...more] = newText.split("\n");
  const [own = "", fresh, then = ""] = [oldText, first, next].map((text) => /^[ \t]*/.exec(text)?.[0]);
  // Lines that end the surrounding block are indented as in the file.
  const isEnd =
    countOpenBrackets(oldText) !== countOpenBrackets(newText) ||
    OUTER_LINE.test(next) ||
    CLOSING_LINE.test(next);
  if (fresh !== own || [next, ...more].includes(oldText)) return true;
  if (oldText.includes("\n") || isBlank(next) || isEnd) return false;
  return then === own || (/[:{([]\s*$/.test(first) && (before + own).startsWith(then));
}

/** Whether the edit adds lines and a blank line where the old text begins with a line end, and so lacks a line. */
function lacksFirstLine({ oldText, newText }: EditRequest, before: string): boolean {
  const [, breaks = "", first = ""] = /^([\r\n]+)(.+)/.exec(oldText) ?? [];
  const isSame = /\n\r?\n/.test(breaks) && newText.startsWith(breaks);
  const at = isBlank(before) || isSame ? -1 : newText.indexOf(first);
  return at > 0 && /\S\s*\n\s*\n$/.test(newText.slice(0, at).slice(-MAX_WORD_LENGTH));
}

/** Whether the last of several lines ends inside a word, and the new text does not end with that part of it. */
function cutsWord({ oldText, newText }: EditRequest, after: string): boolean {
  const [word = ""] = oldText.includes("\n") ? (/\w+$/.exec(oldText.slice(-MAX_WORD_LENGTH)) ?? []) : [];
  return word !== "" && /^\w/.test(after) && !newText.endsWith(word);
}

/**
 * Finds a line at the beginning or end of the new text that is already next to the old text in the file, and would be
 * there twice. Either the edit has already been made, or the old text lacks that line.
 */
function findDoubledLine({ content, oldText, newText }: EditRequest, start: number): string | undefined {
  const [first, last] = [start + oldText.search(/\S|$/), start + oldText.trimEnd().length];
  const [before, after] = splitBeforeAfter(content, first, last);
  const [from, end] = [first - before.length, last + after.length];
  const whole = content.slice(from, start) + newText + content.slice(start + oldText.length, end);
  const [was = [], is = []] = [content.slice(from, end), whole].map(listFilledLines);
  const countLine = (lines: readonly string[], line: string) =>
    lines.filter((other) => other === line).length;
  const isUneven = countOpenBrackets(oldText) !== countOpenBrackets(newText);
  // Lines added after kept ones may begin like the lines there, but seldom with two lines of words.
  const [come = "", next = ""] = is.slice(was.length);
  const rest = come === "" ? "" : content.slice(end, end + MAX_REST_CHARACTERS);
  const [beside = "", further = ""] = listFilledLines(rest);
  const isAgain = come === beside && (isUneven || (/\w/.test(come) && /\w/.test(next) && next === further));
  if (come !== "" && isAgain && was.every((line, at) => is[at] === line)) return come;
  // A line that only got shorter was not added.
  const mayLineRepeat = (line: string) =>
    !newText.includes(line.trimStart()) ||
    SEPARATOR_LINE.test(line) ||
    (CLOSING_LINE.test(line) && !isUneven);
  return readFilledNeighbours(content, from, end).find(
    (line, at) => !mayLineRepeat(line) && is.at(-at) === line && countLine(is, line) > countLine(was, line),
  );
}

/** Finds the sign at the end of the file's line, directly after the old text, that the new text adds once more. */
function findDoubledPunctuation(
  { content, oldText, newText }: EditRequest,
  start: number,
): string | undefined {
  const end = start + oldText.length;
  const [sign = ""] = /^[;,)\]}](?=[\r\n]|$)/.exec(content.slice(end, end + 2)) ?? [];
  const isWhole = isBlank(splitBeforeAfter(content, start, end)[0]);
  if (sign === "" || !isWhole || !newText.endsWith(sign) || oldText.endsWith(sign)) return undefined;
  return /[;,]/.test(sign) || countOpenBrackets(oldText) !== countOpenBrackets(newText) ? sign : undefined;
}

/** Returns the rest of the line after the old text, if the new text ends with it or contains the whole line. */
function findDoubledLineEnding(
  { content, oldText, newText }: EditRequest,
  start: number,
): string | undefined {
  const rest = splitBeforeAfter(content, start, start + oldText.length)[1].trimEnd();
  const [old, fresh] = [oldText, newText].map((text) => text.split("\n"));
  const [was = "", is = ""] = [old?.at(-1), fresh?.at(-1)];
  if (!/\w/.test(rest) || isBlank(was) || was.endsWith(rest)) return undefined;
  const isNewLine = (line: string) => fresh?.includes(line) === true && old?.includes(line) === false;
  return is.endsWith(rest) || isNewLine(is + rest) ? rest : undefined;
}

/** How far after the old text to look for lines that would be repeated. */
const MAX_REST_CHARACTERS = 1000;
/** Lines that end a block. When a block is added before the end of another one, both end with the same line. */
const CLOSING_LINE = /^\s*(?:[)\]},;>]+$|\*+\/$|<\/|#\s*endif|\{%-?\s*end|(?:end|fi|done|esac)\b(?!\())/i;
/** Lines that continue after a block or end one. They are indented like the code around the block. */
const OUTER_LINE = /^\s*(?:[)\]}]|(?:else|elif|except|finally)\b)/;
/** Lines of only signs, which separate or surround other lines, and empty lines. */
const SEPARATOR_LINE = /^[^\w/([{)\]},;>]*$/;

/** Counts open brackets. Comment marks count as brackets. */
function countOpenBrackets(text: string): number {
  return text.split(/[([{]|\/\*/).length - text.split(/[)\]}]|\*\//).length;
}

/** Whether the new text only adds to the old one, and the file already has what it adds around the old text. */
function isAlreadyThere({ content, oldText, newText }: EditRequest, start: number): boolean {
  const at = newText.indexOf(oldText);
  const added = newText.slice(0, at) + newText.slice(at + oldText.length);
  return at >= 0 && at <= start && /\w/.test(added) && content.startsWith(newText, start - at);
}

/** Adds line breaks that the old text has at its ends and the new text lacks: otherwise two lines would be joined. */
function addLineBreaks(request: EditRequest, start: number): EditRequest {
  const { content, oldText, newText } = request;
  const [before, after] = [content.charAt(start - 1), content.charAt(start + oldText.length)];
  const [, lineEnd = "", indent = ""] = /^(\r?\n)([ \t]*)/.exec(oldText) ?? [];
  const isWhole = /^\S/.test(newText.startsWith(indent) ? newText.slice(indent.length) : newText);
  const lead = /[^\n]/.test(before) && isWhole ? lineEnd : "";
  const trail = /[^\r\n]/.test(after) && /\S$/.test(newText) ? /\r?\n$/.exec(oldText) : null;
  const whole = `${lead}${newText}${trail ?? ""}`;
  return whole === newText || whole === oldText ? request : { ...request, newText: whole };
}

/** Builds the replacement with the file's line ends; in a file with both kinds, only inside a single line. */
function createReplacement(
  { content, oldText, newText }: EditRequest,
  start: number,
  lineEnd?: string,
): Replacement {
  const end = start + oldText.length;
  const isInside = !oldText.includes("\n") && !newText.includes("\r");
  const own = lineEnd ?? (isInside ? detectLineEndNear(content, end) : undefined);
  return { start, end, text: own === undefined ? newText : convertLineEnds(newText, own) };
}
