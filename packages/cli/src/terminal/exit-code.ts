/** How a command ended, for scripts. */
export const EXIT = {
  done: 0,
  /** The model or its service failed, or the called tool returned an error. */
  failed: 1,
  /** Wrong usage or broken settings. */
  usage: 2,
  /** An approval was needed and could not be had, or was refused. */
  refused: 3,
  /** Turns, budget or time ran out. */
  limit: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Something the person can put right by calling differently. Shown as one message, without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
