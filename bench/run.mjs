// npm run bench -- <name> [arguments]: prints measured figures; nothing here is part of the tests.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const BENCHES = {
  start: "start.mjs",
  agent: "agent.mjs",
  task: "task.mjs",
  tokens: "tokens.mjs",
  files: "files.mjs",
  "huge-tree": "huge-tree.mjs",
  journal: "journal.mjs",
  edit: "edit/run.mjs",
  "edit-independent": "edit-independent/run.mjs",
  "edit-speed": "edit-speed.mjs",
  "edit-steps": "edit-steps.mjs",
  shell: "shell.mjs",
  mcp: "mcp.mjs",
  session: "session.mjs",
  hours: "hours.mjs",
  screen: "screen.mjs",
  serve: "serve.mjs",
  fleet: "fleet.mjs",
  web: "web.mjs",
  library: "library.mjs",
  compared: "compared.mjs",
};

const [name = "", ...args] = process.argv.slice(2);
const file = BENCHES[/** @type {keyof typeof BENCHES} */ (name)];
if (file === undefined) {
  console.error(`Name a bench: npm run bench -- ${Object.keys(BENCHES).join(" | ")}`);
  process.exit(2);
}
const top = dirname(fileURLToPath(import.meta.url));
if (!existsSync(join(top, "../packages/cli/dist/burin.cjs"))) {
  console.error("Build first: npm run build");
  process.exit(2);
}
// A certificate bundle from outside costs Node 20 some 38 ms at each start, on both sides of every pair.
process.env.NODE_EXTRA_CA_CERTS = "";
const { run } = await import(pathToFileURL(join(top, file)).href);
await run(args);
