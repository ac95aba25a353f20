// Builds what is shipped: each package as bundled ESM with nothing left to install, and core's types.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { rolldown } from "rolldown";
import { holdAlone } from "./build-alone.mjs";
import { inAnyFormat, takingLate, writeDoors } from "./build-library.mjs";
import { LIBRARY_GROUPS, MOMENT_GROUPS } from "./build-moments.mjs";
import { writeTypes } from "./build-types.mjs";
import { manPage } from "./man-page.mjs";

const top = dirname(fileURLToPath(import.meta.url));
const core = join(top, "packages/core");
const cli = join(top, "packages/cli");
const fleet = join(top, "packages/fleet");
const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));

/** The module that every start of the command line loads, before it asks a model. */
const START = /[\\/]cli[\\/]src[\\/]start\.ts$/;
const MODEL = /[\\/]print[\\/](?:find-model|text-report)\.ts$/;
/** What stands on the screen before the rest of the app is loaded. */
const SCREEN = /[\\/]interactive[\\/]interactive\.ts$/;
/** @typedef {import("@jridgewell/sourcemap-codec").SourceMapSegment} SourceMapSegment */
/**
 * @typedef {{ dir: string, format: "esm" | "cjs", extension: string, banner?: string, isLibrary?: boolean,
 *   isInParts?: boolean, outside?: readonly string[] }} Target `isInParts`: behind doors, and the rest comes later;
 *   `outside` is what is installed beside it, and not part of it
 */

/** @type {Target} CommonJS, because Node starts it in a fifth less time than an ES module. */
const CLI_TARGET = {
  dir: join(cli, "dist"),
  format: "cjs",
  extension: ".cjs",
  banner: "#!/usr/bin/env node",
  outside: ["@burin/fleet"],
};
/** Run in a thread of its own, and so a program of its own, which takes nothing of the others. */
const WORKER_INPUT = { "parse-worker": join(top, "packages/web/src/parse-worker.ts") };
/** What is published with types, and the doors that have them. */
const TYPED = {
  core: ["index", "adapters", "internal", "machine", "sessions", "testing"],
  "edit-match": ["index"],
  "shell-judge": ["index"],
};
const CLI_INPUT = { burin: join(cli, "src/main.ts") };

/**
 * The bundler's own file holds a kilobyte, and to load one file more costs as much as ten: each chunk that takes it has
 * it at its end instead. Places in the chunk stay where the map says they are.
 * @type {import("rolldown").Plugin}
 */
const joiningRuntime = {
  name: "joining-runtime",
  generateBundle(_, files) {
    const chunks = Object.values(files).filter((file) => file.type === "chunk");
    const runtime = chunks.find(({ fileName }) => fileName.startsWith("chunks/rolldown-runtime"));
    if (runtime === undefined) return;
    const own = `function runtime(){const exports={};${runtime.code};return exports}`;
    const taken = `require("./${basename(runtime.fileName)}")`;
    for (const chunk of chunks.filter(({ code }) => code.includes(taken)))
      chunk.code = `${chunk.code.replace(taken, "runtime()".padEnd(taken.length))}\n${own}\n`;
    delete files[runtime.fileName];
  },
};

/**
 * @param {Record<string, string>} input
 * @param {Target} target
 */
export async function bundle(input, target) {
  const build = await openBuild(input, target.outside);
  const { output } = await build.write(outputOptions(target));
  await build.close();
  removeOldChunks(target.dir, new Set(output.map((file) => file.fileName)));
  const maps = output.filter(({ fileName }) => fileName.endsWith(".map"));
  for (const { fileName } of maps) trimMap(join(target.dir, fileName), target.isLibrary ?? false);
  if (target.isLibrary) {
    const chunks = output.filter((file) => file.type === "chunk");
    if (target.isInParts) writeDoors(target.dir, chunks);
    else for (const { fileName } of chunks) takeBuiltins(join(target.dir, fileName));
  }
  return output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
}

/**
 * An ES module that imports a module of Node has all of its exports read, and with them loaded what they load lazily:
 * a seventh of what it costs to import the library. Lines stay where the map says they are.
 * @param {string} file
 */
function takeBuiltins(file) {
  const code = readFileSync(file, "utf8");
  const taken = code.replaceAll(
    /^import (\{[^}]*\}|\w+) from "(node:[\w/]+)";$/gm,
    (_, /** @type {string} */ names, /** @type {string} */ name) =>
      `const ${names.replaceAll(" as ", ": ")} = globalThis.process.getBuiltinModule("${name}");`,
  );
  writeFileSync(file, taken);
}

/**
 * Of the code of other packages nothing stays in a map: it would be most of what is shipped. For the command line a
 * map says from which file and line a place is, and no more: nobody steps through it.
 * @param {string} file
 * @param {boolean} isLibrary
 */
