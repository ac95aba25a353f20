import { EXIT } from "./exit-code.ts";

/** Aborts on the first Ctrl-C, hang-up or termination; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(EXIT.interrupted);
      controller.abort();
    });
  }
  return controller.signal;
}
