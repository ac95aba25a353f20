import { randomBytes } from "node:crypto";
import { allowListeners } from "@burin/commands/processes/allow-listeners";
import type { PartUnion } from "@burin/contract/messages/message";
import { filterRecords, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import { findNearNames } from "@burin/contract/text/near-names";
import { wrapServerText } from "@burin/contract/text/untrusted-text";
import type { Tool, ToolResult } from "@burin/contract/tools";
import type { CallRequest, DiscoveredMCPTool } from "./discovered-mcp-tool.ts";
import { createUnavailableError } from "./mcp-error.ts";
import { readContentBlocks, readResourcePart } from "./result-parts.ts";

/** A prompt that a server offers. The user calls it with the slash command `/server:name`. */
export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly isRequired: boolean }[];
}

/** A resource that a server offers. The user mentions it as `@server:uri`. */
export interface McpResource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly description: string;
}

export interface McpPromptRequest {
  readonly server: string;
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
}

/** How the user takes part in a login. */
export interface McpLogin {
  /** Called with the address to open in a browser, and with the login service that gets the client secret, if any. */
  readonly onAddress: (url: URL, secretGoesTo?: string) => void;
  /** What the user pastes if the browser cannot redirect to this machine: the address, or the code in it. */
  readonly pasted?: Promise<string>;
}

/** What MCP servers offer to the user apart from the model's tools. */
export interface McpDoor {
  /** Returns the user's prompt with each `/server:prompt` and `@server:uri` replaced by its content. */
  resolved(text: string, signal?: AbortSignal): Promise<string>;
  /** Lists the prompts of all servers that are up or can be started. A server that fails is left out. */
  prompts(signal?: AbortSignal): Promise<readonly McpPrompt[]>;
  /** Returns the text and media of a prompt with its arguments filled in. */
  prompt(request: McpPromptRequest, signal?: AbortSignal): Promise<PartUnion[]>;
  resources(signal?: AbortSignal): Promise<readonly McpResource[]>;
  readResource(server: string, uri: string, signal?: AbortSignal): Promise<PartUnion[]>;
  /** Calls a tool by its name on the server. The call goes through the whole flow, like any other. */
  callTool(order: ServerOrder, signal?: AbortSignal): Promise<ToolResult>;
  /** Starts the server and asks for everything that it offers. Rejects with the reason if it has no tools. */
  test(server: string, signal?: AbortSignal): Promise<McpReport>;
  login(server: string, how: McpLogin, signal?: AbortSignal): Promise<"logged_in" | "not_needed">;
}

interface ServerOrder {
  readonly server: string;
  readonly tool: string;
  readonly argumentsFor: (inputSchema: unknown) => Readonly<Record<string, unknown>>;
}

export interface McpReport {
  readonly tools: readonly string[];
  readonly prompts: number;
  readonly resources: number;
  /** Why prompts or resources could not be listed. */
  readonly faults: readonly string[];
}

