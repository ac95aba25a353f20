import { APPROVAL_MODES } from "../approval-mode.ts";
import type { JsonSchema } from "../messages/message.ts";
import {
  choice,
  closedObject,
  either,
  flag,
  integer,
  list,
  mapOption,
  NON_EMPTY,
  number,
  type Option,
  type Options,
  type OptionValue,
  object,
  option,
  type ResolvedOptions,
  text,
  textList,
  type WrittenOptions,
} from "../messages/option.ts";
import { DEFAULT_SERVER, DEFAULT_SETTINGS as defaults } from "./default-settings.ts";

/* The one definition of each setting: its type, default and JSON Schema are all derived from it. */

const PROTOCOLS = ["openai", "openai-responses", "anthropic", "gemini"] as const;
const SERVICES = [
  ...PROTOCOLS,
  "azure",
  "vertex",
  "bedrock",
  "openrouter",
  "groq",
  "mistral",
  "deepseek",
  "xai",
  "moonshot",
  "dashscope",
] as const;

const KEY_PLACE = text(undefined, NON_EMPTY);

const NAMED_MODEL = {
  provider: choice(
    SERVICES,
    "The service, or its protocol. openai: chat completions, which most services speak.",
  ),
  name: text("The model's name at its service; provider/name where that is unambiguous."),
  baseUrl: text("The address of the service, usually ending in /v1."),
  apiKeyEnv: text("The environment variable that holds the key, instead of the provider's own."),
  key: either(
    text(undefined, {
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      patternErrorMessage: "must be the name of an environment variable, not the key itself",
    }),
    either(
      closedObject(["variable"], { variable: KEY_PLACE }),
      either(closedObject(["command"], { command: KEY_PLACE }), closedObject(["file"], { file: KEY_PLACE })),
    ),
    "Where the key is: a variable, a command that prints it, or a file that holds it. Never the key itself.",
  ),
};

const NOT_NEGATIVE: JsonSchema = { minimum: 0 };

/** A timer can wait for at most 2^31 milliseconds; with a longer time it would fire at once. */
const MAX_SECONDS = 2_000_000;

function createSeconds(description: string): Option<number> {
  return number(description, { exclusiveMinimum: 0, maximum: MAX_SECONDS });
}

function createRuleList(description: string): Option<readonly string[]> {
  return textList(`${description} Each rule is tool or tool(pattern), e.g. read_file or edit(src/**).`);
}

/** Defines a section of the settings. A file may omit any key; after reading, keys with a default are present. */
function createSection<All extends Options, Defaults extends WrittenOptions<All>>(
  description: string,
  given: Defaults,
  options: All,
): Option<ResolvedOptions<All, keyof Defaults>> {
  return option({ type: "object", properties: addDefaults(options, given) }, description);
}

function addDefaults(options: Options, given: Readonly<Record<string, unknown>>): Options {
  const entries = Object.entries(options).map(([key, one]) => [
    key,
    key in given ? { ...one, default: given[key] } : one,
  ]);
  return Object.fromEntries(entries);
}

const PRICE = closedObject(["input", "output"], {
  input: number("For a million tokens that are sent.", NOT_NEGATIVE),
  output: number("For a million tokens of replies.", NOT_NEGATIVE),
  cached: number("For a million sent tokens that the service had cached. Default: as input.", NOT_NEGATIVE),
});

/** The fields that describe a model and how to send requests to it. */
const MODEL_ENTRY = {
  ...NAMED_MODEL,
  model: text("The model's name at its service, where the entry has another one."),
  window: integer("Tokens that a request and its reply may take together.", { minimum: 1024 }),
  maxOutput: integer("Tokens of one reply, thoughts included.", { minimum: 1 }),
  images: flag("false: it cannot see images, and gets a description in words instead."),
  tools: flag("false: no tools are offered to it."),
  price: PRICE,
  certificate: object(
    ["cert", "key"],
    { cert: text("A PEM file."), key: text("A PEM file."), passphraseEnv: text("A variable.") },
    { description: "A client certificate." },
  ),
  headers: mapOption(text(), "Sent with each request."),
  body: option<Readonly<Record<string, unknown>>>(
    { type: "object" },
    "More fields of each request. null removes one of Burin's own.",
  ),
  reasoning: either(
    text(undefined, NON_EMPTY),
    integer(undefined, NOT_NEGATIVE),
    "How much it thinks: off, low, medium, high, another word that the service knows, or a number of tokens.",
  ),
  cache: choice(["off", "5m", "1h", "24h"], "How long the service caches what it has read."),
  temperature: number("The temperature: how random its replies are.", NOT_NEGATIVE),
  topP: number("top_p: the share of the most likely words that it chooses from.", {
    exclusiveMinimum: 0,
    maximum: 1,
  }),
  retries: integer("How often a failed request is sent again. Default 5.", { minimum: 0 }),
  bearer: flag("Send the key as a bearer token, as gateways expect it."),
  organization: text("OpenAI's organization."),
  project: text("OpenAI's project."),
};

