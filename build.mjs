// Builds what is shipped: each package as bundled ESM with nothing left to install, and core's types.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const top = dirname(fileURLToPath(import.meta.url));
const core = join(top, "packages/core");
const cli = join(top, "packages/cli");
const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));

/**
 * @param {Record<string, string>} input
 * @param {{ dir: string, format: "esm" | "cjs", extension: string, banner?: string }} target
 */
export async function bundle(input, { dir, format, extension, banner = "" }) {
  const build = await rolldown({
    input,
    platform: "node",
    resolve: {
      conditionNames: ["@burin/source", "node", "import", "module"],
      mainFields: ["module", "main"],
    },
    transform: { define: { BURIN_VERSION: JSON.stringify(version) } },
  });
  const { output } = await build.write({
    dir,
    format,
    minify: true,
    banner,
    entryFileNames: `[name]${extension}`,
    chunkFileNames: `chunks/[name]-[hash]${extension}`,
  });
  await build.close();
  removeOldChunks(dir, new Set(output.map((file) => file.fileName)));
}

/**
 * New files stand before old ones go, so that a program that is starting meanwhile finds all of its chunks.
 * @param {string} dir
 * @param {Set<string>} current
 */
function removeOldChunks(dir, current) {
  const chunks = join(dir, "chunks");
  for (const name of existsSync(chunks) ? readdirSync(chunks) : []) {
    if (!current.has(`chunks/${name}`)) rmSync(join(chunks, name));
  }
}

function writeTypes() {
  const tsc = join(top, "node_modules/typescript/bin/tsc");
  const run = spawnSync(process.execPath, [tsc, "-p", join(core, "tsconfig.types.json")], {
    stdio: "inherit",
  });
  if (run.status !== 0) process.exit(1);
}

async function writeSettingsSchema() {
  const { SETTINGS_SCHEMA } = await import(pathToFileURL(join(core, "dist/index.js")).href);
  mkdirSync(join(cli, "dist"), { recursive: true });
  writeFileSync(join(cli, "dist/settings.schema.json"), `${JSON.stringify(SETTINGS_SCHEMA, null, 2)}\n`);
}

async function build() {
  await bundle(
    { index: join(core, "src/index.ts"), testing: join(core, "src/testing/index.ts") },
    { dir: join(core, "dist"), format: "esm", extension: ".js" },
  );
  // CommonJS, because Node starts it in a fifth less time than an ES module.
  await bundle(
    { burin: join(cli, "src/main.ts") },
    { dir: join(cli, "dist"), format: "cjs", extension: ".cjs", banner: "#!/usr/bin/env node" },
  );
  chmodSync(join(cli, "dist/burin.cjs"), 0o755);
  if (!process.argv.includes("--no-types")) writeTypes();
  await writeSettingsSchema();
}

// Benches bundle single sources with the same settings; only a direct start builds what is shipped.
if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
