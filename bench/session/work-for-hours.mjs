// A session of so many turns, each with a read, an edit or a command: root, home, turns; with --expose-gc. Prints, for
// each tenth of it, how long a turn took and how much memory the process has; then the session's id.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../measure.mjs";

const BUILT = new URL("../../packages/core/dist/sessions.js", import.meta.url);
const { createSession } = /** @type {typeof import("@burin/core/sessions")} */ (await import(BUILT.href));

const [root = "", home = "", turns = "0"] = process.argv.slice(2);
const TURNS = Number(turns);
const PARTS = 10;
const file = join(root, "counts.txt");
const lines = Array.from({ length: 64 }, (_, line) => `line ${line} was changed 0 times`);
writeFileSync(file, `${lines.join("\n")}\n`);

/** @param {number} turn */
function callOfTurn(turn) {
  const line = turn % lines.length;
  if (turn % 3 === 0) return { name: "read_file", args: { absolute_path: file, offset: line, limit: 40 } };
  if (turn % 3 === 1) return { name: "run_shell_command", args: { command: `echo turn ${turn} >> log.txt` } };
  const old_string = lines[line] ?? "";
  const new_string = `line ${line} was changed ${turn} times`;
  lines[line] = new_string;
  return { name: "edit", args: { file_path: file, old_string, new_string } };
}

const took = /** @type {number[]} */ ([]);
const megabytes = /** @type {number[]} */ ([]);
let turn = 0;
let since = 0;
const session = createSession({
  root,
  model: {
    name: "m",
    contextWindow: 128_000,
    /** @param {any} request */
    async *stream({ tools = [] }) {
      // A request without tools asks for a summary.
      if (tools.length === 0 || turn === TURNS) {
        yield { type: "text", text: "All is well." };
        yield { type: "end", reason: "stop" };
        return;
      }
      if (since > 0) took.push(performance.now() - since);
      since = performance.now();
      turn += 1;
      if (turn % (TURNS / PARTS) === 0) {
        globalThis.gc?.();
        megabytes.push(process.memoryUsage().rss / 1024 / 1024);
      }
      yield { type: "text", text: "I look at the next line, and change it where it has to be changed." };
      yield { type: "function_call", call: { id: `call_${turn}`, ...callOfTurn(turn) } };
      yield { type: "end", reason: "stop" };
    },
  },
  record: true,
  maxTurns: TURNS + 10,
  approvalMode: "yolo",
  environment: { ...process.env, BURIN_HOME: home },
});
let failed = 0;
for await (const event of session.run("Go through all lines.")) {
  if (event.type === "tool_call" && event.call.status === "error") failed += 1;
  if (event.type === "done" && event.status !== "success") throw new Error(JSON.stringify(event));
}
await session.close();
const parts = Array.from({ length: PARTS }, (_, part) =>
  median(took.slice((part * TURNS) / PARTS, ((part + 1) * TURNS) / PARTS)),
);
console.log(JSON.stringify({ id: session.id, parts, megabytes, failed }));
