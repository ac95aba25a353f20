import { writeSync } from "node:fs";
import { type Key, KeyReader, REPORTS } from "./keys.ts";
import type { ScreenPort } from "./screen.ts";

/** Turns on bracketed paste, focus reports and the kitty keyboard protocol, and saves the title. */
const ENTER = "\u001b[?2004h\u001b[?1004h\u001b[>5u\u001b[22;2t";
const LEAVE = "\u001b[23;2t\u001b[<u\u001b[?1004l\u001b[?2004l\u001b[?2026l\u001b[?7h\u001b[?25h";
/** Asks for the background colour, the terminal's number and name, and the size of a cell. */
const ASK = "\u001b]11;?\u0007\u001b[>c\u001b[>q\u001b[16t";
/** The answer of xterm.js, the terminal of VS Code and of many web pages. */
const XTERM_JS = "0;276;0";
/** A sequence arrives in one piece. An escape that nothing follows for this long is the escape key. */
const ESCAPE_MS = 30;
/** Without bracketed paste, text and a line break within this time are a paste: users type more slowly. */
const ENTER_MS = 20;
const STOP_MS = 50;

interface Listener {
  readonly onKeys: (keys: readonly Key[]) => void;
  readonly onResize: () => void;
  /** Called when the terminal is gone or its input has ended. */
  readonly onEnd: () => void;
  /** Called when the program was stopped and continues, so that the screen was overwritten. */
  readonly onReturn: () => void;
}

/** The terminal as the screen uses it. Its earlier state is restored however the program ends. */
export class RawTerminal implements ScreenPort {
  readonly reflows: boolean;
  sparesCaretLine = false;
  /** Whether the window has the focus; null if the terminal does not report that. */
  hasFocus: boolean | null = null;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #reader = new KeyReader();
  readonly #listener: Listener;
  #progress: "none" | "busy" | "paused" = "none";
  #isOpen = false;
  #isGone = false;
  #isLent = false;
  #timer: NodeJS.Timeout | undefined;
  #heldEnter = false;
  #lastInput = 0;

  constructor(listener: Listener, environment: NodeJS.ProcessEnv) {
    this.#listener = listener;
    this.#environment = environment;
    const { TERM = "", XTERM_VERSION, TMUX } = environment;
    this.reflows = !(TERM === "linux" || XTERM_VERSION || (TERM.startsWith("screen") && !TMUX));
  }

