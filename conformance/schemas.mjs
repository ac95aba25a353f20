// A whole session with `burin serve acp`, in which every message that it sends is checked against the schema that the
// protocol publishes. Given are the folder where Burin is installed, and the one where the schema is.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [installed = "", place = ""] = process.argv.slice(2);
const from = createRequire(join(place, "package.json"));
const schema = from("@agentclientprotocol/sdk/schema/v1/schema.json");
const { default: Ajv } = from("ajv/dist/2020.js");
const ajv = new Ajv({ strict: false, allErrors: true });
from("ajv-formats").default(ajv);
// Widths of numbers, which only say how a program may store them.
for (const format of ["int32", "int64", "uint16", "uint32", "uint64"]) ajv.addFormat(format, true);
ajv.addSchema({ ...schema, $id: "acp" });

const MUST_SEND = [
  ...["session/request_permission", "fs/read_text_file", "fs/write_text_file"],
  ...["agent_message_chunk", "user_message_chunk", "tool_call", "tool_call_update", "plan"],
  ...["current_mode_update", "available_commands_update", "usage_update", "error"],
];
const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-schemas-")));
const project = join(top, "project");
const file = join(project, "a.txt");
const uri = pathToFileURL(file).href;
mkdirSync(project);
writeFileSync(file, "one\n");
/** What the editor has, and has not saved. */
let buffer = "one\ntwo\n";
const { startFakeModelServer } = await import(
  pathToFileURL(join(installed, "node_modules/@burin/core/dist/testing.js")).href
);
const call = (/** @type {string} */ name, /** @type {object} */ args) => ({ calls: [{ name, args }] });
const model = await startFakeModelServer([
  call("todo_write", { todos: [{ id: "1", content: "Edit", status: "in_progress" }] }),
  call("read_file", { absolute_path: file }),
  call("edit", { file_path: file, old_string: "two", new_string: "three" }),
  call("run_shell_command", { command: "echo four" }),
  call("read_file", { absolute_path: join(top, "outside") }),
  { text: "Done." },
  call("run_shell_command", { command: "sleep 3611" }),
]);
const { PATH = "" } = process.env;
const agent = spawn(
  process.execPath,
  [join(installed, "node_modules/burin/dist/burin.cjs"), "serve", "acp"],
  {
    cwd: project,
    env: {
      ...{ PATH, HOME: top, BURIN_HOME: join(top, "home") },
      ...{ OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: "m", OPENAI_API_KEY: "k" },
    },
    stdio: ["pipe", "pipe", "inherit"],
  },
);

/** @type {string[]} */
const faults = [];
/** The methods, updates and errors that were sent. */
const sent = new Set();
let checked = 0;
/** @type {Map<number, { method: string, settle: (answer: any) => void }>} */
const open = new Map();
let onCommand = () => {};

/** The name of what the protocol has for a method. @param {string} side @param {string} method @param {string} kind */
function nameOf(side, method, kind) {
  const [name] =
    Object.entries(schema.$defs).find(
      ([title, entry]) => entry["x-side"] === side && entry["x-method"] === method && title.endsWith(kind),
    ) ?? [];
  return name ?? `no ${kind} is called ${method}`;
}

/** @param {string} name @param {unknown} value */
function check(name, value) {
  checked += 1;
  const found = schema.$defs[name] === undefined ? "" : `acp#/$defs/${name}`;
  if (found !== "" && ajv.validate(found, value)) return;
  faults.push(`${name}: ${found === "" ? "" : ajv.errorsText()}: ${JSON.stringify(value).slice(0, 2_000)}`);
}

