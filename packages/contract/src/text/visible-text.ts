type Range = readonly [from: number, to: number];

/** Control characters except tab and newline. */
const CONTROLS: readonly Range[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
];

/** Characters that are invisible or move the rest: zero-width, bidi, fillers, tags, halves of surrogate pairs. */
const UNSEEN: readonly Range[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** Characters that look like spaces but do not separate words in a shell. */
const BLANKS: readonly Range[] = [
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
];

const HIDDEN = oneOf([...CONTROLS, ...UNSEEN]);
/** Every character that is not seen in a command line for what it is. */
export const HIDDEN_IN_COMMANDS = oneOf([...CONTROLS, ...UNSEEN, ...BLANKS]);

/** Text from outside, safe to show: escapes control characters and invisible ones. Keeps tabs and newlines. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** The same for a command, where unusual spaces matter too. */
export function visibleCommand(text: string): string {
  return text.replace(HIDDEN_IN_COMMANDS, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

function oneOf(ranges: readonly Range[]): RegExp {
  const written = ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`);
  return new RegExp(`[${written.join("")}]`, "gu");
}