/** The part of a server that is used here. It names no type of the SDK, for programs that embed the core alone. */
interface ServerPort {
  readonly alias: string;
  readonly connection: {
    callTool(request: CallRequest): Promise<unknown>;
    request(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
    list(what: "prompts" | "resources", signal: AbortSignal): Promise<unknown[]>;
  };
  listTools(signal: AbortSignal): Promise<readonly DiscoveredMCPTool[]>;
  login(how: McpLogin, signal: AbortSignal): Promise<"logged_in" | "not_needed">;
}

type OpenServers = () => Promise<readonly ServerPort[]>;

async function findServer(open: OpenServers, alias: string): Promise<ServerPort> {
  const servers = await open();
  const found = servers.find((server) => server.alias === alias);
  if (found !== undefined) return found;
  const known = servers.map((server) => server.alias).join(", ");
  throw createUnavailableError(`There is no MCP server "${alias}". There are: ${known || "none"}.`);
}

async function findTool(server: ServerPort, name: string, signal: AbortSignal): Promise<DiscoveredMCPTool> {
  const tools = await server.listTools(signal);
  const tool = tools.find((one) => one.plainName === name);
  if (tool !== undefined) return tool;
  throw createUnavailableError(
    `The MCP server "${server.alias}" has no tool "${name}". ${describeNearTools(name, tools)}`,
  );
}

/** Returns a caller for the server tools that settings name. Asks nothing: the built-in tool has its own question. */
export function createSettingsCaller(open: OpenServers) {
  return {
    async call({ server: alias, tool: name, argumentsFor }: ServerOrder, signal: AbortSignal) {
      const server = await findServer(open, alias);
      const { parameterSchema: inputSchema } = await findTool(server, name, signal);
      const args = argumentsFor(inputSchema);
      const call = { tool: name, args, inputSchema, signal, onProgress: () => {}, mayRepeat: false };
      return server.connection.callTool(call);
    },
  };
}

/**
 * Returns access to the servers that `open` returns. They are opened on first use. `guard` wraps a tool so that its
 * calls go through the whole flow.
 */
export function createMcpDoor(open: OpenServers, guard: (tool: Tool) => Tool): McpDoor {
  const findOpenServer = (alias: string) => findServer(open, alias);
  const askAllServers = async <T>(read: (server: ServerPort) => Promise<T[]>, signal: AbortSignal) => {
    allowListeners(signal);
    const answers = await Promise.allSettled((await open()).map(read));
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };
  const door: McpDoor = {
    async resolved(text, signal = NEVER) {
      const aliases = (await open()).map((server) => server.alias);
      return expandServerMentions(text, { door, aliases }, signal);
    },
    prompts: (signal = NEVER) => askAllServers((server) => listPrompts(server, signal), signal),
    resources: (signal = NEVER) => askAllServers((server) => listResources(server, signal), signal),
    async prompt({ server, name, args }, signal = NEVER) {
      const { connection } = await findOpenServer(server);
      const answer = await connection.request("prompts/get", { name, arguments: args }, signal);
      return filterRecords(answer.messages).flatMap(({ content }) => readContentBlocks(content));
    },
    async readResource(alias, uri, signal = NEVER) {
      const { connection } = await findOpenServer(alias);
      const { contents } = await connection.request("resources/read", { uri }, signal);
      return (Array.isArray(contents) ? contents : []).map(readResourcePart);
    },
    async callTool({ server, tool: name, argumentsFor }, signal = NEVER) {
      const tool = await findTool(await findOpenServer(server), name, signal);
      return guard(tool).execute({ ...argumentsFor(tool.parameterSchema) }, signal);
    },
    async test(alias, signal = NEVER) {
      const server = await findOpenServer(alias);
      const tools = await server.listTools(signal);
      const lists = await Promise.allSettled([listPrompts(server, signal), listResources(server, signal)]);
      signal.throwIfAborted();
      const [prompts = 0, resources = 0] = lists.map((list) => ("value" in list ? list.value.length : 0));
      const faults = lists.flatMap((list) => ("reason" in list ? [describeError(list.reason)] : []));
      return { tools: tools.map(({ name }) => name), prompts, resources, faults };
    },
    login: async (alias, how, signal = NEVER) => (await findOpenServer(alias)).login(how, signal),
  };
  return door;
}

const NEVER = new AbortController().signal;

const MAX_NAMED = 20;
/** Longer names cannot be shown, and would fill the memory. */
const MAX_NAME_CHARACTERS = 2000;
const MAX_DESCRIPTION = 2000;
const MAX_ARGUMENTS = 100;

/** Names the tools that were probably meant or, if none is similar, the first ones. */
function describeNearTools(name: string, tools: readonly DiscoveredMCPTool[]): string {
  const known = tools.map((one) => one.plainName);
  const near = findNearNames(name, known);
  if (near.length > 0) return `Did you mean ${near.join(" or ")}?`;
  const more = known.length > MAX_NAMED ? ` and ${known.length - MAX_NAMED} more` : "";
  return `It has: ${known.slice(0, MAX_NAMED).join(", ") || "none"}${more}.`;
}

async function listPrompts({ alias, connection }: ServerPort, signal: AbortSignal): Promise<McpPrompt[]> {
  const listed = await connection.list("prompts", signal);
  const usable = filterRecords(listed).filter(({ name }) => isShortName(name));
  return usable.map(({ name, description = "", arguments: wanted }) => ({
    server: alias,
    name: String(name),
    description: String(description).slice(0, MAX_DESCRIPTION),
    arguments: filterRecords(wanted)
      .slice(0, MAX_ARGUMENTS)
      .map((one) => ({
        name: String(one.name).slice(0, MAX_NAME_CHARACTERS),
        isRequired: one.required === true,
      })),
  }));
}

async function listResources({ alias, connection }: ServerPort, signal: AbortSignal): Promise<McpResource[]> {
  const listed = await connection.list("resources", signal);
  const usable = filterRecords(listed).filter(({ uri }) => isShortName(uri));
  return usable.map(({ uri, name, description }) => ({
    server: alias,
    uri: String(uri),
    name: String(name ?? uri).slice(0, MAX_NAME_CHARACTERS),
    description: String(description ?? "").slice(0, MAX_DESCRIPTION),
  }));
}

/** Whether the name of a prompt or resource is short enough to be used. */
function isShortName(name: unknown): boolean {
  return String(name).length <= MAX_NAME_CHARACTERS;
}

const COMMAND = /^\/([A-Za-z0-9_-]+):(\S+)\s*(.*)$/s;
const MENTION = /(?<=^|\s)@([A-Za-z0-9_-]+):(\S*[^\s.,;:!?)])/g;
const ARGUMENT = /(?:([A-Za-z_][\w-]*)=)?(?:"([^"]*)"|'([^']*)'|(\S+))/g;

