/** Waits for the work, or rejects with the signal's reason when it aborts. An abort ends the wait, not the work. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Does the work with a signal that aborts when either of these does. Removes its listeners afterwards. */
export async function runWithEitherSignal<T>(
  signals: readonly [AbortSignal, AbortSignal],
  work: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const stop = () => either.abort(signals.find(({ aborted }) => aborted)?.reason);
  if (signals.some(({ aborted }) => aborted)) stop();
  for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  try {
    return await work(either.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", stop);
  }
}

/** Resolves after the given time, or at once when the signal aborts. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || milliseconds <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const endWait = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", endWait);
      resolve();
    };
    const timer = setTimeout(endWait, milliseconds);
    signal.addEventListener("abort", endWait, { once: true });
  });
}

const LAST_LOOK_MS = 50;
/** Calls `over` after the time; a suspended process first reads input that has arrived. Returns a cancel function. */
export function startTimeout(milliseconds: number, over: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(over, LAST_LOOK_MS);
  }, milliseconds);
  return () => clearTimeout(timer);
}

export interface TimeLimit {
  readonly milliseconds: number;
  readonly late: () => Error;
}

/** Waits for the work. Rejects with the signal's reason, or with the error from `late` when the time is up. */
export async function runWithTimeout<T>(
  { milliseconds, late }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const time = new AbortController();
  const stop = startTimeout(milliseconds, () => time.abort(late()));
  const either = AbortSignal.any([signal, time.signal]);
  try {
    return await rejectOnAbort(work(either), either);
  } finally {
    stop();
  }
}

/** Runs pieces of work one at a time, in the order of arrival. */
export class SerialQueue {
  #last: Promise<unknown> | null = null;

  /**
   * Waits until all earlier work has ended. Resolves to a function that ends this turn, or to null when the signal
   * aborts first or everything is being closed.
   */
  async waitForTurn(signal: AbortSignal, closing: AbortSignal): Promise<(() => void) | null> {
    if (closing.aborted) return null;
    const before = this.#last;
    let releaseTurn = (): void => {};
    const own = new Promise<void>((resolve) => {
      releaseTurn = resolve;
    });
    const whole = Promise.all([before, own]).then(() => {
      if (this.#last === whole) this.#last = null;
    });
    this.#last = whole;
    if (before === null) return releaseTurn;
    const waited = rejectOnAbort(before, signal);
    const isTurn = await waited.then(() => true).catch(() => false);
    if (!isTurn) releaseTurn();
    return isTurn ? releaseTurn : null;
  }
}
