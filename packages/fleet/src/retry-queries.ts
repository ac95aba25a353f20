import { setTimeout as pause } from "node:timers/promises";
import { describeError } from "@burin/core/internal";

const PAUSE_MS = 1000;

/**
 * Matches errors that pass: no connection, no disk space or memory, a stop by an administrator, a system failure, or
 * the operating system's own error codes.
 */
const PASSING_CODE = /^(?:(?:08|53|57|58)[0-9A-Z]{3}|E[A-Z]{3,})$/;

/** Whether writing failed because a disk is full, here or at the database. Git does not always know why. */
export function isFullDisk(error: unknown): boolean {
  return /\bno space\b|\bunknown write failure\b|\bENOSPC\b|\bEDQUOT\b|quota exceeded/i.test(
    describeError(error),
  );
}

/** Whether the database did not answer or had no room, so that the same query will work later. */
export function isTemporary(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  // The driver reports a broken connection without a code.
  return typeof code === "string" ? PASSING_CODE.test(code) : /\bconnect(?:ion)?\b/i.test(String(message));
}

/** Repeats a query until the database answers or the signal aborts. */
export async function retryUntilAvailable<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error) || signal?.aborted) throw error;
      await pause(PAUSE_MS, undefined, { signal });
    }
  }
}
