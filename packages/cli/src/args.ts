import { type ParseArgsConfig, parseArgs } from "node:util";
import { describeError } from "@burin/core/internal";
import { OPTIONS } from "./request/option-table.ts";
import { type CommonOptions, readCommonOptions } from "./request/options.ts";
import type { SubcommandRequest } from "./request/subcommand.ts";
import { isSubcommand, SUBCOMMANDS, type SubcommandName } from "./subcommands.ts";
import { UsageError } from "./terminal/exit-code.ts";

/** What the command line asks for, after parsing. */
export type Request =
  | { readonly mode: "help"; readonly topic: string | undefined }
  | { readonly mode: "version" }
  | { readonly mode: "subcommand"; readonly name: SubcommandName; readonly request: SubcommandRequest }
  | {
      readonly mode: "prompt";
      readonly prompt: string;
      /** The command line's words that are not options. A quoted prompt is one word. */
      readonly words: readonly string[];
      /** true with -p: no screen is opened. */
      readonly isPrint: boolean;
      readonly options: CommonOptions;
    };

/** The options of all commands, in the form that `parseArgs` needs. */
const PARSED: NonNullable<ParseArgsConfig["options"]> = Object.fromEntries(
  OPTIONS.map(({ long, short, value, isRepeatable }) => {
    const form = { type: value === undefined ? "boolean" : "string", multiple: isRepeatable } as const;
    return [long.slice(2), short === undefined ? form : { ...form, short: short.slice(1) }];
  }),
);

/** Parses the command line. Throws a UsageError that says what to write instead if it is invalid. */
export async function parseCommandLine(argv: readonly string[]): Promise<Request> {
  try {
    return parseRequest(argv);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw (await import("./help.ts")).createOptionError(describeError(error), findSubcommand(argv));
  }
}

function parseRequest(argv: readonly string[]): Request {
  const found = findSubcommand(argv);
  if (found !== null) return parseSubcommandRequest(argv, found);
  const { values, positionals } = parseArgs({
    args: fillMissingIds(argv),
    options: PARSED,
    allowPositionals: true,
  });
  const [first, topic] = positionals;
  const isPrint = values.print === true;
  if (values.help || (first === "help" && !isPrint && positionals.length < 3)) {
    return { mode: "help", topic: first === "help" ? topic : undefined };
  }
  if (values.version || (first === "version" && !isPrint && topic === undefined)) return { mode: "version" };
  const options = readCommonOptions(values);
  return { mode: "prompt", prompt: positionals.join(" "), words: positionals, isPrint, options };
}

/** A `-r` without an ID, the last word or before an option, gets an empty one; so does `-w`, also before a prompt. */
function fillMissingIds(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, at) => {
    if (end !== -1 && at > end) return word;
    const next = argv[at + 1] ?? "-";
    if (/^(?:-r|--resume)$/.test(word) && next.startsWith("-")) return "--resume=";
    return /^(?:-w|--worktree)$/.test(word) && !/^\w[\w.-]*$/.test(next) ? "--worktree=" : word;
  });
}

/** Parses a command line that may be invalid, without complaining. */
function parseWithoutErrors(argv: readonly string[], options = PARSED) {
  return parseArgs({
    args: fillMissingIds(argv),
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
}

/** Returns the subcommand that the command line names, or null. With -p, the words are a prompt. */
function findSubcommand(argv: readonly string[]): SubcommandName | null {
  if (!argv.some(isSubcommand)) return null;
  const { values, positionals } = parseWithoutErrors(argv);
  const [name = ""] = positionals;
  return !values.print && isSubcommand(name) ? name : null;
}

function parseSubcommandRequest(argv: readonly string[], name: SubcommandName): Request {
  const { ownOptions = {}, takesWords, ownWords } = SUBCOMMANDS[name];
  const { worktree: _, ...common } = PARSED;
  const options = { ...common, ...ownOptions };
  const places = parseWithoutErrors(argv, options).tokens.filter((token) => token.kind === "positional");
  // The words after this one are kept literally.
  const last = places[ownWords?.(places.slice(1).map(({ value }) => value)) ?? places.length];
  const end = last === undefined ? argv.length : last.index + 1;
  const { values, positionals } = parseArgs({ args: argv.slice(0, end), options, allowPositionals: true });
  if (values.help) return { mode: "help", topic: name };
  if (values.version) return { mode: "version" };
  const words = [...positionals.slice(1), ...argv.slice(end)];
  if (takesWords === false && words[0] !== undefined)
    throw new UsageError(`burin ${name} takes no "${words[0]}". See burin help ${name}.`);
  const subcommandOptions = Object.fromEntries(Object.keys(ownOptions).map((key) => [key, values[key]]));
  return {
    mode: "subcommand",
    name,
    request: { words, options: readCommonOptions(values), subcommandOptions },
  };
}
