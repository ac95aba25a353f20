import { styleText } from "node:util";
import { once, visibleText as visible } from "@burin/core/internal";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { createPieceJoiner } from "./joined-text.ts";
import { exit, interrupt, isInterrupted } from "./signals.ts";

/** Control characters in untrusted text could control the terminal; as escapes they cannot. */
export { visible };

/** Untrusted texts, each on a line of its own: a line break in one cannot fake another line of a list. */
export function joinLines(...texts: readonly string[]): string {
  return texts.map((text) => `${visible(text).replace(/\n/g, "\\n")}\n`).join("");
}

/** The rows of a list below its title; none without entries. */
export function formatBlock(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : [title, ...entries.map((entry) => `  ${entry}`)];
}

/** A message on stderr. Its further lines are indented, so that none looks like a message of its own. */
export function formatNote(text: string): string {
  return `burin: ${visible(text).replaceAll("\n", "\n    ")}`;
}

export function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** A time in the user's time zone, as `2026-01-31 09:05:00` or its beginning; other text stays as it is. */
export function formatLocalTime(at: string | number, length = 16): string {
  const time = new Date(at);
  const local = time.getTime() - time.getTimezoneOffset() * 60_000;
  return Number.isNaN(local) ? String(at) : new Date(local).toISOString().slice(0, length).replace("T", " ");
}

/** A text in one line, and of a long one the beginning. */
export function shortenLine(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}

interface Found {
  readonly document: unknown;
  readonly rows: readonly string[];
}

/** Prints what a command found: as lines, or as the document that a script asked for. */
export function report(output: Pick<Output, "out">, format: string, { document, rows }: Found): void {
  output.out(format === "text" ? joinLines(...rows) : `${JSON.stringify(document, null, 2)}\n`);
}

type Style = Parameters<typeof styleText>[0];

/** Where a command writes: results go to `out`, everything else to `note`. */
export interface Output {
  out(text: string): void;
  /** Text from outside: unchanged into a file or pipe, made safe for a terminal. */
  content(text: string): void;
  note(text: string): void;
  readonly isTerminal: boolean;
  /** Whether a result was written, even in part. */
  readonly hasResult: boolean;
  /** The text in that style, if the terminal shows styles and they are not turned off. */
  styled(style: Style, text: string): string;
}

export function createTerminalOutput(isPlain: boolean): Output {
  let hasResult = false;
  const shown = createPieceJoiner();
  const write = (text: string): void => {
    hasResult = true;
    openStdout().write(text);
  };
  const shows = () => !isPlain && process.stderr.isTTY === true && !process.env.NO_COLOR;
  return {
    out: (text) => write(process.stdout.isTTY ? text.replace(LEFT_BY_JSON, escapeCharacter) : text),
    content: (text) => write(process.stdout.isTTY ? shown(text) : text),
    get isTerminal() {
      return process.stdout.isTTY === true;
    },
    get hasResult() {
      return hasResult;
    },
    note: (text) => {
      openStderr().write(`${text}\n`);
    },
    styled: (style, text) => (shows() ? styleText(style, text) : text),
  };
}

/** Characters that a terminal obeys or hides, and that JSON allows in a text as they are. */
const LEFT_BY_JSON = /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/gu;

function escapeCharacter(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Both streams may be pipes that are still being written; exiting earlier would lose the end. */
export function leave(code: ExitCode): void {
  openStdout().write("", (error) => {
    if (!error) return void openStderr().write("", () => exit(code));
    leaveLostOutput(error);
    if (isInterrupted()) exit(code);
  });
}

/** Creates the stream at the first write: a start need not wait for it before it asks the model. */
const openStdout = once((): NodeJS.WriteStream => process.stdout.on("error", leaveLostOutput));
/** The work is worth more than its notes: it goes on without them. */
const openStderr = once((): NodeJS.WriteStream => process.stderr.on("error", () => undefined));

/** The reader is gone, or writing failed: only stderr is left for a message. */
function leaveLostOutput(error: NodeJS.ErrnoException): void {
  if (process.stdout.isTTY && error.code === "EIO") interrupt("SIGHUP");
  if (isInterrupted()) return;
  const isClosed = error.code === "EPIPE";
  const fault = isClosed ? "the output pipe was closed" : `the output failed (${error.message})`;
  openStderr().write(`burin: ${fault} before everything was written.\n`, () => exit(EXIT.failed));
}
