// A place to try the fleet in: a home of its own with the PostgreSQL that the fleet starts there, a fake model service,
// and the command line as it ships.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";

const CORE = new URL("../../core/dist/testing.js", import.meta.url);
const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));
const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const BURIN = fileURLToPath(new URL("../../cli/dist/burin.cjs", import.meta.url));
const { startFakeModelServer } = /** @type {typeof import("@burin/core/testing")} */ (
  await import(CORE.href)
);

/** A bench asks for many. */
const MAX_REPLIES = 300_000;

/** @typedef {import("@burin/core/testing").ScriptLine} ScriptLine */
/** @typedef {{ code: number | null, stdout: string, stderr: string }} Ended */
/** @typedef {(messages: readonly any[]) => ScriptLine | Promise<ScriptLine>} Reply What a model says to a history. */

/**
 * @param {Reply} reply
 * @param {Record<string, string>} [variables] of all commands
 */
export async function openRoom(reply, variables = {}) {
  const folder = await mkdtemp(join(tmpdir(), "burin-fleet-"));
  const project = join(folder, "project");
  const home = join(folder, "home");
  await mkdir(project);
  await mkdir(home);
  await writeFile(join(project, "start.txt"), "start\n");
  await writeFile(join(home, "settings.json"), JSON.stringify({ sandbox: { mode: "off" } }));
  const answer = async (/** @type {any} */ { body }) => reply(body.messages);
  const server = await startFakeModelServer(Array.from({ length: MAX_REPLIES }, () => answer));
  const { PATH = "" } = process.env;
  const commands = new Commands(folder, {
    PATH,
    HOME: folder,
    BURIN_HOME: home,
    OPENAI_API_KEY: "key",
    OPENAI_BASE_URL: server.baseUrl,
    OPENAI_MODEL: "fake",
    ...variables,
  });
  /** @type {pg.Client | null} */
  let kept = null;
  const databaseUrl = () => readFileSync(join(home, "fleet/database/url"), "utf8");
  return {
    folder,
    project,
    server,
    commands,
    /** @param {string[]} args */
    fleet: (...args) => commands.start(args).end,
    databaseUrl,
    /** Ends the server at once, and has the fleet start it again after that time. @param {number} milliseconds */
    restartDatabase: async (milliseconds) => {
      // The last command may just have ended it.
      await stopDatabase(join(home, "fleet/database")).catch(() => {});
      await pause(milliseconds);
      await commands.start(["results"]).end;
    },
    /** A command that finds nobody else there would end the server, and the next one start it again. */
    keepDatabase: async () => {
      kept = await connect(databaseUrl());
      // As commands do.
      await kept.query("select pg_advisory_lock_shared(7261903120)");
    },
    /** @param {string} id */
    hasEnded: async (id) => {
      const text = `select status from dbos.workflow_status where workflow_uuid = '${id}'`;
      const ask = async () => (kept === null ? query(databaseUrl(), text) : (await kept.query(text)).rows);
      const [row] = await ask().catch(() => []);
      return row !== undefined && !["ENQUEUED", "PENDING"].includes(row.status);
    },
    /** @param {object[]} tasks */
    writeTasks: async (tasks) => {
      const plain = { folder: "project", prompt: "go", approvalMode: "yolo" };
      const lines = tasks.map((task) => `${JSON.stringify({ ...plain, ...task })}\n`);
      await writeFile(join(folder, "tasks.jsonl"), lines.join(""));
      return "tasks.jsonl";
    },
    close: async () => {
      await commands.killAll();
      await kept?.end();
      await server.close();
      await endDatabase(join(home, "fleet/database"));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A room whose model says to each prompt what was set for it. @param {Record<string, string>} [variables] */
export async function openScriptedRoom(variables) {
  /** @type {Map<string, Reply>} What the model says to each prompt: `{"prompt": "..."}` of a task names it. */
  const replies = new Map();
  const room = await openRoom((messages) => {
    const prompts = messages.filter(({ role }) => role === "user").map(({ content }) => joinText(content));
    const found = [...replies].find(([name]) => prompts.some((text) => text.endsWith(name)));
    return found === undefined ? { text: "nothing to do" } : found[1](messages);
  }, variables);
  return { ...room, replies };
}

/** @param {string | { text?: string }[]} content */
export function joinText(content) {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
}

/** @param {string} command */
export function shell(command) {
  return { calls: [{ name: "run_shell_command", args: { command } }] };
}

export const usage = { inputTokens: 90, outputTokens: 10 };

/** Runs each command once and then ends; the answers so far are what it goes by. @param {string[]} lines @returns {Reply} */
export function scriptCommands(...lines) {
  return (messages) => {
    const next = lines[listAnswers(messages).length];
    return next === undefined ? { text: "done", usage } : { ...shell(next), usage };
  };
}

/**
 * Burin and the fleet as npm installs them, without what may be missing. Gives the program.
 * @param {string} folder
 * @param {(code: string) => string} [change] of the fleet
 */
export async function installCopy(folder, change = (code) => code) {
  const fleet = join(folder, "node_modules/@burin/fleet");
  await mkdir(fleet, { recursive: true });
  for (const name of ["dist", "package.json"])
    await cp(join(PACKAGES, "fleet", name), join(fleet, name), { recursive: true });
  const code = join(fleet, "dist/index.js");
  await writeFile(code, change(readFileSync(code, "utf8")));
  for (const name of ["@dbos-inc", "pg", "@burin/core"])
    await symlink(join(MODULES, name), join(folder, "node_modules", name));
  await cp(join(PACKAGES, "cli/dist"), join(folder, "dist"), { recursive: true });
  return join(folder, "dist/burin.cjs");
}

/** @typedef {{ starter?: readonly string[], burin?: string }} How `starter`: a command that becomes the one whose words follow it. */

/** Processes of `burin fleet`. */
class Commands {
  #folder;
  /** Of each process. */
  env;
  /** @type {Set<import("node:child_process").ChildProcess>} */
  #children = new Set();
  #isClosed = false;

  /**
   * @param {string} folder
   * @param {Record<string, string>} env
   */
  constructor(folder, env) {
    this.#folder = folder;
    this.env = env;
  }

  /**
   * @param {readonly string[]} args
   * @param {Record<string, string>} [more] variables
   * @param {How} [how]
   */
  start(args, more, { starter = [], burin = BURIN } = {}) {
    if (this.#isClosed) throw new Error("the room is closed");
    const [program = "", ...words] = [...starter, process.execPath, burin, "fleet", ...args];
    const child = spawn(program, words, {
      cwd: this.#folder,
      env: { ...this.env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
    const soFar = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      soFar.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      soFar.stderr += chunk;
    });
    /** @type {Promise<Ended>} */
    const end = new Promise((resolve) => {
      child.once("close", (code) => resolve({ code, ...soFar }));
    });
    return { child, end, soFar };
  }

  /**
   * @param {number} [concurrency]
   * @param {Record<string, string>} [more]
   * @param {How} [how]
   */
  async startWorker(concurrency = 2, more = {}, how = {}) {
    const worker = this.start(["worker", "--concurrency", String(concurrency)], more, how);
    await waitUntil(() => worker.soFar.stderr.includes("at a time") || hasExited(worker.child));
    if (hasExited(worker.child)) throw new Error(worker.soFar.stderr);
    return worker;
  }

  /** The tasks of a run as `burin fleet status --json` tells them. @param {string} run */
  async states(run) {
    const { stdout, stderr } = await this.start(["status", run, "--json"]).end;
    if (stdout === "") throw new Error(stderr);
    /** @type {{ id: string, state: string, worker?: string, end?: any, error?: string }[]} */
    const found = JSON.parse(stdout);
    return found;
  }

  /** What has come of a run as `burin fleet results --json` tells it. @param {string} run */
  async results(run) {
    const { stdout, stderr } = await this.start(["results", run, "--json"]).end;
    if (stdout === "") throw new Error(stderr);
    /** @type {{ id: string, status: string, result: string, patch: string, [key: string]: any }[]} */
    const found = JSON.parse(stdout);
    return found;
  }

  /** Of a home of its own. @param {string} home */
  async endDatabase(home) {
    await endDatabase(join(home, "fleet/database"));
  }

  async killAll() {
    this.#isClosed = true;
    for (const child of this.#children) child.kill("SIGKILL");
    await waitUntil(() => this.#children.size === 0);
  }
}

/** @param {import("node:child_process").ChildProcess} child */
function hasExited(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

/** @typedef {Awaited<ReturnType<typeof openRoom>>} Room */
/** @typedef {Awaited<ReturnType<typeof openScriptedRoom>>} ScriptedRoom */

/**
 * Where the fleet has the data of its own server.
 * @param {string} folder
 */
export function findDataFolder(folder) {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 8);
  return process.getuid?.() === 0 ? `/var/lib/postgresql/burin-fleet-${name}` : join(folder, "data");
}

/**
 * @param {string} folder
 * @param {"SIGQUIT" | "SIGINT"} signal what PostgreSQL calls an immediate and a fast shutdown
 */
export async function stopDatabase(folder, signal = "SIGQUIT") {
  const file = join(findDataFolder(folder), "postmaster.pid");
  const server = () => readFileSync(file, "utf8").split("\n")[0];
  const pid = server();
  process.kill(Number(pid), signal);
  // A worker may have it started again at once.
  await waitUntil(() => {
    try {
      return server() !== pid;
    } catch {
      return true;
    }
  });
}

/** @param {string} folder */
async function endDatabase(folder) {
  // It may have ended by itself.
  await stopDatabase(folder).catch(() => {});
  await rm(findDataFolder(folder), { recursive: true, force: true });
}

/** @param {() => unknown} isSo */
export async function waitUntil(isSo) {
  while (!(await isSo())) await pause(25);
}

/** @param {string} url */
export async function connect(url) {
  const client = new pg.Client({ connectionString: url, application_name: "room" });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/**
 * @param {string} url
 * @param {string} text
 */
export async function query(url, text) {
  const client = await connect(url);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/**
 * The answers of a history by the id of their call, with what the call was.
 * @param {readonly any[]} messages
 * @returns {{ name: string, args: any, text: string }[]}
 */
export function listAnswers(messages) {
  const calls = new Map(
    messages.flatMap(({ tool_calls = [] }) => tool_calls.map((/** @type {any} */ call) => [call.id, call])),
  );
  return messages.flatMap(({ role, tool_call_id, content }) => {
    const call = calls.get(tool_call_id)?.function;
    if (role !== "tool" || call === undefined) return [];
    return [{ name: call.name, args: JSON.parse(call.arguments), text: String(content) }];
  });
}
