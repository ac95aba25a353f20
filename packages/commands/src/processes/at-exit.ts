import { once } from "@burin/contract/async/once";
import { withFallback } from "@burin/contract/with-fallback";

/** Shared by sessions: the process ends for all of them at once. */
const exitHandlers = new Set<() => void>();

const listen = once(() =>
  // If one handler throws, the others still run.
  process.once("exit", () => {
    for (const one of exitHandlers) withFallback(undefined, one);
  }),
);

/** Calls `work` when this process exits in any way that it can notice. Returns a function that cancels this. */
export function runAtExit(work: () => void): () => void {
  listen();
  exitHandlers.add(work);
  return () => void exitHandlers.delete(work);
}
