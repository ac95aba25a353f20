const atExit = new Set<() => void>();
let isListening = false;

/** Calls `work` when this process ends in any way that it can still notice. Returns a function that cancels this. */
export function endAtExit(work: () => void): () => void {
  if (!isListening) {
    isListening = true;
    process.once("exit", () => {
      for (const one of atExit) {
        try {
          one();
        } catch {
          // The others still run.
        }
      }
    });
  }
  atExit.add(work);
  return () => {
    atExit.delete(work);
  };
}
