// What it costs a program to import the library: CPU time of the import alone, in processes of their own.
import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median, printResult } from "./measure.mjs";

const DOOR = fileURLToPath(new URL("../packages/core/dist/index.js", import.meta.url));
const RUNS = 25;
const GOAL_MS = 12;

export async function run() {
  const times = Array.from({ length: RUNS }, () => importMs(pathToFileURL(DOOR).href));
  printResult({ what: "CPU of import @burin/core", value: median(times), unit: "ms", most: GOAL_MS });
}

/** @param {string} url */
function importMs(url) {
  const code = `const before = process.cpuUsage();
await import(${JSON.stringify(url)});
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }));
}
