// The way of somebody who is new to the fleet, with the packed packages in an empty folder: a run on a database that it
// starts by itself, a question that is answered, a PostgreSQL server that is named, a second worker, the page, and how
// all of it is removed. node packaging/fleet-newcomer.mjs, after npm run build
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { emptyPackage, npm } from "./others.mjs";

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES = ["edit-match", "shell-judge", "core", "cli", "fleet"];
const place = mkdtempSync(join(tmpdir(), "burin-newcomer-"));
const user = join(place, "user");
const home = join(place, "home");
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/** @param {string} name */
async function pack(name) {
  const folder = join(repository, "packages", name);
  return join(place, (await npm(folder, "pack", "--ignore-scripts", "--pack-destination", place)).trim());
}

/** Tasks write a file of their name; one asks before. @param {any} request */
function reply({ body }) {
  const isAnswered = body.messages.some((/** @type {any} */ { role }) => role === "tool");
  if (isAnswered) return { text: "It is done." };
  return { calls: [{ name: "run_shell_command", args: { command: "sleep 1; echo done > done.txt" } }] };
}

/** @type {Record<string, string>} */
let variables = {};

/** @param {string[]} words @param {Record<string, string>} [more] */
function start(words, more = {}) {
  const burin = join(user, "node_modules/.bin/burin");
  const child = spawn(burin, ["fleet", ...words], { cwd: place, env: { ...variables, ...more } });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (said.stdout += chunk));
  child.stderr.on("data", (chunk) => (said.stderr += chunk));
  /** @type {Promise<typeof said & { code: number | null }>} */
  const end = new Promise((resolve) => child.once("close", (code) => resolve({ code, ...said })));
  return { child, said, end };
}

/** @param {() => unknown} isSo */
async function until(isSo) {
  while (!(await isSo())) await pause(50);
}

/** @param {string} name @param {object[]} tasks */
function writeTasks(name, tasks) {
  const lines = tasks.map((task) =>
    JSON.stringify({ folder: "project", prompt: "go", approvalMode: "yolo", ...task }),
  );
  writeFileSync(join(place, name), `${lines.join("\n")}\n`);
  return name;
}

async function runAtOnce() {
  const file = writeTasks("tasks.jsonl", [
    { id: "one" },
    { id: "two" },
    { id: "asks", approvalMode: "default" },
  ]);
  const { stdout, stderr } = await start(["run", file, "--run", "first"]).end;
  assert.match(stdout, /first\.one +success/, stderr);
  const words = stderr.trimEnd().split("\n").at(-1) ?? "";
  assert.match(words, /2 done · 1 waits for you: burin fleet answer first\.asks yes$/);
  // With the database at rest.
  const status = await start(["status"]).end;
  assert.match(status.stdout, /first\.asks +waiting/, status.stderr);
  const command = (/burin fleet (answer .*)$/.exec(words)?.[1] ?? "").split(" ");
  const answered = await start([...command, "--follow"]).end;
  assert.equal(answered.code, 0, answered.stderr);
  assert.match(answered.stderr, /3 done\n$/);
  return `${words.replace("burin: ", "")}; answered: 3 done`;
}

/** A server of the machine, where it has one, as an administrator sets it up. */
async function openServer() {
  const programs = process.env.PATH?.split(":").find((folder) => existsSync(join(folder, "initdb")));
  if (programs === undefined) return null;
  const data = mkdtempSync(
    join(process.getuid?.() === 0 ? "/var/lib/postgresql" : tmpdir(), "burin-newcomer-"),
  );
  const free = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => free.once("listening", resolve));
  const { port } = /** @type {import("node:net").AddressInfo} */ (free.address());
  await new Promise((resolve) => free.close(resolve));
  const as = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];
  if (as.length > 0) execFileSync("chown", ["postgres", data]);
  /** @param {string[]} words */
  const run = (...words) => execFileSync("env", ["-C", "/", ...as, ...words], { stdio: "ignore" });
  run("initdb", "-D", data, "-U", "fleet", "--auth=trust", "-E", "UTF8");
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  run("pg_ctl", "-D", data, "-l", join(data, "log"), "-w", "-o", options, "start");
  const close = () => {
    run("pg_ctl", "-D", data, "-m", "immediate", "stop");
    rmSync(data, { recursive: true, force: true });
  };
  return { url: `postgresql://fleet@127.0.0.1:${port}/postgres`, close };
}

