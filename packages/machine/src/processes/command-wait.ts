import type { CommandRun, ShellEnd } from "./command-run.ts";
import { outputTail } from "./output-text.ts";

/** Why a command is not waited for any more. */
export type Stop = "timeout" | "cancelled" | "let go";

/** Of live output; the whole is in the result. */
export const MOST_LIVE_CHARACTERS = 4000;
const UPDATE_MS = 100;

/** The shell's end, or why it is not waited for. */
export async function endOrStop(
  run: CommandRun,
  limit: number,
  signal?: AbortSignal,
): Promise<ShellEnd | Stop> {
  let stop: (why: Stop) => void = () => {};
  const stopped = new Promise<Stop>((resolve) => {
    stop = resolve;
  });
  const cancel = () => stop("cancelled");
  const timer = setTimeout(() => stop("timeout"), limit);
  run.onLetGo = () => stop("let go");
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    return await Promise.race([run.shellEnded, stopped]);
  } finally {
    run.onLetGo = () => {};
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

/** Shows the end of the output while it grows. The answer stops that. */
export function showLive(run: CommandRun, show?: (text: string) => void): () => void {
  if (show === undefined) return () => {};
  let timer: NodeJS.Timeout | null = null;
  run.onOutput = () => {
    timer ??= setTimeout(() => {
      timer = null;
      show(outputTail(run.output.soFar(), MOST_LIVE_CHARACTERS));
    }, UPDATE_MS);
  };
  return () => {
    run.onOutput = () => {};
    if (timer !== null) clearTimeout(timer);
  };
}