function trimMap(file, isLibrary) {
  const map = JSON.parse(readFileSync(file, "utf8"));
  /** @type {boolean[]} */
  const isForeign = map.sources.map((/** @type {string} */ source) => source.includes("node_modules/"));
  const lines = decode(map.mappings).map((segments) => trimSegments(segments, isForeign, isLibrary));
  map.mappings = encode(lines);
  map.sourcesContent = isForeign.map((foreign, index) =>
    foreign || !isLibrary ? null : map.sourcesContent[index],
  );
  if (!isLibrary) map.names = [];
  writeFileSync(file, JSON.stringify(map));
}

/**
 * @param {SourceMapSegment[]} segments
 * @param {readonly boolean[]} isForeign
 * @param {boolean} isExact
 */
function trimSegments(segments, isForeign, isExact) {
  /** @type {SourceMapSegment[]} */
  const kept = [];
  for (const [column, source, line = 0, ...more] of segments) {
    const last = kept.at(-1);
    if (source === undefined || isForeign[source]) {
      // One place without a source ends what stood before it.
      if (last !== undefined && last.length > 1) kept.push([column]);
    } else if (isExact || last?.[1] !== source || last[2] !== line) {
      const [at = 0, name] = more;
      kept.push(
        isExact && name !== undefined ? [column, source, line, at, name] : [column, source, line, at],
      );
    }
  }
  return kept;
}

/**
 * Rows of data hold where a fact was seen and an example for its test, which nobody needs at run time.
 * @type {import("rolldown").Plugin}
 */
const leavingOutExamples = {
  name: "leaving-out-examples",
  load(id) {
    if (!/[\\/]failure-(?:codes|words)\.json$/.test(id)) return null;
    /** @type {object[]} */
    const rows = JSON.parse(readFileSync(id, "utf8"));
    const code = JSON.stringify(rows, (key, value) => (/^(?:seen|example)$/.test(key) ? undefined : value));
    return { code, moduleType: "json" };
  },
};

/**
 * @param {Record<string, string>} input
 * @param {readonly string[]} [outside]
 */
function openBuild(input, outside = []) {
  return rolldown({
    input,
    plugins: [leavingOutExamples],
    external: [...outside],
    platform: "node",
    resolve: {
      conditionNames: ["@burin/source", "node", "import", "module"],
      mainFields: ["module", "main"],
    },
    transform: { define: { BURIN_VERSION: JSON.stringify(version) } },
    experimental: { nativeMagicString: true },
    // unpdf looks for its own folder only to draw pages, which is never asked of it.
    // What a start of the command line loads late may be in the library's first chunk.
    checks: { emptyImportMeta: false, ineffectiveDynamicImport: false },
  });
}

/** @param {Target} target */
function outputOptions({ dir, format, extension, banner = "", isLibrary = false, isInParts = false }) {
  return {
    dir,
    format,
    plugins: isInParts ? [takingLate, inAnyFormat] : isLibrary ? [] : [joiningRuntime],
    // An error in a program that embeds the library shows a line of it, which must not be the whole of it.
    minify: isLibrary ? { compress: true, mangle: true, codegen: { removeWhitespace: false } } : true,
    sourcemap: true,
    comments: !isLibrary,
    // V8 reads a file of one-byte characters in half the time.
    charset: /** @type {const} */ ("ascii"),
    /** @param {{ isEntry: boolean }} chunk */
    banner: ({ isEntry }) => (isEntry ? banner : ""),
    // One file for what every start loads: each further one would cost as much as 10 kB more in the first.
    // A second one asks models; it is read while the first one reads settings.
    codeSplitting: {
      groups: [
        { name: "start", test: START, priority: 22 },
        { name: "model", test: MODEL, priority: 21 },
        { name: "screen", test: SCREEN, priority: 19 },
        ...(isInParts ? LIBRARY_GROUPS : []),
        ...MOMENT_GROUPS,
      ],
    },
    entryFileNames: `[name]${extension}`,
    chunkFileNames: `chunks/[name]-[hash]${extension}`,
  };
}

/**
 * What every start of the command line loads before it asks a model, and the number of all files; writes nothing.
 * @returns {Promise<{ modules: string[], builtins: string[], importedBuiltins: string[], bytes: number, files: number }>}
 */
export async function loadOfStart() {
  const build = await openBuild(CLI_INPUT, CLI_TARGET.outside);
  const { output } = await build.generate(outputOptions(CLI_TARGET));
  await build.close();
  const chunks = output.filter((file) => file.type === "chunk");
  const first = chunks.find(({ moduleIds }) => moduleIds.some((id) => START.test(id)));
  const loaded = new Set(first ? [first] : []);
  // A set gives also what is added to it on the way.
  for (const { imports } of loaded) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) loaded.add(chunk);
  }
  const all = [...loaded];
  return {
    modules: all.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(top, id).replaceAll(sep, "/"))),
    builtins: [...new Set(all.flatMap(({ imports }) => imports.filter((name) => isBuiltin(name))))],
    importedBuiltins: all.flatMap(({ dynamicImports }) => dynamicImports.filter((name) => isBuiltin(name))),
    bytes: all.reduce((sum, { code }) => sum + code.length, 0),
    files: chunks.length,
  };
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

