import { unlessAborted } from "./unless-aborted.ts";

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
