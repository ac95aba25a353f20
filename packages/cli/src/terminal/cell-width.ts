import { once } from "@burin/core/internal";

/**
 * Character widths that differ between terminals. These values are the most common ones; `screen.ts` asks the terminal
 * before it first shows such a character. Shared by sessions: all use the same terminal.
 */
export const terminalWidths = {
  /** The width of one emoji in cells. */
  emoji: 2,
  /** The width of several emoji that are joined into one picture. */
  joined: 2,
  /** The width of a character that only a variation selector turns into an emoji. */
  selected: 2,
  /** true when a text with such characters was measured since the terminal was last asked. */
  isDoubtful: false,
};

/** Characters that take two cells (East Asian wide and fullwidth), as pairs of first and last. */
const WIDE: readonly number[] = [
  0x1100, 0x115f, 0x2e80, 0x303e, 0x3041, 0x33ff, 0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xa000, 0xa4cf, 0xa960,
  0xa97f, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10, 0xfe19, 0xfe30, 0xfe6f, 0xff01, 0xff60, 0xffe0, 0xffe6,
  0x16fe0, 0x18cff, 0x1aff0, 0x1b2ff, 0x20000, 0x2fffd, 0x30000, 0x3fffd,
];

/** Characters that never combine and whose width is known. */
const SINGLE_CHARACTERS = [
  String.raw`\x20-\u02ff`, // Latin
  String.raw`\u0370-\u0482\u048a-\u052f`, // Greek and Cyrillic
  String.raw`\u2010-\u2027\u2030-\u205e`, // punctuation
  String.raw`\u2190-\u2319\u2500-\u25fc\u2715-\u2727`, // arrows, boxes and check marks
  String.raw`\u3000-\u3029\u3030-\u303e`, // punctuation of East Asia
  String.raw`\u3041-\u3096\u309b-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60`, // Kana, Han, Hangul
];
/** Texts of these alone. Other texts need the segmenter, which takes microseconds per text. */
const SINGLE = new RegExp(`^[${SINGLE_CHARACTERS.join("")}]*$`);
/** The first character in `SINGLE` that takes two cells; all later ones do too. */
const FIRST_WIDE = 0x3000;
const EMOJI = /\p{Emoji_Presentation}/u;
const NO_CELL = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;

/** The segmenter's input is cut into pieces of this length: its time grows with the square of the length. */
const PIECE = 1000;
/** The segmenter, which takes long to create. */
const segmenter = once(() => new Intl.Segmenter());

/** Splits the text into characters as users see them. */
export function splitGraphemes(text: string): string[] {
  if (SINGLE.test(text)) return text.split("");
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    const piece = Array.from(segmenter().segment(text.slice(from, from + PIECE)), ({ segment }) => segment);
    // The last character of a piece may continue in the next one.
    if (from + PIECE < text.length && piece.length > 1) piece.pop();
    found.push(...piece);
    from += piece.join("").length;
  }
  return found;
}

/** Returns the width in cells of a text without control characters. */
export function measureWidth(text: string): number {
  let width = 0;
  if (SINGLE.test(text)) {
    for (let at = 0; at < text.length; at += 1) width += text.charCodeAt(at) < FIRST_WIDE ? 1 : 2;
    return width;
  }
  for (const grapheme of splitGraphemes(text)) width += measureGrapheme(grapheme);
  return width;
}

export function measureGrapheme(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (grapheme.length === 1 && code < 0x300) return 1;
  const isJoined = /^\p{RI}{2}|\p{EMod}$|\p{ExtPict}.*\u200d/u.test(grapheme);
  if (EMOJI.test(grapheme) || isJoined) {
    terminalWidths.isDoubtful = true;
    return isJoined ? measureJoined(grapheme) : terminalWidths.emoji;
  }
  if (grapheme.includes("\ufe0f")) {
    terminalWidths.isDoubtful = true;
    return terminalWidths.selected;
  }
  // Terminals count the letters of a cluster separately.
  let width = 0;
  for (const part of grapheme) width += NO_CELL.test(part) ? 0 : isWide(part.codePointAt(0) ?? 0) ? 2 : 1;
  return width;
}

/** Returns the width of joined emoji. A terminal that does not join them draws each one. */
function measureJoined(grapheme: string): number {
  if (terminalWidths.joined === 2) return 2;
  const parts = [...grapheme].filter((part) => !NO_CELL.test(part));
  return parts.reduce((sum, part) => sum + (EMOJI.test(part) ? terminalWidths.emoji : 1), 0);
}

function isWide(code: number): boolean {
  if (code < 0x1100) return false;
  for (let at = 0; at < WIDE.length; at += 2) {
    if (code < (WIDE[at] ?? 0)) return false;
    if (code <= (WIDE[at + 1] ?? 0)) return true;
  }
  return false;
}
