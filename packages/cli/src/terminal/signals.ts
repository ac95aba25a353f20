import { closeSync, fstatSync } from "node:fs";
import { constants } from "node:os";
import { EXIT, type ExitCode } from "./exit-code.ts";

/** Shared by sessions: they have one terminal, and a signal ends the process with all that it runs. */
const interruption = {
  received: null as NodeJS.Signals | null,
  /** true while another program has the terminal, so that its keys are meant for that program. */
  isAway: false,
  controller: new AbortController(),
};

/** Returns a signal that aborts on the first Ctrl-C, hang-up, quit or termination. A second one exits at once. */
export function interruptSignal(): AbortSignal {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
    process.on(name, () => (interruption.isAway && /INT|QUIT/.test(name)) || interrupt(name));
  }
  return interruption.controller.signal;
}

export function delegateKeys(other: boolean): void {
  interruption.isAway = other;
}

/**
 * Interrupts the work. The loss of the terminal is noticed by a failed write, from the system and from the shell, in
 * any order, so a repeated SIGHUP does not end the process.
 */
export function interrupt(name: NodeJS.Signals): void {
  const { controller } = interruption;
  interruption.received ??= name;
  if (controller.signal.aborted && name !== "SIGHUP") exitWithSignal(EXIT.interrupted);
  controller.abort();
}

/** Whether a signal was received: the terminal may be gone, and the remaining work is only for the log. */
export function isInterrupted(): boolean {
  return interruption.received !== null;
}

/** Closes lost terminals. On exit, Node restores its terminals and aborts if one is gone, unless it is closed. */
function closeLostTerminals(): void {
  const { isatty } = process.getBuiltinModule("node:tty");
  for (const descriptor of [0, 1, 2]) {
    try {
      if (fstatSync(descriptor).isCharacterDevice() && !isatty(descriptor)) closeSync(descriptor);
    } catch {
      // The terminal was closed already.
    }
  }
}

/** Exits. After a signal the exit code is 128 plus the signal's number, as in shells. */
export function exitWithSignal(code: ExitCode): never {
  const name = interruption.received;
  // On exit Node waits for host lookups, however long they take. Ending by a signal avoids that.
  if (name !== null && process.getActiveResourcesInfo().includes("GetAddrInfoReqWrap")) {
    process.on("exit", () => process.removeAllListeners(name).kill(process.pid, name));
  }
  if (name === "SIGHUP" || code === EXIT.failed) process.on("exit", closeLostTerminals);
  process.exit(code === EXIT.interrupted ? 128 + constants.signals[name ?? "SIGINT"] : code);
}
