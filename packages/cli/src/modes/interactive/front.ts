import type { CommonOptions } from "../../request/options.ts";
import type { StartFacts } from "../../state/start-facts.ts";
import { TextBuffer } from "../../state/text-buffer.ts";
import { Transcript } from "../../state/transcript.ts";
import type { Key } from "../../terminal/keys.ts";
import { RawTerminal } from "../../terminal/raw-terminal.ts";
import { drawStartCard } from "../../ui/start-card.ts";
import { type Shown, View } from "./view.ts";

interface Taker {
  readonly hear: (keys: readonly Key[]) => void;
  /** Called when the terminal is gone. */
  readonly end: () => void;
}

/** The minimum number of rows of a window for the whole card; in a lower one, the card is a single row. */
const MIN_ROWS = 16;

/** The first part of the app: an empty prompt, which is visible before the rest is loaded. */
export class Front {
  readonly terminal: RawTerminal;
  readonly view: View;
  readonly shown: Shown;
  /** The facts on the start card; undefined until they are known, null for no card. */
  facts: StartFacts | null | undefined;
  #taker: Taker | null = null;
  #early: Key[] = [];
  #isGone = false;

  constructor({ approvalMode }: CommonOptions) {
    this.shown = {
      transcript: new Transcript(),
      buffer: new TextBuffer(),
      panel: null,
      completions: null,
      waiting: [],
      running: () => [],
      status: () => ({ model: "", mode: approvalMode ?? "default" }),
    };
    this.terminal = new RawTerminal(
      {
        onKeys: (keys) => (this.#taker ? this.#taker.hear(keys) : this.#early.push(...keys)),
        onResize: () => this.view.handleResize(),
        onEnd: () => {
          this.#isGone = true;
          this.#taker?.end();
        },
        onReturn: () => this.view.redraw(),
      },
      process.env,
    );
    this.view = new View(this.shown, this.terminal);
    const isLow = this.terminal.size().rows < MIN_ROWS;
    this.shown.transcript.printOpen((width, isOpen) => drawStartCard(this.facts, { width, isOpen, isLow }));
  }

  open(): void {
    this.terminal.open();
    // Clear the prompt first, so that the message about an uncaught error is not printed over it.
    process.prependOnceListener("uncaughtException", () => this.view.clearRows());
    this.view.drawNow();
  }

  /** Returns the card's suggestion with this number, as long as the card is all that is on the screen. */
  findSuggestion(text: string): string | null {
    if (!this.shown.transcript.isAtStart || !/^[1-9]$/.test(text)) return null;
    return this.facts?.suggestions?.[Number(text) - 1] ?? null;
  }

  close(): void {
    this.view.close();
    this.terminal.close();
  }

  /** Passes all input to another receiver, including keys that have already arrived. */
  handTo(taker: Taker): void {
    this.#taker = taker;
    if (this.#early.length > 0) taker.hear(this.#early.splice(0));
    if (this.#isGone) taker.end();
  }
}
