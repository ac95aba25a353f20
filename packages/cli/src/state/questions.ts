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
  /** What is done is what the person has just written: it needs no yes. */
  isOwn = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get open(): readonly OpenQuestion[] {
    return this.#open;
  }

  /** For `createSession`. */
  readonly confirm: Confirm = (confirmation, signal) =>
    new Promise((resolve) => {
      if (this.isOwn && this.#open.length === 0) {
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
