import { isRecord } from "../messages/untrusted-json.ts";
import {
  type DiscoverySettings,
  type McpServerSettings,
  NO_DISCOVERY,
  settledSources,
  type ToolSourceKeys,
  withCommandServer,
} from "./tool-sources.ts";

/** What settings.json can say, after merging. A frozen value: each part is handed only its own fields. */
export interface Settings {
  readonly model: ModelSettings;
  readonly permissions: {
    readonly allow: readonly string[];
    readonly ask: readonly string[];
    readonly deny: readonly string[];
  };
  readonly context: {
    /** Names of the files that tell the model how to work here; AGENTS.md when none is named. */
    readonly fileNames: readonly string[];
  };
  readonly loop: {
    /** Whether a model that repeats itself is corrected, and stopped in the end. */
    readonly detection: boolean;
  };
  readonly files: FileSettings;
  readonly sandbox: SandboxSettings;
  readonly shell: ShellSettings;
  readonly web: WebSettings;
  readonly tools: {
    /** Names or globs; when given, only these tools are declared. */
    readonly include: readonly string[];
    readonly exclude: readonly string[];
    /** read_file gives SVG images as text. */
    readonly svgAsText: boolean;
    /** An edit that no rule can place may be repaired by asking the model. */
    readonly editCorrection: boolean;
    /** Characters that the declarations of discovered tools may take; more are found by tool_search. */
    readonly schemaBudget: number;
  };
  /** Commands that are told of what happens and may have a say in it. */
  readonly hooks: readonly HookSettings[];
  /** Tools that a command declares and runs. */
  readonly discovery: DiscoverySettings;
  /** MCP servers by their alias. */
  readonly mcpServers: Readonly<Record<string, McpServerSettings>>;
}

export type HookEventName =
  | "before_tool"
  | "after_tool"
  | "session_start"
  | "session_end"
  | "before_compaction";

export interface HookSettings {
  readonly event: HookEventName;
  /** A line of the shell; the event is JSON on its stdin. */
  readonly command: string;
  /** Rules that name the calls it is told of, such as edit(src/**); without them of all. */
  readonly tools?: string | readonly string[];
  readonly timeoutSeconds?: number;
}

interface SandboxSettings {
  /** How far commands may reach, where the system can limit them. */
  readonly mode: "off" | "read-only" | "workspace-write";
  /** Commands have the network inside the sandbox. */
  readonly network: boolean;
  /** Discovered tools and MCP servers have the write limits of commands too. */
  readonly discovered: boolean;
}

interface ShellSettings {
  /** Names of variables that commands get although they look like secrets. */
  readonly passEnvironment: readonly string[];
}

interface WebSettings {
  /** `host:port` on this machine or a private network that web_fetch may reach. */
  readonly allowedHosts: readonly string[];
  /** Absent where no service is named; then nothing can be searched for. */
  readonly search?: WebSearchSettings;
}

export interface WebSearchSettings {
  readonly provider: "searxng" | "tavily" | "brave" | "exa" | "google" | "mcp";
  /** Where the service is, instead of the provider's own address; SearXNG has none of its own. */
  readonly url?: string;
  /** The variable that holds the key, instead of the provider's own. */
  readonly apiKeyEnv?: string;
  /** Google's ID of the search engine. */
  readonly engineId?: string;
  /** Only for `mcp`: the alias of the server, and its tool by the server's own name. */
  readonly server?: string;
  readonly tool?: string;
}

interface FileSettings {
  /** Names of more ignore files like `.burinignore`. */
  readonly ignoreFileNames: readonly string[];
  /** Globs, as in ignore files, of what no tool may see; a project cannot take them back. */
  readonly ignore: readonly string[];
}

/** The protocol that a model's service speaks; `openai` is chat completions, which most services know. */
export type ModelProvider = "openai" | "openai-responses" | "anthropic" | "gemini";

/** `auto`: while the model has made no call in the proper way. */
export type CallsInText = "auto" | "off" | "on";

export interface NamedModel {
  readonly provider?: ModelProvider;
  /** The model's name at its service; `provider/name` where that is unambiguous. */
  readonly name?: string;
  /** Where the service is, usually ending in /v1. */
  readonly baseUrl?: string;
  /** The variable that holds the key, instead of the provider's own. */
  readonly apiKeyEnv?: string;
}

/** In one currency for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Of input that the service had cached; without it that costs as much as any other. */
  readonly cached?: number;
}

export interface ModelSettings extends NamedModel {
  /** The longest silence of the service that is waited for; its length does not matter as long as it speaks. */
  readonly timeoutSeconds?: number;
  /** Whether calls that the model writes into its text are run; `auto` when nothing is said. */
  readonly callsInText?: CallsInText;
  /** How many tokens a request and its reply may take together; beats whatever is known of the model. */
  readonly contextWindow?: number;
  /** What models cost, by name; a budget of money needs it. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
  /** Asked in this order when the model fails for good; a name alone is a model whose key is in the environment. */
  readonly fallbacks?: readonly (NamedModel | string)[];
}

/** Settings as a program may give them: any of them may be left out. */
export type SettingsInput = {
  readonly [Key in Exclude<keyof Settings, "mcpServers" | "hooks">]?: Partial<Settings[Key]>;
} & ToolSourceKeys & { readonly hooks?: readonly HookSettings[] };

/** A settings file that cannot be used. The message names the file and the place; the file is left as it is. */
/** Far more than anybody writes into a settings file. */
export const MOST_SETTINGS_BYTES = 1024 * 1024;

export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

const NO_SETTINGS: Settings = {
  model: {},
  permissions: { allow: [], ask: [], deny: [] },
  context: { fileNames: [] },
  loop: { detection: true },
  files: { ignoreFileNames: [], ignore: [] },
  sandbox: { mode: "workspace-write", network: false, discovered: false },
  shell: { passEnvironment: [] },
  web: { allowedHosts: [] },
  tools: { include: [], exclude: [], svgAsText: false, editCorrection: true, schemaBudget: 8192 },
  hooks: [],
  discovery: NO_DISCOVERY,
  mcpServers: {},
};

/** Later values win, lists are joined in order, each entry once. A server is replaced whole, never mixed. */
export function mergeSettings(layers: readonly object[]): Settings {
  let merged: Record<string, unknown> = { ...NO_SETTINGS };
  let servers: Record<string, McpServerSettings | null> = {};
  for (const layer of layers.map(settledSources)) {
    merged = mergedValue(merged, layer) as Record<string, unknown>;
    servers = { ...servers, ...(layer.mcpServers as typeof servers | undefined) };
  }
  const { mcpServerCommand, ...rest } = merged;
  const command = mcpServerCommand as string | undefined;
  const known = withCommandServer(servers, command);
  return frozen({ ...rest, mcpServers: running(known) } as unknown as Settings);
}

function running(servers: Readonly<Record<string, McpServerSettings | null>>) {
  return Object.fromEntries(Object.entries(servers).filter(([, server]) => server !== null));
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
