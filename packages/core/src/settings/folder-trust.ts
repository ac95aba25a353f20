import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { MAX_SETTINGS_BYTES, type Settings, SettingsError } from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { withFallback } from "@burin/contract/with-fallback";
import { tryRealPath } from "@burin/files/disk/disk-looks";
import { readText } from "@burin/files/disk/regular-file";
import { MODEL_VARIABLES } from "@burin/models/choice/choose-model";
import { describeUnknownKeys, parseLayer } from "./parse-layer.ts";
import {
  createLookBudget,
  listDefinitionEffects,
  listScriptEffects,
  listSharedSkillEffects,
} from "./project-definitions.ts";
import { type ProjectSettings, readProjectSettings } from "./project-settings.ts";
import { SHARED_SKILLS } from "./shared-skills.ts";
import { resolveTrustState, type TrustState, TrustStore } from "./trust.ts";

/** A project's folder, what its settings ask for, and the user's decision about it. */
export interface FolderTrust {
  /** The folder's real path. */
  readonly folder: string;
  /** The folder's settings file. */
  readonly file: string;
  readonly state: TrustState;
  /** What its settings would run or access. Each is a sentence without a subject. */
  readonly effects: readonly string[];
  /** The differences since the user trusted it. Empty unless `state` is `changed`. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Keys that are never used from a project, because they would loosen rules. */
  readonly refused: readonly string[];
  /** Why its settings cannot be read at all. */
  readonly fault?: string;
}

export interface ProjectFolder extends FolderTrust {
  readonly settings: ProjectSettings;
  readonly variables: Readonly<Record<string, string>>;
  /** A sentence for each unknown key in its file. */
  readonly unknown: readonly string[];
  readonly trustFault?: string;
}

const NOTHING: ProjectSettings = { tightening: {}, trusted: {}, effects: [], refused: [] };

/** Reads a project's folder. Returns null if it has nothing relevant. Reports a broken file in `fault`. */
export async function openProject(home: string, root: string, user: Settings): Promise<ProjectFolder | null> {
  const folder = join(root, ".burin");
  // In the user's home folder, the project's and the user's `.burin` are the same.
  if (tryRealPath(folder) !== null && tryRealPath(folder) === tryRealPath(home)) return null;
  const own = join(folder, "settings.json");
  const left = createLookBudget();
  const ownDefinitions = listDefinitionEffects(folder, left);
  const shared = SHARED_SKILLS.map((name) => ({ name, effects: listSharedSkillEffects(root, name, left) }));
  const definitions = [...ownDefinitions, ...shared.flatMap(({ effects }) => effects)];
  const variables = readModelVariables(root);
  const others = readServers(root);
  let file = own;
  let settings = NOTHING;
  let unknown: readonly string[] = [];
  let fault: string | undefined;
  try {
    const text = readSettings(own);
    const sharing = shared.find(({ effects }) => effects.length > 0)?.name;
    const isOwn = text !== null || ownDefinitions.length > 0;
    if (!isOwn && !sharing && others === null && variables.effects.length === 0) return null;
    // Name the file from which the first effect comes.
    if (!isOwn) file = join(root, others === null ? (sharing ?? ".env") : ".mcp.json");
    const layer: { readonly mcpServers?: object } = text === null ? {} : parseLayer(own, text);
    const mcpServers = { ...others?.servers, ...layer.mcpServers };
    settings = readProjectSettings({ ...layer, mcpServers }, user, (effect) =>
      listScriptEffects(root, effect, left),
    );
    unknown = [...describeUnknownKeys(own, layer), ...(others?.faults ?? [])];
  } catch (error) {
    fault = describeError(error);
  }
  const { answer, trustFault } = await readAnswer(home, root);
  const { refused } = settings;
  const effects = [...settings.effects, ...definitions, ...variables.effects];
  // It is unknown whether an unreadable file is still what the user trusted. Keep the state and report the fault.
  const state = fault !== undefined && answer?.trusted ? "trusted" : resolveTrustState(answer, effects);
  const before = state === "changed" ? (answer?.effects ?? []) : effects;
  return {
    folder: await realpath(root),
    file,
    state,
    effects,
    refused,
    settings,
    variables: variables.values,
    unknown,
    added: effects.filter((one) => !before.includes(one)),
    removed: before.filter((one) => !effects.includes(one)),
    ...(fault === undefined ? {} : { fault }),
    ...(trustFault === undefined ? {} : { trustFault }),
  };
}

