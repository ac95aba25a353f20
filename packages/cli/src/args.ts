import { existsSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { APPROVAL_MODES, type ApprovalMode, messageOf, parseBudget, SANDBOX_MODES } from "@burin/core";
import {
  asUsage,
  type CommonOptions,
  LANGUAGE_CODES,
  OUTPUT_FORMATS,
  type OutputFormat,
  type SessionChoice,
} from "./request/options.ts";
import { existingFolder, type SubcommandRequest, wholeNumber } from "./request/subcommand.ts";
import type { SubcommandName } from "./request/usages.ts";
import { isSubcommand, SUBCOMMANDS } from "./subcommands.ts";
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

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  print: { type: "boolean", short: "p" },
  "output-format": { type: "string" },
  json: { type: "boolean" },
  model: { type: "string", short: "m" },
  "approval-mode": { type: "string" },
  sandbox: { type: "string" },
  yes: { type: "boolean", short: "y" },
  allow: { type: "string", multiple: true },
  deny: { type: "string", multiple: true },
  root: { type: "string" },
  "include-directories": { type: "string", multiple: true },
  settings: { type: "string" },
  "max-turns": { type: "string" },
  budget: { type: "string" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "string", short: "r" },
  fork: { type: "boolean" },
  park: { type: "boolean" },
  "json-schema": { type: "string" },
  check: { type: "string" },
  "input-format": { type: "string" },
  confirm: { type: "string" },
  quiet: { type: "boolean", short: "q" },
  "no-session": { type: "boolean" },
  "no-color": { type: "boolean" },
  lang: { type: "string" },
} as const;

const INPUT_FORMATS = ["text", "stream-json"] as const;

type Values = ReturnType<typeof parsed>["values"];

function parsed(argv: readonly string[]) {
  return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
}

/** Throws UsageError, with what to write instead, for an invalid command line. */
export async function readArgs(argv: readonly string[]): Promise<Request> {
  try {
    return request(argv);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const message = messageOf(error);
    if (message.endsWith("uv_cwd")) {
      throw new UsageError("the current folder no longer exists; change to another one.");
    }
    throw (await import("./help.ts")).optionFault(message, subcommandOf(argv));
  }
}

function request(argv: readonly string[]): Request {
  const found = subcommandOf(argv);
  if (found !== null) return subcommandRequest(argv, found);
  const { values, positionals } = parsed(withoutId(argv));
  const [first, topic] = positionals;
  const isPrint = values.print ?? false;
  if (values.help || (first === "help" && !isPrint && positionals.length < 3)) {
    return { mode: "help", topic: first === "help" ? topic : undefined };
  }
  if (first === "version" && !isPrint && topic === undefined) return { mode: "version" };
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
  const ownOptions = SUBCOMMANDS[name].ownOptions ?? {};
  const options = { ...OPTIONS, ...ownOptions };
  const end = literalStart(argv, name, options);
  const { values, positionals } = parseArgs({ args: argv.slice(0, end), options, allowPositionals: true });
  if (values.help) return { mode: "help", topic: name };
  const own = Object.fromEntries(Object.keys(ownOptions).map((key) => [key, values[key as keyof Values]]));
  return {
    mode: "subcommand",
    name,
    request: { words: [...positionals.slice(1), ...argv.slice(end)], options: commonOptions(values), own },
  };
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
  const { budget } = values;
  if (budget !== undefined) asUsage("--budget", () => parseBudget(budget));
  return {
    root: existingFolder(values.root ?? "."),
    isRootNamed: values.root !== undefined,
    includeDirectories: directories(values["include-directories"] ?? []),
    outputFormat: outputFormat(values),
    approvalMode: approvalMode(values),
    sandbox: values.sandbox === undefined ? undefined : oneOf("--sandbox", values.sandbox, SANDBOX_MODES),
    allow: values.allow ?? [],
    deny: values.deny ?? [],
    noColor: values["no-color"] ?? false,
    isQuiet: values.quiet ?? false,
    session: sessionChoice(values),
    park: values.park ?? false,
    ...inputOf(values),
    jsonSchemaFile: values["json-schema"],
    settingsFile: values.settings,
    language: values.lang === undefined ? undefined : oneOf("--lang", values.lang, LANGUAGE_CODES),
    check: values.check,
    model: values.model,
    maxTurns: values["max-turns"] === undefined ? undefined : wholeNumber("--max-turns", values["max-turns"]),
    budget,
  };
}

function inputOf(values: Values): Pick<CommonOptions, "isStreamInput" | "asksOnStdin"> {
  const format = oneOf("--input-format", values["input-format"] ?? "text", INPUT_FORMATS);
  const isStreamInput = format === "stream-json";
  if (values.confirm === undefined) return { isStreamInput, asksOnStdin: false };
  oneOf("--confirm", values.confirm, ["stdin"]);
  if (!isStreamInput || outputFormat(values) !== "stream-json") {
    throw new UsageError(
      "--confirm stdin sends questions as events and reads answers as lines: it requires --input-format stream-json and --output-format stream-json.",
    );
  }
  if (values.park) throw new UsageError("--confirm stdin cannot be combined with --park.");
  return { isStreamInput, asksOnStdin: true };
}

function sessionChoice(values: Values): SessionChoice {
  const { resume: id, fork: isFork = false } = values;
  const isResumed = id !== undefined || values.continue || isFork;
  if (values["no-session"] && values.park) {
    throw new UsageError("--no-session keeps no record, so it cannot be combined with --park.");
  }
  if (values["no-session"] && isResumed) {
    throw new UsageError("--no-session keeps no record, so it cannot be combined with -c, -r or --fork.");
  }
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
  const format = values["output-format"] ?? (values.json ? "json" : "text");
  return oneOf("--output-format", format, OUTPUT_FORMATS);
}

function approvalMode(values: Values): ApprovalMode {
  const named = values["approval-mode"];
  const mode = oneOf("--approval-mode", named ?? (values.yes ? "yolo" : "default"), APPROVAL_MODES);
  if (values.yes && mode !== "yolo")
    throw new UsageError(`--yes means --approval-mode yolo, so it cannot be combined with ${mode}.`);
  return mode;
}

function oneOf<T extends string>(option: string, value: string, known: readonly T[]): T {
  const found = known.find((name) => name === value);
  if (found === undefined)
    throw new UsageError(`${option} must be one of ${known.join(", ")}, not "${value}".`);
  return found;
}
