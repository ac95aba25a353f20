// Programs of others as clients of `burin serve`: the protocol's library in a version for each revision, what agents
// are built with, and a client for editors' agents. Each is installed into a temporary folder, lists the tools, reads,
// edits once its user has agreed, is refused outside of the folder, and cancels. Without an argument, Burin is the build
// of the repository, else what is installed in the folder that is named.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { newerNode } from "./newer-node.mjs";

const INSTALLED = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
const BURIN = join(INSTALLED, "node_modules/burin/dist/burin.cjs");
const TESTING = join(INSTALLED, "node_modules/@burin/core/dist/testing.js");
const SDKS = {
  "2024-11-05": "1.0.4",
  "2025-03-26": "1.12.3",
  "2025-06-18": "1.17.5",
  "2025-11-25": "1.32.2",
};
const PACKAGES = [
  ...Object.entries(SDKS).map(
    ([revision, version]) => `sdk-${revision}@npm:@modelcontextprotocol/sdk@${version}`,
  ),
  ...["@ai-sdk/mcp@2.0.99", "ai@7.0.173"],
  ...["@openai/agents@0.20.0", "@langchain/mcp-adapters@1.1.4", "@langchain/core@1.4.0"],
  ...["mcp-client@1.13.1", "acpx@0.19.1"],
  ...["acp-factory@0.1.14", "@mcpc-tech/acp-ai-provider@0.2.9"],
];
/** A command that nothing else on this machine runs. */
const LONG = "sleep 3607";

/**
 * @typedef {(name: string, args: object, signal?: AbortSignal) => Promise<unknown>} Call
 * @typedef {{ tools: number, call: Call, close: () => Promise<unknown>, canAsk?: boolean }} Connected
 */

const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-clients-")));
const project = join(top, "project");
const file = join(project, "a.txt");
const { PATH = "" } = process.env;
const env = { PATH, HOME: join(top, "home"), BURIN_HOME: join(top, "home/.burin") };
/** @param {string[]} options */
const started = (...options) => ({
  command: process.execPath,
  args: [BURIN, "serve", "mcp", ...options],
  cwd: project,
  env,
});
/** @param {string} path in the folder where all are installed */
const load = (path) => import(pathToFileURL(join(top, "node_modules", path)).href);

