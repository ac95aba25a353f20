import { unlessAborted } from "./unless-aborted.ts";

/** Work that is begun while other work goes on waits for its turn. */
export class Turns {
  #last: Promise<unknown> | null = null;

  /** Resolves when those before have ended, to what lets the next one begin; null when that is given up. */
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
    const isTurn = await unlessAborted(before, signal).then(
      () => true,
      () => false,
    );
    if (!isTurn) leave();
    return isTurn ? leave : null;
  }
}
