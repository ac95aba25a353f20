import { setMaxListeners } from "node:events";

/** Whatever is under way listens to its signal; Node warns of more than ten listeners, on the user's screen. */
export function allowListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal);
  } catch {
    // A signal that is not Node's own, as in jsdom, warns of nothing.
  }
}
