/** Rejects when the signal aborts first: a question that is open then is not waited for, a late answer means nothing. */
export function orAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    Promise.resolve(work())
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}
