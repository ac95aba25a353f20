import type { ParseArgsConfig } from "node:util";
import type { ExitCode } from "../terminal/exit-code.ts";
import type { Output } from "../terminal/output.ts";
import type { CommonOptions } from "./options.ts";
import type { OptionValues } from "./read-values.ts";

export interface Io {
  readonly output: Output;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
  /** The progress of a run, for the report of an error that no caller catches. */
  readonly progress?: Progress;
}

/** The progress of a run without a screen. */
export interface Progress {
  run: PrintedRun | null;
}

export interface PrintedRun {
  readonly document: object;
  readonly session: { close(): Promise<void> };
  /** true if something else has reported the run, so that no more is printed. */
  isOver: boolean;
}

/** A subcommand's words, and the options around it. */
export interface SubcommandRequest {
  readonly words: readonly string[];
  readonly options: CommonOptions;
  /** The subcommand's own options, as given. */
  readonly subcommandOptions: OptionValues;
}

/** A subcommand, `burin <name> ...`. Its code is loaded only when it is used. */
export interface Subcommand {
  readonly ownOptions?: NonNullable<ParseArgsConfig["options"]>;
  /** false if only options may follow the name. */
  readonly takesWords?: false;
  /** Returns how many words precede another program's command line, which is kept unchanged with its options. */
  readonly ownWords?: (words: readonly string[]) => number;
  load(): Promise<{ run(request: SubcommandRequest, io: Io): Promise<ExitCode> }>;
}
