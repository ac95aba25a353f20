/** Returns the work's outcome, or rejects with the signal's reason. Aborting ends the wait, not the work. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Does the work with a signal that aborts with either of these; afterwards nothing listens to them any more. */
export async function withEither<T>(
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

/** Resolves after that time, or at once when the signal aborts. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || milliseconds <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end, { once: true });
  });
}

const LAST_LOOK_MS = 50;
/** Calls `over` then; a process that was stopped, or busy, first reads what came in the time. Returns what stops it. */
export function afterTime(milliseconds: number, over: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(over, LAST_LOOK_MS);
  }, milliseconds);
  return () => clearTimeout(timer);
}

export interface TimeLimit {
  readonly milliseconds: number;
  readonly late: () => Error;
}

/** Returns the work's outcome, or rejects with the signal's reason, or after that time with what `late` returns. */
export async function inTime<T>(
  { milliseconds, late }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const time = new AbortController();
  const stop = afterTime(milliseconds, () => time.abort(late()));
  const either = AbortSignal.any([signal, time.signal]);
  try {
    return await unlessAborted(work(either), either);
  } finally {
    stop();
  }
}

/** Runs pieces of work one after the other: each waits for its turn. */
export class Turns {
  #last: Promise<unknown> | null = null;

  /**
   * Resolves after all earlier work to the function that ends this turn; null when the signal aborts first, or when
   * everything is being closed.
   */
  async take(signal: AbortSignal, closing: AbortSignal): Promise<(() => void) | null> {
    if (closing.aborted) return null;
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
