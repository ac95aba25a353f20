// Installs what others have made and the packages are looked at with. It needs no build, so .ci/run has it done beside
// the tests: node packaging/others.mjs <folder> [--all]
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const NEWER_NODE = "node-22@npm:node@22.23.3";
/** Packages of npm that bring a program to run JavaScript with, and how it is called on a file. */
export const RUNTIMES = {
  "node-20@npm:node@20.19.0": ["node-20/bin/node"],
  [NEWER_NODE]: ["node-22/bin/node"],
  "node-24@npm:node@24.21.0": ["node-24/bin/node"],
  "bun@1.4.5": [".bin/bun"],
  "deno@2.9.6": [".bin/deno", "run", "-A"],
};
/** What the pages use beside what the MCP suite brings. */
const PROGRAMS = [
  ...["acpx@0.19.1", "@modelcontextprotocol/server-filesystem@2026.8.31"],
  ...["openai@6.49.0", "ai@6.0.326", "@ai-sdk/openai-compatible@2.0.87"],
];

if (process.argv[1] === fileURLToPath(import.meta.url))
  await installOthers(process.argv[2] ?? "", process.argv.includes("--all"));

/** @param {string} folder @param {boolean} isWhole with all runtimes, and not only the one that others need */
export async function installOthers(folder, isWhole) {
  const { tools, runtimes, clients } = placesIn(folder);
  for (const name of ["package.json", "package-lock.json"]) {
    cpSync(join(here, name), join(tools, name));
    cpSync(join(here, "../conformance", name), join(clients, name));
  }
  emptyPackage(dirname(runtimes));
  const programs = isWhole ? Object.keys(RUNTIMES) : [NEWER_NODE];
  await Promise.all([
    npm(tools, "ci", "--ignore-scripts"),
    npm(dirname(runtimes), "install", ...programs),
    npm(clients, "ci").then(() => npm(clients, "install", "--no-save", ...PROGRAMS)),
  ]);
}

/** @param {string} folder */
export function placesIn(folder) {
  const runtimes = join(folder, "runtimes/node_modules");
  const newerNode = join(runtimes, "node-22/bin/node");
  return { tools: join(folder, "tools"), runtimes, newerNode, clients: join(folder, "clients") };
}

/** @param {string} folder */
export function emptyPackage(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
}

/** With the user's own home, where npm keeps what it has downloaded. @param {string} cwd @param {string[]} words */
export async function npm(cwd, ...words) {
  const args = [...words, "--no-audit", "--no-fund"];
  const runNpm = (/** @type {string} */ level) =>
    promisify(execFile)("npm", [...args, `--loglevel=${level}`], { cwd, maxBuffer: 1e8 });
  // A registry may fail for a moment. If it fails again, npm says why.
  const { stdout } = await runNpm("silent").catch(() => runNpm("error"));
  return stdout;
}
