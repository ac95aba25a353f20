// Runs the client scenarios of the protocol's own conformance suite against Burin. The suite needs a newer Node than
// Burin does, so both are installed into a temporary folder of their own.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
const AT_ONCE = 2;

const place = mkdtempSync(join(tmpdir(), "burin-conformance-suite-"));
try {
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(place, name));
  execFileSync("npm", ["ci", "--silent", "--no-audit", "--no-fund"], { cwd: place, stdio: "inherit" });
  const failed = await runAll();
  process.stdout.write(`${SCENARIOS.length - failed.length} of ${SCENARIOS.length} scenarios passed\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function runAll() {
  const open = [...SCENARIOS];
  /** @type {string[]} */
  const failed = [];
  const work = async () => {
    for (let name = open.shift(); name !== undefined; name = open.shift()) {
      const { code, output } = await runOne(name);
      if (code === 0) continue;
      failed.push(name);
      process.stdout.write(`failed: ${name}\n${output}\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

/** @param {string} scenario */
async function runOne(scenario) {
  const node = join(place, "node_modules/.bin/node");
  const suite = join(place, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const client = `${process.execPath} ${join(here, "client.mjs")}`;
  const child = spawn(node, [suite, "client", "--command", client, "--scenario", scenario, "-o", place], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output += bytes));
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, output };
}
