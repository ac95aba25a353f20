import type { Confirm, Confirmation, Decision } from "@burin/core";

/** One question that waits for the person. */
export interface OpenQuestion {
  readonly confirmation: Confirmation;
  readonly answer: (decision: Decision | null) => void;
}

/** The questions of a session and its subagents, in the order in which they came: the one place that knows how they are put. */
export class Questions {
  readonly #onChange: () => void;
  #open: readonly OpenQuestion[] = [];
  /** Whether the user has just asked for what is done now: that needs no yes. It covers one question of that call alone. */
  #isOwn = false;

  /** Runs what the user has just written. While the model works too, it is asked about like anything else. */
  async asOwn<Result>(isModelAtWork: boolean, work: () => Promise<Result>): Promise<Result> {
    this.#isOwn = !isModelAtWork;
    try {
      return await work();
    } finally {
      this.#isOwn = false;
    }
  }

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get open(): readonly OpenQuestion[] {
    return this.#open;
  }

  /** For `createSession`. */
  readonly confirm: Confirm = (confirmation, signal, { agent, callId }) =>
    new Promise((resolve) => {
      // A subagent in the background, or an MCP server, may ask at this very moment.
      if (this.#isOwn && agent === null && callId !== null) {
        this.#isOwn = false;
        resolve({ outcome: "once" });
        return;
      }
      const answer = (decision: Decision | null): void => {
        signal.removeEventListener("abort", withdraw);
        this.#open = this.#open.filter((one) => one !== question);
        this.#onChange();
        resolve(decision);
      };
      const withdraw = (): void => answer(null);
      const question: OpenQuestion = { confirmation, answer };
      this.#open = [...this.#open, question];
      signal.addEventListener("abort", withdraw, { once: true });
      this.#onChange();
    });
}
