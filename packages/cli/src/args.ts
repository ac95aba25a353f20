import { existsSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { APPROVAL_MODES, type ApprovalMode, messageOf, parseBudget, SANDBOX_MODES } from "@burin/core";
import { allOptions } from "./request/option-table.ts";
import {
  asUsage,
  type CommonOptions,
  LANGUAGE_CODES,
  OUTPUT_FORMATS,
  type OutputFormat,
  type SessionChoice,
} from "./request/options.ts";
import {
  existingFolder,
  type SubcommandRequest,
  textOf,
  textsOf,
  wholeNumber,
} from "./request/subcommand.ts";
import { isSubcommand, SUBCOMMANDS, type SubcommandName } from "./subcommands.ts";
import { UsageError } from "./terminal/exit-code.ts";

/** What the command line asks for. */
export type Request =
  | { readonly mode: "help"; readonly topic: string | undefined }
  | { readonly mode: "version" }
  | { readonly mode: "subcommand"; readonly name: SubcommandName; readonly request: SubcommandRequest }
  | {
      readonly mode: "prompt";
      readonly prompt: string;
      /** The first word of the command line that is not an option; a prompt in quotes is one word. */
      readonly firstWord: string;
      /** -p was given: never open a screen. */
      readonly isPrint: boolean;
      readonly options: CommonOptions;
    };

/** The options of every command, as `parseArgs` wants them. */
const OPTIONS: NonNullable<ParseArgsConfig["options"]> = {};
for (const { long, short, value, meaning } of allOptions()) {
  const type = value === undefined ? "boolean" : "string";
  const multiple = meaning.endsWith("may be repeated");
  OPTIONS[long.slice(2)] = { type, multiple, ...(short === undefined ? {} : { short: short.slice(1) }) };
}

const INPUT_FORMATS = ["text", "stream-json"] as const;

type Values = SubcommandRequest["own"];

/** Throws UsageError, with what to write instead, for an invalid command line. */
export async function readArgs(argv: readonly string[]): Promise<Request> {
  try {
    return request(argv);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw (await import("./help.ts")).optionFault(messageOf(error), subcommandOf(argv));
  }
}

function request(argv: readonly string[]): Request {
  const found = subcommandOf(argv);
  if (found !== null) return subcommandRequest(argv, found);
  const { values, positionals } = parseArgs({
    args: withoutId(argv),
    options: OPTIONS,
    allowPositionals: true,
  });
  const [first, topic] = positionals;
  const isPrint = values.print === true;
  if (values.help || (first === "help" && !isPrint && positionals.length < 3)) {
    return { mode: "help", topic: first === "help" ? topic : undefined };
  }
  if (values.version || (first === "version" && !isPrint && topic === undefined)) return { mode: "version" };
  const options = commonOptions(values);
  return { mode: "prompt", prompt: positionals.join(" "), firstWord: first ?? "", isPrint, options };
}

/** A `-r` without an ID, the last word or before an option, gets an empty one. */
function withoutId(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, at) => {
    const isAlone = /^(?:-r|--resume)$/.test(word) && (argv[at + 1] ?? "-").startsWith("-");
    return isAlone && (end === -1 || at < end) ? "--resume=" : word;
  });
}

/** The name of the subcommand, unless -p makes the words a prompt. */
function subcommandOf(argv: readonly string[]): SubcommandName | null {
  const { values, positionals } = parseArgs({
    args: withoutId(argv),
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
  });
  const [name = ""] = positionals;
  return !values.print && isSubcommand(name) ? name : null;
}

function subcommandRequest(argv: readonly string[], name: SubcommandName): Request {
  const { ownOptions = {}, takesWords } = SUBCOMMANDS[name];
  const options = { ...OPTIONS, ...ownOptions };
  const end = literalStart(argv, name, options);
  const { values, positionals } = parseArgs({ args: argv.slice(0, end), options, allowPositionals: true });
  if (values.help) return { mode: "help", topic: name };
  const words = [...positionals.slice(1), ...argv.slice(end)];
  if (takesWords === false && words[0] !== undefined)
    throw new UsageError(`burin ${name} takes no "${words[0]}". See burin help ${name}.`);
  const own = Object.fromEntries(Object.keys(ownOptions).map((key) => [key, values[key]]));
  return { mode: "subcommand", name, request: { words, options: commonOptions(values), own } };
}