  open(): void {
    process.stdin.on("end", this.#onEnd);
    process.stdin.on("error", this.#onEnd);
    process.stdout.on("error", this.#onEnd);
    process.on("SIGWINCH", this.#listener.onResize);
    process.on("exit", this.#restore);
    process.on("SIGCONT", this.#onContinue);
    this.resume();
  }

  /** Asks once for the terminal's name, background and cell size. A terminal that does not know them is silent. */
  ask(): void {
    this.write(ASK);
  }

  set device(report: string) {
    this.sparesCaretLine = report === XTERM_JS;
  }

  close(): void {
    this.progress = "none";
    clearTimeout(this.#timer);
    process.stdin.off("end", this.#onEnd);
    process.off("SIGWINCH", this.#listener.onResize);
    process.off("SIGCONT", this.#onContinue);
    this.#suspend();
    process.off("exit", this.#restore);
  }

  /** Shows progress in the terminal's tab or the task bar, if the terminal is known to support that. */
  set progress(state: "none" | "busy" | "paused") {
    if (!supportsProgress(this.#environment) || state === this.#progress) return;
    this.#progress = state;
    this.write(`\u001b]9;4;${{ none: 0, busy: 3, paused: 4 }[state]};0\u0007`);
  }

  /** Sets the window's title. The text must have no control characters. */
  set title(text: string) {
    this.write(`\u001b]2;${text}\u0007`);
  }

  /** Notifies a user who is looking elsewhere. The text must have no control characters. */
  notifyUser(text: string, isNoticeWanted: boolean): void {
    if (this.hasFocus === true) return;
    const notice =
      isNoticeWanted && this.hasFocus === false ? formatNotification(text, this.#environment) : "";
    this.write(`${notice}\u0007`);
  }

  /** Leaves the terminal to another program until `resume`, even if the shell stops and continues both programs. */
  lendToProgram(): void {
    this.#isLent = true;
    this.#suspend();
  }

  #suspend(): void {
    process.stdin.off("data", this.#onData);
    this.#restore();
    process.stdin.pause();
  }

  resume(): void {
    this.#isOpen = true;
    this.#isLent = false;
    process.stdin.on("data", this.#onData);
    process.stdin.setRawMode?.(true);
    process.stdin.resume();
    this.write(ENTER);
  }

  /** Suspends the program, as ctrl+z does in a shell. */
  suspendProgram(): void {
    this.#suspend();
    process.kill(0, "SIGTSTP");
    // Without a shell to return to, the system does not stop the program, so open the terminal again.
    setTimeout(() => this.#isOpen || this.#onContinue(), STOP_MS);
  }

  write(bytes: string): void {
    if (!this.#isGone) process.stdout.write(bytes);
  }

  size(): { columns: number; rows: number } {
    const [columns, rows] = process.stdout.getWindowSize?.() ?? [80, 24];
    return { columns: Math.max(columns || 80, 1), rows: Math.max(rows || 24, 2) };
  }

  /** Restores the terminal. Synchronous, because the process may end right afterwards. */
  readonly #restore = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      process.stdin.setRawMode?.(false);
      if (!this.#isGone) writeSync(1, LEAVE);
    } catch {
      // Ignore this: the terminal is gone, so there is nothing to restore.
    }
  };

  readonly #onEnd = (): void => {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#listener.onEnd();
  };

  readonly #onContinue = (): void => {
    if (this.#isLent) return;
    this.#suspend();
    this.resume();
    this.#listener.onReturn();
  };

  readonly #onData = (bytes: Buffer): void => {
    clearTimeout(this.#timer);
    const all = this.#reader.read(bytes);
    // Reports from the terminal may arrive in the middle of typed text.
    this.#passKeys(all.filter(({ name }) => REPORTS.has(name)));
    const keys = all.filter(({ name }) => !REPORTS.has(name));
    if (keys.length > 0) {
      const now = performance.now();
      const isBurst = now - this.#lastInput < ENTER_MS;
      this.#lastInput = now;
      this.#listener.onKeys(this.#joinPastedLines(keys, isBurst));
    }
    if (this.#reader.isOpen) this.#timer = setTimeout(() => this.#passKeys(this.#reader.flush()), ESCAPE_MS);
    else if (this.#heldEnter)
      this.#timer = setTimeout(() => {
        this.#heldEnter = false;
        this.#passKeys([{ name: "enter", text: "" }]);
      }, ENTER_MS);
  };

  /** Treats line breaks that arrive in one piece with other text as text. The last one may still be the enter key. */
  #joinPastedLines(keys: readonly Key[], isBurst: boolean): Key[] {
    const found = this.#heldEnter ? [NEW_LINE, ...keys] : [...keys];
    this.#heldEnter = false;
    const isText = found.every(({ name }) => ["text", "enter", "ctrl+j", "tab"].includes(name));
    if (!isText || found.length === 0 || (found.length === 1 && !isBurst)) return found;
    if (found.at(-1)?.name === "enter") {
      this.#heldEnter = true;
      found.pop();
    }
    return found.map((key) => (key.name === "enter" ? NEW_LINE : key));
  }

  #passKeys(keys: readonly Key[]): void {
    if (keys.length > 0) this.#listener.onKeys(keys);
  }
}

/** Whether the terminal shows progress; others would show the sequence as a notification. */
function supportsProgress({
  TMUX,
  WT_SESSION,
  ConEmuANSI,
  TERM_PROGRAM = "",
  TERM = "",
}: NodeJS.ProcessEnv): boolean {
  if (TMUX) return false;
  return Boolean(WT_SESSION) || ConEmuANSI === "ON" || TERM_PROGRAM === "ghostty" || TERM === "xterm-ghostty";
}

/** Returns a desktop notification in this terminal's format; "" if no format is known. */
function formatNotification(
  text: string,
  { TERM = "", TERM_PROGRAM = "", ...rest }: NodeJS.ProcessEnv,
): string {
  if (rest.TMUX) return "";
  if (rest.KITTY_WINDOW_ID)
    return `\u001b]99;i=burin:d=0;Burin\u001b\\\u001b]99;i=burin:p=body;${text}\u001b\\`;
  if (/^(?:iTerm\.app|WezTerm|ghostty|WarpTerminal)$/.test(TERM_PROGRAM)) return `\u001b]9;${text}\u0007`;
  return rest.VTE_VERSION || /^(?:foot|rxvt)/.test(TERM) ? `\u001b]777;notify;Burin;${text}\u0007` : "";
}

const NEW_LINE: Key = { name: "newline", text: "\n" };
