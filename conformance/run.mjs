// Runs the scenarios of the protocol's own conformance suite against Burin, as a client and as a server, then its
// inspector, and a session for editors against their protocol's schema. The suite needs a newer Node than Burin does, so
// all of them are installed into a temporary folder of their own; the second that is named already has them. Without an
// argument, Burin is the build of the repository, else what is installed in the first folder that is named.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { newerNode } from "./newer-node.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const SCENARIOS = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "sse-retry",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
];
/** The others ask for the tools, prompts and resources of a server made for the suite. */
const SERVER_SCENARIOS = [
  "server-initialize",
  "logging-set-level",
  "ping",
  "tools-list",
  "server-sse-multiple-streams",
  "resources-list",
  "dns-rebinding-protection",
];
const INSTALLED = process.argv[2] ?? dirname(here);
const BURIN = join(INSTALLED, "node_modules/burin/dist/burin.cjs");
const TOKEN = "conformance";
const AT_ONCE = 2;

const place = process.argv[3] ?? mkdtempSync(join(tmpdir(), "burin-conformance-suite-"));
try {
  if (!existsSync(join(place, "node_modules"))) {
    for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(place, name));
    execFileSync("npm", ["ci", "--silent", "--no-audit", "--no-fund"], { cwd: place, stdio: "inherit" });
  }
  const server = await startServer();
  const client = `${process.execPath} ${join(here, "client.mjs")} ${INSTALLED}`;
  const node = newerNode(place);
  const suite = [node, join(place, "node_modules/@modelcontextprotocol/conformance/dist/index.js")];
  const runs = [
    ...["inspector.mjs", "schemas.mjs"].map((name) => [
      process.execPath,
      join(here, name),
      INSTALLED,
      place,
      node,
    ]),
    ...SCENARIOS.map((name) => [...suite, "client", "--command", client, "--scenario", name, "-o", place]),
    ...SERVER_SCENARIOS.map((name) => [
      ...suite,
      "server",
      "--url",
      server.url,
      "--scenario",
      name,
      "-o",
      place,
    ]),
  ];
  const failed = await runAll(runs).finally(server.close);
  process.stdout.write(`${runs.length - failed} of ${runs.length} scenarios and checks passed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  if (process.argv[3] === undefined) rmSync(place, { recursive: true, force: true });
}

/** `burin serve mcp`, behind what adds the token that the suite cannot send. */
async function startServer() {
  const home = join(place, "home");
  const env = { ...process.env, HOME: home, BURIN_HOME: home, BURIN_SERVE_TOKEN: TOKEN };
  const child = spawn(process.execPath, [BURIN, "serve", "mcp", "--http"], {
    cwd: place,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const port = await new Promise((resolve, reject) => {
    let said = "";
    child.on("close", () => reject(new Error(said)));
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const [, found] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
  });
  const proxy = createServer((asked, answer) => {
    const { url, method, headers } = asked;
    const all = { ...headers, authorization: `Bearer ${TOKEN}` };
    const sent = request({ host: "127.0.0.1", port, path: url, method, headers: all }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    sent.on("error", () => answer.destroy());
    asked.pipe(sent);
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", () => resolve(null)));
  const address = proxy.address();
  const at = typeof address === "object" && address !== null ? address.port : 0;
  const close = () => {
    child.kill("SIGTERM");
    proxy.close();
    proxy.closeAllConnections();
  };
  return { url: `http://localhost:${at}/mcp`, close };
}

/** @param {string[][]} runs */
async function runAll(runs) {
  const open = [...runs];
  let failed = 0;
  const work = async () => {
    for (let command = open.shift(); command !== undefined; command = open.shift()) {
      const { code, output } = await runOne(command);
      if (code === 0) continue;
      failed += 1;
      process.stdout.write(`failed: ${command.join(" ")}\n${output}\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

/** @param {string[]} command */
async function runOne([program = "", ...args]) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output += bytes));
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, output };
}
