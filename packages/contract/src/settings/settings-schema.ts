import type { JsonSchema } from "../messages/json-schema.ts";
import { TOOL_COMMAND_PROPERTIES, TOOL_SOURCE_PROPERTIES } from "./tool-sources-schema.ts";

const strings: JsonSchema = { type: "array", items: { type: "string" } };

function rules(what: string): JsonSchema {
  return {
    ...strings,
    description: `${what} Written as tool or tool(pattern), e.g. read_file or edit(src/**).`,
  };
}

function section(description: string, properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", description, properties };
}

const NAMED_MODEL: Record<string, JsonSchema> = {
  provider: {
    enum: ["openai", "openai-responses", "anthropic", "gemini"],
    description: "The protocol of the service. openai: chat completions, which most services speak.",
  },
  name: { type: "string", description: "The model's name at its service." },
  baseUrl: { type: "string", description: "Where the service is, usually ending in /v1." },
  apiKeyEnv: { type: "string", description: "The environment variable that holds the key." },
};

const PRICE: JsonSchema = {
  type: "object",
  properties: {
    input: { type: "number", minimum: 0, description: "For a million tokens that are sent." },
    output: { type: "number", minimum: 0, description: "For a million tokens of replies." },
    cached: { type: "number", minimum: 0, description: "For a million sent that were cached." },
  },
  required: ["input", "output"],
  additionalProperties: false,
};

const HOOK: JsonSchema = {
  type: "object",
  properties: {
    event: { enum: ["before_tool", "after_tool", "session_start", "session_end", "before_compaction"] },
    command: { type: "string", minLength: 1, description: "A line of the shell." },
    tools: {
      anyOf: [{ type: "string" }, strings],
      description: "Rules for the calls it is told of, e.g. edit(src/**). Without them: all.",
    },
    timeoutSeconds: { type: "number", exclusiveMinimum: 0, description: "Default 60." },
  },
  required: ["event", "command"],
  additionalProperties: false,
};

/** What a settings file may hold. The build writes it beside the package, for editors. Unknown keys are left alone. */
export const SETTINGS_SCHEMA: JsonSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Burin settings",
  type: "object",
  properties: {
    $schema: { type: "string" },
    model: section("The model that answers.", {
      ...NAMED_MODEL,
      timeoutSeconds: {
        type: "number",
        exclusiveMinimum: 0,
        description: "The longest silence of the service that is waited for. Default 600.",
      },
      callsInText: {
        enum: ["auto", "off", "on"],
        description:
          "Whether calls that the model writes at the end of its text are run. Default auto: while it has made none in the proper way.",
      },
      contextWindow: {
        type: "integer",
        minimum: 1024,
        description:
          "Tokens that a request and its reply may take together. Beats what is known of the model.",
      },
      prices: {
        type: "object",
        additionalProperties: PRICE,
        description: "What models cost, by name, for budgets of money.",
      },
      fallbacks: {
        type: "array",
        items: { anyOf: [{ type: "string" }, { type: "object", properties: NAMED_MODEL }] },
        description: "Models to ask, in this order, when the model fails for good.",
      },
    }),
    permissions: section(
      "Which calls run unasked, are asked about, or never run. Deny beats ask beats allow.",
      {
        allow: rules("Run without a question."),
        ask: rules("Always ask first."),
        deny: rules("Never run."),
      },
    ),
    context: section("What the model is told of this project.", {
      fileNames: {
        ...strings,
        description: "Names of the files with instructions for the model. Default: AGENTS.md.",
      },
    }),
    loop: section("A model that repeats itself.", {
      detection: { type: "boolean", description: "It is corrected, then stopped. Default true." },
    }),
    files: section("What no tool may see. .burinignore files are always in force.", {
      ignoreFileNames: { ...strings, description: "Names of more ignore files, e.g. .aiignore." },
      ignore: { ...strings, description: "Globs as in ignore files, from the project's folder." },
    }),
    sandbox: section("What commands may reach, where the system can limit them.", {
      mode: {
        enum: ["off", "read-only", "workspace-write"],
        description: "workspace-write (default): the project and a private temporary folder can be written.",
      },
      network: { type: "boolean", description: "Commands have the network. Default false." },
      discovered: {
        type: "boolean",
        description: "Discovered tools and MCP servers have the write limits of commands too. Default false.",
      },
    }),
    web: section("What the web tools may reach.", {
      allowedHosts: {
        type: "array",
        items: { type: "string", pattern: "^(\\[[0-9a-fA-F:.]+\\]|[^\\s:/\\[\\]]+):\\d{1,5}$" },
        description: "host:port on this machine or a private network that may be fetched from.",
      },
      search: {
        ...section("The service that web_search asks.", {
          provider: { enum: ["searxng", "tavily", "brave", "exa", "google", "mcp"] },
          server: { type: "string", description: "For mcp: the alias of a server in mcpServers." },
          tool: { type: "string", description: "For mcp: the server's tool that searches, by its own name." },
          url: { type: "string", description: "Where it is; searxng needs it, others have their own." },
          apiKeyEnv: { type: "string", description: "The environment variable that holds the key." },
          engineId: { type: "string", description: "google: the ID of the search engine." },
        }),
        required: ["provider"],
      },
    }),
    shell: section("How commands are run.", {
      passEnvironment: {
        ...strings,
        description: "Names of variables that commands get although they look like secrets.",
      },
    }),
    tools: section("Which tools the model is told of.", {
      include: { ...strings, description: "Names or globs; when given, only these." },
      exclude: { ...strings, description: "Names or globs to leave out." },
      editCorrection: {
        type: "boolean",
        description: "Ask the model to repair an edit whose old text is found nowhere. Default true.",
      },
      svgAsText: { type: "boolean", description: "read_file gives SVG images as the text that they are." },
      schemaBudget: {
        type: "number",
        minimum: 0,
        description:
          "Characters of declarations of discovered tools; more are found by tool_search. Default 8192.",
      },
      ...TOOL_COMMAND_PROPERTIES,
    }),
    hooks: {
      type: "array",
      description: "Commands that are told of what happens, as JSON on stdin, and may have a say in it.",
      items: HOOK,
    },
    ...TOOL_SOURCE_PROPERTIES,
  },
};
