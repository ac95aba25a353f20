// What the bundles of bundlers.mjs run: a toolbox, a tool, an adapter, a machine and a session, each from its door.
import { writeFileSync } from "node:fs";
import { BaseTool, createToolbox, defineTool } from "@burin/core";
import { openai } from "@burin/core/adapters";
import { machineOf } from "@burin/core/machine";
import { createSession, scriptedModel } from "@burin/core/sessions";

const root = process.cwd();
writeFileSync("a.txt", "needle\n");
const greet = defineTool({
  name: "greet",
  kind: "read",
  description: "Greets.",
  parameterSchema: { type: "object" },
  execute: () => "Hello.",
});
const toolbox = createToolbox({ root, home: false, approvalMode: "yolo", tools: [greet] });
/** @type {[string, object][]} */
const calls = [
  ["search_file_content", { pattern: "needle" }],
  ["edit", { file_path: `${root}/a.txt`, old_string: "needle", new_string: "thread" }],
  ["run_shell_command", { command: "cat a.txt" }],
  ["greet", {}],
];
for (const [name, params] of calls) {
  const { status, llmContent } = await toolbox.call(name, params);
  if (status !== "success") throw new Error(`${name}: ${llmContent}`);
}
if (!(toolbox.registry.getTool("edit") instanceof BaseTool)) throw new Error("there are two of each class");
if (openai.tools(toolbox).length < 10) throw new Error("the adapter has no tools");
await toolbox.close();

const nothing = async () => null;
const machine = machineOf({
  readFile: async () => "",
  writeFile: nothing,
  stat: nothing,
  readdir: async () => [],
});
const away = createToolbox({ root: "/away", home: false, machine });
if (away.tools().some(({ name }) => name === "run_shell_command")) throw new Error("it runs commands");
await away.close();

const session = createSession({ root, home: false, model: scriptedModel([{ text: "hi" }]) });
for await (const event of session.run("x"))
  if (event.type === "done") process.stdout.write(`done: ${event.result}\n`);
await session.close();
