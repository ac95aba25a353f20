/** One command-line option, as the help shows it. */
export interface Option {
  /** The long form, such as `--model`. */
  readonly long: string;
  readonly short: string | undefined;
  /** The name of the option's value in the help; undefined if it takes none. */
  readonly value: string | undefined;
  readonly meaning: string;
  readonly isRepeatable: boolean;
}

type Row = readonly [form: string, meaning: string, isRepeatable?: "may be repeated"];

/** All options of the command line. Parsing, shell completion and the help use this table. */
const ROWS: readonly Row[] = [
  ["-p, --print", "run one prompt and print the answer"],
  ["--output-format FORMAT", "text (default), json (one document) or stream-json (one event a line)"],
  ["--json", "the same as --output-format json"],
  ["-m, --model NAME", "the model to ask"],
  ["--approval-mode MODE", "plan, default, auto-edit, auto or yolo"],
  ["-y, --yes", "the same as --approval-mode yolo"],
  ["--sandbox MODE", "off, read-only or workspace-write (default): what commands can reach"],
  ["--allow RULE", "run matching calls unasked, e.g. read_file or edit(src/**)", "may be repeated"],
  ["--deny RULE", "never run matching calls", "may be repeated"],
  ["--root DIR", "the folder to work in (default: this one)"],
  ["-w, --worktree NAME", "work in a git work tree; without NAME in a new one"],
  ["--include-directories A,B", "more folders that may be used", "may be repeated"],
  ["--settings FILE", "one more settings.json"],
  ["--max-turns N", "most replies of the model to one prompt (default 200)"],
  ["--budget AMOUNT", 'stop at 200k (tokens), $2, 10m or "50 calls"; several joined by commas'],
  ["-c, --continue", "go on with the session that was used last in this folder"],
  ["-r, --resume ID", "go on with that session (see burin sessions list); without ID the app lists them"],
  ["--fork", "with -c or -r: go on with a copy, and leave the session as it is"],
  ["--json-schema FILE", "the final answer must be JSON that fits this schema"],
  ["--check COMMAND", "must pass before the run has ended well; its failures go back to the model"],
  [
    "--input-format FORMAT",
    'text (default) or stream-json: prompts on stdin, one {"type":"user","text":...} a line',
  ],
  ["--confirm stdin", "with stream-json in and out: questions are events, and are answered on stdin"],
  ["--park", "a question ends the run with exit code 3, to be answered later: burin sessions answer"],
  ["--no-session", "keep no record of this session"],
  ["-q, --quiet", "only the answer, errors and notices"],
  ["--no-color", "no styles"],
  ["--lang LANGUAGE", "the app's language: en, zh, ja, fr or ru"],
  ["-h, --help", "this text; burin <command> --help: about that command"],
  ["--version", "the version"],
];

/** Matches an optional short form, the long form, and the optional name of the value. */
const FORM = /^(?:(-\w), )?(--[a-z-]+)(?: (.+))?$/;

export const OPTIONS: readonly Option[] = ROWS.map(([form, meaning, repeated]) => {
  const [, short, long = "", value] = FORM.exec(form) ?? [];
  const isRepeatable = repeated !== undefined;
  return { long, short, value, meaning: isRepeatable ? `${meaning}; ${repeated}` : meaning, isRepeatable };
});

/** Formats the help for these options, in the given order. */
export function formatOptionsHelp(options: readonly Option[]): string {
  const lines = options.map(({ short, long, value, meaning }) => {
    const form = `${short === undefined ? "   " : `${short},`} ${long}${value === undefined ? "" : ` ${value}`}`;
    return `  ${form.padEnd(26)}  ${meaning}\n`;
  });
  return `Options:\n${lines.join("")}`;
}
