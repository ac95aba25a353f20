import type { ModelFailure } from "@burin/contract/chat-model";

/** A service that asks for a longer pause than this will not be waited for. */
export const MOST_ASKED_DELAY_MS = 300_000;

/** What the person is told of another attempt. */
export function noticeOf(
  { status, message, type }: ModelFailure,
  attempt: number,
  { delay, most }: { readonly delay: number; readonly most: number },
): string {
  const what = status === undefined ? reasonOf(type, message) : `${namedStatus(status)}.`;
  return `${what.replace(/\w$/, "$&.")} Attempt ${attempt + 1} of ${most} follows in ${shownSeconds(delay)} s.`;
}

function namedStatus(status: number): string {
  if (status === 429) return "The model's service limits the rate of requests (HTTP 429)";
  if (status === 503 || status === 529) return `The model's service is overloaded (HTTP ${status})`;
  return `The model's service failed (HTTP ${status})`;
}

function reasonOf(type: string, message: string): string {
  return type === "unreachable" ? `The model's service cannot be reached: ${message}` : message;
}

function shownSeconds(milliseconds: number): string {
  return String(Math.ceil(milliseconds / 100) / 10);
}

/** The failure after the last attempt. */
export function toldWith(failure: ModelFailure, attempt: number): ModelFailure {
  const { message, retryAfterMs = 0 } = failure;
  const asked =
    retryAfterMs > MOST_ASKED_DELAY_MS ? ` It asks to wait ${Math.ceil(retryAfterMs / 60_000)} minutes.` : "";
  const tried = attempt > 1 ? ` (${attempt} attempts)` : "";
  return { ...failure, message: `${message}${asked}${tried}` };
}
