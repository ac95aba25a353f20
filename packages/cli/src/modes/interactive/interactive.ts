import type { CommonOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import { App } from "./app.ts";

/** Opens the screen. */
export function runInteractive(first: string, options: CommonOptions, io: Io): Promise<ExitCode> {
  return new App(options).run(first, io);
}
