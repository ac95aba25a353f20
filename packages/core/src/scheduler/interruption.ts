import type { FunctionCall } from "@burin/contract/messages/function-call";
import { cancelled, type FinalState } from "./call-outcome.ts";

/** A tool that is interrupted may need a moment to end what it has begun. */
const GRACE_MS = 5000;

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

/** What the call came to; a tool that does not heed the interruption is left behind after a while, and that is said. */
export async function orLeftBehind(
  call: FunctionCall,
  work: Promise<FinalState>,
  signal: AbortSignal,
): Promise<FinalState> {
  let timer: NodeJS.Timeout | undefined;
  const left = new Promise<FinalState>((resolve) => {
    const leave = (): void => {
      timer = setTimeout(() => resolve(cancelled(call, LEFT_BEHIND)), GRACE_MS);
    };
    signal.addEventListener("abort", leave, { once: true });
    const end = (): void => {
      signal.removeEventListener("abort", leave);
      clearTimeout(timer);
    };
    work.then(end, end);
  });
  return Promise.race([work, left]);
}

const LEFT_BEHIND = "it was interrupted and did not stop; it may still be at work";
