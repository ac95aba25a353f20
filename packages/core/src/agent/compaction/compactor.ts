import type { ContextFill } from "@burin/contract/agent-event";
import type { ModelFailure } from "@burin/contract/chat-model";
import type { CompactorOptions, Say } from "./shorten.ts";

/** The share of the window that a request may fill. The rest is for the reply and for estimation errors. */
const MAX_FILLED = 0.8;
/** The lower limit, even for a service that keeps rejecting requests as too long. */
const MIN_WINDOW = 2048;

/** Keeps requests within the model's window. Loads the code that shortens them when it is needed. */
export class Compactor {
  readonly #needs: CompactorOptions;
  /** The model's window in tokens, as far as known. */
  window: number;
  /** The size after the last compaction. Without new messages, another compaction would have the same result. */
  #shortest = 0;

  constructor(needs: CompactorOptions) {
    this.#needs = needs;
    this.window = needs.window;
  }

  get isNeeded(): boolean {
    const { size, request } = this.#needs;
    return size.isAbove(Math.max(this.#limit, this.#shortest), request());
  }

  useWindow(window: number): void {
    this.window = window;
    this.#shortest = 0;
  }

  get fill(): ContextFill {
    return { tokens: this.#measureSize(), window: this.window };
  }

  /** Called when a service has rejected the current request as too long. Trusts what it says about its window. */
  noteTooLong({ contextWindow }: ModelFailure): void {
    const known = Math.min(contextWindow ?? Number.POSITIVE_INFINITY, this.window);
    // If the estimate was too low, reducing the window in proportion has the same effect.
    const estimated = this.#measureSize() <= known ? this.#measureSize() - 1 : known;
    this.window = Math.max(Math.min(known, estimated), MIN_WINDOW);
  }

  /**
   * `say` adds each event to the history. Ends early when the signal aborts. `wish`: the user wants it, even without
   * need, with these words about the summary.
   */
  async shorten(say: Say, signal: AbortSignal, wish?: string): Promise<void> {
    const { shorten } = await import("./shorten.ts");
    await shorten({ ...this.#needs, window: this.window, limit: this.#limit, wish }, say, signal);
    if (!signal.aborted) this.#shortest = this.#measureSize();
  }

  get #limit(): number {
    return Math.floor(this.window * MAX_FILLED);
  }

  #measureSize(): number {
    return this.#needs.size.estimateRequest(this.#needs.request());
  }
}
