// Other agents as clients of `burin serve mcp`: each is installed into a temporary folder, started without a screen with
// Burin as its MCP server, and asked by a fake model to read a file with Burin's tool. Without an argument, Burin is the
// build of the repository, else what is installed in the folder that is named; names behind it choose among the agents.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { newerNode } from "./newer-node.mjs";

const [installed = dirname(dirname(fileURLToPath(import.meta.url))), ...chosen] = process.argv.slice(2);
const BURIN = resolve(installed, "node_modules/burin/dist/burin.cjs");
const LONGEST_MS = 180_000;
const WORDS = "What is in a.txt?";
const TEXT = "a line that only Burin has read";
const PACKAGES = {
  gemini: "@google/gemini-cli@0.61.0",
  qwen: "@qwen-code/qwen-code@0.24.4",
  codex: "@openai/codex@0.169.0",
  claude: "@anthropic-ai/claude-code@2.1.328",
  opencode: "opencode-ai@1.18.33",
  copilot: "@github/copilot@1.0.102",
  cn: "@continuedev/cli@1.5.47",
  kimi: "@moonshot-ai/kimi-code@2.1.0",
};
const SERVER = { command: process.execPath, args: [BURIN, "serve", "mcp"] };
const mcpServers = { burin: { ...SERVER, trust: true } };
/** What each needs in its home, how it is started, and how it learns of the model. */
const AGENTS = {
  gemini: {
    file: ".gemini/settings.json",
    settings: () => ({ security: { auth: { selectedType: "gemini-api-key" } }, mcpServers }),
    args: ["--yolo", "-m", "gemini-2.5-pro", "-p", WORDS],
    /** @param {string} url */
    variables: (url) => ({
      GEMINI_API_KEY: "k",
      GOOGLE_GEMINI_BASE_URL: url.replace(/\/v1$/, ""),
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
  },
  qwen: {
    file: ".qwen/settings.json",
    settings: () => ({ mcpServers }),
    args: ["--yolo", "--auth-type", "openai", "-p", WORDS],
    /** @param {string} url */
    variables: (url) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url, OPENAI_MODEL: "m" }),
  },
  codex: {
    file: ".codex/config.toml",
    /** @param {string} url */
    settings: (url) =>
      [
        ...['model = "m"', 'model_provider = "fake"'],
        ...["[model_providers.fake]", 'name = "fake"', 'wire_api = "responses"', 'env_key = "KEY"'],
        `base_url = "${url}"`,
        ...["[mcp_servers.burin]", `command = "${SERVER.command}"`, `args = ${JSON.stringify(SERVER.args)}`],
      ].join("\n"),
    args: ["exec", "--skip-git-repo-check", WORDS],
    variables: () => ({ KEY: "k" }),
  },
  claude: {
    file: ".claude/mcp.json",
    settings: () => ({ mcpServers: { burin: SERVER } }),
    args: ["--model", "m", "--mcp-config", ".claude/mcp.json", "--allowedTools", "mcp__burin", "-p", WORDS],
    /** @param {string} url */
    variables: (url) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url.replace(/\/v1$/, "") }),
  },
  opencode: {
    file: ".config/opencode/opencode.json",
    /** @param {string} url */
    settings: (url) => ({
      model: "fake/m",
      small_model: "fake/m",
      provider: {
        fake: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: url, apiKey: "k" },
          models: { m: { name: "M" } },
        },
      },
      mcp: { burin: { type: "local", command: [SERVER.command, ...SERVER.args] } },
    }),
    args: ["run", WORDS],
    variables: () => ({}),
  },
  copilot: {
    file: ".copilot/mcp-config.json",
    settings: () => ({ mcpServers: { burin: { type: "local", ...SERVER, tools: ["*"] } } }),
    args: ["--allow-all-tools", "--disable-builtin-mcps", "--no-auto-update", "-p", WORDS],
    /** @param {string} url */
    variables: (url) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_API_KEY: "k",
      COPILOT_MODEL: "m",
    }),
  },
  cn: {
    file: ".continue/config.yaml",
    // JSON is YAML too.
    /** @param {string} url */
    settings: (url) => ({
      name: "Local",
      version: "1.0.0",
      schema: "v1",
      models: [{ name: "M", provider: "openai", model: "m", apiBase: url, apiKey: "k", roles: ["chat"] }],
      mcpServers: [{ name: "burin", ...SERVER }],
    }),
    args: ["-p", "--auto", "--config", ".continue/config.yaml", WORDS],
    // It calls the tools of servers by their own names, and its own are named otherwise.
    tool: /(?<=")read_file(?=")/,
    variables: () => ({}),
  },
  kimi: {
    file: ".kimi-code/mcp.json",
    settings: () => ({ mcpServers: { burin: SERVER } }),
    args: ["-p", WORDS],
    /** @param {string} url */
    variables: (url) => ({
      PATH: `${dirname(newerNode(top))}:${process.env.PATH}`,
      KIMI_MODEL_NAME: "m",
      KIMI_MODEL_BASE_URL: url,
      KIMI_MODEL_API_KEY: "k",
      KIMI_MODEL_PROVIDER_TYPE: "openai",
    }),
  },
};

/** @typedef {{ name: string, namespace?: string, args: object } | null} Call */

/** @type {[ending: string, replies: (call: Call, isStream: boolean) => (object | string)[]][]} */
const PROTOCOLS = [
  ["/chat/completions", chatReplies],
  ["enerateContent", geminiReplies],
  ["/responses", responsesReplies],
  ["/messages", messagesReplies],
];

