import { constants } from "node:os";
import { EXIT, type ExitCode } from "./exit-code.ts";

let received: NodeJS.Signals | null = null;

/** Aborts on the first Ctrl-C, hang-up or termination; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      received ??= name;
      if (controller.signal.aborted) process.exit(interruptedCode());
      controller.abort();
    });
  }
  return controller.signal;
}

/** As a shell tells it of a program that a signal has ended: 128 and the number of the signal. */
export function interruptedCode(): number {
  return 128 + constants.signals[received ?? "SIGINT"];
}

/** The code to leave with: what was interrupted says by what. */
export function withSignal(code: ExitCode): number {
  return code === EXIT.interrupted ? interruptedCode() : code;
}
