export const EXIT = {
  done: 0,
  /** The model or its service failed, or the called tool returned an error. */
  failed: 1,
  /** Wrong usage or broken settings. */
  usage: 2,
  /** A required approval was impossible or was refused. */
  refused: 3,
  /** Turns, budget or time ran out. */
  limit: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A mistake that the user can fix by changing the command line or settings. Shown as a message without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
