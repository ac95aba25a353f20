import { unlessAborted } from "./unless-aborted.ts";

/** Runs pieces of work one after the other: each waits for its turn. */
export class Turns {
  #last: Promise<unknown> | null = null;

  /** Resolves after all earlier work to the function that ends this turn; null when the signal aborts first. */
  async take(signal: AbortSignal): Promise<(() => void) | null> {
    const before = this.#last;
    let leave = (): void => {};
    const own = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const whole = Promise.all([before, own]).then(() => {
      if (this.#last === whole) this.#last = null;
    });
    this.#last = whole;
    if (before === null) return leave;
    const waited = unlessAborted(before, signal);
    const isTurn = await waited.then(() => true).catch(() => false);
    if (!isTurn) leave();
    return isTurn ? leave : null;
  }
}
