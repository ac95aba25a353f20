import { setMaxListeners } from "node:events";

/**
 * Lets any number of listeners wait for a signal: each call in progress adds one, and above ten, Node prints a warning
 * on the user's screen.
 */
export function allowListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal);
  } catch {
    // A signal that is not Node's own, such as jsdom's, never warns.
  }
}
