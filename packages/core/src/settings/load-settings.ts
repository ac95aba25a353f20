import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { patternFault } from "@burin/contract/patterns/pattern";
import {
  MOST_SETTINGS_BYTES,
  mergeSettings,
  type Settings,
  SettingsError,
} from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { readNamedText, readText } from "@burin/files/disk/regular-file";
import { parseRule } from "@burin/shell-judge";
import type { FolderTrust, ProjectFolder } from "./folder-trust.ts";
import type { ManagedLayer } from "./managed-settings.ts";
import { SHARED_SKILLS } from "./shared-skills.ts";
import type { TrustStore } from "./trust.ts";

/** Names in a folder that can affect settings. Most projects have an `.env`, which matters only without a model. */
const BRINGERS = [".burin", ".mcp.json", ...SHARED_SKILLS];
const WITH_VARIABLES = [...BRINGERS, ".env"];

export interface SettingsPlaces {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The project's folder; its settings count only when it is trusted. */
  readonly root: string;
  /** A file named on the command line; it must exist. */
  readonly file?: string | undefined;
  /** Replaces the environment of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Replaces the file of the administrator of this machine. */
  readonly managed?: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  /** What the user should know, e.g. that a file was not read. */
  readonly notices: readonly string[];
  /** The model variables in a trusted folder's `.env`, if the environment itself names no model. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether the folder's other content may be used too: its subagents, skills and commands. */
  readonly isTrusted: boolean;
}

/** The folder for everything that belongs to the user. */
export function burinHome(environment: NodeJS.ProcessEnv): string {
  return resolve(environment.BURIN_HOME || join(accountHome(), ".burin"));
}

/** With an empty or relative HOME, the project's own `.burin` would count as the user's, with all its rights. */
function accountHome(): string {
  const home = homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}

/**
 * Reads the user's, the project's and the named settings; later ones win, except over the machine's own, which only
 * restrict. Throws SettingsError.
 */
export async function loadSettings(places: SettingsPlaces): Promise<LoadedSettings> {
  const layers: object[] = [];
  const notices: string[] = [];
  let variables: LoadedSettings["variables"] = {};
  const user = await userLayer(places.home, notices);
  layers.push(user);
  const hasModel = await isModelNamed(places);
  const project = await projectIn(places, user, hasModel ? BRINGERS : WITH_VARIABLES);
  if (project !== null) {
    const { trustNotices } = await import("./folder-trust.ts");
    notices.push(...trustNotices(project, hasModel));
    if (project.state === "trusted" && !hasModel) variables = project.variables;
    if (project.state === "trusted" && project.fault !== undefined) throw new SettingsError(project.fault);
    const { tightening, trusted } = project.settings;
    const counting = project.state === "trusted" ? [tightening, trusted] : [tightening];
    for (const layer of counting) assertRules(layer, project.file);
    layers.push(...counting);
  }
  if (places.file !== undefined) {
    const file = resolve(places.file);
    const text = textOf(file, readNamedText);
    if (text === null) throw new SettingsError(`The settings file ${file} does not exist.`);
    layers.push(await parsed(file, text, notices));
  }
  const { rules, managed } = await readManaged(places);
  layers.push(rules);
  const isTrusted = project?.state === "trusted";
  // Only the machine's own file can say it, whatever other layers call so.
  const { managed: _other, ...merged } = mergeSettings(layers);
  const settings: Settings = managed === null ? merged : { ...merged, managed };
  return { settings, notices, variables, isTrusted };
}

/** What the folder's settings would do, and the user's decision about them; null without settings. Runs nothing. */
export async function folderTrust(
  places: Pick<SettingsPlaces, "home" | "root">,
): Promise<FolderTrust | null> {
  const project = await projectIn(places, await userLayer(places.home), WITH_VARIABLES);
  if (project === null) return null;
  const { settings: _settings, unknown: _unknown, variables: _secret, trustFault, ...trust } = project;
  if (trustFault !== undefined) throw new SettingsError(trustFault);
  return trust;
}