const HOOK = closedObject(["event", "command"], {
  event: choice(["before_tool", "after_tool", "session_start", "session_end", "before_compaction"]),
  command: text("A shell command. It gets the event as JSON on stdin.", NON_EMPTY),
  tools: either(
    text(),
    textList(),
    "Rules for the calls it is run for, e.g. edit(src/**). Default: all calls.",
  ),
  timeoutSeconds: createSeconds("Default 60."),
});

const SEARCH = object(
  ["provider"],
  {
    provider: choice(["searxng", "tavily", "brave", "exa", "google", "mcp"]),
    server: text("For mcp: the alias of a server in mcpServers."),
    tool: text("For mcp: the server's search tool, by the server's own name."),
    url: text("The address of the service. searxng needs it, the others have a default."),
    apiKeyEnv: text("The environment variable that holds the key, instead of the provider's own."),
    engineId: text("For google: the ID of the search engine."),
  },
  { description: "The service that web_search asks. Without it, web_search is not offered." },
);

const DISCOVERY_COMMAND = text("A shell command that prints the declarations of more tools as a JSON array.");
const CALL_COMMAND = text(
  "A shell command that runs such a tool: its name is the last argument, its arguments are JSON on stdin, the result is stdout.",
);

const HOSTS = list(
  text(undefined, {
    pattern: "^(\\*|(\\*\\.)?[^\\s:/@*\\[\\]]+(:\\d{1,5})?|\\[[0-9a-fA-F:.]+\\]:\\d{1,5})$",
    patternErrorMessage: "must be a host such as packages.example.org, *.example.org or localhost:8080",
  }),
);

/** The lists of hosts, under the same key names as in other sandboxes. */
const HOST_LISTS = closedObject([], { allowedDomains: HOSTS, deniedDomains: HOSTS });

