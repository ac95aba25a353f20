import { unlessAborted } from "@burin/contract/async/unless-aborted";

/** Rejects when the signal aborts first: a question that is open then is not waited for, a late answer means nothing. */
export async function orAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return unlessAborted(Promise.resolve(work()), signal);
}
