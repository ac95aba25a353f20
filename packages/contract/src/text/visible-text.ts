type Range = readonly [from: number, to: number];

/** Control characters but tab and newline. */
const CONTROLS: readonly Range[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
];

/** What is not seen, or changes where the rest is seen: zero-width, bidi, fillers, tags, halves of pairs. */
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

/** Blanks that a shell does not take for blanks, though they look like them. */
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

/**
 * Text from outside as it may be shown: what could drive a terminal, or hide what is really there, stands as
 * an escape. Tabs and newlines stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** The same for a command, where also a blank that is none makes a difference. */
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