const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-agents-")));
try {
  writeFileSync(join(top, "package.json"), '{"private":true}\n');
  // Some of them are programs that come as optional packages.
  const install = ["install", "--silent", "--no-audit", "--no-fund"];
  const names = /** @type {(keyof typeof AGENTS)[]} */ (chosen.length > 0 ? chosen : Object.keys(AGENTS));
  execFileSync("npm", [...install, ...names.map((name) => PACKAGES[name])], { cwd: top, stdio: "inherit" });
  let passed = 0;
  for (const name of names) {
    const fault = await faultOf(name);
    process.stdout.write(`${name}: ${fault ?? "read the file with Burin's tool"}\n`);
    if (fault === null) passed += 1;
  }
  process.exitCode = passed === names.length ? 0 : 1;
} finally {
  rmSync(top, { recursive: true, force: true });
}

/**
 * What went wrong, or null.
 * @param {keyof typeof AGENTS} name
 */
async function faultOf(name) {
  const { file, settings, args, variables, ...agent } = AGENTS[name];
  const [home, project] = [join(top, `home-${name}`), join(top, `project-${name}`)];
  for (const path of [dirname(join(home, file)), project]) mkdirSync(path, { recursive: true });
  writeFileSync(join(project, "a.txt"), `${TEXT}\n`);
  const model = await startModel(join(project, "a.txt"), "tool" in agent ? agent.tool : undefined);
  const written = settings(model.url);
  writeFileSync(join(home, file), typeof written === "string" ? written : JSON.stringify(written));
  const { PATH = "" } = process.env;
  const env = {
    PATH,
    HOME: home,
    BURIN_HOME: join(home, ".burin"),
    TERM: "dumb",
    ...variables(model.url),
  };
  const words = args.map((word) => (word === file ? join(home, file) : word));
  const child = spawn(join(top, "node_modules/.bin", name), words, {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      said += chunk;
    });
  }
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  model.close();
  return code === 0 && model.hasRead() ? null : `ended with ${code}: ${said.trim()}`;
}

/**
 * A model that asks for Burin's tool until it was shown the file; where tools are only declared once they were
 * searched for, it searches first. It takes whatever the agents send: their own tools are not what is tested.
 * @param {string} path
 * @param {RegExp} [tool]
 */
async function startModel(path, tool = /(?:mcp_+)?burin[_-]+read_file/) {
  let hasRead = false;
  let hasSearched = false;
  /** @param {string} sent @returns {Call} */
  const nextCall = (sent) => {
    hasRead ||= sent.includes(TEXT);
    if (hasRead || !sent.includes(WORDS)) return null;
    const isSearch = !hasSearched && sent.includes('"name":"ToolSearch"');
    hasSearched ||= isSearch;
    if (isSearch) return { name: "ToolSearch", args: { query: "burin", max_results: 20 } };
    const [name] = tool.exec(sent) ?? [];
    // Codex declares a group of tools, in which they have their own names.
    const group = sent.includes('"name":"mcp__burin"') ? { namespace: "mcp__burin" } : null;
    const args = { absolute_path: path };
    return group ? { name: "read_file", ...group, args } : name === undefined ? null : { name, args };
  };
  const server = createServer(async (request, response) => {
    let sent = "";
    for await (const chunk of request) sent += chunk;
    const call = nextCall(sent);
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    const [, protocol] = PROTOCOLS.find(([ending]) => pathname.endsWith(ending)) ?? PROTOCOLS[0];
    const isStream = pathname.endsWith(":streamGenerateContent") || sent.includes('"stream":true');
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    const replies = protocol(call, isStream);
    response.end(isStream ? replies.map(eventOf).join("") : JSON.stringify(replies[0]));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/v1`, hasRead: () => hasRead, close };
}

/** @param {object | string} reply */
function eventOf(reply) {
  if (typeof reply === "string") return `data: ${reply}\n\n`;
  return `${"type" in reply ? `event: ${reply.type}\n` : ""}data: ${JSON.stringify(reply)}\n\n`;
}

/** @param {Call} call */
function geminiReplies(call) {
  const parts = [call === null ? { text: "done" } : { functionCall: call }];
  return [{ candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata: {} }];
}

/** @param {Call} call @param {boolean} isStream */
function chatReplies(call, isStream) {
  const asked = call && { name: call.name, arguments: JSON.stringify(call.args) };
  const message = asked
    ? { role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: asked }] }
    : { role: "assistant", content: "done" };
  // Copilot reads both when both are there.
  const said = { [isStream ? "delta" : "message"]: message };
  const choice = { index: 0, ...said, finish_reason: asked ? "tool_calls" : "stop" };
  return [{ id: "1", object: "chat.completion.chunk", model: "m", choices: [choice] }, "[DONE]"];
}

/** @param {Call} call */
function responsesReplies(call) {
  const { args, ...named } = call ?? {};
  const content = [{ type: "output_text", text: "done", annotations: [] }];
  const item = call
    ? { type: "function_call", call_id: "call_1", ...named, arguments: JSON.stringify(args) }
    : { type: "message", role: "assistant", content };
  const response = { id: "1", usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } };
  return [
    { type: "response.created", response },
    { type: "response.output_item.done", item },
    { type: "response.completed", response },
  ];
}

/** @param {Call} call */
function messagesReplies(call) {
  const [type, block, delta, reason] = call
    ? [
        "tool_use",
        { id: `toolu_${call.name}`, name: call.name, input: {} },
        { type: "input_json_delta", partial_json: JSON.stringify(call.args) },
        "tool_use",
      ]
    : ["text", { text: "" }, { type: "text_delta", text: "done" }, "end_turn"];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "1", type: "message", role: "assistant", model: "m", content: [], usage };
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type, ...block } },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: reason }, usage },
    { type: "message_stop" },
  ];
}