createInterface({ input: agent.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  const { jsonrpc, id, method, params, result, error } = message;
  if (jsonrpc !== "2.0") faults.push(`not JSON-RPC: ${line}`);
  if (method !== undefined) {
    const isRequest = id !== undefined;
    const side = method === "$/cancel_request" ? "protocol" : "client";
    check(nameOf(side, method, isRequest ? "Request" : "Notification"), params);
    sent.add(method === "session/update" ? params.update.sessionUpdate : method);
    if (isRequest) say({ id, result: answerOf(method, params) });
    const { sessionUpdate, status, rawInput } = params.update ?? {};
    if (
      sessionUpdate === "tool_call_update" &&
      status === "in_progress" &&
      rawInput?.command?.includes("3611")
    )
      onCommand();
    return;
  }
  const asked = open.get(id);
  if (asked === undefined) return void faults.push(`an answer to nothing: ${line}`);
  open.delete(id);
  if (error === undefined) check(nameOf("agent", asked.method, "Response"), result);
  else {
    sent.add("error");
    check("Error", error);
  }
  asked.settle(message);
});

/** @param {string} method @param {any} params */
function answerOf(method, params) {
  if (method === "session/request_permission")
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  if (method === "fs/read_text_file") return { content: buffer };
  if (method === "fs/write_text_file") buffer = params.content;
  return {};
}

/** @param {object} message */
function say(message) {
  agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

let last = 0;
/** @param {string} method @param {object} params @returns {Promise<any>} */
async function ask(method, params) {
  last += 1;
  const id = last;
  const answer = new Promise((settle) => open.set(id, { method, settle }));
  say({ id, method, params });
  const { result, error } = await answer;
  return result ?? { error };
}

async function session() {
  const fs = { readTextFile: true, writeTextFile: true };
  await ask("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs, session: {}, terminal: true, _meta: { terminal_output: true } },
  });
  const folders = { cwd: project, mcpServers: [] };
  const { sessionId, modes, configOptions } = await ask("session/new", folders);
  await ask("session/set_mode", { sessionId, modeId: modes.availableModes[2].id });
  await ask("session/set_mode", { sessionId, modeId: "default" });
  await ask("session/set_mode", { sessionId, modeId: "no such mode" });
  const [{ id: configId, currentValue: value }] = configOptions;
  await ask("session/set_config_option", { sessionId, configId, value });
  const prompt = [
    { type: "text", text: "Edit " },
    { type: "resource_link", uri, name: "a.txt" },
    { type: "resource", resource: { uri, text: "two", mimeType: "text/plain" } },
  ];
  const { stopReason } = await ask("session/prompt", { sessionId, prompt });
  if (stopReason !== "end_turn") faults.push(`the prompt ended with ${stopReason}`);
  if (buffer !== "one\nthree\n") faults.push(`the editor has ${JSON.stringify(buffer)}`);
  onCommand = () => say({ method: "session/cancel", params: { sessionId } });
  const cancelled = await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "Wait." }] });
  if (cancelled.stopReason !== "cancelled") faults.push(`a cancelled prompt: ${JSON.stringify(cancelled)}`);
  const { sessions } = await ask("session/list", { cwd: project });
  if (sessions.length !== 1) faults.push(`${sessions.length} sessions are listed`);
  await ask("session/close", { sessionId });
  await ask("session/load", { ...folders, sessionId });
  await ask("session/resume", { ...folders, sessionId });
  await ask("session/delete", { sessionId });
  await ask("session/load", { ...folders, sessionId });
  await ask("session/unknown", {});
}

const late = setTimeout(() => agent.kill("SIGKILL"), 60_000);
try {
  const ended = once(agent, "close").then(() => faults.push("the agent ended too early"));
  await Promise.race([session(), ended]);
  const missing = MUST_SEND.filter((name) => !sent.has(name));
  if (missing.length > 0) faults.push(`never sent, so not checked: ${missing.join(", ")}`);
} finally {
  clearTimeout(late);
  agent.kill();
  await model.close();
  rmSync(top, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
process.stdout.write(`${checked} messages checked\n${faults.map((fault) => `FAILED: ${fault}\n`).join("")}`);
process.exitCode = faults.length === 0 ? 0 : 1;
