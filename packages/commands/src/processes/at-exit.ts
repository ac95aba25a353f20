import { once } from "@burin/contract/async/once";
import { orElse } from "@burin/contract/or-else";

/** Shared by sessions: the process ends for all of them at once. */
const atExit = new Set<() => void>();

const listen = once(() =>
  // When one fails, the others still run.
  process.once("exit", () => {
    for (const one of atExit) orElse(undefined, one);
  }),
);

/** Calls `work` when this process ends in any way that it can still notice. Returns a function that cancels this. */
export function endAtExit(work: () => void): () => void {
  listen();
  atExit.add(work);
  return () => void atExit.delete(work);
}
