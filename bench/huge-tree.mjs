// Finding and searching in 500,000 files with circles of links and pipes: that it ends, says so, and leaves nothing.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { makeHostileTree } from "./corpus.mjs";
import { printResult } from "./measure.mjs";

const top = join(dirname(fileURLToPath(import.meta.url)), "..");
const FILES = 500_000;
/** What glob and search_file_content grant themselves, and a little for the answer. */
const MAX_SECONDS = 31;
const CANCELLED_AFTER_MS = 400;
const MAX_SECONDS_TO_CANCEL = 1;

/** @type {readonly [tool: string, params: object][]} */
const CALLS = [
  ["glob", { pattern: "**/*" }],
  ["glob", { pattern: "**/*.none" }],
  ["search_file_content", { pattern: "noSuchWordAnywhere" }],
  ["search_file_content", { pattern: "account 4999" }],
  ["read_many_files", { paths: ["**/*.txt"] }],
  ["list_directory", { path: "." }],
];

/** The processes that this one has started and that are still there, on Linux. */
function children() {
  if (process.platform !== "linux") return [];
  const tasks = readdirSync("/proc/self/task");
  return tasks.flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
}

/** @param {{ llmContent: unknown, error?: { message: string } }} result */
function firstLine({ llmContent, error }) {
  const text = error?.message ?? (typeof llmContent === "string" ? llmContent : JSON.stringify(llmContent));
  return text.split("\n", 1)[0]?.slice(0, 100);
}

export async function run() {
  const { createToolbox } = await import(pathToFileURL(join(top, "packages/core/dist/index.js")).href);
  const root = makeHostileTree(FILES);
  const toolbox = createToolbox({ root });
  for (const [tool, params] of CALLS) {
    const call = `${tool} ${JSON.stringify(params)}`;
    const started = performance.now();
    const result = await toolbox.call(tool, params);
    const seconds = (performance.now() - started) / 1000;
    printResult({ what: call, value: seconds, unit: "s", most: MAX_SECONDS, more: firstLine(result) ?? "" });
    const controller = new AbortController();
    const cancelled = toolbox.call(tool, params, controller.signal);
    await new Promise((resolve) => setTimeout(resolve, CANCELLED_AFTER_MS));
    const at = performance.now();
    controller.abort();
    const { error } = await cancelled;
    const wait = (performance.now() - at) / 1000;
    const more = `${error?.type ?? "was done before"}, ${children().length} children left`;
    printResult({ what: "  cancelled", value: wait, unit: "s", most: MAX_SECONDS_TO_CANCEL, more });
    if (children().length > 0) process.exitCode = 1;
  }
  console.log(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
  await toolbox.close();
}
