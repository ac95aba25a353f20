import { setFlagsFromString } from "node:v8";
import type { CommonOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import { App } from "./app.ts";

/** So much has to run before V8 optimizes a function. By its own measure, compiling is a third of the work of a screen. */
const INTERRUPT_BUDGET = 2_000_000;

/** Opens the screen. */
export function runInteractive(first: string, options: CommonOptions, io: Io): Promise<ExitCode> {
  setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  return new App(options).run(first, io);
}
