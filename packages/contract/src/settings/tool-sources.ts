import { splitShellWords } from "../text/shell-words.ts";
import { DEFAULT_SERVER } from "./default-settings.ts";
import type { ProjectScripts, ServerSettled, ServerWritten } from "./settings-schema.ts";

/** `auto`: streamable HTTP is tried first, then SSE. */
type McpTransport = "stdio" | "http" | "sse" | "auto";

/** One MCP server in its normalized form. Variables in its texts are not yet replaced. */
export type McpServerSettings = Omit<ServerSettled, "type" | "httpUrl" | "disabled"> & {
  readonly type: McpTransport;
  readonly scripts?: ProjectScripts;
};

/** The alias of the one server that is configured as a command alone. */
const COMMAND_SERVER = "mcp";

type Fields = Readonly<Record<string, unknown>>;

/** One spelling for the commands of `tools` and the MCP servers, so that a later layer wins whatever it uses. */
export function settledSources(layer: object): Fields {
  const { toolDiscoveryCommand, toolCallCommand, mcp, mcpServerCommand, ...rest } = layer as Fields;
  const { discoveryCommand, callCommand, ...others } = fields(rest.tools);
  const { mcpServerCommand: serves, serverCommand, ...otherMcp } = fields(mcp);
  const tools = present({
    ...others,
    toolDiscoveryCommand: text(others.toolDiscoveryCommand, toolDiscoveryCommand, discoveryCommand),
    toolCallCommand: text(others.toolCallCommand, toolCallCommand, callCommand),
  });
  return present({
    ...rest,
    tools: Object.keys(tools).length > 0 ? tools : undefined,
    mcp: Object.keys(otherMcp).length > 0 ? otherMcp : undefined,
    mcpServers: rest.mcpServers === undefined ? undefined : servers(fields(rest.mcpServers)),
    mcpServerCommand: text(serves, mcpServerCommand, serverCommand),
  });
}

/** The servers of all layers, with the one that is given as a command; an explicit server of that name wins. */
export function withCommandServer(
  found: Readonly<Record<string, McpServerSettings | null>>,
  command: string | undefined,
): Readonly<Record<string, McpServerSettings | null>> {
  if (command === undefined || Object.hasOwn(found, COMMAND_SERVER)) return found;
  const [program, ...args] = splitShellWords(command) ?? shell(command);
  return program === undefined ? found : { ...found, [COMMAND_SERVER]: server({ command: program, args }) };
}

/** For a command that is more than a list of words. */
function shell(command: string): readonly string[] {
  return process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c", command] : ["/bin/sh", "-c", command];
}

/** Ready for a connection. A disabled server stays in the list as null, so that it can disable an earlier one. */
function servers(inputs: Fields): Record<string, McpServerSettings | null> {
  const entries = Object.entries(inputs).map(([alias, input]) => {
    const given = fields(input) as ServerWritten;
    return [alias, given.disabled === true ? null : server(given)] as const;
  });
  return Object.fromEntries(entries);
}

function server(input: ServerWritten): McpServerSettings {
  const { httpUrl, disabled: _off, type, url = httpUrl, ...rest } = input;
  const settled = { ...DEFAULT_SERVER, ...present(rest), type: typeOf(input), url };
  return present(settled) as unknown as McpServerSettings;
}

function typeOf({ type, httpUrl, url }: ServerWritten): McpTransport {
  if (type === "streamable-http" || type === "streamableHttp") return "http";
  if (type !== undefined) return type;
  if (httpUrl !== undefined) return "http";
  return url === undefined ? "stdio" : "auto";
}

/** Returns the first text that is not blank. */
function text(...given: readonly unknown[]): string | undefined {
  return given.find((one): one is string => typeof one === "string" && one.trim() !== "");
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function present(value: Fields): Fields {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
