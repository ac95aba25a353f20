// Run in a folder of its own, under each program that is to run the library.
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, createToolbox } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";

const root = mkdtempSync(join(tmpdir(), "burin-parts-"));
const file = join(root, "a.txt");
const toolbox = createToolbox({ root, approvalMode: "yolo" });
/**
 * @param {string} tool
 * @param {object} args
 * @param {string} expected
 */
async function call(tool, args, expected) {
  const { llmContent } = await toolbox.call(tool, args);
  assert(String(llmContent).includes(expected), `${tool}: ${llmContent}`);
}

await call("write_file", { file_path: file, content: "one\ntwo\n" }, "created");
await call("edit", { file_path: file, old_string: "two", new_string: "three" }, "modified");
await call("read_file", { absolute_path: file }, "three");
await call("list_directory", { path: root }, "a.txt");
await call("glob", { pattern: "*.txt" }, "a.txt");
await call("search_file_content", { pattern: "thr.e" }, "three");
await call("run_shell_command", { command: "echo out; echo err >&2; cat a.txt" }, "three");
await toolbox.close();

const model = scriptedModel([
  { calls: [{ name: "read_file", args: { absolute_path: file } }] },
  { text: "It has two lines." },
]);
const session = createSession({ root, model });
for await (const event of session.run("How long is a.txt?")) {
  if (event.type === "done") assert.equal(event.result, "It has two lines.");
}
await session.close();
rmSync(root, { recursive: true });
process.stdout.write("all parts work\n");