/** @param {string} url */
async function runOnTwoWorkers(url) {
  const BURIN_FLEET_DATABASE = url;
  const workers = ["here", "there"].map((name) =>
    start(["worker", "--concurrency", "1"], { BURIN_FLEET_DATABASE, BURIN_HOME: join(place, name) }),
  );
  await until(() => workers.every(({ said }) => said.stderr.includes("at a time")));
  const file = writeTasks(
    "more.jsonl",
    Array.from({ length: 6 }, (_, index) => ({ id: `t${index}` })),
  );
  const run = await start(["run", file, "--run", "second", "--no-follow"], { BURIN_FLEET_DATABASE }).end;
  assert.equal(run.code, 0, run.stderr);
  const serve = start(["serve"], { BURIN_FLEET_DATABASE });
  await until(() => serve.said.stdout.includes("\n"));
  const { origin, hash } = new URL(serve.said.stdout.trim());
  const page = async () => {
    const headers = { authorization: `Bearer ${hash.slice(1)}` };
    const { runs } = /** @type {any} */ (await (await fetch(`${origin}/api/runs`, { headers })).json());
    return runs.find((/** @type {any} */ { name }) => name === "second");
  };
  await until(async () => (await page())?.success === 6);
  const names = new Set();
  for (let index = 0; index < 6; index += 1) {
    const { stdout } = await start(["logs", `second.t${index}`], { BURIN_FLEET_DATABASE }).end;
    names.add(/--- worker (\S+)/.exec(stdout)?.[1]);
  }
  assert.equal(names.size, 2, "one worker has done it all");
  serve.child.kill("SIGINT");
  for (const { child } of workers) child.kill("SIGTERM");
  for (const { end } of workers) assert.equal((await end).code, 143);
  return "6 tasks on two workers, which the page shows";
}

async function remove() {
  const before = await start(["remove"]).end;
  assert.match(before.stdout, /burin fleet remove --yes/, before.stderr);
  const { code, stderr } = await start(["remove", "--yes"]).end;
  assert.equal(code, 0, stderr);
  assert.ok(!existsSync(join(home, "fleet")), readdirSync(home).join());
  return "nothing is left of the fleet's data";
}

const began = performance.now();
/** @param {string} words */
const tell = (words) =>
  process.stdout.write(`ok      ${((performance.now() - began) / 1000).toFixed(0)} s  ${words}
`);
/** @type {{ close(): void | Promise<void> }[]} */
const open = [];
try {
  emptyPackage(user);
  mkdirSync(join(place, "project"));
  mkdirSync(home);
  writeFileSync(join(place, "project/start.txt"), "start\n");
  for (const name of [home, join(place, "here"), join(place, "there")]) {
    mkdirSync(name, { recursive: true });
    writeFileSync(join(name, "settings.json"), '{ "sandbox": { "mode": "off" } }');
  }
  await npm(user, "install", ...(await Promise.all(PACKAGES.map(pack))));
  tell("installed");
  const testing = pathToFileURL(join(user, "node_modules/@burin/core/dist/testing.js"));
  /** @type {typeof import("@burin/core/testing")} */
  const { startFakeModelServer } = await import(testing.href);
  const model = await startFakeModelServer(Array.from({ length: 1000 }, () => reply));
  open.push(model);
  const { PATH = "" } = process.env;
  const service = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: "fake" };
  // The server that comes with the package.
  variables = { PATH, HOME: place, BURIN_HOME: home, BURIN_FLEET_POSTGRESQL: "/none", ...service };
  tell(await runAtOnce());
  const server = await openServer();
  if (server === null) tell("without a server of its own: PostgreSQL is not installed here");
  else {
    open.push(server);
    tell(await runOnTwoWorkers(server.url));
  }
  tell(await remove());
} finally {
  for (const child of running) child.kill("SIGKILL");
  for (const one of open) await one.close();
  rmSync(place, { recursive: true, force: true });
}