try {
  for (const folder of [project, env.HOME]) mkdirSync(folder);
  writeFileSync(join(top, "package.json"), '{"private":true,"type":"module"}\n');
  const install = ["install", "--silent", "--no-audit", "--no-fund", ...PACKAGES];
  execFileSync("npm", install, { cwd: top, stdio: "inherit" });
  const clients = {
    ...Object.fromEntries(Object.keys(SDKS).map((revision) => [`SDK, ${revision}`, () => sdk(revision)])),
    "AI SDK": aiSdk,
    "OpenAI Agents": openaiAgents,
    LangChain: langchain,
    "mcp-client": mcpClient,
  };
  const editors = { acpx, "acp-factory": acpFactory, "AI SDK with acp-ai-provider": acpAiProvider };
  let failed = 0;
  for (const [name, connect] of Object.entries(clients)) failed += await told(name, () => round(connect));
  for (const [name, edit] of Object.entries(editors)) failed += await told(name, () => session(edit));
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  // An agent that was only killed may still write its last words.
  rmSync(top, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** @param {string} name @param {() => Promise<void>} work */
async function told(name, work) {
  writeFileSync(file, "one\ntwo\n");
  const fault = await work().then(
    () => null,
    (error) => error,
  );
  process.stdout.write(`${name}: ${fault === null ? "ok" : `FAILED: ${fault.stack}`}\n`);
  return fault === null ? 0 : 1;
}

/** @param {() => Promise<Connected>} connect */
async function round(connect) {
  const { tools, call, close, canAsk } = await connect();
  try {
    expect("the number of tools", tools, 10);
    const read = JSON.stringify(await call("read_file", { file_path: file }));
    expect("what was read", read.includes("one\\ntwo\\n"), true);
    await call("edit", { file_path: file, old_string: "two", new_string: "three" });
    expect(
      "the file after an edit",
      readFileSync(file, "utf8"),
      `one\n${canAsk === false ? "two" : "three"}\n`,
    );
    const outside = await call("read_file", { file_path: join(top, "package.json") }).catch(String);
    expect("a file outside", JSON.stringify(outside).includes("outside the root"), true);
    const stop = new AbortController();
    const long = call("run_shell_command", { command: LONG }, stop.signal).catch(() => {});
    await until(() => running() > 0);
    stop.abort();
    await long;
    // Some that cancel tell the server nothing: it ends the command with the connection.
    if (canAsk === undefined) await close();
    await until(() => running() === 0);
  } finally {
    await close();
  }
}

/** @param {string} what @param {unknown} found @param {unknown} wanted */
function expect(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

function running() {
  const all = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return all.filter((line) => line === LONG).length;
}

/** @param {() => boolean} holds */
async function until(holds) {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 300) throw new Error(`waited in vain for ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Those before 2025-06-18 cannot ask their user. @param {string} revision @returns {Promise<Connected>} */
async function sdk(revision) {
  const folder = `sdk-${revision}/dist/${revision === "2024-11-05" ? "" : "esm/"}`;
  const [{ Client }, { StdioClientTransport }, types] = await Promise.all([
    load(`${folder}client/index.js`),
    load(`${folder}client/stdio.js`),
    load(`${folder}types.js`),
  ]);
  expect("its newest revision", types.LATEST_PROTOCOL_VERSION, revision);
  const canAsk = types.ElicitRequestSchema !== undefined;
  const capabilities = { roots: {}, ...(canAsk ? { elicitation: {} } : {}) };
  const client = new Client({ name: "sdk", version: "1" }, { capabilities });
  client.setRequestHandler(types.ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(project).href }],
  }));
  if (canAsk)
    client.setRequestHandler(types.ElicitRequestSchema, () => ({
      action: "accept",
      content: { decision: "once" },
    }));
  await client.connect(new StdioClientTransport(started()));
  return {
    canAsk,
    tools: (await client.listTools()).tools.length,
    call: (name, args, signal) => client.callTool({ name, arguments: args }, undefined, { signal }),
    close: () => client.close(),
  };
}

/** @returns {Promise<Connected>} */
async function aiSdk() {
  const { createMCPClient, ElicitationRequestSchema } = await load("@ai-sdk/mcp/dist/index.js");
  const stdio = await load("@ai-sdk/mcp/dist/mcp-stdio/index.js");
  const Transport = stdio.StdioMCPTransport ?? stdio.Experimental_StdioMCPTransport;
  const transport = new Transport(started());
  const client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
  client.onElicitationRequest(ElicitationRequestSchema, () => ({
    action: "accept",
    content: { decision: "once" },
  }));
  const tools = await client.tools();
  return {
    tools: Object.keys(tools).length,
    call: (name, args, abortSignal) =>
      tools[name].execute(args, { messages: [], toolCallId: "1", abortSignal }),
    close: () => client.close(),
  };
}

/** @returns {Promise<Connected>} */
async function openaiAgents() {
  const { MCPServerStdio } = await load("@openai/agents/dist/index.mjs");
  const server = new MCPServerStdio({ name: "burin", ...started("--allow", "edit") });
  await server.connect();
  return {
    tools: (await server.listTools()).length,
    call: (name, args, signal) => server.callTool(name, args, null, { signal }),
    close: () => server.close(),
  };
}

/** @returns {Promise<Connected>} */
async function langchain() {
  const { MultiServerMCPClient } = await load("@langchain/mcp-adapters/dist/index.js");
  const client = new MultiServerMCPClient({
    mcpServers: { burin: { transport: "stdio", ...started("--allow", "edit") } },
  });
  const tools = await client.getTools();
  return {
    tools: tools.length,
    call: (name, args, signal) =>
      tools.find((/** @type {{ name: string }} */ tool) => tool.name === name).invoke(args, { signal }),
    close: () => client.close(),
  };
}

/** It cannot say where a program starts. @returns {Promise<Connected>} */
async function mcpClient() {
  const { MCPClient } = await load("mcp-client/dist/MCPClient.js");
  const client = new MCPClient({ name: "mcp-client", version: "1" });
  const { cwd, ...server } = started("--allow", "edit", "--root", project);
  await client.connect({ type: "stdio", ...server });
  return {
    tools: (await client.getAllTools()).length,
    call: (name, args, signal) => client.callTool({ name, arguments: args }, { requestOptions: { signal } }),
    close: () => client.close(),
  };
}

/**
 * A client of the Agent Client Protocol, with a fake model that reads, edits and looks outside.
 * @param {(agent: { command: string, args: string[], env: Record<string, string> }) => Promise<unknown>} edit
 */
async function session(edit) {
  const call = (/** @type {string} */ name, /** @type {object} */ args) => ({ calls: [{ name, args }] });
  const { startFakeModelServer } = await import(pathToFileURL(TESTING).href);
  const model = await startFakeModelServer([
    call("read_file", { absolute_path: file }),
    call("edit", { file_path: file, old_string: "two", new_string: "three" }),
    call("read_file", { absolute_path: join(top, "package.json") }),
    { text: "Done." },
  ]);
  const variables = { ...env, OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: "m", OPENAI_API_KEY: "k" };
  try {
    await edit({ command: process.execPath, args: [BURIN, "serve", "acp"], env: variables });
    expect("the file after an edit", readFileSync(file, "utf8"), "one\nthree\n");
    const last = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect("a file outside", last.includes("outside the root"), true);
  } finally {
    await model.close();
  }
}

/** @type {Parameters<typeof session>[0]} */
async function acpx({ command, args, env: variables }) {
  const bin = join(top, "node_modules/.bin/acpx");
  const words = [bin, "--agent", [command, ...args].join(" "), "--approve-all", "exec", "Edit a.txt."];
  const child = spawn(newerNode(top), words, {
    cwd: project,
    env: variables,
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect("its exit code", await new Promise((resolve) => child.on("close", resolve)), 0);
}

/** @type {Parameters<typeof session>[0]} */
async function acpFactory({ env: variables, ...command }) {
  const { AgentFactory } = await load("acp-factory/dist/index.js");
  AgentFactory.register("burin", { ...command, env: {} });
  const agent = await AgentFactory.spawn("burin", { permissionMode: "auto-approve", env: variables });
  const opened = await agent.createSession(project);
  const kinds = new Set();
  for await (const { sessionUpdate } of opened.prompt("Edit a.txt.")) kinds.add(sessionUpdate);
  await agent.close();
  expect("calls are shown", kinds.has("tool_call") && kinds.has("agent_message_chunk"), true);
}

/** @type {Parameters<typeof session>[0]} */
async function acpAiProvider(agent) {
  const { createACPProvider } = await load("@mcpc-tech/acp-ai-provider/index.mjs");
  const { generateText } = await load("@mcpc-tech/acp-ai-provider/node_modules/ai/dist/index.mjs");
  const provider = createACPProvider({ ...agent, session: { cwd: project, mcpServers: [] } });
  const model = provider.languageModel();
  const { text } = await generateText({ model, prompt: "Edit a.txt.", tools: provider.tools });
  provider.cleanup();
  expect("its text", text.trim(), "Done.");
}
