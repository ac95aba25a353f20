import { closeSync, fstatSync } from "node:fs";
import { constants } from "node:os";
import { EXIT, type ExitCode } from "./exit-code.ts";

/** Shared by sessions: they have one terminal, and a signal ends the process with all that it runs. */
const interruption = {
  received: null as NodeJS.Signals | null,
  /** Another program has the terminal, and its keys mean that program. */
  isAway: false,
  controller: new AbortController(),
};

/** Aborts on the first Ctrl-C, hang-up, quit or termination; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
    process.on(name, () => (interruption.isAway && /INT|QUIT/.test(name)) || interrupt(name));
  }
  return interruption.controller.signal;
}

export function delegateKeys(other: boolean): void {
  interruption.isAway = other;
}

/** A terminal that is gone is told by a failed write, by the system and by its shell, in any order. */
export function interrupt(name: NodeJS.Signals): void {
  const { controller } = interruption;
  interruption.received ??= name;
  if (controller.signal.aborted && name !== "SIGHUP") exit(EXIT.interrupted);
  controller.abort();
}

/** Whether the terminal may be gone, and the remaining work is only for the log. */
export function isInterrupted(): boolean {
  return interruption.received !== null;
}

/** At its exit Node restores its terminal, and aborts when that is gone; a closed descriptor it leaves alone. */
function closeLostTerminals(): void {
  const { isatty } = process.getBuiltinModule("node:tty");
  for (const descriptor of [0, 1, 2]) {
    try {
      if (fstatSync(descriptor).isCharacterDevice() && !isatty(descriptor)) closeSync(descriptor);
    } catch {
      // It was closed before.
    }
  }
}

/** After a signal the exit code is 128 plus its number, as in shells. */
export function exit(code: ExitCode): never {
  const name = interruption.received;
  // At its exit Node waits for a host that it looks up, however long that takes; a signal does not.
  if (name !== null && process.getActiveResourcesInfo().includes("GetAddrInfoReqWrap")) {
    process.on("exit", () => process.removeAllListeners(name).kill(process.pid, name));
  }
  if (name === "SIGHUP" || code === EXIT.failed) process.on("exit", closeLostTerminals);
  process.exit(code === EXIT.interrupted ? 128 + constants.signals[name ?? "SIGINT"] : code);
}