/**
 * What a package needs beside its code: the licence, and those of the packages whose code it holds.
 * @param {string} folder
 * @param {readonly string[]} modules
 */
function writeLicences(folder, modules) {
  copyFileSync(join(top, "LICENSE"), join(folder, "LICENSE"));
  const packages = new Set(
    modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []),
  );
  const notices = [...packages].sort().map((place) => {
    const { name, version, license } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    const file = readdirSync(place).find((one) => /^licen[cs]e/i.test(one));
    const text =
      file === undefined ? `Licensed under ${license}.` : readFileSync(join(place, file), "utf8").trim();
    return `${name} ${version}\n\n${text}\n`;
  });
  const head = "The code of this package holds code of these packages.\n\n";
  writeFileSync(join(folder, "dist/THIRD-PARTY-NOTICES.txt"), head + notices.join(`\n${"-".repeat(72)}\n\n`));
}

/**
 * What the doors for `require` need beside them, and folders for resolvers that do not read `exports`.
 * @param {string} name
 * @param {readonly string[]} doors
 */
function writeCommonJs(name, doors) {
  const folder = join(top, "packages", name);
  const place = join(folder, "dist/cjs");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), '{ "type": "commonjs" }\n');
  for (const door of doors) {
    if (door === "index") continue;
    const types = `../dist/cjs/types/${name}/src/${door}.d.ts`;
    mkdirSync(join(folder, door), { recursive: true });
    writeFileSync(
      join(folder, door, "package.json"),
      `${JSON.stringify({ main: `../dist/cjs/${door}.js`, types })}\n`,
    );
  }
}

async function writeSettingsSchema() {
  const { SETTINGS_SCHEMA } = await import(pathToFileURL(join(core, "dist/internal.js")).href);
  mkdirSync(join(cli, "dist"), { recursive: true });
  writeFileSync(join(cli, "dist/settings.schema.json"), `${JSON.stringify(SETTINGS_SCHEMA, null, 2)}\n`);
}

/** The words of the command line are in TypeScript, so they are bundled to be read here. */
async function writeManPage() {
  const built = await openBuild({ words: join(cli, "src/request/usages.ts") });
  const { output } = await built.generate({ format: "esm" });
  await built.close();
  const words = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
  writeFileSync(join(cli, "dist/burin.1"), manPage(words, version));
}

async function build() {
  const modules = await bundle(
    Object.fromEntries(TYPED.core.map((door) => [door, join(core, `src/${door}.ts`)])),
    { dir: join(core, "dist"), format: "cjs", extension: ".cjs", isLibrary: true, isInParts: true },
  );
  /** @type {Target} */
  const forCoreWorker = { dir: join(core, "dist/worker"), format: "esm", extension: ".js" };
  writeLicences(core, [...modules, ...(await bundle(WORKER_INPUT, forCoreWorker))]);
  for (const name of ["edit-match", "shell-judge"]) {
    const wing = join(top, "packages", name);
    /** @type {Target} */
    const target = { dir: join(wing, "dist"), format: "esm", extension: ".js", isLibrary: true };
    const input = { index: join(wing, "src/index.ts") };
    writeLicences(wing, await bundle(input, target));
    await bundle(input, { ...target, dir: join(wing, "dist/cjs"), format: "cjs" });
  }
  const { dependencies } = JSON.parse(readFileSync(join(fleet, "package.json"), "utf8"));
  const outside = Object.keys(dependencies);
  /** @type {Target} */
  const forFleet = { dir: join(fleet, "dist"), format: "esm", extension: ".js", isLibrary: true, outside };
  writeLicences(fleet, await bundle({ index: join(fleet, "src/index.ts") }, forFleet));
  // What browsers get, as it is written.
  cpSync(join(fleet, "src/page"), join(fleet, "dist/page"), { recursive: true });
  const started = await bundle(CLI_INPUT, CLI_TARGET);
  /** @type {Target} */
  const forCliWorker = { dir: join(cli, "dist/worker"), format: "cjs", extension: ".cjs" };
  writeLicences(cli, [...started, ...(await bundle(WORKER_INPUT, forCliWorker))]);
  chmodSync(join(cli, "dist/burin.cjs"), 0o755);
  for (const [name, doors] of Object.entries(TYPED)) writeCommonJs(name, doors);
  await writeSettingsSchema();
  await writeManPage();
}

// Benches bundle single sources with the same settings; only a direct start builds what is shipped.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const part = process.argv[2];
  await holdAlone(join(top, "node_modules/.burin-build"));
  if (part !== "--types") await build();
  if (part !== "--no-types") writeTypes(top, TYPED);
}