/**
 * Resolves mentions in a user's prompt: `/server:prompt` at its start is replaced by that prompt, and for each
 * `@server:uri` the resource's content is appended. Mentions of unknown servers stay as they are.
 */
async function expandServerMentions(
  text: string,
  { door, aliases }: { readonly door: McpDoor; readonly aliases: readonly string[] },
  signal: AbortSignal,
): Promise<string> {
  const [, server = "", name = "", rest = ""] = COMMAND.exec(text) ?? [];
  if (aliases.includes(server)) {
    const prompts = rest === "" ? [] : await door.prompts(signal);
    const found = prompts.find((prompt) => prompt.server === server && prompt.name === name);
    const args = parseArguments(rest, found?.arguments.map((one) => one.name) ?? []);
    return formatParts(await door.prompt({ server, name, args }, signal));
  }
  const brought: string[] = [];
  for (const [, alias = "", uri = ""] of text.matchAll(MENTION)) {
    if (!aliases.includes(alias)) continue;
    const content = formatParts(await door.readResource(alias, uri, signal));
    brought.push(wrapServerText(content, `${alias}:${uri}`, randomBytes(6).toString("hex")));
  }
  return [text, ...brought].join("\n\n");
}

/** Parses the arguments of a prompt. Words without a name fill the remaining arguments in order. */
function parseArguments(text: string, names: readonly string[]): Record<string, string> {
  const args: Record<string, string> = {};
  const plain: string[] = [];
  for (const [, key, double, single, bare = ""] of text.matchAll(ARGUMENT)) {
    const value = double ?? single ?? bare;
    if (key === undefined) plain.push(value);
    else args[key] = value;
  }
  const open = names.filter((name) => args[name] === undefined);
  // If only one argument remains, all words belong to it, because users write sentences.
  const placed = open.length === 1 ? [plain.join(" ")] : plain;
  for (const [index, name] of open.entries()) if (placed[index]) args[name] = placed[index];
  return args;
}

function formatParts(parts: readonly PartUnion[]): string {
  return parts
    .map((part) => (typeof part === "string" ? part : `[${part.inlineData?.mimeType ?? "data"}]`))
    .join("\n\n");
}
