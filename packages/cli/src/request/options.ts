import { realpathSync } from "node:fs";
import {
  type ApprovalMode,
  burinHome,
  type Decision,
  type LoadedSettings,
  loadSettings,
  messageOf,
  parseRule,
  type SandboxMode,
  type SessionOptions,
  type Settings,
} from "@burin/core";
import { UsageError } from "../terminal/exit-code.ts";

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
/** The languages of the app; their texts are in locales/. */
export const LANGUAGE_CODES = ["en", "zh", "ja", "fr", "ru"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface CommonOptions extends Pick<SessionOptions, "maxTurns" | "check"> {
  readonly root: string;
  /** `root` was given explicitly, instead of being the current folder. */
  readonly isRootNamed: boolean;
  readonly includeDirectories: readonly string[];
  readonly outputFormat: OutputFormat;
  readonly approvalMode: ApprovalMode;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly sandbox?: SandboxMode | undefined;
  readonly settingsFile?: string | undefined;
  readonly model?: string | undefined;
  /** What the run may spend, in the format of `parseBudget`. */
  readonly budget?: string | undefined;
  readonly noColor: boolean;
  /** For the app's texts. */
  readonly language?: (typeof LANGUAGE_CODES)[number] | undefined;
  /** Only the answer, errors and notices are shown. */
  readonly isQuiet: boolean;
  readonly session: SessionChoice;
  /** Questions are stored, to be answered later. */
  readonly park: boolean;
  /** Prompts come on stdin, one JSON object per line. */
  readonly isStreamInput: boolean;
  /** Questions go to the program that sends the prompts. */
  readonly asksOnStdin: boolean;
  /** The schema that the final answer must match. */
  readonly jsonSchemaFile?: string | undefined;
}

export type SessionChoice =
  /** "choose": the screen lists the recorded ones. */
  | { readonly kind: "new" | "unrecorded" | "choose" }
  /** Without an id, the session that was used last in this folder. */
  | {
      readonly kind: "resume";
      readonly id?: string | undefined;
      readonly isFork: boolean;
      readonly answer?: Decision;
    };

export interface Opened {
  readonly settings: Settings;
  readonly isTrusted: boolean;
  readonly notices: readonly string[];
}

/** Where the sessions of this folder are kept: by its real path. */
export function sessionPlace({ root }: Pick<CommonOptions, "root">) {
  return { home: burinHome(process.env), root: realpathSync.native(root) };
}

/** The settings with the command line's options applied, for the one folder that this process works in. */
export async function openSettings(options: CommonOptions): Promise<Opened> {
  const { variables, ...opened } = await readSettings(options);
  Object.assign(process.env, variables);
  return opened;
}

/** The same for one of several folders: none may affect another one's model. */
export async function readSettings(
  options: CommonOptions,
): Promise<Opened & Pick<LoadedSettings, "variables">> {
  const { root, settingsFile: file } = options;
  const loaded = await loadSettings({ home: burinHome(process.env), root, file });
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
  for (const list of ["allow", "deny"] as const) asUsage(`--${list}`, () => options[list].map(parseRule));
  const { isTrusted, notices, variables } = loaded;
  return { settings, isTrusted, notices, variables };
}

/** What fails in the work is a mistake of the user in that option. */
export function asUsage(option: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    throw new UsageError(`${option}: ${messageOf(error)}`);
  }
}

export function sessionOptions(
  options: CommonOptions,
  { settings, isTrusted }: Pick<Opened, "settings" | "isTrusted">,
): SessionOptions {
  const { root, includeDirectories, approvalMode, maxTurns, budget, check } = options;
  return { root, includeDirectories, settings, isTrusted, approvalMode, maxTurns, budget, check };
}
