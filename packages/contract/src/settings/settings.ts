import type { ApprovalMode } from "../approval-mode.ts";
import { isRecord } from "../messages/untrusted-json.ts";
import { DEFAULT_SETTINGS } from "./default-settings.ts";
import type { HookSettings, ProjectScripts, SectionSettings, ToolSourceKeys } from "./settings-schema.ts";
import { type McpServerSettings, settledSources, withCommandServer } from "./tool-sources.ts";

export type * from "./settings-schema.ts";

/** The settings after merging. A frozen value: each part gets only its own fields. */
export interface Settings extends SectionSettings {
  /** A command that must pass before a run ends with success. */
  readonly check?: string;
  /** The mode of each start that names none. */
  readonly approvalMode?: ApprovalMode;
  /** What the administrator of this machine has decided. */
  readonly managed?: ManagedSettings;
  /** Commands that run at certain events and can influence what happens next. */
  readonly hooks: readonly HookSettings[];
  /** MCP servers by their alias. */
  readonly mcpServers: Readonly<Record<string, McpServerSettings>>;
  /** Of each command that a trusted project brings: compared before each start. */
  readonly trustedScripts?: Readonly<Record<string, ProjectScripts>>;
}

/** Restrictions that no settings of a user or project can loosen. */
export interface ManagedSettings {
  /** Where they are written, to be named in messages. */
  readonly file: string;
  /** The approval modes that may be used; all when absent. */
  readonly approvalModes?: readonly ApprovalMode[];
  /** The hosts of the model services that may be asked; all when absent. */
  readonly modelHosts?: readonly string[];
}

/** Settings from a program; each may be left out. */
export type SettingsInput = {
  readonly [Key in Exclude<keyof Settings, "mcpServers" | "hooks">]?: Partial<Settings[Key]>;
} & ToolSourceKeys & { readonly hooks?: readonly HookSettings[] };

/** Far more than a settings file ever needs. */
export const MOST_SETTINGS_BYTES = 1024 * 1024;

/** A settings file that cannot be used. The message names the file and the place; the file is left unchanged. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** Later values win; lists are joined in order without duplicates. A server is replaced as a whole, never merged. */
export function mergeSettings(layers: readonly object[]): Settings {
  let merged: Record<string, unknown> = { ...DEFAULT_SETTINGS, hooks: [], mcpServers: {} };
  let servers: Record<string, McpServerSettings | null> = {};
  for (const layer of layers.map(settledSources).map(settledNetwork)) {
    merged = mergedValue(merged, layer) as Record<string, unknown>;
    servers = { ...servers, ...(layer.mcpServers as typeof servers | undefined) };
  }
  const { mcpServerCommand, ...rest } = merged;
  const known = withCommandServer(servers, mcpServerCommand as string | undefined);
  const running = Object.entries(known).filter(([, server]) => server !== null);
  return frozen({ ...rest, mcpServers: Object.fromEntries(running) } as unknown as Settings);
}

/** A list of hosts in the form in which lists of several layers are joined. */
function settledNetwork(layer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { sandbox } = layer;
  if (!isRecord(sandbox) || !Array.isArray(sandbox.network)) return layer;
  return { ...layer, sandbox: { ...sandbox, network: { allowedDomains: sandbox.network } } };
}

function mergedValue(base: unknown, over: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(over)) return [...new Set([...base, ...over])];
  if (!isRecord(base) || !isRecord(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = mergedValue(base[key], value);
  return merged;
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}
