const atExit = new Set<() => void>();
let isListening = false;

/** Work for the moment when this process ends in whatever way it still notices. The answer takes it back. */
export function endAtExit(work: () => void): () => void {
  if (!isListening) {
    isListening = true;
    process.once("exit", () => {
      for (const one of atExit) {
        try {
          one();
        } catch {
          // The others have their turn all the same.
        }
      }
    });
  }
  atExit.add(work);
  return () => {
    atExit.delete(work);
  };
}
