import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as NodePty from "@lydell/node-pty";
import headless from "@xterm/headless";
import { BURIN } from "./burin.ts";

const { spawn } = createRequire(import.meta.url)("@lydell/node-pty") as typeof NodePty;

export interface ScreenOptions {
  readonly cwd: string;
  readonly args?: readonly string[];
  /** Another copy of the command line than the one that was built. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** In a shell that a person types into, and not by itself. */
  readonly isInShell?: boolean;
  /** It answers none of the questions that programs ask terminals. */
  readonly isSilent?: boolean;
  /** What it answers when it is asked for its name; its cells have 10 x 20 pixels then. */
  readonly named?: string;
}

const MAX_WAIT_MS = 60_000;

/** The command line in a pseudo-terminal, and what a person sees of it. */
export class ScreenTerminal {
  readonly #terminal: headless.Terminal;
  readonly #pty: NodePty.IPty;
  /** Every byte that was written, as text. */
  written = "";
  exitCode: number | null = null;
  /** What is waited for: looked at after each frame, because what is on the screen may soon leave it. */
  readonly #looks = new Set<() => void>();
  /** The images of iTerm2's protocol, and where their first cells are, counted from the first row of all. */
  readonly images: { readonly row: number; readonly column: number; readonly sequence: string }[] = [];

