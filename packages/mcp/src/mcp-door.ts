import { randomBytes } from "node:crypto";
import type { PartUnion } from "@burin/contract/messages/parts";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { untrustedFromServer } from "@burin/contract/text/untrusted-text";
import { McpError } from "./mcp-error.ts";
import { contentBlocks, resourcePart } from "./result-parts.ts";
import type { McpLogin, ServerPort } from "./server-port.ts";

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
  /** One call by the server's own tool name; resolves to the server's own result. */
  callTool(order: ServerOrder, signal?: AbortSignal): Promise<unknown>;
  /** Starts the server and asks it for everything; rejects with the reason. */
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
}

/** Gives access to the servers that `open` returns; they are opened with the first use. */
export function mcpDoor(open: () => Promise<readonly ServerPort[]>): McpDoor {
  const named = async (alias: string) => {
    const servers = await open();
    const found = servers.find((server) => server.alias === alias);
    if (found !== undefined) return found;
    const known = servers.map((server) => server.alias).join(", ");
    throw new McpError(
      "mcp_unavailable",
      `There is no MCP server "${alias}". There are: ${known || "none"}.`,
    );
  };
  const fromAll = async <T>(read: (server: ServerPort) => Promise<T[]>): Promise<T[]> => {
    const answers = await Promise.allSettled((await open()).map(read));
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };
  const door: McpDoor = {
    async resolved(text, signal = NEVER) {
      const aliases = (await open()).map((server) => server.alias);
      return withServerWords(text, { door, aliases }, signal);
    },
    prompts: (signal = NEVER) => fromAll((server) => promptsOf(server, signal)),
    resources: (signal = NEVER) => fromAll((server) => resourcesOf(server, signal)),
    async prompt({ server, name, args }, signal = NEVER) {
      const { connection } = await named(server);
      const answer = await connection.request("prompts/get", { name, arguments: args }, signal);
      const messages = isRecord(answer) && Array.isArray(answer.messages) ? answer.messages : [];
      return messages.flatMap((message) => (isRecord(message) ? contentBlocks(message.content) : []));
    },
    async readResource(alias, uri, signal = NEVER) {
      const { connection } = await named(alias);
      const answer = await connection.request("resources/read", { uri }, signal);
      const contents = isRecord(answer) && Array.isArray(answer.contents) ? answer.contents : [];
      return contents.map(resourcePart);
    },
    async callTool({ server: alias, tool: name, argumentsFor }, signal = NEVER) {
      const server = await named(alias);
      const tools = await server.listed(signal);
      const tool = tools.find((one) => one.plainName === name);
      if (tool === undefined) {
        const known = tools.map((one) => one.plainName).join(", ");
        throw new McpError(
          "mcp_unavailable",
          `The MCP server "${alias}" has no tool "${name}". It has: ${known || "none"}.`,
        );
      }
      const { parameterSchema: inputSchema } = tool;
      const args = argumentsFor(inputSchema);
      return server.connection.callTool({
        tool: name,
        args,
        inputSchema,
        signal,
        onProgress: () => {},
        mayRepeat: false,
      });
    },
    async test(alias, signal = NEVER) {
      const server = await named(alias);
      const tools = await server.listed(signal);
      const [prompts, resources] = await Promise.all([
        promptsOf(server, signal),
        resourcesOf(server, signal),
      ]);
      return { tools: tools.map(({ name }) => name), prompts: prompts.length, resources: resources.length };
    },
    login: async (alias, how, signal = NEVER) => (await named(alias)).login(how, signal),
  };
  return door;
}

const NEVER = new AbortController().signal;

async function promptsOf({ alias, connection }: ServerPort, signal: AbortSignal): Promise<McpPrompt[]> {
  const listed = await connection.list("prompts", signal);
  return listed.filter(isRecord).map((prompt) => ({
    server: alias,
    name: String(prompt.name),
    description: String(prompt.description ?? ""),
    arguments: (Array.isArray(prompt.arguments) ? prompt.arguments : []).filter(isRecord).map((one) => ({
      name: String(one.name),
      isRequired: one.required === true,
    })),
  }));
}

async function resourcesOf({ alias, connection }: ServerPort, signal: AbortSignal): Promise<McpResource[]> {
  const listed = await connection.list("resources", signal);
  return listed.filter(isRecord).map(({ uri, name, description }) => ({
    server: alias,
    uri: String(uri),
    name: String(name ?? uri),
    description: String(description ?? ""),
  }));
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
    const args = await argumentsOf({ door, server, name }, rest, signal);
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
async function argumentsOf(
  { door, server, name }: { readonly door: McpDoor; readonly server: string; readonly name: string },
  rest: string,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const given = [...rest.matchAll(ARGUMENT)].map(([, key, double, single, bare]) => ({
    key,
    value: double ?? single ?? bare ?? "",
  }));
  if (given.length === 0) return {};
  const prompts = await door.prompts(signal);
  const known = prompts.find((prompt) => prompt.server === server && prompt.name === name)?.arguments ?? [];
  const named = Object.fromEntries(
    given.flatMap(({ key, value }) => (key === undefined ? [] : [[key, value]])),
  );
  const open = known.map((one) => one.name).filter((one) => named[one] === undefined);
  const plain = given.flatMap(({ key, value }) => (key === undefined ? [value] : []));
  // If only one argument is left, all the words go there, because users write sentences.
  const placed = open.length === 1 ? [plain.join(" ")] : plain;
  for (const [index, value] of placed.entries()) {
    const place = open[index];
    if (place !== undefined && value !== "") named[place] = value;
  }
  return named;
}

function textOf(parts: readonly PartUnion[]): string {
  return parts
    .map((part) => (typeof part === "string" ? part : `[${part.inlineData?.mimeType ?? "data"}]`))
    .join("\n\n");
}
