// One of the Burins of sandbox.mjs: runs commands in the sandbox and tells after each what was found so far.
import { existsSync } from "node:fs";
import { join } from "node:path";

const [root = "", home = "", name = "", count = "0", ...standing] = process.argv.slice(2);
const { createToolbox } = /** @type {typeof import("@burin/core")} */ (
  await import(new URL("../../packages/core/dist/index.js", import.meta.url).href)
);

const toolbox = await createToolbox({
  root,
  approvalMode: "yolo",
  environment: { ...process.env, BURIN_HOME: home },
  settings: { sandbox: { mode: "workspace-write" } },
});
const found = { commands: 0, failures: /** @type {string[]} */ ([]), written: 0, stayed: 0, told: 0 };
const attempts = standing
  .map((path) => `{ echo evil > ${path}; } 2>/dev/null && echo WROTE ${path}`)
  .join("; ");

for (let index = 0; index < Number(count); index += 1) {
  const hook = `p${index}${name}/g/.git/hooks/post-checkout`;
  // A repository without the hook may stay: where both look after it while it is made, only that is taken out.
  const made = [`.env.p${name}${index}`, `p${index}${name}/.npmrc`, hook];
  const plant = `mkdir -p p${index}${name}/g && touch ${made[0]} ${made[1]} && git init -q p${index}${name}/g && echo x > ${hook}`;
  const clean = `rm -rf p${index}${name}`;
  const isPlanting = index % 5 === 0;
  const work = isPlanting
    ? plant
    : `rm -rf p*${name}; echo ${index} > work-${name} && git status --short >/dev/null`;
  // To be killed in the middle of a command that has made something.
  const trap = `if [ -e plant-${name} ]; then ${plant}; ${name === "alone" ? "echo ../x > .git/commondir; " : ""}touch .mcp.json; mkdir .gemini .codex; touch planting-${name}; sleep 30; fi`;
  const { llmContent } = await toolbox.call("run_shell_command", {
    command: `${trap}\n${attempts}\n${work} && echo DONE`,
  });
  const text = String(llmContent);
  found.commands += 1;
  found.written += text.split("\nWROTE ").length - 1;
  // Where two look after one folder, the first of them takes it and tells.
  if (text.includes("\nTaken out")) found.told += 1;
  if (!text.includes("\nDONE")) found.failures.push(text);
  if (isPlanting) {
    const stayed = made.filter((path) => existsSync(join(root, path)));
    found.stayed += stayed.length;
    if (stayed.length > 0) found.failures.push(`${stayed.join(", ")} stayed: ${text}`);
    await toolbox.call("run_shell_command", { command: clean });
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
await toolbox.close();
