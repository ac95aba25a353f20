import type { Reply } from "./reply.ts";
import type { Run } from "./run.ts";

/** The maximum number of continuations in a row: a service that breaks every reply is not asked forever. */
const MAX_BROKEN = 3;

/** How to continue a reply that ended too early, in words for user and model; null after too many of them. */
export function planContinuation(run: Run, { end, text }: Reply) {
  if (end.reason === "length") return run.cuts === 0 ? planContinuationAfterCut(run, text) : null;
  if (
    end.reason !== "error" ||
    !end.error.isPassing ||
    run.unfinished + text === "" ||
    run.broken >= MAX_BROKEN
  )
    return null;
  const { message, retryAfterMs } = end.error;
  const pauseMs = retryAfterMs ?? (run.broken === 0 ? 0 : 1000 * 2 ** run.broken);
  run.broken += 1;
  return {
    notice: `The reply broke off: ${message} The model is asked to continue.`,
    instruction:
      "[Your reply broke off here because of a transmission error. Continue exactly where it stopped, and repeat nothing.]",
    pauseMs,
  };
}

function planContinuationAfterCut(run: Run, text: string) {
  run.cuts += 1;
  const instruction =
    text === ""
      ? "[The output limit was reached before you said anything. Think less, and answer.]"
      : "[Your answer was cut here by the output limit. Continue exactly where it stopped, and repeat nothing.]";
  return {
    notice: "The answer was cut by the model's output limit; the model is asked to continue.",
    instruction,
    pauseMs: 0,
  };
}
