import { commandLine, type ProcessEntry, signalName } from "@burin/commands/processes/process-table";
import type {
  BackgroundCommand,
  CommandRequest,
  RunningCommand,
  ShellEnd,
  TakenBack,
} from "@burin/commands/shell/command-request";
import { outputTail, outputText } from "@burin/commands/shell/output-text";
import { afterTime } from "@burin/contract/async/wait";
import { quoteShellWord } from "@burin/contract/text/shell-words";
import { visibleText } from "@burin/contract/text/visible-text";
import { sandboxRefusal } from "./sandbox-refusal.ts";

/** Exported here so that one chunk has everything the shell tool needs for a command. */
export { outputTail, outputText, sandboxRefusal };

export type Stop = "timeout" | "cancelled" | "let go";

/** Of live output; the result has the whole. */
export const MOST_LIVE_CHARACTERS = 4000;
const UPDATE_MS = 100;

/** Resolves to the shell's end, or to why the call stopped waiting. */
export async function endOrStop(
  run: RunningCommand,
  limit: number,
  signal?: AbortSignal,
): Promise<ShellEnd | Stop> {
  let stop: (why: Stop) => void = () => {};
  const stopped = new Promise<Stop>((resolve) => {
    stop = resolve;
  });
  const cancel = () => stop("cancelled");
  let stopTimer = () => {};
  // The time in which the user was asked about a host is not the command's.
  const waitUntil = (most: number, before: number) => {
    stopTimer = afterTime(most, async () => {
      const waited = (await run.waitedMs?.()) ?? 0;
      if (waited > before) waitUntil(Math.max(waited - before, 1000), waited);
      else stop("timeout");
    });
  };
  waitUntil(limit, 0);
  run.onLetGo = () => stop("let go");
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    return await Promise.race([run.shellEnded, stopped]);
  } finally {
    run.onLetGo = () => {};
    stopTimer();
    signal?.removeEventListener("abort", cancel);
  }
}

/** Shows the end of the output while it grows. The returned function stops that. */
export function showLive(run: RunningCommand, show?: (text: string) => void): () => void {
  if (show === undefined) return () => {};
  let timer: NodeJS.Timeout | null = null;
  run.onOutput = () => {
    timer ??= setTimeout(async () => {
      const output = await run.output.soFar();
      if (timer === null) return;
      timer = null;
      show(outputTail(output, MOST_LIVE_CHARACTERS));
    }, UPDATE_MS);
  };
  return () => {
    run.onOutput = () => {};
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
}

const MOST_PROCESSES = 10;
const MOST_LINE_CHARACTERS = 100;

/** When a signal has ended a command, shells return its number plus this. */
const FIRST_SIGNAL = 128;

export function endInWords({ exitCode, signal }: ShellEnd): string {
  if (exitCode === null) return `Signal: ${signal ?? "unknown"}`;
  const meaning = signalName(exitCode - FIRST_SIGNAL);
  return `Exit code: ${exitCode}${meaning === undefined ? "" : ` (as after ${meaning})`}`;
}

function secondsSince(start: number): string {
  return `${((Date.now() - start) / 1000).toFixed(2)} s`;
}

export function processesInWords(processes: readonly ProcessEntry[]): string {
  const shown = processes.slice(0, MOST_PROCESSES).map((entry) => {
    const line = commandLine(entry);
    const cut = line.length > MOST_LINE_CHARACTERS ? `${line.slice(0, MOST_LINE_CHARACTERS)}...` : line;
    return `${entry.inside ?? entry.pid} (${cut})`;
  });
  const more = processes.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Where its servers can be reached; null when it has none. */
export async function addressesInWords(run: RunningCommand): Promise<string | null> {
  const addresses = run.isOver ? [] : ((await run.addresses?.()) ?? []);
  return addresses.length === 0 ? null : `It listens on ${addresses.slice(0, MOST_PROCESSES).join(", ")}.`;
}

export const NOT_SHARED =
  "On this system each command has a network of its own: other commands cannot reach its servers, and what a command leaves running ends with it.";

export function backgroundInWords({ id, request, run }: BackgroundCommand): string {
  return `${id}: ${stateInWords(run)} ${run.output.bytes} bytes of output. ${request.command}`;
}

export function stateInWords(run: RunningCommand): string {
  const end = run.shellEnd === null ? "" : ` The shell itself has ended (${endInWords(run.shellEnd)}).`;
  if (!run.isOver) return `Running for ${secondsSince(run.startedAt)}.${end}`;
  return run.shellEnd === null ? "Ended." : `Ended. ${endInWords(run.shellEnd)}.`;
}

export function whereAndWhen(run: RunningCommand, request: CommandRequest): string[] {
  return [`Directory: ${request.directory}`, `Time: ${secondsSince(run.startedAt)}`];
}

/** What the proxy of its network has refused to a command, a line each. */
export async function hostsInWords(run: RunningCommand): Promise<string[]> {
  const reasons = (await run.refusedHosts?.()) ?? [];
  return reasons.map((reason) => `The sandbox refused a connection: ${reason}`);
}

/** One line for each thing that the command created and could not keep. */
export function takenInWords(taken: readonly TakenBack[]): string[] {
  if (taken.length === 0) return [];
  const shown = taken.slice(0, MOST_PROCESSES).map(({ path, why, kept }) => {
    return visibleText(
      `${path} (${why}; ${kept === null ? "it could not be moved and is still there" : `now ${kept}`})`,
    );
  });
  const more = taken.length > shown.length ? ` and ${taken.length - shown.length} more` : "";
  const committed = taken.filter(({ isCommitted }) => isCommitted).slice(0, MOST_PROCESSES);
  const names = committed.map(({ path }) => quoteShellWord(visibleText(path))).join(" ");
  const restore = `Git tracks what it put there, and was told to leave it out (skip-worktree). To restore it, call \`git checkout --ignore-skip-worktree-bits HEAD -- ${names}\` with "sandbox_exception": "unlimited".`;
  return [
    `Moved out of the project, because sandboxed commands may not create files that run code later: ${shown.join(", ")}${more}. If the task needs it, write it with a file tool, or call again with "sandbox_exception": "unlimited": the user is asked.`,
    ...(committed.length === 0 ? [] : [restore]),
  ];
}
