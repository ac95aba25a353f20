import type { JsonSchema } from "../messages/json-schema.ts";

const strings: JsonSchema = { type: "array", items: { type: "string" } };
const texts: JsonSchema = { type: "object", additionalProperties: { type: "string" } };

/** A command as a shell would be given it. */
function command(description: string): JsonSchema {
  return { type: "string", description };
}

const DISCOVERY = command("Prints the declarations of more tools, as a JSON array. A line for the shell.");
const CALL = command(
  "Runs such a tool: its name as the last argument, its arguments as JSON on stdin, the result on stdout.",
);
const SERVER_COMMAND = command('Starts one MCP server on stdio, known as "mcp".');

function seconds(description: string): JsonSchema {
  return { type: "number", exclusiveMinimum: 0, maximum: 86_400, description };
}

const MCP_SERVER: JsonSchema = {
  type: "object",
  description: "A program that speaks MCP on stdio (command), or a service (url).",
  properties: {
    type: { enum: ["stdio", "http", "streamable-http", "streamableHttp", "sse", "auto"] },
    command: { type: "string", minLength: 1, description: "The program to start." },
    args: strings,
    env: { ...texts, description: "Variables for the program; $NAME stands for one of Burin's own." },
    cwd: { type: "string", description: "Where it starts, counted from the project's folder." },
    url: { type: "string", minLength: 1, description: "Streamable HTTP, or SSE where that is all there is." },
    httpUrl: { type: "string", minLength: 1, description: "Streamable HTTP only." },
    headers: { ...texts, description: "Sent with each request; $NAME stands for a variable." },
    timeout: { type: "number", exclusiveMinimum: 0, description: "Of one request, in milliseconds." },
    startTimeout: { type: "number", exclusiveMinimum: 0, description: "Until it is ready, in milliseconds." },
    sampling: { type: "boolean", description: "It may ask the model. Counts in your own settings only." },
    trust: { type: "boolean", description: "Its tools run unasked. Counts in your own settings only." },
    includeTools: { ...strings, description: "Names as the server knows them; when given, only these." },
    excludeTools: strings,
    sandbox: { type: "boolean", description: "The program runs in the sandbox of shell commands." },
    oauth: { type: "object" },
    disabled: { type: "boolean", description: "Left out, also when an earlier settings file has it." },
    description: { type: "string" },
  },
  anyOf: ["command", "url", "httpUrl", "disabled"].map((key) => ({ required: [key] })),
};

/** The settings that say where more tools come from, at the top of a settings file. */
export const TOOL_SOURCE_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  toolDiscoveryCommand: DISCOVERY,
  toolCallCommand: CALL,
  mcpServerCommand: SERVER_COMMAND,
  mcp: {
    type: "object",
    properties: { mcpServerCommand: SERVER_COMMAND, serverCommand: SERVER_COMMAND },
  },
  mcpServers: {
    type: "object",
    description: "MCP servers by their alias, which begins the names of their tools: alias__tool.",
    additionalProperties: MCP_SERVER,
  },
};

/** The same in the section `tools`. */
export const TOOL_COMMAND_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  toolDiscoveryCommand: DISCOVERY,
  toolCallCommand: CALL,
  discoveryCommand: DISCOVERY,
  callCommand: CALL,
  toolDiscoverySeconds: seconds("How long toolDiscoveryCommand may take. Default 30."),
  toolCallSeconds: seconds("How long toolCallCommand may take. Default 600."),
};
