import { constants } from "node:os";
import { EXIT, type ExitCode } from "./exit-code.ts";

let received: NodeJS.Signals | null = null;

/** Aborts on the first Ctrl-C, hang-up or termination; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      received ??= name;
      if (controller.signal.aborted) process.exit(withSignal(EXIT.interrupted));
      controller.abort();
    });
  }
  return controller.signal;
}

/** Whether the terminal may be gone, and the remaining work is only for the log. */
export function isInterrupted(): boolean {
  return received !== null;
}

/** The exit code; after a signal 128 plus its number, as in shells. */
export function withSignal(code: ExitCode): number {
  return code === EXIT.interrupted ? 128 + constants.signals[received ?? "SIGINT"] : code;
}
