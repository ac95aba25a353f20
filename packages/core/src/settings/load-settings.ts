import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { findPatternFault } from "@burin/contract/patterns/pattern";
import {
  MAX_SETTINGS_BYTES,
  mergeSettings,
  type Settings,
  SettingsError,
} from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { readText, readUserText } from "@burin/files/disk/regular-file";
import { parseRule } from "@burin/shell-judge";
import type { FolderTrust, ProjectFolder } from "./folder-trust.ts";
import type { ManagedLayer } from "./managed-settings.ts";
import { SHARED_SKILLS } from "./shared-skills.ts";
import type { TrustStore } from "./trust.ts";

/** Names in a project's folder that can affect settings. Most projects have an `.env`, used only without a model. */
const BRINGERS = [".burin", ".mcp.json", ...SHARED_SKILLS];
const WITH_VARIABLES = [...BRINGERS, ".env"];

export interface SettingsLocations {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The project's folder. Its settings are used only if it is trusted. */
  readonly root: string;
  /** A settings file named on the command line. It must exist. */
  readonly file?: string | undefined;
  /** Replaces this process's environment. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Replaces the path of the administrator's settings file. */
  readonly managed?: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  /** Messages for the user, for example that a file was not read. */
  readonly notices: readonly string[];
  /** The variables about models in a trusted folder's `.env`, if the environment itself names no model. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether the folder's other definitions may be used too: its subagents, skills and commands. */
  readonly isTrusted: boolean;
}

/** Returns the folder for everything that belongs to the user. */
export function resolveBurinHome(environment: NodeJS.ProcessEnv): string {
  return resolve(environment.BURIN_HOME || join(resolveAccountHome(), ".burin"));
}

/** Returns the user's home. Ignores an empty or relative HOME: the project's `.burin` would count as the user's. */
function resolveAccountHome(): string {
  const home = homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}

/**
 * Reads the settings of the user, of the project, and of a named file. Later ones win. The administrator's settings are
 * added last and only restrict. Throws a SettingsError.
 */
export async function loadSettings(places: SettingsLocations): Promise<LoadedSettings> {
  const layers: object[] = [];
  const notices: string[] = [];
  let variables: LoadedSettings["variables"] = {};
  const user = await readUserLayer(places.home, notices);
  layers.push(user);
  const hasModel = await canSkipDotEnv(places);
  const project = await findProject(places, user, hasModel ? BRINGERS : WITH_VARIABLES);
  if (project !== null) {
    const { listTrustNotices } = await import("./folder-trust.ts");
    notices.push(...listTrustNotices(project, hasModel));
    if (project.state === "trusted" && !hasModel) variables = project.variables;
    if (project.state === "trusted" && project.fault !== undefined) throw new SettingsError(project.fault);
    const { tightening, trusted } = project.settings;
    const counting = project.state === "trusted" ? [tightening, trusted] : [tightening];
    for (const layer of counting) assertRules(layer, project.file);
    layers.push(...counting);
  }
  if (places.file !== undefined) {
    const file = resolve(places.file);
    const text = readSettingsText(file, readUserText);
    if (text === null) throw new SettingsError(`The settings file ${file} does not exist.`);
    layers.push(await parseText(file, text, notices));
  }
  const { rules, managed } = await readManaged(places);
  layers.push(rules);
  const isTrusted = project?.state === "trusted";
  // Only the administrator's file can set `managed`, whatever other layers contain under this key.
  const { managed: _other, ...merged } = mergeSettings(layers);
  const settings: Settings = managed === null ? merged : { ...merged, managed };
  return { settings, notices, variables, isTrusted };
}

/** Returns what the folder's settings would do, and the user's decision; null without settings. Runs nothing. */
export async function readFolderTrust(
  places: Pick<SettingsLocations, "home" | "root">,
): Promise<FolderTrust | null> {
  const project = await findProject(places, await readUserLayer(places.home), WITH_VARIABLES);
  if (project === null) return null;
  const { settings: _settings, unknown: _unknown, variables: _secret, trustFault, ...trust } = project;
  if (trustFault !== undefined) throw new SettingsError(trustFault);
  return trust;
}

