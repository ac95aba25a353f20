// Edits a file and runs a command while the system gives only so many more descriptors, and closes with none. Prints
// what the calls said. bash -c "ulimit -n 60; node few-descriptors.mjs ROOT"
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolbox } from "./core.mjs";

const root = process.argv[2] ?? "";
const file = join(root, "a.txt");
const options = { root, environment: process.env, approvalMode: "yolo", overwriteUnread: true };
/** @type {number[]} */
const taken = [];
const takeAll = () => {
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    // None is left.
  }
};
const giveBack = (/** @type {number} */ count) => {
  for (const one of taken.splice(0, count)) closeSync(one);
};

const toolbox = createToolbox(options);
const edit = { file_path: file, old_string: "old", new_string: "new" };
writeFileSync(file, "old\n");
// These load the code.
await toolbox.call("edit", edit);
await toolbox.call("run_shell_command", { command: "true" });
const said = [];
for (let free = 0; free < 12; free += 1) {
  writeFileSync(file, "old\n");
  takeAll();
  giveBack(free);
  const edited = await toolbox.call("edit", edit);
  const ran = await toolbox.call("run_shell_command", { command: "echo words" });
  giveBack(taken.length);
  const errors = [edited, ran].flatMap(({ error }) => error?.message ?? []);
  said.push({ errors, text: readFileSync(file, "utf8"), isEdited: edited.error === undefined });
}
takeAll();
await toolbox.close();
giveBack(taken.length);
process.stdout.write(JSON.stringify(said));
