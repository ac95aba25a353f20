import { splitShellWords } from "../text/shell-words.ts";
import { DEFAULT_SERVER } from "./default-settings.ts";
import type { ProjectScripts, ResolvedServer, ServerInput } from "./settings-schema.ts";

/** The transport of an MCP server. `auto` tries streamable HTTP first, then SSE. */
type McpTransport = "stdio" | "http" | "sse" | "auto";

/** An MCP server in normalized form. Variables in its strings are not replaced yet. */
export type McpServerSettings = Omit<ResolvedServer, "type" | "httpUrl" | "disabled"> & {
  readonly type: McpTransport;
  readonly scripts?: ProjectScripts;
};

/** The alias of a server that is configured only as a command. */
const COMMAND_SERVER = "mcp";

type Fields = Readonly<Record<string, unknown>>;

/** Converts all spellings of tool commands and MCP servers to one, so that a later layer wins whichever it uses. */
export function normalizeToolSources(layer: object): Fields {
  const { toolDiscoveryCommand, toolCallCommand, mcp, mcpServerCommand, ...rest } = layer as Fields;
  const { discoveryCommand, callCommand, ...others } = toFields(rest.tools);
  const { mcpServerCommand: serves, serverCommand, ...otherMcp } = toFields(mcp);
  const tools = dropUndefined({
    ...others,
    toolDiscoveryCommand: normalizeText(others.toolDiscoveryCommand, toolDiscoveryCommand, discoveryCommand),
    toolCallCommand: normalizeText(others.toolCallCommand, toolCallCommand, callCommand),
  });
  return dropUndefined({
    ...rest,
    tools: Object.keys(tools).length > 0 ? tools : undefined,
    mcp: Object.keys(otherMcp).length > 0 ? otherMcp : undefined,
    mcpServers: rest.mcpServers === undefined ? undefined : normalizeServers(toFields(rest.mcpServers)),
    mcpServerCommand: normalizeText(serves, mcpServerCommand, serverCommand),
  });
}

/** Adds the server that is configured as a command. An explicitly configured server with the same alias wins. */
export function addCommandServer(
  found: Readonly<Record<string, McpServerSettings | null>>,
  command: string | undefined,
): Readonly<Record<string, McpServerSettings | null>> {
  if (command === undefined || Object.hasOwn(found, COMMAND_SERVER)) return found;
  const [program, ...args] = splitShellWords(command) ?? ["/bin/sh", "-c", command];
  return program === undefined
    ? found
    : { ...found, [COMMAND_SERVER]: normalizeServer({ command: program, args }) };
}

/** Normalizes the servers. A disabled server stays in the map as null, to override one from an earlier layer. */
function normalizeServers(inputs: Fields): Record<string, McpServerSettings | null> {
  const entries = Object.entries(inputs).map(([alias, input]) => {
    const given = toFields(input) as ServerInput;
    return [alias, given.disabled === true ? null : normalizeServer(given)] as const;
  });
  return Object.fromEntries(entries);
}

function normalizeServer(input: ServerInput): McpServerSettings {
  const { httpUrl, disabled: _off, type, url = httpUrl, ...rest } = input;
  const settled = { ...DEFAULT_SERVER, ...dropUndefined(rest), type: resolveTransport(input), url };
  return dropUndefined(settled) as unknown as McpServerSettings;
}

function resolveTransport({ type, httpUrl, url }: ServerInput): McpTransport {
  if (type === "streamable-http" || type === "streamableHttp") return "http";
  if (type !== undefined) return type;
  if (httpUrl !== undefined) return "http";
  return url === undefined ? "stdio" : "auto";
}

/** Returns the first value that is a non-blank string. */
function normalizeText(...given: readonly unknown[]): string | undefined {
  return given.find((one): one is string => typeof one === "string" && one.trim() !== "");
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function dropUndefined(value: Fields): Fields {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
