import { orElse } from "@burin/contract/or-else";

const atExit = new Set<() => void>();
let isListening = false;

/** Calls `work` when this process ends in any way that it can still notice. Returns a function that cancels this. */
export function endAtExit(work: () => void): () => void {
  if (!isListening) {
    isListening = true;
    // When one fails, the others still run.
    process.once("exit", () => {
      for (const one of atExit) orElse(undefined, one);
    });
  }
  atExit.add(work);
  return () => void atExit.delete(work);
}
