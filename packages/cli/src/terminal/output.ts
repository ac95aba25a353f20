import { styleText } from "node:util";
import { visibleText as visible } from "@burin/core";

/** Control characters of untrusted text could drive the terminal; shown as escapes they cannot. */
export { visible };

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
