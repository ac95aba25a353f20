import type { OptionTable } from "./options.ts";

/**
 * A command that "always" may cover with other arguments, because they cannot make it do anything of another kind. Its
 * words stand in the rule in front of the `*`; `$` stands for one plain word, such as the name of a script, `$file` and
 * `$folder` for one of the project, and `|` between words for one of them.
 */
export interface WideCommand {
  readonly words: string;
  /** The options that it may get. Without it all but those that the table of programs and the tables below name. */
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
export function createWideRow(
  words: string,
  operands: WideCommand["operands"],
  more: Pick<WideCommand, "options" | "never"> & { readonly example: readonly [string, string, string] },
): WideCommand {
  const [always, covered, asks] = more.example;
  return { words, operands, ...more, example: { always, covered, asks } };
}

/** Options of many programs that another call must not add to an allowed one, by what they do. Hyphens do not count. */
export const WIDENING_OPTIONS: Readonly<Record<string, string>> = {
  "load settings":
    "conf config configuration config-file config-path config-dir config-basedir manifest-path settings-path settings-file env-file",
  "load code":
    "require import loader preload plugin plugins runner transform resolver parser resolve-plugins-relative-to rules-dir " +
    "global globals global-setup global-teardown setup-file setup-files setup-file-after-env setup-files-after-env test-environment",
  "work or write elsewhere": "out output out-file out-dir out-path root root-dir cwd dir directory prefix",
  "change files": "fix write update update-snapshot update-snapshots force delete",
  "open a port or skip checks": "inspect inspect-brk no-verify",
  "reach another machine": "publish deploy push upload remote host hostname registry token",
};
/** Each stands for all options that begin like this and end with one more word. */
export const WIDENING_BEGINNINGS = ["output-", "fix-", "allow-"];
const WIDENING_LETTERS = "cou";

const WIDENING_WORDS = new Set(
  Object.values(WIDENING_OPTIONS).flatMap((names) => names.replaceAll("-", "").split(" ")),
);

/** Whether an option may load code, write somewhere else, change what is checked, or reach another machine. */
export function isWideningOption(word: string): boolean {
  const [, hyphens, given = ""] = /^(--?)([\w-]+)(?:=|$)/.exec(word) ?? [];
  if (hyphens === "-" && given.length === 1) return WIDENING_LETTERS.includes(given.toLowerCase());
  const name = given.toLowerCase();
  if (
    WIDENING_BEGINNINGS.some(
      (beginning) => name.startsWith(beginning) && /^\w+$/.test(name.slice(beginning.length)),
    )
  )
    return true;
  return WIDENING_WORDS.has(name.replaceAll("-", ""));
}