/** The position from which words are kept literally. */
function literalStart(
  argv: readonly string[],
  name: SubcommandName,
  options: NonNullable<ParseArgsConfig["options"]>,
): number {
  const settings = { args: [...argv], options, allowPositionals: true, strict: false, tokens: true } as const;
  const words = parseArgs(settings).tokens.filter((token) => token.kind === "positional");
  const count = SUBCOMMANDS[name].ownWords?.(words[1]?.value ?? "");
  const last = count === undefined ? undefined : words[count];
  return last === undefined ? argv.length : last.index + 1;
}

function commonOptions(values: Values): CommonOptions {
  const [budget, turns] = [textOf(values.budget), textOf(values["max-turns"])];
  if (budget !== undefined) asUsage("--budget", () => parseBudget(budget));
  return {
    root: existingFolder(textOf(values.root) ?? "."),
    isRootNamed: values.root !== undefined,
    includeDirectories: directories(textsOf(values["include-directories"])),
    outputFormat: outputFormat(values),
    approvalMode: approvalMode(values),
    sandbox: oneOf(values, "sandbox", SANDBOX_MODES),
    allow: textsOf(values.allow),
    deny: textsOf(values.deny),
    noColor: values["no-color"] === true,
    isQuiet: values.quiet === true,
    session: sessionChoice(values),
    park: values.park === true,
    ...inputOf(values),
    jsonSchemaFile: textOf(values["json-schema"]),
    settingsFile: textOf(values.settings),
    language: oneOf(values, "lang", LANGUAGE_CODES),
    check: textOf(values.check),
    model: textOf(values.model),
    maxTurns: turns === undefined ? undefined : wholeNumber("--max-turns", turns),
    budget,
  };
}

function inputOf(values: Values): Pick<CommonOptions, "isStreamInput" | "asksOnStdin"> {
  const isStreamInput = oneOf(values, "input-format", INPUT_FORMATS) === "stream-json";
  const asksOnStdin = oneOf(values, "confirm", ["stdin"]) !== undefined;
  if (asksOnStdin && (!isStreamInput || outputFormat(values) !== "stream-json")) {
    throw new UsageError(
      "--confirm stdin sends questions as events and reads answers as lines: it requires --input-format stream-json and --output-format stream-json.",
    );
  }
  if (asksOnStdin && values.park) throw new UsageError("--confirm stdin cannot be combined with --park.");
  return { isStreamInput, asksOnStdin };
}

function sessionChoice(values: Values): SessionChoice {
  const id = textOf(values.resume);
  const isFork = values.fork === true;
  const isResumed = id !== undefined || values.continue === true || isFork;
  const against = values.park ? "--park" : isResumed ? "-c, -r or --fork" : null;
  if (values["no-session"] && against !== null)
    throw new UsageError(`--no-session keeps no record, so it cannot be combined with ${against}.`);
  if (id === "" && isFork) throw new UsageError("--fork needs -c, or -r with an ID.");
  if (id === "") return { kind: "choose" };
  if (isResumed) return { kind: "resume", isFork, id };
  return { kind: values["no-session"] ? "unrecorded" : "new" };
}

/** Folders separated by commas; if the whole text is an existing folder, it is that folder. */
function directories(given: readonly string[]): string[] {
  return given
    .flatMap((text) => (existsSync(text) ? [text] : text.split(",")))
    .filter((path) => path.trim() !== "")
    .map(existingFolder);
}

function outputFormat(values: Values): OutputFormat {
  return oneOf(values, "output-format", OUTPUT_FORMATS) ?? (values.json ? "json" : "text");
}

function approvalMode(values: Values): ApprovalMode {
  const mode = oneOf(values, "approval-mode", APPROVAL_MODES) ?? (values.yes ? "yolo" : "default");
  if (values.yes && mode !== "yolo")
    throw new UsageError(`--yes means --approval-mode yolo, so it cannot be combined with ${mode}.`);
  return mode;
}

/** The value of an option that accepts only a few words; undefined when it was not given. */
function oneOf<T extends string>(values: Values, option: string, known: readonly T[]): T | undefined {
  const value = textOf(values[option]);
  const found = known.find((name) => name === value);
  if (value !== undefined && found === undefined)
    throw new UsageError(`--${option} must be one of ${known.join(", ")}, not "${value}".`);
  return found;
}