  constructor({ cwd, args = [], env = {}, columns = 80, rows = 24, ...how }: ScreenOptions) {
    this.#terminal = new headless.Terminal({
      cols: columns,
      rows,
      allowProposedApi: true,
      scrollback: 20_000,
    });
    const { PATH = "" } = process.env;
    const command = how.isInShell
      ? { program: "bash", words: ["--norc", "--noprofile", "-i"] }
      : { program: process.execPath, words: [how.program ?? BURIN, ...args] };
    this.#pty = spawn(command.program, command.words, {
      name: env.TERM ?? "xterm-256color",
      cols: columns,
      rows,
      cwd,
      env: {
        PATH,
        HOME: cwd,
        BURIN_HOME: join(cwd, ".home"),
        TERM: "xterm-256color",
        NO_COLOR: "1",
        LANG: "C.UTF-8",
        ...env,
      },
    });
    if (how.isInShell) this.#pty.write(`"${process.execPath}" "${BURIN}" ${args.join(" ")}\r`);
    this.#pty.onData((data) => {
      this.written += data;
      const isWhole = this.#isFrameWhole();
      this.#terminal.write(data, () => {
        if (isWhole) for (const look of this.#looks) look();
      });
    });
    if (!how.isSilent) this.#terminal.onData((data) => this.#pty.write(data));
    if (how.named !== undefined) this.#answerAs(how.named);
    this.#pty.onExit(({ exitCode }) => {
      this.exitCode = exitCode;
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** Types that, and resolves when the window has shown what is wanted, one after the other. */
  async enter(text: string, ...wanted: readonly (string | RegExp)[]): Promise<void> {
    this.type(text);
    for (const one of wanted) await this.shows(one);
  }

  /** Bytes that need not be text, which the types leave out. */
  send(bytes: Buffer): void {
    this.#pty.write(bytes as unknown as string);
  }

  /** The window is closed, and the terminal with it. Not in the types. */
  hangUp(): void {
    (this.#pty as unknown as { destroy(): void }).destroy();
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** The rows of the window, without blanks at their ends. */
  rows(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, index) => this.#row(active.baseY + index));
  }

  text(): string {
    return this.rows().join("\n").trimEnd();
  }

  /** Everything, the scrollback too; rows that the terminal itself has wrapped, because they were full, are one. */
  all(): string[] {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let index = 0; index < active.length; index += 1) {
      const text = this.#row(index);
      const isFull =
        active
          .getLine(index - 1)
          ?.getCell(this.#terminal.cols - 2)
          ?.getChars() !== "";
      if (active.getLine(index)?.isWrapped && isFull) lines.push((lines.pop() ?? "") + text);
      else lines.push(text);
    }
    return lines;
  }

  get caret(): { row: number; column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  /** Whether the caret stands behind this character of its row. */
  caretFollows(character: string): boolean {
    const { active } = this.#terminal.buffer;
    const { row, column } = this.caret;
    return (
      active
        .getLine(active.baseY + row)
        ?.getCell(column - 1)
        ?.getChars() === character
    );
  }

  /** The colour of the text at a cell of the window; -1 for the terminal's own. */
  colorAt(row: number, column: number): number {
    const { active } = this.#terminal.buffer;
    return (
      active
        .getLine(active.baseY + row)
        ?.getCell(column)
        ?.getFgColor() ?? -1
    );
  }

  /** The rows of the window with how they look: `<1;38;5;2>` begins bold green, `<>` is as the terminal writes by itself. */
  styledRows(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, index) => {
      const line = active.getLine(active.baseY + index);
      let text = "";
      let last = "";
      for (let at = 0; line !== undefined && at < this.#terminal.cols; at += 1) {
        const cell = line.getCell(at);
        if (cell === undefined || cell.getWidth() === 0) continue;
        const look = lookOf(cell);
        if (look !== last) text += `<${look}>`;
        last = look;
        text += cell.getChars() || " ";
      }
      return text.trimEnd();
    });
  }

  /** Resolves when the window shows that; throws with the window when it does not come to it. */
  async shows(wanted: string | RegExp): Promise<void> {
    await this.until(
      () => (typeof wanted === "string" ? this.text().includes(wanted) : wanted.test(this.text())),
      String(wanted),
    );
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    const end = performance.now() + MAX_WAIT_MS;
    let hasHeld = holds();
    const look = () => {
      hasHeld ||= holds();
    };
    this.#looks.add(look);
    try {
      while (!hasHeld) {
        if (performance.now() > end) throw new Error(`The screen did not come to ${what}:\n${this.text()}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
        look();
      }
    } finally {
      this.#looks.delete(look);
    }
  }

  /** Resolves when the last frame that was begun is on the screen to its end. */
  async settled(): Promise<void> {
    await this.until(() => this.#isFrameWhole(), "the end of a frame");
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
  }

  async ended(): Promise<number> {
    await this.until(() => this.exitCode !== null, "its end");
    // Its last words may still be on their way to the screen.
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
    return this.exitCode ?? -1;
  }

  close(): void {
    if (this.exitCode === null) this.#pty.kill("SIGKILL");
    this.#terminal.dispose();
  }

  #answerAs(name: string): void {
    const { parser } = this.#terminal;
    const answer = (text: string): boolean => {
      this.#pty.write(text);
      return true;
    };
    parser.registerCsiHandler({ prefix: ">", final: "q" }, () => answer(`\u001bP>|${name}\u001b\\`));
    parser.registerCsiHandler({ final: "t" }, ([first]) => first === 16 && answer("\u001b[6;20;10t"));
    parser.registerOscHandler(1337, (sequence) => {
      const { baseY, cursorY, cursorX } = this.#terminal.buffer.active;
      this.images.push({ row: baseY + cursorY, column: cursorX, sequence });
      return true;
    });
  }

  #isFrameWhole(): boolean {
    return this.written.lastIndexOf("2026h") <= this.written.lastIndexOf("2026l");
  }

  #row(index: number): string {
    const row = this.#terminal.buffer.active.getLine(index)?.translateToString(true) ?? "";
    // The app's empty rows are one space where its rows are one line for the terminal.
    return row === " " ? "" : row;
  }
}

function rgb(code: number): string {
  return `2;${code >> 16};${(code >> 8) & 255};${code & 255}`;
}

/** As the sequence says it that leads to it. */
function lookOf(cell: headless.IBufferCell): string {
  const front = cell.isFgRGB() ? rgb(cell.getFgColor()) : cell.isFgPalette() ? `5;${cell.getFgColor()}` : "";
  const back = cell.isBgRGB() ? rgb(cell.getBgColor()) : cell.isBgPalette() ? `5;${cell.getBgColor()}` : "";
  return [
    ...(cell.isBold() ? ["1"] : []),
    ...(cell.isDim() ? ["2"] : []),
    ...(cell.isItalic() ? ["3"] : []),
    ...(cell.isUnderline() ? ["4"] : []),
    ...(cell.isInverse() ? ["7"] : []),
    ...(front === "" ? [] : [`38;${front}`]),
    ...(back === "" ? [] : [`48;${back}`]),
  ].join(";");
}

/** A folder with a few files, which is gone at the end. */
export async function newFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  // Short, and of one length wherever the tests run: it is drawn, and wrapped where it is long.
  const folder = await realpath(await mkdtemp(join(process.platform === "win32" ? tmpdir() : "/tmp", "b-")));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