const SECTIONS = {
  models: mapOption(
    closedObject([], MODEL_ENTRY),
    "Models by names of your own, for model.name, -m, model.small and model.subagent.",
  ),
  model: createSection("The model to use.", defaults.model, {
    ...MODEL_ENTRY,
    small: text("The name of the model for small work: summaries, corrections, pages."),
    subagent: text("The name of the model of subagents that do not name one."),
    timeoutSeconds: createSeconds(
      "How long to wait while the service sends nothing. A reply may take longer as long as it keeps coming. Default 600.",
    ),
    callsInText: choice(
      ["auto", "off", "on"],
      "Whether tool calls that the model writes as text at the end of its reply are run. Default auto: as long as it has made no proper call.",
    ),
    contextWindow: integer(
      "Tokens that a request and its reply may take together, instead of what is known of the model.",
      { minimum: 1024 },
    ),
    prices: mapOption(PRICE, "What models cost, by name. Needed for a budget of money."),
    fallbacks: list(
      either(text(), object([], NAMED_MODEL)),
      "Models to try, in this order, when the model fails for good. A name alone takes its key from the environment.",
    ),
  }),
  permissions: createSection(
    "Which calls run without a question, always ask, or never run. Deny beats ask, ask beats allow.",
    defaults.permissions,
    {
      allow: createRuleList("Run without a question."),
      ask: createRuleList("Always ask first."),
      deny: createRuleList("Never run."),
    },
  ),
  context: createSection("What the model is told about this project.", defaults.context, {
    fileNames: textList("Names of files with instructions for the model. Default: AGENTS.md."),
    environment: flag("Tell the model the date, the system, the shell and the state of git."),
  }),
  loop: createSection("What happens to a model that repeats itself.", defaults.loop, {
    detection: flag("Correct a model that repeats itself, then stop it."),
  }),
  files: createSection("Files that no tool may see. .burinignore files always apply.", defaults.files, {
    ignoreFileNames: textList("Names of more ignore files, e.g. .aiignore."),
    ignore: textList("Globs as in ignore files, relative to the project's folder."),
  }),
  workTrees: createSection("Work trees of git that burin -w makes.", defaults.workTrees, {
    copy: textList(
      "Globs or names of the ignored files that a new work tree gets copies of. Default: .env*.",
    ),
  }),
  sandbox: createSection("What commands may reach, where the system can limit them.", defaults.sandbox, {
    mode: choice(
      ["off", "read-only", "workspace-write"],
      "workspace-write: commands can write to the project and to a private temporary folder.",
    ),
    network: either(
      flag("Whether commands can use the whole network of this machine."),
      either(HOSTS, HOST_LISTS),
      "Which hosts commands reach, and can send files to: names such as *.example.org, false for none unasked, true for the whole network.",
    ),
    hide: textList("Folders that commands do not see, by absolute paths; the project stays visible."),
    discovered: flag("Discovered tools and MCP servers get the same write limits as commands."),
  }),
  web: createSection("What the web tools may reach.", defaults.web, {
    allowedHosts: list(
      text(undefined, {
        pattern: "^(\\[[0-9a-fA-F:.]+\\]|[^\\s:/\\[\\]]+):\\d{1,5}$",
        patternErrorMessage: "must be host:port, e.g. localhost:3000",
      }),
      "host:port on this machine or a private network that web_fetch may fetch from.",
    ),
    search: SEARCH,
  }),
  shell: createSection("How commands are run.", defaults.shell, {
    passEnvironment: textList("Variables that commands get although their names look like secrets."),
  }),
  tools: createSection("Which tools are offered to the model.", defaults.tools, {
    include: textList("Names or globs. When given, only these tools are offered."),
    exclude: textList("Names or globs of tools to leave out."),
    editCorrection: flag("Ask the model to repair an edit whose old_string is not found."),
    svgAsText: flag("read_file returns SVG images as text."),
    schemaBudget: number(
      "How many characters the declarations of discovered tools may take. Further tools are found with tool_search.",
      NOT_NEGATIVE,
    ),
    toolDiscoveryCommand: DISCOVERY_COMMAND,
    toolCallCommand: CALL_COMMAND,
    toolDiscoverySeconds: createSeconds("How long toolDiscoveryCommand may take."),
    toolCallSeconds: createSeconds("How long toolCallCommand may take."),
  }),
  telemetry: createSection(
    "Traces and metrics for OpenTelemetry; nothing is sent without an endpoint.",
    defaults.telemetry,
    {
      endpoint: text("The OTLP/HTTP endpoint, instead of OTEL_EXPORTER_OTLP_ENDPOINT."),
      contents: flag(
        "Prompts, answers, and arguments and results of calls are sent, too, without known secrets.",
      ),
    },
  ),
  ui: createSection("How the screen looks.", defaults.ui, {
    language: choice(["en", "zh", "ja", "fr", "ru"], "Default: the language of the locale."),
    theme: choice(
      ["auto", "dark", "light", "contrast", "colorblind"],
      "Default auto: by the background of the terminal.",
    ),
    colors: mapOption(text(), 'Of styles, over the theme: { "added": "bold #88c0d0 on #202020" }.'),
    sideBySide: flag("Show changes side by side where the window is wide enough."),
    vim: flag("Edit the prompt with the keys of vi."),
    notify: choice(
      ["auto", "bell", "off"],
      "When work has ended or a question waits. Default auto: a desktop notice where the terminal can.",
    ),
    statusLine: text(
      "A command that prints the last line of the screen; it gets what the line would say as JSON, and runs in the " +
        "sandbox. Only works in your own settings, not in a project's.",
      NON_EMPTY,
    ),
    screenReader: flag("No frames and no redrawing, so that a screen reader can read the screen."),
  }),
};

const SERVER_COMMAND = text('A command that starts one MCP server on stdio, with the alias "mcp".');

/** Older names of options in the `tools` section. */
const OLD_TOOL_COMMANDS = { discoveryCommand: DISCOVERY_COMMAND, callCommand: CALL_COMMAND };

const MILLISECONDS: JsonSchema = { exclusiveMinimum: 0, maximum: MAX_SECONDS * 1000 };

