import { existsSync, realpathSync } from "node:fs";
import type { ApprovalMode, Decision, SessionOptions } from "@burin/core";
import {
  APPROVAL_MODES,
  describeError,
  type LoadedSettings,
  loadSettings,
  parseRule,
  readKeptKeys,
  resolveBurinHome,
  SANDBOX_MODES,
  type Settings,
} from "@burin/core/internal";
import { parseBudget } from "@burin/core/sessions";
import { UsageError } from "../terminal/exit-code.ts";
import {
  type OptionValues,
  readChoice,
  readText,
  readTexts,
  readWholeNumber,
  resolveFolder,
} from "./read-values.ts";

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
/** The languages of the app; their texts are in locales/. */
export const LANGUAGE_CODES = ["en", "zh", "ja", "fr", "ru"] as const;
const INPUT_FORMATS = ["text", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export type CommonOptions = Readonly<ReturnType<typeof readCommonOptions>> & {
  /** Where sessions are stored, if not in `~/.burin`. */
  readonly home?: string;
};

export type SessionChoice =
  /** "choose" lists the recorded sessions on the screen. */
  | { readonly kind: "new" | "unrecorded" | "choose" }
  /** Without an id, this is the session that was used last in this folder. */
  | {
      readonly kind: "resume";
      readonly id?: string | undefined;
      readonly isFork: boolean;
      readonly answer?: Decision;
    };

/** Reads the options that all commands share. */
export function readCommonOptions(values: OptionValues) {
  const [budget, turns] = [readText(values.budget), readText(values["max-turns"])];
  if (budget !== undefined) rethrowAsUsage("--budget", () => parseBudget(budget));
  return {
    root: resolveFolder(readText(values.root) ?? "."),
    /** true if the folder was named explicitly, and is not just the current folder. */
    isRootNamed: values.root !== undefined,
    includeDirectories: splitDirectories(readTexts(values["include-directories"])),
    /** The name of the work tree to work in; "" for a new one. */
    workTree: readText(values.worktree),
    outputFormat: readOutputFormat(values),
    approvalMode: readApprovalMode(values),
    sandbox: readChoice(values, "sandbox", SANDBOX_MODES),
    allow: readTexts(values.allow),
    deny: readTexts(values.deny),
    noColor: values["no-color"] === true,
    /** Show only the answer, errors and notices. */
    isQuiet: values.quiet === true,
    session: readSessionChoice(values),
    /** true if questions are stored, so that they can be answered later. */
    park: values.park === true,
    ...readInputOptions(values),
    /** The schema that the final answer must match. */
    jsonSchemaFile: readText(values["json-schema"]),
    settingsFile: readText(values.settings),
    /** The language of the app's texts. */
    language: readChoice(values, "lang", LANGUAGE_CODES),
    /** A command that must succeed before a run counts as successful. */
    check: readText(values.check),
    model: readText(values.model),
    maxTurns: turns === undefined ? undefined : readWholeNumber("--max-turns", turns),
    /** The most that the run may spend, in the format of `parseBudget`. */
    budget,
  };
}

function readInputOptions(values: OptionValues) {
  const isStreamInput = readChoice(values, "input-format", INPUT_FORMATS) === "stream-json";
  const asksOnStdin = readChoice(values, "confirm", ["stdin"]) !== undefined;
  if (asksOnStdin && (!isStreamInput || readOutputFormat(values) !== "stream-json")) {
    throw new UsageError(
      "--confirm stdin sends questions as events and reads answers as lines: it requires --input-format stream-json and --output-format stream-json.",
    );
  }
  if (asksOnStdin && values.park) throw new UsageError("--confirm stdin cannot be combined with --park.");
  return {
    /** true if prompts arrive on stdin, one JSON object per line. */
    isStreamInput,
    /** true if questions are sent to the program that sends the prompts. */
    asksOnStdin,
  };
}

function readSessionChoice(values: OptionValues): SessionChoice {
  const id = readText(values.resume);
  const isFork = values.fork === true;
  const isResumed = id !== undefined || values.continue === true;
  const against = values.park ? "--park" : isResumed ? "-c or -r" : null;
  if (values["no-session"] && against !== null)
    throw new UsageError(`--no-session keeps no record, so it cannot be combined with ${against}.`);
  if (isFork && (id === "" || !isResumed)) throw new UsageError("--fork needs -c, or -r with an ID.");
  if (id === "") return { kind: "choose" };
  if (isResumed) return { kind: "resume", isFork, id };
  return { kind: values["no-session"] ? "unrecorded" : "new" };
}

/** Splits comma-separated folders. If the whole text is an existing folder, it is not split. */
function splitDirectories(given: readonly string[]): string[] {
  return given
    .flatMap((text) => (existsSync(text) ? [text] : text.split(",")))
    .filter((path) => path.trim() !== "")
    .map(resolveFolder);
}

function readOutputFormat(values: OptionValues): OutputFormat {
  return readChoice(values, "output-format", OUTPUT_FORMATS) ?? (values.json ? "json" : "text");
}

/** Returns the approval mode that the command line sets; undefined leaves it to the settings. */
function readApprovalMode(values: OptionValues): ApprovalMode | undefined {
  const mode = readChoice(values, "approval-mode", APPROVAL_MODES) ?? (values.yes ? "yolo" : undefined);
  if (values.yes && mode !== "yolo")
    throw new UsageError(`--yes means --approval-mode yolo, so it cannot be combined with ${mode}.`);
  return mode;
}

export interface Opened {
  readonly settings: Settings;
  readonly isTrusted: boolean;
  readonly notices: readonly string[];
}

/** Returns where this folder's sessions are stored; they are listed under its real path. */
export function resolveSessionLocation({
  root,
  home = resolveBurinHome(process.env),
}: Pick<CommonOptions, "root" | "home">) {
  return { home, root: realpathSync.native(root) };
}

/** Loads the settings with the command line's options, and sets variables for this process's only folder. */
export async function openSettings(options: CommonOptions): Promise<Opened> {
  const { variables, ...opened } = await readSettings(options);
  Object.assign(process.env, variables);
  return opened;
}

/** Loads settings for one of several folders, without setting variables that would affect the others. */
export async function readSettings(
  options: CommonOptions,
): Promise<Opened & Pick<LoadedSettings, "variables">> {
  const { root, settingsFile: file } = options;
  const loaded = await loadSettings({ home: resolveBurinHome(process.env), root, file });
  const { model, permissions, sandbox, ui, managed } = loaded.settings;
  const approvalMode = options.approvalMode ?? loaded.settings.approvalMode;
  if (approvalMode !== undefined && managed?.approvalModes?.includes(approvalMode) === false) {
    const allowed = managed.approvalModes.join(", ");
    throw new UsageError(
      `${managed.file} allows the approval modes ${allowed} on this machine, not ${approvalMode}.`,
    );
  }
  const settings: Settings = {
    ...loaded.settings,
    ...(approvalMode && { approvalMode }),
    model: options.model === undefined ? model : { ...model, name: options.model },
    ui: options.language === undefined ? ui : { ...ui, language: options.language },
    sandbox: options.sandbox === undefined ? sandbox : { ...sandbox, mode: options.sandbox },
    permissions: {
      ...permissions,
      allow: [...permissions.allow, ...options.allow],
      deny: [...permissions.deny, ...options.deny],
    },
  };
  for (const list of ["allow", "deny"] as const)
    rethrowAsUsage(`--${list}`, () => options[list].map(parseRule));
  const { isTrusted, notices } = loaded;
  const kept = await readKeptKeys(resolveBurinHome(process.env), process.env);
  return { settings, isTrusted, notices, variables: { ...kept, ...loaded.variables } };
}

/** Runs `work` and reports its error as a usage error of that option. */
function rethrowAsUsage(option: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    throw new UsageError(`${option}: ${describeError(error)}`);
  }
}

export function buildSessionOptions(
  options: CommonOptions,
  { settings, isTrusted }: Pick<Opened, "settings" | "isTrusted">,
): SessionOptions {
  const { root, includeDirectories, approvalMode, maxTurns, budget, check } = options;
  return { root, includeDirectories, settings, isTrusted, approvalMode, maxTurns, budget, check };
}
