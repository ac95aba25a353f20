import {
  type ApprovalMode,
  burinHome,
  type Decision,
  type LoadedSettings,
  loadSettings,
  parseRule,
  type SandboxMode,
  type SessionOptions,
  type Settings,
} from "@burin/core";
import { UsageError } from "../terminal/exit-code.ts";

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
/** What the app speaks; its texts are in locales/. */
export const LANGUAGE_CODES = ["en", "zh", "ja", "fr", "ru"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** What every way of starting Burin understands. */
export interface CommonOptions {
  readonly root: string;
  /** `root` was given, and is not just where Burin was started. */
  readonly isRootNamed: boolean;
  readonly includeDirectories: readonly string[];
  readonly outputFormat: OutputFormat;
  readonly approvalMode: ApprovalMode;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly sandbox?: SandboxMode;
  readonly settingsFile?: string;
  readonly model?: string;
  /** A command that must pass before a run has ended well. */
  readonly check?: string;
  readonly maxTurns?: number;
  /** What the run may spend, as `parseBudget` reads it. */
  readonly budget?: string;
  readonly noColor: boolean;
  /** Of the app's texts. */
  readonly language?: (typeof LANGUAGE_CODES)[number];
  /** Nothing but the answer, errors and notices is shown. */
  readonly isQuiet: boolean;
  readonly session: SessionChoice;
  /** Questions are kept to be answered later. */
  readonly park: boolean;
  /** Prompts come on stdin, one JSON object a line. */
  readonly isStreamInput: boolean;
  /** Questions are put to the program that gives the prompts. */
  readonly asksOnStdin: boolean;
  /** What the final answer has to fit. */
  readonly jsonSchemaFile?: string;
}

/** Which session a prompt belongs to. */
export type SessionChoice =
  | { readonly kind: "new" | "unrecorded" }
  /** Without an id the one that was used last in this folder. */
  | { readonly kind: "take-up"; readonly id?: string; readonly isFork: boolean; readonly answer?: Decision };

export interface Opened {
  readonly settings: Settings;
  readonly isTrusted: boolean;
  readonly notices: readonly string[];
}

/** Settings with the command line laid over them, for the one folder that this process works in. */
export async function openSettings(options: CommonOptions): Promise<Opened> {
  const { variables, ...opened } = await readSettings(options);
  Object.assign(process.env, variables);
  return opened;
}

/** The same for one of several folders: none may name the model of another. */
export async function readSettings(
  options: CommonOptions,
): Promise<Opened & Pick<LoadedSettings, "variables">> {
  const { settingsFile } = options;
  const places = { home: burinHome(process.env), root: options.root };
  const loaded = await loadSettings(settingsFile === undefined ? places : { ...places, file: settingsFile });
  const { model, permissions, sandbox, ui } = loaded.settings;
  const settings: Settings = {
    ...loaded.settings,
    model: options.model === undefined ? model : { ...model, name: options.model },
    ui: options.language === undefined ? ui : { ...ui, language: options.language },
    sandbox: options.sandbox === undefined ? sandbox : { ...sandbox, mode: options.sandbox },
    permissions: {
      ...permissions,
      allow: [...permissions.allow, ...options.allow],
      deny: [...permissions.deny, ...options.deny],
    },
  };
  for (const rule of Object.values(settings.permissions).flat()) checkRule(rule);
  const { isTrusted, notices, variables } = loaded;
  return { settings, isTrusted, notices, variables };
}

function checkRule(rule: string): void {
  try {
    parseRule(rule);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export function sessionOptions(
  options: CommonOptions,
  { settings, isTrusted }: Pick<Opened, "settings" | "isTrusted">,
): SessionOptions {
  const { root, includeDirectories, approvalMode, maxTurns, budget, check } = options;
  return {
    root,
    includeDirectories,
    settings,
    isTrusted,
    approvalMode,
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(budget === undefined ? {} : { budget }),
    ...(check === undefined ? {} : { check }),
  };
}
