import type { ContextFill } from "@burin/contract/agent-event";
import type { ModelFailure } from "@burin/contract/chat-model";
import type { CompactorNeeds, Say } from "./shorten.ts";

/** The rest of the window is for the reply and for errors of the estimate. */
const MOST_FILLED = 0.8;
/** A service that keeps refusing requests as too long is not trusted below this. */
const LEAST_WINDOW = 2048;

/** Keeps the requests within the model's window. The code that shortens them is loaded when it is needed. */
export class Compactor {
  readonly #needs: CompactorNeeds;
  /** In tokens, as far as known. */
  window: number;
  /** The size after the last compaction: without new messages the next one would have the same result. */
  #shortest = 0;

  constructor(needs: CompactorNeeds) {
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
    return { tokens: this.#size(), window: this.window };
  }

  /** Called when a service has refused the current request as too long: what it says about its window is trusted. */
  noteTooLong({ contextWindow }: ModelFailure): void {
    const known = Math.min(contextWindow ?? Number.POSITIVE_INFINITY, this.window);
    // If the estimate was too low, a smaller window in the same measure has the same effect.
    const estimated = this.#size() <= known ? this.#size() - 1 : known;
    this.window = Math.max(Math.min(known, estimated), LEAST_WINDOW);
  }

  /**
   * `say` adds each event to the history. Ends early when the signal aborts. `wish`: the user wants it, even without
   * need, with these words about the summary.
   */
  async shorten(say: Say, signal: AbortSignal, wish?: string): Promise<void> {
    const { shorten } = await import("./shorten.ts");
    await shorten({ ...this.#needs, window: this.window, limit: this.#limit, wish }, say, signal);
    if (!signal.aborted) this.#shortest = this.#size();
  }

  get #limit(): number {
    return Math.floor(this.window * MOST_FILLED);
  }

  #size(): number {
    return this.#needs.size.of(this.#needs.request());
  }
}