/** Opens the list of folders that the user has trusted or refused, to show and change it. */
export async function openTrust(home: string): Promise<TrustStore> {
  const { TrustStore } = await import("./trust.ts");
  return new TrustStore(home);
}

/** Sets one value in a settings file, or removes it if undefined. Keeps everything else. Throws a SettingsError. */
export async function changeSettings(file: string, path: readonly string[], value: unknown): Promise<void> {
  const { changeSettingsFile } = await import("./change-settings.ts");
  return changeSettingsFile(file, path, value);
}

async function readUserLayer(home: string, notices: string[] = []): Promise<object> {
  const file = join(home, "settings.json");
  const text = readSettingsText(file, readText);
  return text === null ? {} : parseText(file, text, notices);
}

/** Most machines have no such file, and then its code is not loaded. */
async function readManaged({ managed, environment = process.env }: SettingsLocations): Promise<ManagedLayer> {
  const file = managed ?? resolveManagedFile(environment);
  const text = readSettingsText(file, readText);
  if (text === null) return { rules: {}, managed: null };
  const { parseManaged } = await import("./managed-settings.ts");
  const layer = parseManaged(file, text);
  assertRules(layer.rules, file);
  return layer;
}

/** Returns the path of the administrator's settings file. */
function resolveManagedFile({ ProgramData }: NodeJS.ProcessEnv): string {
  if (process.platform !== "win32") return "/etc/burin/settings.json";
  return join(ProgramData || "C:\\ProgramData", "burin", "settings.json");
}

/** Whether the environment names a model. Also true if there is no `.env` that could name one. */
async function canSkipDotEnv({ root, environment = process.env }: SettingsLocations): Promise<boolean> {
  if (!existsSync(join(root, ".env"))) return true;
  return (await import("@burin/models/choice/choose-model")).hasModelVariable(environment);
}

async function findProject(
  { home, root }: SettingsLocations,
  user: object,
  bringers: readonly string[],
): Promise<ProjectFolder | null> {
  // Most folders have no such files, and then their code is not loaded.
  if (!bringers.some((name) => existsSync(join(root, name)))) return null;
  const { openProject } = await import("./folder-trust.ts");
  return openProject(home, root, mergeSettings([user]));
}

/** Most starts find no settings file, so the parser is loaded only here. */
async function parseText(file: string, text: string, notices: string[]): Promise<object> {
  const { parseLayer, describeUnknownKeys } = await import("./parse-layer.ts");
  const layer = parseLayer(file, text);
  assertRules(layer, file);
  notices.push(...describeUnknownKeys(file, layer));
  return layer;
}

/** Synchronous: a start has nothing else to do, and asynchronous reading would load more of Node. */
function readSettingsText(file: string, read: typeof readUserText): string | null {
  try {
    return read(file, MAX_SETTINGS_BYTES);
  } catch (error) {
    throw new SettingsError(`${file} cannot be read: ${describeError(error)}`);
  }
}

/** Checks what a schema cannot express. Throws a SettingsError for the first invalid rule or glob, with its key. */
export function assertRules(layer: object, file?: string): void {
  const {
    permissions = {},
    tools = {},
    hooks = [],
  } = layer as { [Key in keyof Settings]?: Partial<Settings[Key]> };
  const checkTexts = (place: string, texts: readonly string[] = [], parse: (text: string) => unknown) => {
    try {
      texts.forEach(parse);
    } catch (error) {
      throw new SettingsError(`${file === undefined ? "" : `${file}: `}${place}: ${describeError(error)}`);
    }
  };
  for (const list of ["allow", "ask", "deny"] as const)
    checkTexts(`permissions.${list}`, permissions[list], parseRule);
  for (const hook of hooks) checkTexts("hooks.tools", [hook?.tools ?? []].flat(), parseRule);
  for (const list of ["include", "exclude"] as const) checkTexts(`tools.${list}`, tools[list], assertGlob);
}

function assertGlob(text: string): void {
  const fault = findPatternFault(() => createGlobMatcher(text, { caseSensitive: true }));
  if (fault !== null) throw new Error(`"${text}" is not a name or glob of tools: ${fault}`);
}
