// Other agents as clients of `burin serve mcp`: each is installed into a temporary folder, started without a screen with
// Burin as its MCP server, and asked by a fake model to read a file with Burin's tool.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const BURIN = join(here, "../packages/cli/dist/burin.cjs");
const LONGEST_MS = 180_000;
const WORDS = "What is in a.txt?";
const TEXT = "a line that only Burin has read";
const PACKAGES = ["@google/gemini-cli@0.61.0", "@qwen-code/qwen-code@0.24.4"];
const AGENTS = {
  gemini: {
    folder: ".gemini",
    settings: { security: { auth: { selectedType: "gemini-api-key" } } },
    args: ["--yolo", "-m", "gemini-2.5-pro", "-p", WORDS],
    /** @param {string} url */
    variables: (url) => ({
      GEMINI_API_KEY: "k",
      GOOGLE_GEMINI_BASE_URL: url.replace(/\/v1$/, ""),
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
  },
  qwen: {
    folder: ".qwen",
    settings: {},
    args: ["--yolo", "--auth-type", "openai", "-p", WORDS],
    /** @param {string} url */
    variables: (url) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: url, OPENAI_MODEL: "m" }),
  },
};

const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-agents-")));
try {
  writeFileSync(join(top, "package.json"), '{"private":true}\n');
  const install = ["install", "--silent", "--no-audit", "--no-fund", "--omit=optional", ...PACKAGES];
  execFileSync("npm", install, { cwd: top, stdio: "inherit" });
  let passed = 0;
  for (const name of /** @type {const} */ (["gemini", "qwen"])) {
    const fault = await faultOf(name);
    process.stdout.write(`${name}: ${fault ?? "read the file with Burin's tool"}\n`);
    if (fault === null) passed += 1;
  }
  process.exitCode = passed === 2 ? 0 : 1;
} finally {
  rmSync(top, { recursive: true, force: true });
}

/**
 * What went wrong, or null.
 * @param {keyof typeof AGENTS} name
 */
async function faultOf(name) {
  const { folder, settings, args, variables } = AGENTS[name];
  const [home, project] = [join(top, `home-${name}`), join(top, `project-${name}`)];
  for (const path of [join(home, folder), project]) mkdirSync(path, { recursive: true });
  const mcpServers = { burin: { command: process.execPath, args: [BURIN, "serve", "mcp"], trust: true } };
  writeFileSync(join(home, folder, "settings.json"), JSON.stringify({ ...settings, mcpServers }));
  writeFileSync(join(project, "a.txt"), `${TEXT}\n`);
  const model = await startModel(join(project, "a.txt"));
  const { PATH = "" } = process.env;
  const env = {
    PATH,
    HOME: home,
    BURIN_HOME: join(home, ".burin"),
    TERM: "dumb",
    ...variables(model.url),
  };
  const child = spawn(join(top, "node_modules/.bin", name), args, {
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
 * A model that asks for Burin's tool until it was shown the file. It takes whatever the agents send: their own tools
 * are not what is tested.
 * @param {string} path
 */
async function startModel(path) {
  let hasRead = false;
  const server = createServer(async (request, response) => {
    let sent = "";
    for await (const chunk of request) sent += chunk;
    hasRead ||= sent.includes(TEXT);
    const [name] = /mcp_+burin_+read_file/.exec(sent) ?? [];
    const call =
      !hasRead && name !== undefined && sent.includes(WORDS) ? { name, args: { absolute_path: path } } : null;
    const isGemini = request.url?.includes("enerateContent") === true;
    const reply = JSON.stringify(isGemini ? geminiReply(call) : chatReply(call));
    const isStream = request.url?.includes("streamGenerate") === true || sent.includes('"stream":true');
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    response.end(isStream ? `data: ${reply}\n\n${isGemini ? "" : "data: [DONE]\n\n"}` : reply);
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

/** @typedef {{ name: string, args: object } | null} Call */

/** @param {Call} functionCall */
function geminiReply(functionCall) {
  const parts = [functionCall === null ? { text: "done" } : { functionCall }];
  return { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata: {} };
}

/** @param {Call} call */
function chatReply(call) {
  const asked = call && { name: call.name, arguments: JSON.stringify(call.args) };
  const said = asked
    ? { role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: asked }] }
    : { role: "assistant", content: "done" };
  const choice = { index: 0, delta: said, message: said, finish_reason: asked ? "tool_calls" : "stop" };
  return { id: "1", object: "chat.completion.chunk", model: "m", choices: [choice] };
}
