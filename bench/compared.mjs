// What it takes to write one small agent with Burin and with other libraries: the programs of docs/compared.md, each
// run against a fake service, with what it costs to install and to import its library.
import { execFile } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./measure.mjs";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(REPOSITORY, "docs/compared.md");
/** All run on it: some refuse older ones. */
const NODE = "node@24.21.0";
const RUNS = 15;
const SECRET = "not for the model";
const BEFORE = "const answer = 41;\n";
const AFTER = "const answer = 42;\n";
const [OLD, NEW] = ["answer = 41", "answer = 42"];

/** How each names what the session asks for. A name with a version is what is installed and imported first. */
const LIBRARIES = {
  "@burin/core": {
    packages: [],
    reads: (/** @type {string} */ path) => ({ name: "read_file", args: { absolute_path: `ROOT/${path}` } }),
    edit: { name: "edit", args: { file_path: "ROOT/a.js", old_string: OLD, new_string: NEW } },
  },
  pi: {
    packages: ["@earendil-works/pi-coding-agent"],
    reads: (/** @type {string} */ path) => ({ name: "read", args: { path } }),
    edit: { name: "edit", args: { path: "a.js", edits: [{ oldText: OLD, newText: NEW }] } },
  },
  deepagents: {
    packages: ["deepagents", "@langchain/openai"],
    reads: (/** @type {string} */ path) => ({ name: "read_file", args: { file_path: `/${path}` } }),
    edit: { name: "edit_file", args: { file_path: "/a.js", old_string: OLD, new_string: NEW } },
  },
  ai: {
    packages: ["ai", "@ai-sdk/openai-compatible", "zod"],
    reads: (/** @type {string} */ path) => ({ name: "read_file", args: { path } }),
    edit: { name: "edit_file", args: { path: "a.js", old: OLD, new: NEW } },
  },
  "OpenAI Agents": {
    packages: ["@openai/agents", "zod"],
    reads: (/** @type {string} */ path) => ({ name: "read_file", args: { path } }),
    edit: { name: "edit_file", args: { path: "a.js", old: OLD, new: NEW } },
  },
};
/** @typedef {keyof typeof LIBRARIES} Library */
/** @typedef {{ calls?: { name: string, args: object }[], text?: string }} Reply */

/** @param {readonly string[]} args a folder in which the libraries are installed, or are left for the next time */
export async function run([kept]) {
  const place = kept ?? mkdtempSync(join(tmpdir(), "burin-compared-"));
  try {
    const node = await installNode(place);
    const names = /** @type {Library[]} */ (Object.keys(LIBRARIES));
    for (const name of names) {
      await install(place, name, node);
      await play(place, name, node);
    }
    const costs = await importCosts(place, names, node);
    for (const name of names) {
      const folder = folderOf(place, name);
      const lines = programOf(name)
        .split("\n")
        .filter((line) => line.trim() !== "").length;
      const megabytes = (bytesBelow(join(folder, "node_modules")) / 1e6).toFixed(1);
      const { ms, mb } = costs[name] ?? { ms: 0, mb: 0 };
      const title = name === "@burin/core" ? name : `${name} ${versionOf(folder, name)}`;
      console.log(`| ${title} | ${lines} | ${megabytes} MB | ${ms.toFixed(0)} ms | ${mb.toFixed(0)} MB |`);
    }
  } finally {
    if (kept === undefined) rmSync(place, { recursive: true, force: true });
  }
}

/** @param {string} place @param {Library} name */
const folderOf = (place, name) => join(place, name.replace(/\W+/g, "-"));

/** @param {Library} name */
function programOf(name) {
  const page = readFileSync(PAGE, "utf8");
  const [, program] = page.split(`\n## ${name}\n`)[1]?.match(/```js\n([\s\S]*?)```/) ?? [];
  if (program === undefined) throw new Error(`docs/compared.md has no program with ${name}.`);
  return program;
}

/** @param {string} place */
async function installNode(place) {
  const folder = join(place, "node");
  const program = join(folder, "node_modules/node/bin");
  if (existsSync(program)) return program;
  emptyPackage(folder);
  await npm(folder, process.env, "install", NODE);
  return program;
}

/** @param {string} place @param {Library} name @param {string} node */
async function install(place, name, node) {
  const folder = folderOf(place, name);
  emptyPackage(folder);
  console.error(`installing ${name}`);
  const env = { ...process.env, PATH: `${node}:${process.env.PATH}` };
  const { packages } = LIBRARIES[name];
  if (packages.length > 0) {
    if (!existsSync(join(folder, "node_modules"))) await npm(folder, env, "install", ...packages);
  } else {
    const core = join(REPOSITORY, "packages/core");
    const packed = await npm(core, env, "pack", "--ignore-scripts", "--pack-destination", folder);
    const home = join(folder, "node_modules/@burin/core");
    mkdirSync(home, { recursive: true });
    // It has no dependencies: npm would put the same files there.
    await promisify(execFile)("tar", ["-xzf", join(folder, packed), "-C", home, "--strip-components=1"]);
  }
  writeFileSync(join(folder, "program.mjs"), programOf(name));
}

/** @param {string} folder */
function emptyPackage(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
}