const SERVER_OPTIONS = {
  type: choice(["stdio", "http", "streamable-http", "streamableHttp", "sse", "auto"]),
  command: text("The program to start.", NON_EMPTY),
  args: textList(),
  env: mapOption(
    text(),
    "Environment variables for the program. $NAME stands for a variable of Burin's own.",
  ),
  cwd: text("The folder to start it in, relative to the project's folder."),
  url: text("Streamable HTTP, or SSE where the server has only that.", NON_EMPTY),
  httpUrl: text("Streamable HTTP only.", NON_EMPTY),
  headers: mapOption(text(), "Sent with each request. $NAME stands for an environment variable."),
  timeout: number("The time limit of a request, in milliseconds.", MILLISECONDS),
  startTimeout: number("The time limit until it is ready, in milliseconds.", MILLISECONDS),
  sampling: flag("The server may ask the model. Only works in your own settings, not in a project's."),
  trust: flag("Its tools run without a question. Only works in your own settings, not in a project's."),
  includeTools: textList("Names as the server knows them. When given, only these tools are used."),
  excludeTools: textList("Names of tools to leave out."),
  sandbox: flag("Run the program in the sandbox of shell commands."),
  oauth: option<Readonly<Record<string, unknown>>>({ type: "object" }, "How to log in."),
  disabled: flag("Leave it out, also when an earlier settings file has it."),
  description: text(),
};

const SERVER = option<ServerInput>(
  {
    type: "object",
    properties: addDefaults(SERVER_OPTIONS, DEFAULT_SERVER),
    anyOf: ["command", "url", "httpUrl", "disabled"].map((key) => ({ required: [key] })),
  },
  "A program that speaks MCP on stdio (command), or a service (url).",
);

/** The sources of more tools, by their key at the top level of a settings file. */
const TOOL_SOURCES = {
  toolDiscoveryCommand: DISCOVERY_COMMAND,
  toolCallCommand: CALL_COMMAND,
  mcpServerCommand: SERVER_COMMAND,
  mcp: object([], { mcpServerCommand: SERVER_COMMAND, serverCommand: SERVER_COMMAND }),
  mcpServers: mapOption(SERVER, "MCP servers by alias. The names of their tools begin with it: alias__tool."),
};

const CHECK = text(
  "A command that must pass before a run ends well. Its failures go back to the model.",
  NON_EMPTY,
);
const APPROVAL_MODE = choice(
  APPROVAL_MODES,
  "How much runs without asking at each start. Only works in your own settings, not in a project's.",
);
const HOOKS = list(HOOK, "Commands that are run at certain events and can influence what happens next.");

/** The schema of a settings file, which allows unknown keys. The build writes it next to the package, for editors. */
export const SETTINGS_SCHEMA: JsonSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Burin settings",
  type: "object",
  properties: {
    $schema: text(),
    ...SECTIONS,
    tools: { ...SECTIONS.tools, properties: { ...SECTIONS.tools.properties, ...OLD_TOOL_COMMANDS } },
    check: CHECK,
    approvalMode: APPROVAL_MODE,
    hooks: HOOKS,
    ...TOOL_SOURCES,
  },
};

export type SectionSettings = {
  readonly [Key in keyof typeof SECTIONS]: OptionValue<(typeof SECTIONS)[Key]>;
};
export type NamedModel = WrittenOptions<typeof NAMED_MODEL>;
/** A service by name. The name implies its protocol, its address, and the variables that hold its key and its model. */
export type ServiceName = NonNullable<NamedModel["provider"]>;
/** A protocol. `openai` is chat completions, which most services support. */
export type ModelProvider = (typeof PROTOCOLS)[number];
export type ModelEntry = WrittenOptions<typeof MODEL_ENTRY>;
export type ModelSettings = SectionSettings["model"];
/** Whether tool calls written as text are run. `auto`: as long as the model has made no proper call. */
export type CallsInText = NonNullable<ModelSettings["callsInText"]>;
/** Prices for a million tokens, all in one currency. */
export type ModelPrice = OptionValue<typeof PRICE>;
export type WebSearchSettings = OptionValue<typeof SEARCH>;
export type HookSettings = OptionValue<typeof HOOK>;
/** What a command or server of a trusted project does, and its project files, as they were when trusted. */
export type ProjectScripts = { readonly effect: string; readonly uses: readonly string[] };
export type HookEventName = HookSettings["event"];
/** A server as it is written in settings. */
export type ServerInput = WrittenOptions<typeof SERVER_OPTIONS>;
/** A server with all defaults applied. */
export type ResolvedServer = ResolvedOptions<typeof SERVER_OPTIONS, keyof typeof DEFAULT_SERVER>;
/** Every key under which settings may name a tool source, old spellings included. */
export type ToolSourceKeys = WrittenOptions<typeof TOOL_SOURCES> & {
  readonly tools?: WrittenOptions<typeof OLD_TOOL_COMMANDS>;
};
