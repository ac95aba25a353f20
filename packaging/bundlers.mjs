// What bundlers make of a program that embeds the library, run where nothing is installed; and of the pure packages,
// where nothing of Node is there.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { rolldown } from "rolldown";

const here = dirname(fileURLToPath(import.meta.url));

/** @typedef {{ input: string, file: string, format: "esm" | "cjs" }} Bundle */

/** @param {string} tools where webpack is installed @returns {Record<string, (bundle: Bundle) => Promise<unknown>>} */
const bundlersIn = (tools) => ({
  esbuild: ({ input, file, format }) =>
    build({ entryPoints: [input], outfile: file, format, bundle: true, platform: "node", logLevel: "error" }),
  rolldown: async ({ input, file, format }) => {
    const bundle = await rolldown({ input, platform: "node" });
    await bundle.write({ file, format, codeSplitting: false });
    await bundle.close();
  },
  webpack: async ({ input, file, format }) => {
    const webpack = createRequire(pathToFileURL(join(tools, "package.json")).href)("webpack");
    const isModule = format === "esm";
    const stats = await promisify(webpack)({
      mode: "production",
      target: "node20",
      entry: input,
      output: { path: dirname(file), filename: file.split("/").at(-1), module: isModule },
      experiments: { outputModule: isModule },
    });
    if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString("errors-warnings"));
  },
});

/**
 * @param {(what: string, work: () => Promise<void>) => Promise<void>} check
 * @param {{ user: string, tools: string, place: string }} folders with the packages, with webpack, and for the bundles
 */
export async function tryBundlers(check, { user, tools, place }) {
  const program = readFileSync(join(here, "bundled.mjs"), "utf8");
  writeFileSync(join(user, "bundled.mjs"), program);
  for (const [name, bundle] of Object.entries(bundlersIn(tools))) {
    for (const format of /** @type {const} */ (["esm", "cjs"])) {
      await check(`${name} bundles an embedder into one file, as ${format}`, async () => {
        const folder = join(place, `${name}-${format}`);
        mkdirSync(folder, { recursive: true });
        const file = join(folder, format === "esm" ? "bundle.mjs" : "bundle.cjs");
        await bundle({ input: inputFor(user, format), file, format });
        const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
        if (!stdout.includes("done: hi")) throw new Error(stdout);
      });
    }
  }
  for (const [name, asked] of Object.entries(PURE))
    await check(`${name} runs where nothing of Node is`, () => runPure(user, name, asked));
  await check("@burin/core says there that it needs a machine", () => runPure(user, "@burin/core", NEEDING));
  await check("all of contract runs there", () => runPure(contract, "./settings/settings.ts", ofContract()));
}

const contract = join(here, "../packages/contract/src");

/** Every module is loaded, and settings are merged with a command that a shell must read. */
function ofContract() {
  const modules = readdirSync(contract, { recursive: true, encoding: "utf8" });
  const own = modules.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const imports = own.map((name, at) => `import * as m${at} from "./${name.replaceAll("\\", "/")}";`);
  const code = `${imports.join("\n")}
    globalThis.modules = [${own.map((_, at) => `m${at}`).join()}];
    const { mcpServers } = mergeSettings([{ mcpServerCommand: "cd server && exec ./serve" }]);
    const status = mcpServers.mcp.args.at(-1);`;
  return { code, name: "mergeSettings", status: "cd server && exec ./serve" };
}

/** CommonJS has no await at its top. @param {string} user @param {"esm" | "cjs"} format */
function inputFor(user, format) {
  if (format === "esm") return join(user, "bundled.mjs");
  const input = join(user, "bundled-later.mjs");
  const [imports = "", rest = ""] = readFileSync(join(user, "bundled.mjs"), "utf8").split("\n\nconst root");
  writeFileSync(input, `${imports}\n\n(async () => {\nconst root${rest}\n})();\n`);
  return input;
}

/** What each pure package is asked, and what must come. */
const PURE = {
  "@burin/edit-match": {
    code: `const { status } = findEdit({ content: "a\\n\\tb;\\n", oldText: "  b;", newText: "  c;", expected: 1 });`,
    name: "findEdit",
    status: "matched",
  },
  "@burin/shell-judge": {
    code: `const { verdict: status } = judgeCommand({ command: "git status && rm -rf x | tail -5", mode: "default",
      rules: { allow: [], ask: [], deny: [] }, place: { root: "/home/me/project" } });`,
    name: "judgeCommand",
    status: "ask",
  },
};

/** The library loads, and its first use says what is missing. */
const NEEDING = {
  code: `let status = typeof createToolbox;
    try { createToolbox({ root: "." }); } catch (error) { status += ": " + error.message; }`,
  name: "createToolbox",
  status:
    "function: createToolbox of @burin/core needs a machine with files and processes: Node, Bun or Deno. " +
    "@burin/edit-match and @burin/shell-judge run here, too.",
};

/** @param {string} user @param {string} name @param {{ code: string, name: string, status: string }} asked */
async function runPure(user, name, { code, name: imported, status }) {
  const contents = `import { ${imported} } from "${name}";\n${code}\nglobalThis.answer = status;`;
  const options = {
    bundle: true,
    write: false,
    format: /** @type {const} */ ("iife"),
    platform: /** @type {const} */ ("neutral"),
  };
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: user },
    ...options,
    mainFields: ["main"],
    conditions: ["workerd", "worker", "browser"],
  });
  // What browsers and workers have, too.
  const context = createContext({ TextDecoder, TextEncoder, URL });
  runInContext(outputFiles[0]?.text ?? "", context);
  if (context.answer !== status) throw new Error(`it says ${context.answer}`);
}
