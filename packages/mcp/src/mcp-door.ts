import { randomBytes } from "node:crypto";
import { allowListeners } from "@burin/commands/processes/allow-listeners";
import type { PartUnion } from "@burin/contract/messages/message";
import { type JsonRecord, recordsIn } from "@burin/contract/messages/untrusted-json";
import { messageOf } from "@burin/contract/text/error-message";
import { nearNames } from "@burin/contract/text/near-names";
import { untrustedFromServer } from "@burin/contract/text/untrusted-text";
import type { Tool, ToolResult } from "@burin/contract/tools";
import type { CallRequest, DiscoveredMCPTool } from "./discovered-mcp-tool.ts";
import { unavailable } from "./mcp-error.ts";
import { contentBlocks, resourcePart } from "./result-parts.ts";

/** A prompt that a server offers, for the slash command `/server:name`. */
export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly isRequired: boolean }[];
}

/** Something that a server can show, named `@server:uri`. */
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
  /** Called with the address that the user has to open in a browser, and which login service gets the client secret. */
  readonly onAddress: (url: URL, secretGoesTo?: string) => void;
  /** What the user pastes if the browser cannot redirect to this machine: the address or the code in it. */
  readonly pasted?: Promise<string>;
}

/** What servers offer besides tools, for the user. */
export interface McpDoor {
  /** The user's prompt with each `/server:prompt` and `@server:uri` in it replaced by its content. */
  resolved(text: string, signal?: AbortSignal): Promise<string>;
  /** Of all servers that are up or can be started; a server that fails is left out. */
  prompts(signal?: AbortSignal): Promise<readonly McpPrompt[]>;
  /** The text and media of a prompt with its arguments filled in. */
  prompt(request: McpPromptRequest, signal?: AbortSignal): Promise<PartUnion[]>;
  resources(signal?: AbortSignal): Promise<readonly McpResource[]>;
  readResource(server: string, uri: string, signal?: AbortSignal): Promise<PartUnion[]>;
  /** One call by the server's own tool name, which takes it through the whole flow like any other call. */
  callTool(order: ServerOrder, signal?: AbortSignal): Promise<ToolResult>;
  /** Starts the server and asks it for everything; rejects with the reason why it has no tools. */
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
  /** Why it has none of these, if that is a failure. */
  readonly faults: readonly string[];
}

