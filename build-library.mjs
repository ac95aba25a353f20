// What a program gets of the library when it imports it: the rest comes when it is first needed, also in the middle of
// a call that gives no promise. Only CommonJS can do that, so it is what is inside, behind doors that are ES modules.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

/** Never called: what copies only files that it sees imported, as Next.js and Nitro, sees all of them here. */
const SEEN = 'const seen = () => [import("./cjs/index.js"), import("./worker/parse-worker.js")];';

/** Another chunk in one: where it is taken, and where something of it is used. */
const CHUNK = /^const (require_[\w$]+) = (require\("\.[^"]+"\));$|\brequire_[\w$]+(?=\.)/gm;

/** Chunks take each other with the first use instead of at their beginning. */
export const takingLate = {
  name: "taking-late",
  /**
   * @param {string} code
   * @param {[unknown, unknown, { magicString?: import("rolldown").RolldownMagicString }]} given
   */
  renderChunk(code, ...[, , { magicString }]) {
    for (const { 0: text, index, ...found } of code.matchAll(CHUNK)) {
      magicString?.update(index, index + text.length, late(text, found));
    }
    return magicString ? { code: magicString } : null;
  },
};

/**
 * A getter, because `new` goes well before what follows a name and not before what follows a call.
 * @param {string} text @param {Record<number, string | undefined>} found
 */
function late(text, { 1: taken, 2: taking }) {
  if (taken === undefined) return `${text}.all`;
  return `let kept_${taken}; const ${taken} = { get all() { return kept_${taken} ??= ${taking}; } };`;
}

/**
 * The doors as ES modules, and as CommonJS for what cannot require those, as Jest; both take the same chunks. A name of
 * one has its value at once: classes come with the chunk that they are in, plain data is written out, and a function
 * stands for the one that is loaded when it is called.
 * @param {string} dir
 * @param {readonly import("rolldown").OutputChunk[]} chunks
 */
export function writeDoors(dir, chunks) {
  const load = createRequire(join(dir, "door.js"));
  for (const { fileName, name, imports, moduleIds } of chunks.filter(({ isEntry }) => isEntry)) {
    const exported = Object.entries(load(`./${fileName}`));
    const files = [fileName, ...imports.filter((file) => file.endsWith(".cjs"))];
    const places = new Map(files.flatMap((file) => placesIn(file, load(`./${file}`))));
    const rows = exported.map(([name, value]) => bound(name, value, places.get(value)));
    const require = `globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url)`;
    const module = [`const require = ${require};`, SEEN, ...rows.map((row) => `export ${row}`), ""];
    writeFileSync(join(dir, `${name}.js`), module.join("\n"));
    const names = exported.map(([one]) => one).join(", ");
    const forRequire = [...rows, `module.exports = { ${names} };`, ""].join("\n");
    for (const form of ["cjs", "module", "elsewhere"]) mkdirSync(join(dir, form), { recursive: true });
    writeFileSync(join(dir, "module", `${name}.js`), bundledDoor(name, exported, places));
    writeFileSync(join(dir, "elsewhere", `${name}.js`), doorElsewhere(exported));
    writeFileSync(join(dir, "cjs", `${name}.js`), forRequire.replaceAll('require("./', 'require("../'));
    if (moduleIds.length === 0) rmSync(join(dir, fileName));
  }
}

/**
 * A bundler follows what an ES module imports, and so has it whole: it takes these doors by the condition `module`.
 * @param {string} name @param {readonly [string, unknown][]} exported @param {ReadonlyMap<unknown, string>} places
 */
function bundledDoor(name, exported, places) {
  /** @type {Map<string, string>} */
  const files = new Map();
  const rows = exported.map(([one, value]) => {
    const [, file, own] = /^require\("\.\/(.+)"\)\.(.+)$/.exec(places.get(value) ?? "") ?? [];
    if (file === undefined) return `export ${bound(one, value, undefined)}`;
    if (!files.has(file)) files.set(file, `chunk${files.size}`);
    return `export const ${one} = ${files.get(file)}.${own};`;
  });
  const imports = [...files].map(([file, chunk]) => `import ${chunk} from "../${file}";`);
  return [`// The door ${name} for bundlers.`, ...imports, ...rows, ""].join("\n");
}

const NEEDS = `const needsMachine = (name) => {
  throw new Error(
    \`\${name} of @burin/core needs a machine with files and processes: Node, Bun or Deno. \` +
      "@burin/edit-match and @burin/shell-judge run here, too.",
  );
};`;

/**
 * Runtimes without files and processes, as Cloudflare's, take this by their own condition: each name is there, and says
 * with its first use what it needs.
 * @param {readonly [string, unknown][]} exported
 */
function doorElsewhere(exported) {
  const rows = exported.map(([name, value]) => {
    if (typeof value !== "function")
      return `export const ${name} = new Proxy({}, { get: () => needsMachine("${name}") });`;
    const isClass = /^class\b/.test(String(value));
    return isClass
      ? `export class ${name} { constructor() { needsMachine("${name}"); } }`
      : `export function ${name}() { needsMachine("${name}"); }`;
  });
  return [NEEDS, ...rows, ""].join("\n");
}

/** What has another name in each form of module: Node gives both by itself, whatever a bundler makes of a chunk. */
const OF_FORMAT = /\brequire\("((?:node:)?[a-z_/]+)"\)|\b__(?:file|dir)name\b/g;
const FILE = 'typeof __filename === "string" ? __filename : globalThis.process.argv[1] ?? "/"';
const FOLDER = `typeof __dirname === "string" ? __dirname : globalThis.process.getBuiltinModule("node:path").dirname(${FILE})`;

/** Chunks run as a part of an ES module, too. */
export const inAnyFormat = {
  name: "in-any-format",
  /**
   * @param {string} code
   * @param {[unknown, unknown, { magicString?: import("rolldown").RolldownMagicString }]} given
   */
  renderChunk(code, ...[, , { magicString }]) {
    for (const { 0: text, 1: name, index } of code.matchAll(OF_FORMAT)) {
      if (name !== undefined && !isBuiltin(name)) continue;
      const place = text === "__filename" ? FILE : FOLDER;
      const own = name === undefined ? `(${place})` : `globalThis.process.getBuiltinModule("${name}")`;
      magicString?.update(index, index + text.length, own);
    }
    return magicString ? { code: magicString } : null;
  },
};

/** @param {string} file @param {object} exported @returns {[unknown, string][]} */
function placesIn(file, exported) {
  return Object.entries(exported).map(([name, value]) => [value, `require("./${file}").${name}`]);
}

/** @param {string} name @param {unknown} value @param {string | undefined} place */
function bound(name, value, place) {
  if (typeof value === "function" && !/^class\b/.test(String(value)))
    return `function ${name}(...given) { return ${place}(...given); }`;
  const json = JSON.stringify(value, null, 1);
  const isData = json !== undefined && isDeepStrictEqual(JSON.parse(json), value);
  if (!isData) return `const ${name} = ${place};`;
  // V8 reads long data as JSON in less time than as code.
  return `const ${name} = /* @__PURE__ */ JSON.parse(\`${json.replace(/[\\`$]/g, "\\$&")}\`);`;
}