/** The folders that the user has trusted or refused, to list and change them. */
export async function openTrust(home: string): Promise<TrustStore> {
  const { TrustStore } = await import("./trust.ts");
  return new TrustStore(home);
}

/** Sets one value in a settings file, or removes it when undefined; keeps everything else. Throws SettingsError. */
export async function changeSettings(file: string, path: readonly string[], value: unknown): Promise<void> {
  const { changeSettingsFile } = await import("./change-settings.ts");
  return changeSettingsFile(file, path, value);
}

async function userLayer(home: string, notices: string[] = []): Promise<object> {
  const file = join(home, "settings.json");
  const text = textOf(file, readText);
  return text === null ? {} : parsed(file, text, notices);
}

/** Most machines have no such file and need not load the code for it. */
async function readManaged({ managed, environment = process.env }: SettingsPlaces): Promise<ManagedLayer> {
  const file = managed ?? managedFile(environment);
  const text = textOf(file, readText);
  if (text === null) return { rules: {}, managed: null };
  const { parseManaged } = await import("./managed-settings.ts");
  const layer = parseManaged(file, text);
  assertRules(layer.rules, file);
  return layer;
}

/** the file of the administrator of this machine. */
function managedFile({ ProgramData }: NodeJS.ProcessEnv): string {
  if (process.platform !== "win32") return "/etc/burin/settings.json";
  return join(ProgramData || "C:\\ProgramData", "burin", "settings.json");
}

/** Also true without an `.env` that could name one. */
async function isModelNamed({ root, environment = process.env }: SettingsPlaces): Promise<boolean> {
  if (!existsSync(join(root, ".env"))) return true;
  return (await import("@burin/models/choice/choose-model")).namesModel(environment);
}

async function projectIn(
  { home, root }: SettingsPlaces,
  user: object,
  bringers: readonly string[],
): Promise<ProjectFolder | null> {
  // Most folders have no such files and need not load the code for them.
  if (!bringers.some((name) => existsSync(join(root, name)))) return null;
  const { openProject } = await import("./folder-trust.ts");
  return openProject(home, root, mergeSettings([user]));
}

/** Most starts find no settings file and need not load the parser. */
async function parsed(file: string, text: string, notices: string[]): Promise<object> {
  const { parseLayer, unknownKeys } = await import("./parse-layer.ts");
  const layer = parseLayer(file, text);
  assertRules(layer, file);
  notices.push(...unknownKeys(file, layer));
  return layer;
}

/** Synchronous: a start has nothing else to do, and async reading would load more of Node. */
function textOf(file: string, read: typeof readNamedText): string | null {
  try {
    return read(file, MOST_SETTINGS_BYTES);
  } catch (error) {
    throw new SettingsError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

/** What a schema cannot say: throws SettingsError for the first rule or glob that is not valid, with its place. */
export function assertRules(layer: object, file?: string): void {
  const {
    permissions = {},
    tools = {},
    hooks = [],
  } = layer as { [Key in keyof Settings]?: Partial<Settings[Key]> };
  const check = (place: string, texts: readonly string[] = [], parse: (text: string) => unknown) => {
    try {
      texts.forEach(parse);
    } catch (error) {
      throw new SettingsError(`${file === undefined ? "" : `${file}: `}${place}: ${messageOf(error)}`);
    }
  };
  for (const list of ["allow", "ask", "deny"] as const)
    check(`permissions.${list}`, permissions[list], parseRule);
  for (const hook of hooks) check("hooks.tools", [hook?.tools ?? []].flat(), parseRule);
  for (const list of ["include", "exclude"] as const) check(`tools.${list}`, tools[list], parseGlob);
}

function parseGlob(text: string): void {
  const fault = patternFault(() => globMatcher(text, { caseSensitive: true }));
  if (fault !== null) throw new Error(`"${text}" is not a name or glob of tools: ${fault}`);
}