/** A server as it is used here. The types do not name the SDK's, for programs that embed the core without it. */
interface ServerPort {
  readonly alias: string;
  readonly connection: {
    callTool(request: CallRequest): Promise<unknown>;
    request(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
    list(what: "prompts" | "resources", signal: AbortSignal): Promise<unknown[]>;
  };
  listed(signal: AbortSignal): Promise<readonly DiscoveredMCPTool[]>;
  login(how: McpLogin, signal: AbortSignal): Promise<"logged_in" | "not_needed">;
}

type OpenServers = () => Promise<readonly ServerPort[]>;

async function findServer(open: OpenServers, alias: string): Promise<ServerPort> {
  const servers = await open();
  const found = servers.find((server) => server.alias === alias);
  if (found !== undefined) return found;
  const known = servers.map((server) => server.alias).join(", ");
  throw unavailable(`There is no MCP server "${alias}". There are: ${known || "none"}.`);
}

async function findTool(server: ServerPort, name: string, signal: AbortSignal): Promise<DiscoveredMCPTool> {
  const tools = await server.listed(signal);
  const tool = tools.find((one) => one.plainName === name);
  if (tool !== undefined) return tool;
  throw unavailable(`The MCP server "${server.alias}" has no tool "${name}". ${toolsNear(name, tools)}`);
}

/** Calls the tool that the user's settings name for a built-in tool. Asks nobody: the built-in tool has its own question. */
export function settingsCaller(open: OpenServers) {
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
 * Gives access to the servers that `open` returns; they are opened with the first use. `guard` returns a tool whose calls
 * go through the whole flow.
 */
export function mcpDoor(open: OpenServers, guard: (tool: Tool) => Tool): McpDoor {
  const named = (alias: string) => findServer(open, alias);
  const fromAll = async <T>(read: (server: ServerPort) => Promise<T[]>, signal: AbortSignal) => {
    allowListeners(signal);
    const answers = await Promise.allSettled((await open()).map(read));
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };
  const door: McpDoor = {
    async resolved(text, signal = NEVER) {
      const aliases = (await open()).map((server) => server.alias);
      return withServerWords(text, { door, aliases }, signal);
    },
    prompts: (signal = NEVER) => fromAll((server) => promptsOf(server, signal), signal),
    resources: (signal = NEVER) => fromAll((server) => resourcesOf(server, signal), signal),
    async prompt({ server, name, args }, signal = NEVER) {
      const { connection } = await named(server);
      const answer = await connection.request("prompts/get", { name, arguments: args }, signal);
      return recordsIn(answer.messages).flatMap(({ content }) => contentBlocks(content));
    },
    async readResource(alias, uri, signal = NEVER) {
      const { connection } = await named(alias);
      const { contents } = await connection.request("resources/read", { uri }, signal);
      return (Array.isArray(contents) ? contents : []).map(resourcePart);
    },
    async callTool({ server, tool: name, argumentsFor }, signal = NEVER) {
      const tool = await findTool(await named(server), name, signal);
      return guard(tool).execute({ ...argumentsFor(tool.parameterSchema) }, signal);
    },
    async test(alias, signal = NEVER) {
      const server = await named(alias);
      const tools = await server.listed(signal);
      const lists = await Promise.allSettled([promptsOf(server, signal), resourcesOf(server, signal)]);
      signal.throwIfAborted();
      const [prompts = 0, resources = 0] = lists.map((list) => ("value" in list ? list.value.length : 0));
      const faults = lists.flatMap((list) => ("reason" in list ? [messageOf(list.reason)] : []));
      return { tools: tools.map(({ name }) => name), prompts, resources, faults };
    },
    login: async (alias, how, signal = NEVER) => (await named(alias)).login(how, signal),
  };
  return door;
}

const NEVER = new AbortController().signal;

const MOST_NAMED = 20;
/** Longer ones cannot be shown, and would fill the memory. */
const MOST_NAME_CHARACTERS = 2000;
const MOST_DESCRIPTION = 2000;
const MOST_ARGUMENTS = 100;

/** The tools that were probably meant; if none is similar, the first of all. */
function toolsNear(name: string, tools: readonly DiscoveredMCPTool[]): string {
  const known = tools.map((one) => one.plainName);
  const near = nearNames(name, known);
  if (near.length > 0) return `Did you mean ${near.join(" or ")}?`;
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : "";
  return `It has: ${known.slice(0, MOST_NAMED).join(", ") || "none"}${more}.`;
}

async function promptsOf({ alias, connection }: ServerPort, signal: AbortSignal): Promise<McpPrompt[]> {
  const listed = await connection.list("prompts", signal);
  const usable = recordsIn(listed).filter(({ name }) => isShort(name));
  return usable.map(({ name, description = "", arguments: wanted }) => ({
    server: alias,
    name: String(name),
    description: String(description).slice(0, MOST_DESCRIPTION),
    arguments: recordsIn(wanted)
      .slice(0, MOST_ARGUMENTS)
      .map((one) => ({
        name: String(one.name).slice(0, MOST_NAME_CHARACTERS),
        isRequired: one.required === true,
      })),
  }));
}

async function resourcesOf({ alias, connection }: ServerPort, signal: AbortSignal): Promise<McpResource[]> {
  const listed = await connection.list("resources", signal);
  const usable = recordsIn(listed).filter(({ uri }) => isShort(uri));
  return usable.map(({ uri, name, description }) => ({
    server: alias,
    uri: String(uri),
    name: String(name ?? uri).slice(0, MOST_NAME_CHARACTERS),
    description: String(description ?? "").slice(0, MOST_DESCRIPTION),
  }));
}

/** The name of something that a server is asked for. */
function isShort(name: unknown): boolean {
  return String(name).length <= MOST_NAME_CHARACTERS;
}

const COMMAND = /^\/([A-Za-z0-9_-]+):(\S+)\s*(.*)$/s;
const MENTION = /(?<=^|\s)@([A-Za-z0-9_-]+):(\S*[^\s.,;:!?)])/g;
const ARGUMENT = /(?:([A-Za-z_][\w-]*)=)?(?:"([^"]*)"|'([^']*)'|(\S+))/g;

/**
 * Replaces the names of servers' things in a user's prompt: `/server:prompt` at its start becomes that prompt, and
 * each `@server:uri` adds the resource. Names of unknown servers stay as they are.
 */
async function withServerWords(
  text: string,
  { door, aliases }: { readonly door: McpDoor; readonly aliases: readonly string[] },
  signal: AbortSignal,
): Promise<string> {
  const [, server = "", name = "", rest = ""] = COMMAND.exec(text) ?? [];
  if (aliases.includes(server)) {
    const prompts = rest === "" ? [] : await door.prompts(signal);
    const found = prompts.find((prompt) => prompt.server === server && prompt.name === name);
    const args = argumentsIn(rest, found?.arguments.map((one) => one.name) ?? []);
    return textOf(await door.prompt({ server, name, args }, signal));
  }
  const brought: string[] = [];
  for (const [, alias = "", uri = ""] of text.matchAll(MENTION)) {
    if (!aliases.includes(alias)) continue;
    const content = textOf(await door.readResource(alias, uri, signal));
    brought.push(untrustedFromServer(content, `${alias}:${uri}`, randomBytes(6).toString("hex")));
  }
  return [text, ...brought].join("\n\n");
}

/** Words without a name are the prompt's arguments in its own order. */
function argumentsIn(text: string, names: readonly string[]): Record<string, string> {
  const args: Record<string, string> = {};
  const plain: string[] = [];
  for (const [, key, double, single, bare = ""] of text.matchAll(ARGUMENT)) {
    const value = double ?? single ?? bare;
    if (key === undefined) plain.push(value);
    else args[key] = value;
  }
  const open = names.filter((name) => args[name] === undefined);
  // If only one argument is left, all the words go there, because users write sentences.
  const placed = open.length === 1 ? [plain.join(" ")] : plain;
  for (const [index, name] of open.entries()) if (placed[index]) args[name] = placed[index];
  return args;
}

function textOf(parts: readonly PartUnion[]): string {
  return parts
    .map((part) => (typeof part === "string" ? part : `[${part.inlineData?.mimeType ?? "data"}]`))
    .join("\n\n");
}
