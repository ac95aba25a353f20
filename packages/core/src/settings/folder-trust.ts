import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { orElse } from "@burin/contract/or-else";
import { MOST_SETTINGS_BYTES, type Settings, SettingsError } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { realOf } from "@burin/files/disk/disk-looks";
import { readText } from "@burin/files/disk/regular-file";
import { MODEL_VARIABLES } from "@burin/models/choice/choose-model";
import { parseLayer, unknownKeys } from "./parse-layer.ts";
import { definitionEffects, looksLeft, scriptEffects, sharedSkillEffects } from "./project-definitions.ts";
import { type ProjectSettings, projectSettings } from "./project-settings.ts";
import { SHARED_SKILLS } from "./shared-skills.ts";
import { type TrustState, TrustStore, trustState } from "./trust.ts";

/** A project's folder, what its settings ask for, and what the user decided about it. */
export interface FolderTrust {
  /** Its real path. */
  readonly folder: string;
  /** Its settings file. */
  readonly file: string;
  readonly state: TrustState;
  /** What its settings would run or reach, as sentences without a subject. */
  readonly effects: readonly string[];
  /** The differences since it was trusted; empty unless it `changed`. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Keys that never count in a project, because they would make rules looser. */
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

/** Returns null when the folder has nothing that counts. A broken file is a fault in the result, and not thrown. */
export async function openProject(home: string, root: string, user: Settings): Promise<ProjectFolder | null> {
  const folder = join(root, ".burin");
  // In the user's own home folder the two are one.
  if (realOf(folder) !== null && realOf(folder) === realOf(home)) return null;
  const own = join(folder, "settings.json");
  const left = looksLeft();
  const ownDefinitions = definitionEffects(folder, left);
  const shared = SHARED_SKILLS.map((name) => ({ name, effects: sharedSkillEffects(root, name, left) }));
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
    // Where the first of the effects comes from.
    if (!isOwn) file = join(root, others === null ? (sharing ?? ".env") : ".mcp.json");
    const layer: { readonly mcpServers?: object } = text === null ? {} : parseLayer(own, text);
    const mcpServers = { ...others?.servers, ...layer.mcpServers };
    settings = projectSettings({ ...layer, mcpServers }, user, (effect) => scriptEffects(root, effect, left));
    unknown = [...unknownKeys(own, layer), ...(others?.faults ?? [])];
  } catch (error) {
    fault = messageOf(error);
  }
  const { answer, trustFault } = await answerOf(home, root);
  const { refused } = settings;
  const effects = [...settings.effects, ...definitions, ...variables.effects];
  // Whether an unreadable file is still what was trusted is unknown; the fault is reported.
  const state = fault !== undefined && answer?.trusted ? "trusted" : trustState(answer, effects);
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
    return readText(file, MOST_SETTINGS_BYTES);
  } catch (error) {
    throw new SettingsError(`${file} cannot be read: ${messageOf(error)}.`);
  }
}

function answerOf(home: string, root: string) {
  return new TrustStore(home).of(root).then(
    (answer) => ({ answer, trustFault: undefined }),
    (error: unknown) => ({ answer: null, trustFault: messageOf(error) }),
  );
}

/** What the user should know about a folder's settings at a start, one line each. */
export function trustNotices(project: ProjectFolder, hasModel: boolean): string[] {
  const { file, state, effects, refused, unknown, added, removed, trustFault, fault } = project;
  const notices = trustFault === undefined ? [] : [trustFault];
  if (state === "trusted") {
    notices.push(...unknown);
    if (refused.length === 0) return notices;
    const keys = refused.join(", ");
    return [...notices, `${file}: a project can only make rules stricter, so these are ignored: ${keys}.`];
  }
  // Many projects have keys of services in their .env; that matters only to users without a model.
  const unused = hasModel ? Object.keys(project.variables).length : 0;
  const isEmpty =
    effects.length === unused && refused.length === 0 && Object.keys(project.settings.trusted).length === 0;
  if (state === "refused" || (isEmpty && state === "untrusted" && fault === undefined)) return notices;
  const what =
    state === "changed"
      ? `it has changed since this folder was trusted (${changes(added, removed)})`
      : `this folder is not trusted${effects.length === 0 ? "" : ` (it would ${someOf(effects)})`}`;
  return [...notices, `${file} was ignored: ${what}. See burin trust.`];
}

function changes(added: readonly string[], removed: readonly string[]): string {
  const parts = [
    added.length > 0 ? `now it would ${someOf(added)}` : "",
    removed.length > 0 ? `no longer ${someOf(removed)}` : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

function someOf(effects: readonly string[]): string {
  const [first = "", ...others] = effects;
  const shown = first.length > 160 ? `${first.slice(0, 157)}...` : first;
  return others.length === 0 ? shown : `${shown}, and ${others.length} more`;
}

/** The servers of `.mcp.json`, which several agents share; null without the file. A broken file is only reported. */
function readServers(root: string): { servers: object; faults: string[] } | null {
  const file = join(root, ".mcp.json");
  try {
    const text = readText(file, MOST_SETTINGS_BYTES);
    if (text === null) return null;
    const { mcpServers = {} } = parseLayer(file, text) as { mcpServers?: object };
    return { servers: mcpServers, faults: [] };
  } catch (error) {
    return { servers: {}, faults: [`${messageOf(error)} No server of it is used.`] };
  }
}

/** The variables about models in `.env`, each with a sentence about it that shows a key only as a fingerprint. */
function readModelVariables(root: string) {
  const all = orElse({}, () => parseEnv(readText(join(root, ".env"), MOST_SETTINGS_BYTES) ?? ""));
  const named = Object.entries(all as Record<string, string>).filter(([name]) => MODEL_VARIABLES.has(name));
  const effects = named.map(([name, value]) => `ask the model with ${name} of .env (${shown(name, value)})`);
  return { values: Object.fromEntries(named), effects };
}

function shown(name: string, value: string): string {
  if (!/KEY|TOKEN/.test(name)) return JSON.stringify(value);
  return `text ${createHash("sha256").update(value).digest("hex").slice(0, 32)}`;
}
