import type { ParseArgsConfig } from "node:util";
import type { ExitCode } from "../terminal/exit-code.ts";
import type { Output } from "../terminal/output.ts";
import type { CommonOptions } from "./options.ts";
import type { OptionValues } from "./read-values.ts";

export interface Io {
  readonly output: Output;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
  /** Set by a start that reports also what no caller catches. */
  readonly progress?: Progress;
}

/** How far a run without a screen has come. */
export interface Progress {
  run: PrintedRun | null;
}

export interface PrintedRun {
  readonly document: object;
  readonly session: { close(): Promise<void> };
  /** Something else has reported the run; it says nothing more. */
  isOver: boolean;
}

/** The words after the name of a subcommand, and the options around it. */
export interface SubcommandRequest {
  readonly words: readonly string[];
  readonly options: CommonOptions;
  /** The subcommand's own options, as given. */
  readonly own: OptionValues;
}

/** One subcommand: `burin <name> ...`. Its code is loaded when it is called. */
export interface Subcommand {
  readonly ownOptions?: NonNullable<ParseArgsConfig["options"]>;
  /** False: only options can follow its name. */
  readonly takesWords?: false;
  /** How many words come before the command line of another program, which is kept literally with its options. */
  readonly ownWords?: (words: readonly string[]) => number;
  load(): Promise<{ run(request: SubcommandRequest, io: Io): Promise<ExitCode> }>;
}
