import { styleText } from "node:util";
import { once, visibleText as visible } from "@burin/core/internal";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { createPieceEscaper } from "./joined-text.ts";
import { exitWithSignal, interrupt, isInterrupted } from "./signals.ts";

/** Escapes control characters, with which untrusted text could control the terminal. */
export { visible };

/** Formats untrusted texts, one per line. Escapes line breaks, so that a text cannot fake another line of the list. */
export function joinLines(...texts: readonly string[]): string {
  return texts.map((text) => `${visible(text).replace(/\n/g, "\\n")}\n`).join("");
}

/** Formats a list below its title; no rows if there are no entries. */
export function formatBlock(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : [title, ...entries.map((entry) => `  ${entry}`)];
}

/** Formats a message for stderr. Further lines are indented, so that none looks like a separate message. */
export function formatNote(text: string): string {
  return `burin: ${visible(text).replaceAll("\n", "\n    ")}`;
}

export function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Formats a time in the user's time zone, as `2026-01-31 09:05:00` or its beginning. Keeps other text unchanged. */
export function formatLocalTime(at: string | number, length = 16): string {
  const time = new Date(at);
  const local = time.getTime() - time.getTimezoneOffset() * 60_000;
  return Number.isNaN(local) ? String(at) : new Date(local).toISOString().slice(0, length).replace("T", " ");
}

/** Puts a text on one line and cuts it if it is too long. */
export function shortenLine(text: string, maxCharacters: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1).trimEnd()}…` : line;
}

interface Found {
  readonly document: unknown;
  readonly rows: readonly string[];
}

/** Prints a command's findings, as lines or as the JSON document that a script asked for. */
export function printFindings(output: Pick<Output, "out">, format: string, { document, rows }: Found): void {
  output.out(format === "text" ? joinLines(...rows) : `${JSON.stringify(document, null, 2)}\n`);
}

type Style = Parameters<typeof styleText>[0];

/** Where a command writes: results go to `out`, everything else to `note`. */
export interface Output {
  out(text: string): void;
  /** Prints text from outside: unchanged to a file or pipe, made safe for a terminal. */
  content(text: string): void;
  note(text: string): void;
  readonly isTerminal: boolean;
  /** Whether any part of a result was written. */
  readonly hasResult: boolean;
  /** Styles the text, if the terminal shows styles and they are not turned off. */
  styled(style: Style, text: string): string;
}

export function createTerminalOutput(isPlain: boolean): Output {
  let hasResult = false;
  const shown = createPieceEscaper();
  const write = (text: string): void => {
    hasResult = true;
    openStdout().write(text);
  };
  const canShowStyles = () => !isPlain && process.stderr.isTTY === true && !process.env.NO_COLOR;
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
    styled: (style, text) => (canShowStyles() ? styleText(style, text) : text),
  };
}

/** Characters that control a terminal or are invisible, and that JSON does not escape. */
const LEFT_BY_JSON = /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/gu;

function escapeCharacter(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Exits after both streams are written. They may be pipes, and exiting earlier would lose the end. */
export function exitAfterWrites(code: ExitCode): void {
  openStdout().write("", (error) => {
    if (!error) return void openStderr().write("", () => exitWithSignal(code));
    exitAfterWriteFailure(error);
    if (isInterrupted()) exitWithSignal(code);
  });
}

/** Returns stdout, created at the first write, so that a start need not wait for it before asking the model. */
const openStdout = once((): NodeJS.WriteStream => process.stdout.on("error", exitAfterWriteFailure));
/** Ignore errors: the work is worth more than its messages, so it continues without them. */
const openStderr = once((): NodeJS.WriteStream => process.stderr.on("error", () => undefined));

/** Ends the process because stdout's reader is gone or writing failed. Only stderr is left for a message. */
function exitAfterWriteFailure(error: NodeJS.ErrnoException): void {
  if (process.stdout.isTTY && error.code === "EIO") interrupt("SIGHUP");
  if (isInterrupted()) return;
  const isClosed = error.code === "EPIPE";
  const fault = isClosed ? "the output pipe was closed" : `the output failed (${error.message})`;
  openStderr().write(`burin: ${fault} before everything was written.\n`, () => exitWithSignal(EXIT.failed));
}
