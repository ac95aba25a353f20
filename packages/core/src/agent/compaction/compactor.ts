import type { AgentEvent, ContextFill } from "@burin/contract/agent-event";
import type { ModelFailure } from "@burin/contract/chat-model";
import type { CompactorNeeds } from "./shorten.ts";

/** The rest of the window is for the reply, and for what the estimate gets wrong. */
const MOST_FILLED = 0.8;
/** A service that refuses one request after the other as too long is not believed below this. */
const LEAST_WINDOW = 2048;

/** Keeps the requests within the model's window. How they are shortened is loaded when one has to be. */
export class Compactor {
  readonly #needs: CompactorNeeds;
  #window: number;
  /** What the last compaction came to: without anything new the next one would come to the same. */
  #shortest = 0;

  constructor(needs: CompactorNeeds) {
    this.#needs = needs;
    this.#window = needs.window;
  }

  /** In tokens, as far as is known by now. */
  get window(): number {
    return this.#window;
  }

  get isNeeded(): boolean {
    return this.#size() > Math.max(this.#limit, this.#shortest);
  }

  /** From here on a model with another window is asked. */
  useWindow(window: number): void {
    this.#window = window;
    this.#shortest = 0;
  }

  get fill(): ContextFill {
    return { tokens: this.#size(), window: this.#window };
  }

  /** A service has refused the request as it stands now: what it says of its window is believed. */
  noteTooLong({ contextWindow }: ModelFailure): void {
    const known = Math.min(contextWindow ?? Number.POSITIVE_INFINITY, this.#window);
    // Where the estimate was too low, a smaller window in its measure comes to the same.
    const estimated = this.#size() <= known ? this.#size() - 1 : known;
    this.#window = Math.max(Math.min(known, estimated), LEAST_WINDOW);
  }

  /**
   * Each event has to be in the history before the next one is asked for. Ends early when the signal does.
   * `isAll`: as far as it goes, whether there is need or not.
   */
  async *shorten(signal: AbortSignal, isAll = false): AsyncGenerator<AgentEvent, void> {
    const { shorten } = await import("./shorten.ts");
    yield* shorten({ ...this.#needs, window: this.#window, limit: this.#limit, isAll }, signal);
    if (!signal.aborted) this.#shortest = this.#size();
  }

  /** What a request may take, in tokens. */
  get #limit(): number {
    return Math.floor(this.#window * MOST_FILLED);
  }

  #size(): number {
    return this.#needs.size.of(this.#needs.request());
  }
}
