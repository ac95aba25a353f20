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

/** In a lower window the card is one row. */
const MIN_ROWS = 16;

/** An empty prompt: all of the app that is visible before the rest is loaded. */
export class Front {
  readonly terminal: RawTerminal;
  readonly view: View;
  readonly shown: Shown;
  /** What the card at the start shows; undefined until it is known, null for none. */
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
        onResize: () => this.view.resized(),
        onEnd: () => {
          this.#isGone = true;
          this.#taker?.end();
        },
        onReturn: () => this.view.begin(),
      },
      process.env,
    );
    this.view = new View(this.shown, this.terminal);
    const isLow = this.terminal.size().rows < MIN_ROWS;
    this.shown.transcript.printOpen((width, isOpen) => drawStartCard(this.facts, { width, isOpen, isLow }));
  }

  open(): void {
    this.terminal.open();
    // What is said of an error that nothing catches stands in the place of the prompt, not over it.
    process.prependOnceListener("uncaughtException", () => this.view.leave());
    this.view.now();
  }

  /** The suggestion of the card that a number means, while the card is all that there is. */
  suggestionIn(text: string): string | null {
    if (!this.shown.transcript.isAtStart || !/^[1-9]$/.test(text)) return null;
    return this.facts?.suggestions?.[Number(text) - 1] ?? null;
  }

  close(): void {
    this.view.close();
    this.terminal.close();
  }

  /** Passes all input to another receiver, including what has already arrived. */
  handTo(taker: Taker): void {
    this.#taker = taker;
    if (this.#early.length > 0) taker.hear(this.#early.splice(0));
    if (this.#isGone) taker.end();
  }
}
