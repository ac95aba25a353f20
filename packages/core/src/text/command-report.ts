import { findSignalName, type ProcessEntry, readCommandLine } from "@burin/commands/processes/process-table";
import type {
  BackgroundCommand,
  CommandRequest,
  RunningCommand,
  ShellEnd,
  TakenBack,
} from "@burin/commands/shell/command-request";
import { formatOutput, formatOutputTail } from "@burin/commands/shell/output-text";
import { startTimeout } from "@burin/contract/async/wait";
import { quoteShellWord } from "@burin/contract/text/shell-words";
import { visibleText } from "@burin/contract/text/visible-text";
import { findRefusal } from "./sandbox-refusal.ts";

/** Exported here, so that one chunk has everything that the shell tool needs for a command. */
export { findRefusal, formatOutput, formatOutputTail };

export type StopReason = "timeout" | "cancelled" | "let go";

/** The maximum number of characters of live output. The result has the whole output. */
export const MAX_LIVE_CHARACTERS = 4000;
const UPDATE_MS = 100;

/** Resolves to the shell's end, or to the reason why the call stopped waiting. */
export async function waitForEndOrStop(
  run: RunningCommand,
  limit: number,
  signal?: AbortSignal,
): Promise<ShellEnd | StopReason> {
  let stop: (why: StopReason) => void = () => {};
  const stopped = new Promise<StopReason>((resolve) => {
    stop = resolve;
  });
  const cancelRun = () => stop("cancelled");
  let stopTimer = () => {};
  // Waits for the time limit. Time in which the user was asked about a host does not count.
  const waitUntil = (maxMs: number, before: number) => {
    stopTimer = startTimeout(maxMs, async () => {
      const waited = (await run.waitedMs?.()) ?? 0;
      if (waited > before) waitUntil(Math.max(waited - before, 1000), waited);
      else stop("timeout");
    });
  };
  waitUntil(limit, 0);
  run.onLetGo = () => stop("let go");
  signal?.addEventListener("abort", cancelRun, { once: true });
  if (signal?.aborted) cancelRun();
  try {
    return await Promise.race([run.shellEnded, stopped]);
  } finally {
    run.onLetGo = () => {};
    stopTimer();
    signal?.removeEventListener("abort", cancelRun);
  }
}

/** Shows the end of the output while it grows. Returns a function that stops this. */
export function showLive(run: RunningCommand, show?: (text: string) => void): () => void {
  if (show === undefined) return () => {};
  let timer: NodeJS.Timeout | null = null;
  run.onOutput = () => {
    timer ??= setTimeout(async () => {
      const output = await run.output.soFar();
      if (timer === null) return;
      timer = null;
      show(formatOutputTail(output, MAX_LIVE_CHARACTERS));
    }, UPDATE_MS);
  };
  return () => {
    run.onOutput = () => {};
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
}

const MAX_PROCESSES = 10;
const MAX_LINE_CHARACTERS = 100;

/** If a signal ended a command, shells return the signal's number plus this. */
const FIRST_SIGNAL = 128;

export function describeEnd({ exitCode, signal }: ShellEnd): string {
  if (exitCode === null) return `Signal: ${signal ?? "unknown"}`;
  const meaning = findSignalName(exitCode - FIRST_SIGNAL);
  return `Exit code: ${exitCode}${meaning === undefined ? "" : ` (as after ${meaning})`}`;
}

function formatSecondsSince(start: number): string {
  return `${((Date.now() - start) / 1000).toFixed(2)} s`;
}

export function describeProcesses(processes: readonly ProcessEntry[]): string {
  const shown = processes.slice(0, MAX_PROCESSES).map((entry) => {
    const line = readCommandLine(entry);
    const cut = line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}...` : line;
    return `${entry.inside ?? entry.pid} (${cut})`;
  });
  const more = processes.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Returns a sentence about the addresses of its servers; null if it has none. */
export async function describeAddresses(run: RunningCommand): Promise<string | null> {
  const addresses = run.isOver ? [] : ((await run.addresses?.()) ?? []);
  return addresses.length === 0 ? null : `It listens on ${addresses.slice(0, MAX_PROCESSES).join(", ")}.`;
}

export const NOT_SHARED_NOTE =
  "On this system each command has a network of its own: other commands cannot reach its servers, and what a command leaves running ends with it.";

export function describeCommand({ id, request, run }: BackgroundCommand): string {
  return `${id}: ${describeState(run)} ${run.output.bytes} bytes of output. ${request.command}`;
}

export function describeState(run: RunningCommand): string {
  const end = run.shellEnd === null ? "" : ` The shell itself has ended (${describeEnd(run.shellEnd)}).`;
  if (!run.isOver) return `Running for ${formatSecondsSince(run.startedAt)}.${end}`;
  return run.shellEnd === null ? "Ended." : `Ended. ${describeEnd(run.shellEnd)}.`;
}

export function describeRun(run: RunningCommand, request: CommandRequest): string[] {
  return [`Directory: ${request.directory}`, `Time: ${formatSecondsSince(run.startedAt)}`];
}

/** Returns a line for each connection of the command that the network's proxy refused. */
export async function describeHosts(run: RunningCommand): Promise<string[]> {
  const reasons = (await run.refusedHosts?.()) ?? [];
  return reasons.map((reason) => `The sandbox refused a connection: ${reason}`);
}

/** Returns the lines about files that the command created but was not allowed to keep. */
export function describeTakenBack(taken: readonly TakenBack[]): string[] {
  if (taken.length === 0) return [];
  const shown = taken.slice(0, MAX_PROCESSES).map(({ path, why, kept }) => {
    return visibleText(
      `${path} (${why}; ${kept === null ? "it could not be moved and is still there" : `now ${kept}`})`,
    );
  });
  const more = taken.length > shown.length ? ` and ${taken.length - shown.length} more` : "";
  const committed = taken.filter(({ isCommitted }) => isCommitted).slice(0, MAX_PROCESSES);
  const names = committed.map(({ path }) => quoteShellWord(visibleText(path))).join(" ");
  const restore = [
    "Git tracks what it put there, and was told to leave it out (skip-worktree).",
    `To restore it, call \`git checkout --ignore-skip-worktree-bits HEAD -- ${names}\``,
    'with "sandbox_exception": "unlimited".',
  ].join(" ");
  return [
    [
      "Moved out of the project, because sandboxed commands may not create files that run code later:",
      `${shown.join(", ")}${more}.`,
      "If the task needs it, write it with a file tool,",
      'or call again with "sandbox_exception": "unlimited": the user is asked.',
    ].join(" "),
    ...(committed.length === 0 ? [] : [restore]),
  ];
}
