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
