// What tasks cost the model: the bytes of all requests of 30 tasks on the sources of installed packages. The same steps
// are asked of each client by the names of its own tools. npm run bench -- tokens [PI], where PI is the program of pi.
import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { median, printResult } from "./measure.mjs";

const TOP = fileURLToPath(new URL("..", import.meta.url));
const BURIN = join(TOP, "packages/cli/dist/burin.cjs");
const TASKS = 30;
/** A package's sources must be this many, none larger than that: a model would not read it whole. */
const MIN_FILES = 4;
const MAX_BYTES = 60_000;

/** @typedef {{ name: string, args: object }} Call */
/** @typedef {{ search: string, find: string, read: string, edit: [path: string, old: string, fresh: string], run: string }} Step */
/** @typedef {{ calls(step: Partial<Step>, root: string): Call, command(port: number, root: string, home: string): string[] }} Client */

/** @type {Record<string, Client>} */
const CLIENTS = {
  burin: {
    calls({ search, find, read, edit, run }, root) {
      if (search !== undefined) return { name: "search_file_content", args: { pattern: search } };
      if (find !== undefined) return { name: "glob", args: { pattern: `**/${find}` } };
      if (read !== undefined) return { name: "read_file", args: { absolute_path: join(root, read) } };
      if (run !== undefined) return { name: "run_shell_command", args: { command: run } };
      const [path = "", old_string, new_string] = edit ?? [];
      return { name: "edit", args: { file_path: join(root, path), old_string, new_string } };
    },
    command: () => [process.execPath, BURIN, "-p", "--yes", "Fix it."],
  },
  pi: {
    calls({ search, find, read, edit, run }) {
      if (search !== undefined) return { name: "bash", args: { command: `grep -rnE '${search}' .` } };
      if (find !== undefined) return { name: "bash", args: { command: `find . -name '${find}'` } };
      if (read !== undefined) return { name: "read", args: { path: read } };
      if (run !== undefined) return { name: "bash", args: { command: run } };
      const [path, oldText, newText] = edit ?? [];
      return { name: "edit", args: { path, edits: [{ oldText, newText }] } };
    },
    command(port, _root, home) {
      mkdirSync(join(home, ".pi/agent"), { recursive: true });
      const service = { baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", apiKey: "k" };
      const providers = { fake: { ...service, models: [{ id: "m" }] } };
      writeFileSync(join(home, ".pi/agent/models.json"), JSON.stringify({ providers }));
      return [
        process.execPath,
        program,
        "--provider",
        "fake",
        "--model",
        "m",
        "--no-session",
        "-p",
        "Fix it.",
      ];
    },
  },
};
let program = "";

/** @param {readonly string[]} args */
export async function run([pi = ""]) {
  program = pi;
  const packages = listPackages();
  const bytes = /** @type {Record<string, number[]>} */ ({});
  for (const name of pi === "" ? ["burin"] : ["burin", "pi"])
    bytes[name] = await countAll(/** @type {Client} */ (CLIENTS[name]), packages);
  const sum = (/** @type {number[]} */ counts = []) => counts.reduce((all, one) => all + one, 0);
  for (const [name, counts] of Object.entries(bytes)) {
    const each = `${(median(counts) / 1000).toFixed(1)} kB in a task, median`;
    console.log(`${name.padEnd(6)} ${(sum(counts) / 1000).toFixed(0)} kB in ${counts.length} tasks; ${each}`);
  }
  if (bytes.pi === undefined) return;
  const value = sum(bytes.burin) / sum(bytes.pi);
  printResult({ what: "bytes sent in all requests", value, unit: "x pi", most: 1.3 });
}

/** Packages that npm installed here, with the sources that count, in the order of their names. */
function listPackages() {
  const folder = join(TOP, "node_modules");
  const found = readdirSync(folder).flatMap((name) => {
    const root = join(folder, name);
    if (/^[.@]/.test(name) || !statSync(root).isDirectory()) return [];
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[cm]?js$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
      .filter((file) => !file.includes("node_modules") && !file.includes(".min."))
      .filter((file) => statSync(join(root, file)).size < MAX_BYTES && stepsOf(root, file) !== null)
      .sort();
    return files.length < MIN_FILES ? [] : [{ root, files }];
  });
  const stride = Math.floor(found.length / TASKS);
  return found.filter((_, index) => index % stride === 0).slice(0, TASKS);
}

/**
 * Whether the edit before this check was made: a call that fails would be the cheapest.
 * @param {string} root @param {string} check
 */
function isEdited(root, check) {
  const file = join(root, check.slice("node --check ".length));
  return readFileSync(file, "utf8").includes(" // looked at");
}

/** A function's name, and a line that has it and stands once in the file. @param {string} root @param {string} file */
function stepsOf(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  const [line = "", name = ""] = /^.*function (\w{4,})\(.*$/m.exec(text) ?? [];
  return line === "" || line.length > 200 || text.split(line).length !== 2 ? null : { line, name };
}

/** @param {{ root: string, files: string[] }} found @returns {Partial<Step>[]} */
function listSteps({ root, files }) {
  const [first = "", second = "", third = ""] = files;
  const { line, name } = stepsOf(root, first) ?? { line: "", name: "" };
  return [
    { find: "*.js" },
    { search: name },
    { read: first },
    { read: second },
    { edit: [first, line, `${line} // looked at`] },
    { run: `node --check ${first}` },
    { read: third },
    { run: "git status --short" },
    { edit: [first, `${line} // looked at`, line] },
    { run: `wc -l ${first} ${second}` },
  ];
}

/** @param {Client} client @param {readonly { root: string, files: string[] }[]} packages */
async function countAll(client, packages) {
  const counts = [];
  for (const found of packages) {
    const base = mkdtempSync(join(tmpdir(), "burin-bench-tokens-"));
    try {
      const [root, home] = [join(base, "project"), join(base, "home")];
      mkdirSync(home);
      cpSync(found.root, root, {
        recursive: true,
        filter: (path) => !path.slice(found.root.length).includes("node_modules"),
      });
      counts.push(await countBytes(client, listSteps(found), { root, home }));
    } finally {
      rmSync(base, { recursive: true });
    }
  }
  return counts;
}

/** @param {Client} client @param {Partial<Step>[]} steps @param {{ root: string, home: string }} places */
async function countBytes(client, steps, { root, home }) {
  let bytes = 0;
  let asked = 0;
  let wasEdited = false;
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    bytes += Buffer.concat(pieces).length;
    const step = steps[asked];
    if (step?.run?.startsWith("node --check")) wasEdited = isEdited(root, step.run);
    asked += 1;
    const { name, args } = step === undefined ? { name: "", args: {} } : client.calls(step, root);
    const call = {
      index: 0,
      id: `c${asked}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    };
    const delta = step === undefined ? { content: "It is done." } : { content: "Next.", tool_calls: [call] };
    const finish_reason = step === undefined ? "stop" : "tool_calls";
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const choice of [
      { index: 0, delta: { role: "assistant", ...delta } },
      { index: 0, delta: {}, finish_reason },
    ])
      response.write(
        `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [choice] })}\n\n`,
      );
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const [command = "", ...args] = client.command(port, root, home);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    OPENAI_API_KEY: "k",
    OPENAI_MODEL: "m",
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
  };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (piece) => {
    said += piece;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  server.close();
  if (code !== 0 || !wasEdited || asked !== steps.length + 1)
    throw new Error(`${args.join(" ")}: ${code}, ${asked} requests. ${said}`);
  return bytes;
}
