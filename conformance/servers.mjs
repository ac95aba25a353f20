// MCP servers of others under Burin's tool core. Each is installed into a temporary folder, started, listed and called,
// gets wrong arguments, is killed, is called again, and leaves no process behind.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolbox } from "../packages/core/dist/index.js";

const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-servers-")));
const project = join(top, "project");

/**
 * @typedef {{ name: string, file: string, args?: string[], env?: Record<string, string>, call: [string, object],
 *   says: string, slow?: [string, object] }} Server
 * @type {Record<string, Server>} by alias: what is installed, a call of it, and what its result must contain
 */
const SERVERS = {
  knip: { name: "@knip/mcp@0.0.36", file: "src/cli.js", call: ["knip-run", {}], says: "counters" },
  tasks: {
    name: "@kazuph/mcp-taskmanager@1.1.1",
    file: "dist/index.js",
    env: { TASK_MANAGER_FILE_PATH: join(top, "tasks.json") },
    call: ["list_requests", {}],
    says: "requests_listed",
  },
  eslint: {
    name: "@eslint/mcp@0.3.13",
    file: "src/mcp-cli.js",
    call: ["lint-files", { filePaths: [join(project, "a.js")] }],
    says: "config file",
  },
  graph: {
    name: "@itseasy21/mcp-knowledge-graph@1.0.7",
    file: "dist/index.js",
    args: ["--memory-path", join(top, "memory.jsonl")],
    call: [
      "create_entities",
      { entities: [{ name: "a", entityType: "b", observations: ["x".repeat(3_000_000)] }] },
    ],
    says: "[",
  },
  mui: { name: "@mui/mcp@0.1.5", file: "stdio.js", call: ["fetchDocs", { urls: [] }], says: "" },
  monitor: {
    name: "@modelcontextprotocol/server-system-monitor@2.0.3",
    file: "dist/index.js",
    args: ["--stdio"],
    call: ["get-system-info", {}],
    says: "hostname",
  },
  git: {
    name: "@cyanheads/git-mcp-server@2.15.3",
    file: "dist/index.js",
    env: { MCP_TRANSPORT_TYPE: "stdio" },
    call: ["git_status", { path: project }],
    says: "currentBranch",
  },
  chart: {
    name: "@antv/mcp-server-chart@0.9.10",
    file: "build/index.js",
    call: ["generate_area_chart", { data: [] }],
    says: "",
  },
  commands: {
    name: "@agent-infra/mcp-server-commands@1.2.18",
    file: "dist/index.cjs",
    call: ["run_command", { command: "seq 1 100000; echo noise >&2" }],
    says: "99999",
    slow: ["run_command", { command: "sleep 3609" }],
  },
  thoughts: {
    name: "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
    file: "dist/index.js",
    call: [
      "sequentialthinking",
      { thought: "x", nextThoughtNeeded: "false", thoughtNumber: "1", totalThoughts: 1 },
    ],
    says: "thoughtHistoryLength",
  },
  segments: {
    name: "@modelcontextprotocol/server-customer-segmentation@2.0.3",
    file: "dist/index.js",
    args: ["--stdio"],
    call: ["get-customer-data", {}],
    says: "customers",
  },
};

try {
  mkdirSync(project);
  writeFileSync(join(project, "a.js"), "const a = 1;\n");
  writeFileSync(join(project, "package.json"), '{"name":"project","version":"1.0.0"}\n');
  execFileSync("git", ["init", "-q", project]);
  writeFileSync(join(top, "package.json"), '{"private":true}\n');
  const names = Object.values(SERVERS).map(({ name }) => name);
  const install = [
    "install",
    "--silent",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--legacy-peer-deps",
  ];
  execFileSync("npm", [...install, ...names], { cwd: top, stdio: "inherit" });
  let failed = 0;
  for (const alias of Object.keys(SERVERS)) {
    const fault = await round(alias).then(
      (tools) => `ok, ${tools} tools`,
      (error) => {
        failed += 1;
        return `FAILED: ${error.message}`;
      },
    );
    process.stdout.write(`${alias}: ${fault}\n`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(top, { recursive: true, force: true });
}

/** Returns the number of its tools. @param {string} alias */
async function round(alias) {
  const { name, file, args = [], env = {}, call, says, slow } = /** @type {Server} */ (SERVERS[alias]);
  const program = join(top, "node_modules", name.slice(0, name.lastIndexOf("@")), file);
  const server = { command: process.execPath, args: [program, ...args], env };
  const toolbox = createToolbox({
    root: project,
    approvalMode: "yolo",
    environment: { ...process.env, BURIN_HOME: join(top, "home"), BURIN_KEYCHAIN: "off" },
    settings: { mcpServers: { [alias]: server } },
  });
  const run = (/** @type {[string, object]} */ [tool, params]) =>
    toolbox.run(`${alias}__${tool}`, /** @type {Record<string, unknown>} */ (params));
  try {
    expect("problems", JSON.stringify(await toolbox.ready()), "[]");
    const tools = toolbox.registry.getAllTools().filter((tool) => tool.name.startsWith(`${alias}__`));
    expect("tools", tools.length > 0, true);
    expect("its result", JSON.stringify((await run(call)).llmContent).includes(says), true);
    const strict = tools.find(({ parameterSchema }) => parameterSchema.required?.length);
    if (strict) {
      const refused = await toolbox.run(strict.name, {});
      expect("arguments that are missing", refused.status, "error");
    }
    const interrupted = slow === undefined ? null : run(slow);
    if (interrupted) await until(() => processes("sleep 3609").length > 0);
    const dead = processes(program);
    for (const pid of dead) process.kill(pid, "SIGKILL");
    if (interrupted) expect("a call of a killed server", (await interrupted).status, "error");
    // Until Burin knows it: a call before that is lost with the server.
    await until(() => !isAlive(dead));
    expect("the call after that", JSON.stringify((await run(call)).llmContent).includes(says), true);
    return tools.length;
  } finally {
    await toolbox.close();
    await until(() => processes(program).length === 0);
  }
}

/** Also while nobody has asked how it ended. @param {number[]} pids */
function isAlive(pids) {
  return pids.some((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
}

/** @param {string} words */
function processes(words) {
  const all = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split("\n");
  return all.filter((line) => line.includes(words)).map((line) => Number.parseInt(line, 10));
}

/** @param {string} what @param {unknown} found @param {unknown} wanted */
function expect(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

/** @param {() => boolean} holds */
async function until(holds) {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 300) throw new Error(`waited in vain for ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
