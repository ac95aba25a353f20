import type { OptionTable } from "./options.ts";

/**
 * A command that "always" may cover with other arguments, because they cannot make it do anything of another kind. Its
 * words stand in the rule in front of the `*`; `$` stands for one plain word, such as the name of a script, `$file` and
 * `$folder` for one of the project, and `|` between words for one of them.
 */
export interface WideCommand {
  readonly words: string;
  /** The options that it may get. Without it all but those that the table of programs and `WIDENING` name. */
  readonly options?: OptionTable;
  /** What its other words are. */
  readonly operands: "paths" | "names" | "text" | "none" | "addresses";
  /** Words with which it does something of another kind. */
  readonly never?: string;
  readonly example: {
    readonly always: string;
    readonly covered: string;
    readonly asks: string;
  };
}

/** One row of the table of wide commands. */
export function wideRow(
  words: string,
  operands: WideCommand["operands"],
  more: Pick<WideCommand, "options" | "never"> & { readonly example: readonly [string, string, string] },
): WideCommand {
  const [always, covered, asks] = more.example;
  return { words, operands, ...more, example: { always, covered, asks } };
}

/** Options of many programs that load code, write somewhere else, change what is checked, or reach another machine. */
export const WIDENING =
  /^(?:--?(?:conf(?:ig(?:uration|-?(?:file|path|dir|basedir))?)?|manifest-path|settings-(?:path|file)|out(?:-?(?:put|file|dir|path))?|output-\w+|root-?dir|root|cwd|dir(?:ectory)?|prefix|require|import|loader|preload|plugins?|runner|env-file|globals?|global-?(?:setup|teardown)|setup-?files?(?:-?after-?env)?|test-?environment|transform|resolver|rules-?dir|resolve-plugins-relative-to|parser|fix(?:-\w+)?|write|update(?:-?snapshots?)?|inspect(?:-brk)?|publish|deploy|push|upload|remote|host(?:name)?|registry|token|allow-\w+|no-verify|force|delete)(?:=|$)|-[cou](?:=|$))/i;