/** @param {string} cwd @param {NodeJS.ProcessEnv} env @param {string[]} words */
async function npm(cwd, env, ...words) {
  const args = [...words, "--silent", "--no-audit", "--no-fund"];
  return (await promisify(execFile)("npm", args, { cwd, env, maxBuffer: 1e8 })).stdout.trim();
}

/**
 * Plays the session to the program, and throws where it does not do the task.
 * @param {string} place @param {Library} name @param {string} node
 */
async function play(place, name, node) {
  const { reads, edit } = LIBRARIES[name];
  const folder = folderOf(place, name);
  const home = join(folder, "home");
  const root = join(folder, "project");
  for (const one of [home, root]) mkdirSync(one, { recursive: true });
  writeFileSync(join(root, "a.js"), BEFORE);
  writeFileSync(join(folder, "secret.txt"), SECRET);
  const replies = [
    { calls: [reads("a.js"), reads("../secret.txt")] },
    { calls: [edit] },
    { text: "It is 42 now." },
  ];
  const server = await startService(JSON.parse(JSON.stringify(replies).replaceAll("ROOT", root)));
  const env = {
    PATH: `${node}:${process.env.PATH}`,
    HOME: home,
    OPENAI_BASE_URL: server.baseUrl,
    OPENAI_API_KEY: "none",
    OPENAI_MODEL: "m",
  };
  const args = [join(folder, "program.mjs"), root, "The answer should be 42."];
  const { stdout } = await promisify(execFile)(join(node, "node"), args, { cwd: folder, env });
  server.close();
  const asked = stdout.split("\n").filter((line) => line.startsWith("asks:"));
  const sent = JSON.stringify(server.requests);
  const faults = [
    asked.length !== 1 && `asks ${asked.length} times`,
    !stdout.endsWith("It is 42 now.\n") && "does not print the answer",
    readFileSync(join(root, "a.js"), "utf8") !== AFTER && "does not change the file",
    sent.includes(SECRET) && "reads outside of the folder",
    !sent.includes("const answer = 41") && "does not read the file",
  ].filter((fault) => fault !== false);
  if (faults.length > 0) {
    const last = JSON.stringify(server.requests.at(-1)).slice(-2000);
    throw new Error(`${name}: ${faults.join(", ")}:\n${stdout}\n${last}`);
  }
}

/** A service that takes each request as it is. @param {readonly Reply[]} replies */
async function startService(replies) {
  /** @type {{ stream?: boolean }[]} */
  const requests = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    requests.push(body);
    const { calls = [], text = null } = replies[requests.length - 1] ?? {};
    const tool_calls = calls.map(({ name, args }, index) => ({
      index,
      id: `call_${requests.length}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    const message = { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls }) };
    const end = { finish_reason: calls.length > 0 ? "tool_calls" : "stop" };
    const head = { id: `reply_${requests.length}`, created: 0, model: "m" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.writeHead(200, { "content-type": body.stream ? "text/event-stream" : "application/json" });
    if (!body.stream)
      return response.end(JSON.stringify({ ...head, usage, choices: [{ index: 0, message, ...end }] }));
    const chunks = [
      { ...head, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...head, usage, choices: [{ index: 0, delta: {}, ...end }] },
    ];
    const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
    return response.end(lines.map((line) => `data: ${line}\n\n`).join(""));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { baseUrl: `http://127.0.0.1:${port}/v1`, requests, close };
}

/**
 * CPU time and memory above a program that imports nothing, each in turn, so that a drifting machine harms none.
 * @param {string} place @param {readonly Library[]} names @param {string} node
 * @returns {Promise<Record<string, { ms: number, mb: number }>>}
 */
async function importCosts(place, names, node) {
  const programs = names.map((name) => {
    const imported = LIBRARIES[name].packages[0] ?? name;
    return { name, folder: folderOf(place, name), code: `await import("${imported}");` };
  });
  const rows = [{ name: "", folder: place, code: "" }, ...programs].map((row) => ({
    ...row,
    ms: /** @type {number[]} */ ([]),
    mb: /** @type {number[]} */ ([]),
  }));
  const report =
    "const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();\nconsole.log(userCPUTime + systemCPUTime, maxRSS);";
  for (let round = 0; round < RUNS; round += 1) {
    for (const { folder, code, ms, mb } of rows) {
      const args = ["--input-type=module", "-e", `${code}\n${report}\nprocess.exit(0);`];
      const { stdout } = await promisify(execFile)(join(node, "node"), args, { cwd: folder });
      const [cpu = 0, peak = 0] = stdout.split(" ").map(Number);
      ms.push(cpu / 1000);
      mb.push(peak / 1024);
    }
  }
  const [bare] = rows;
  return Object.fromEntries(
    rows.map(({ name, ms, mb }) => [
      name,
      {
        ms: median(ms) - median(bare?.ms ?? []),
        mb: median(mb) - median(bare?.mb ?? []),
      },
    ]),
  );
}

/** @param {string} folder @param {Library} name */
function versionOf(folder, name) {
  const file = join(folder, "node_modules", LIBRARIES[name].packages[0] ?? name, "package.json");
  return JSON.parse(readFileSync(file, "utf8")).version;
}

/** @param {string} path @returns {number} */
function bytesBelow(path) {
  const entry = lstatSync(path);
  if (!entry.isDirectory()) return entry.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}
