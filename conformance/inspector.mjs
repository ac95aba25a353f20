// The command line of the MCP Inspector lists the tools of `burin serve mcp` and calls each of them. Given are the
// folder where Burin is installed, the one where the inspector is, and the Node that it needs.
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const [installed = "", place = "", node = ""] = process.argv.slice(2);
const inspector = join(place, "node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js");
const burin = join(installed, "node_modules/burin/dist/burin.cjs");
const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-inspector-")));
const project = join(top, "project");
const file = join(project, "a.txt");
const made = join(project, "b.txt");
mkdirSync(project);
mkdirSync(join(top, "home/.burin"), { recursive: true });
writeFileSync(file, "one\ntwo\n");
const page = createServer((_, answer) => answer.end("a page of this computer"));
await new Promise((resolve) => page.listen(0, "127.0.0.1", () => resolve(null)));
const address = page.address();
const host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
const settings = { web: { allowedHosts: [host] } };
writeFileSync(join(top, "home/.burin/settings.json"), JSON.stringify(settings));

/**
 * What each tool is called with, and what its answer has.
 * @type {Record<string, [args: object, answer: string]>}
 */
const CALLS = {
  list_directory: [{ path: project }, "a.txt"],
  read_file: [{ absolute_path: file }, "two"],
  read_many_files: [{ paths: ["*.txt"] }, "two"],
  glob: [{ pattern: "**/*.txt" }, "a.txt"],
  search_file_content: [{ pattern: "^tw" }, "two"],
  edit: [{ file_path: file, old_string: "two", new_string: "three" }, "three"],
  write_file: [{ file_path: made, content: "made\n" }, "b.txt"],
  run_shell_command: [{ command: "cat a.txt" }, "three"],
  save_memory: [{ fact: "Tests are run with make.", scope: "project" }, "make"],
  web_fetch: [{ url: `http://${host}/` }, "a page of this computer"],
};

/** @param {string[]} words */
async function inspect(...words) {
  const args = [inspector, "--cwd", project, "--format", "json", "--quiet", ...words];
  const server = ["--", process.execPath, burin, "serve", "mcp", "--approval-mode", "yolo"];
  const env = { PATH: process.env.PATH, HOME: join(top, "home"), BURIN_HOME: join(top, "home/.burin") };
  const { stdout } = await promisify(execFile)(node, [...args, ...server], { env, timeout: 60_000 });
  return JSON.parse(stdout).result;
}

const faults = [];
try {
  const { tools } = await inspect("--method", "tools/list");
  const names = tools.map((/** @type {{ name: string }} */ { name }) => name).sort();
  const known = Object.keys(CALLS).sort();
  if (names.join() !== known.join()) faults.push(`it lists ${names}, not ${known}`);
  for (const [name, [args, answer]] of Object.entries(CALLS)) {
    const words = ["--tool-name", name, "--tool-args-json", JSON.stringify(args)];
    const said = await inspect("--method", "tools/call", ...words).then(
      JSON.stringify,
      ({ stdout, stderr }) => faults.push(`${name} failed: ${stdout}${stderr}`),
    );
    if (!String(said).includes(answer)) faults.push(`${name} says ${said}, not ${answer}`);
  }
  if (readFileSync(file, "utf8") !== "one\nthree\n") faults.push("a.txt was not edited");
  if (!existsSync(made)) faults.push("b.txt was not made");
} finally {
  page.close();
  page.closeAllConnections();
  rmSync(top, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
process.stdout.write(
  `${Object.keys(CALLS).length} tools called\n${faults.map((f) => `FAILED: ${f}\n`).join("")}`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