function readSettings(file: string): string | null {
  try {
    return readText(file, MAX_SETTINGS_BYTES);
  } catch (error) {
    throw new SettingsError(`${file} cannot be read: ${describeError(error)}.`);
  }
}

function readAnswer(home: string, root: string) {
  return new TrustStore(home).readAnswer(root).then(
    (answer) => ({ answer, trustFault: undefined }),
    (error: unknown) => ({ answer: null, trustFault: describeError(error) }),
  );
}

/** Returns what the user should learn about a folder's settings at the start, one line each. */
export function listTrustNotices(project: ProjectFolder, hasModel: boolean): string[] {
  const { file, state, effects, refused, unknown, added, removed, trustFault, fault } = project;
  const notices = trustFault === undefined ? [] : [trustFault];
  if (state === "trusted") {
    notices.push(...unknown);
    if (refused.length === 0) return notices;
    const keys = refused.join(", ");
    return [...notices, `${file}: a project can only make rules stricter, so these are ignored: ${keys}.`];
  }
  // Many projects have keys of services in `.env`, which matters only to users without a model.
  const unused = hasModel ? Object.keys(project.variables).length : 0;
  const isEmpty =
    effects.length === unused && refused.length === 0 && Object.keys(project.settings.trusted).length === 0;
  if (state === "refused" || (isEmpty && state === "untrusted" && fault === undefined)) return notices;
  const what =
    state === "changed"
      ? `it has changed since this folder was trusted (${describeChanges(added, removed)})`
      : `this folder is not trusted${effects.length === 0 ? "" : ` (it would ${summarizeEffects(effects)})`}`;
  return [...notices, `${file} was ignored: ${what}. See burin trust.`];
}

function describeChanges(added: readonly string[], removed: readonly string[]): string {
  const parts = [
    added.length > 0 ? `now it would ${summarizeEffects(added)}` : "",
    removed.length > 0 ? `no longer ${summarizeEffects(removed)}` : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

function summarizeEffects(effects: readonly string[]): string {
  const [first = "", ...others] = effects;
  const shown = first.length > 160 ? `${first.slice(0, 157)}...` : first;
  return others.length === 0 ? shown : `${shown}, and ${others.length} more`;
}

/** Reads the servers of `.mcp.json`, shared by several agents; null without the file. Only reports a broken file. */
function readServers(root: string): { servers: object; faults: string[] } | null {
  const file = join(root, ".mcp.json");
  try {
    const text = readText(file, MAX_SETTINGS_BYTES);
    if (text === null) return null;
    const { mcpServers = {} } = parseLayer(file, text) as { mcpServers?: object };
    return { servers: mcpServers, faults: [] };
  } catch (error) {
    return { servers: {}, faults: [`${describeError(error)} No server of it is used.`] };
  }
}

/** Reads the variables about models in `.env`, with a sentence about each that shows keys only as fingerprints. */
function readModelVariables(root: string) {
  const all = withFallback({}, () => parseEnv(readText(join(root, ".env"), MAX_SETTINGS_BYTES) ?? ""));
  const named = Object.entries(all as Record<string, string>).filter(([name]) => MODEL_VARIABLES.has(name));
  const effects = named.map(
    ([name, value]) => `ask the model with ${name} of .env (${formatVariable(name, value)})`,
  );
  return { values: Object.fromEntries(named), effects };
}

function formatVariable(name: string, value: string): string {
  if (!/KEY|TOKEN/.test(name)) return JSON.stringify(value);
  return `text ${createHash("sha256").update(value).digest("hex").slice(0, 32)}`;
}
