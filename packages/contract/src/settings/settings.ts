import type { ApprovalMode } from "../approval-mode.ts";
import { isRecord } from "../messages/untrusted-json.ts";
import { DEFAULT_SETTINGS } from "./default-settings.ts";
import type { HookSettings, ProjectScripts, SectionSettings, ToolSourceKeys } from "./settings-schema.ts";
import { addCommandServer, type McpServerSettings, normalizeToolSources } from "./tool-sources.ts";

export type * from "./settings-schema.ts";

/** The merged settings, frozen. Each part of the program gets only the fields that it needs. */
export interface Settings extends SectionSettings {
  /** A command that must succeed before a run ends with success. */
  readonly check?: string;
  /** The approval mode of a start that names none. */
  readonly approvalMode?: ApprovalMode;
  /** Restrictions that the administrator of this machine set. */
  readonly managed?: ManagedSettings;
  /** Commands that run at certain events and can influence what happens next. */
  readonly hooks: readonly HookSettings[];
  /** MCP servers by alias. */
  readonly mcpServers: Readonly<Record<string, McpServerSettings>>;
  /** What the commands of a trusted project were when the user trusted them. Compared before each start. */
  readonly trustedScripts?: Readonly<Record<string, ProjectScripts>>;
}

/** Restrictions that neither user settings nor project settings can loosen. */
export interface ManagedSettings {
  /** The path of the file with the restrictions, for messages. */
  readonly file: string;
  /** The approval modes that may be used. Absent: all. */
  readonly approvalModes?: readonly ApprovalMode[];
  /** The hosts of model services that may be used. Absent: all. */
  readonly modelHosts?: readonly string[];
}

/** Settings passed by a program. Every key is optional. */
export type SettingsInput = {
  readonly [Key in Exclude<keyof Settings, "mcpServers" | "hooks">]?: Partial<Settings[Key]>;
} & ToolSourceKeys & { readonly hooks?: readonly HookSettings[] };

/** Far more than a settings file ever needs. */
export const MAX_SETTINGS_BYTES = 1024 * 1024;

/** A settings file that cannot be used. The message names the file and the position. The file stays unchanged. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** Merges layers: later values win, and lists are joined without duplicates. A server is replaced as a whole. */
export function mergeSettings(layers: readonly object[]): Settings {
  let merged: Record<string, unknown> = { ...DEFAULT_SETTINGS, hooks: [], mcpServers: {} };
  let servers: Record<string, McpServerSettings | null> = {};
  for (const layer of layers.map(normalizeToolSources).map(normalizeNetwork)) {
    merged = mergeValues(merged, layer) as Record<string, unknown>;
    servers = { ...servers, ...(layer.mcpServers as typeof servers | undefined) };
  }
  const { mcpServerCommand, ...rest } = merged;
  const known = addCommandServer(servers, mcpServerCommand as string | undefined);
  const running = Object.entries(known).filter(([, server]) => server !== null);
  return deepFreeze({ ...rest, mcpServers: Object.fromEntries(running) } as unknown as Settings);
}

/** Converts a plain list of hosts to the object form, in which lists of several layers can be merged. */
function normalizeNetwork(layer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { sandbox } = layer;
  if (!isRecord(sandbox) || !Array.isArray(sandbox.network)) return layer;
  return { ...layer, sandbox: { ...sandbox, network: { allowedDomains: sandbox.network } } };
}

function mergeValues(base: unknown, over: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(over)) return [...new Set([...base, ...over])];
  if (!isRecord(base) || !isRecord(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = mergeValues(base[key], value);
  return merged;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
