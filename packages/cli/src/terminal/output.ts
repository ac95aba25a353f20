import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Where a command writes. Results go to `out`, all else to `note`. */
export interface Output {
  out(text: string): void;
  /** Text from outside: byte for byte into a file or pipe, without power over a terminal. */
  content(text: string): void;
  note(text: string): void;
  /** The text in that style where the terminal shows styles and nobody switched them off. */
  styled(style: Style, text: string): string;
}

/** Control characters of untrusted text could drive the terminal; shown as escapes they cannot. */
export function visible(text: string): string {
  return text.replace(CONTROLS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** C0 and C1 controls but tab and newline, and the invisible: zero-width, bidi, byte order mark, tags. */
const CONTROLS = new RegExp(
  `[${[
    [0x00, 0x08],
    [0x0b, 0x1f],
    [0x7f, 0x9f],
    [0x200b, 0x200f],
    [0x202a, 0x202e],
    [0x2060, 0x2069],
    [0xfeff, 0xfeff],
    [0xe0000, 0xe007f],
  ]
    .map(([from, to]) => `\\u{${from?.toString(16)}}-\\u{${to?.toString(16)}}`)
    .join("")}]`,
  "gu",
);

export function terminalOutput(isPlain: boolean): Output {
  const shows = !isPlain && process.stderr.isTTY === true && !process.env.NO_COLOR;
  return {
    out: (text) => {
      process.stdout.write(text);
    },
    content: (text) => {
      process.stdout.write(process.stdout.isTTY ? visible(text) : text);
    },
    note: (text) => {
      process.stderr.write(`${text}\n`);
    },
    styled: (style, text) => (shows ? styleText(style, text) : text),
  };
}
