import { setMaxListeners } from "node:events";

/** Everything in progress listens to its signal, and Node prints a warning on the user's screen above ten listeners. */
export function allowListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal);
  } catch {
    // A signal that is not Node's own, such as jsdom's, never warns.
  }
}
