// The types of each package that is published, with those of the packages whose code is bundled into it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";

/** `from "x"` and `import("x")`, as the compiler writes them. */
const MODULE = /(\bfrom |\bimport\()"([^"]+)"/g;
const OF_NODE = /\bNodeJS\.|\bBuffer\b|"node:/;

/**
 * @param {string} top
 * @param {Readonly<Record<string, readonly string[]>>} entries of each package, by their names below `src/`
 */
export function writeTypes(top, entries) {
  const emitted = mkdtempSync(join(tmpdir(), "burin-types-"));
  const tsc = join(top, "node_modules/typescript/bin/tsc");
  const run = spawnSync(
    process.execPath,
    [tsc, "-p", join(top, "tsconfig.types.json"), "--outDir", emitted],
    {
      stdio: "inherit",
    },
  );
  if (run.status !== 0) process.exit(1);
  for (const [name, doors] of Object.entries(entries)) {
    const target = join(top, "packages", name, "dist/types");
    const forRequire = join(top, "packages", name, "dist/cjs/types");
    for (const old of [target, forRequire]) rmSync(old, { recursive: true, force: true });
    const reached = new Set(doors.map((door) => join(emitted, name, "src", `${door}.d.ts`)));
    let namesNode = false;
    // A set gives also what is added to it on the way.
    for (const file of reached) {
      const text = readFileSync(file, "utf8").replace(MODULE, (_, head, specifier) => {
        const found = declarationOf({ top, emitted, file, specifier });
        if (found === null) return `${head}"${specifier}"`;
        reached.add(found);
        const path = relative(dirname(file), found)
          .replaceAll(sep, "/")
          .replace(/\.d\.ts$/, ".js");
        return `${head}"${path.startsWith(".") ? path : `./${path}`}"`;
      });
      const place = join(target, relative(emitted, file));
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
      namesNode ||= OF_NODE.test(text);
    }
    // TypeScript 6 and later loads the types of Node only for what asks for them.
    for (const door of namesNode ? doors : []) {
      const file = join(target, name, "src", `${door}.d.ts`);
      writeFileSync(file, `/// <reference types="node" />\n${readFileSync(file, "utf8")}`);
    }
    // The folder above says that its files are CommonJS, so the same words are the types for require.
    cpSync(target, forRequire, { recursive: true });
  }
  rmSync(emitted, { recursive: true });
}

/**
 * The file with the types of a module of this repository; null for another's.
 * @param {{ top: string, emitted: string, file: string, specifier: string }} use
 */
function declarationOf({ top, emitted, file, specifier }) {
  if (specifier.startsWith(".")) return join(dirname(file), specifier).replace(/\.[jt]s$/, ".d.ts");
  const [, name, below] = /^@burin\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined) return null;
  const { exports } = JSON.parse(readFileSync(join(top, "packages", name, "package.json"), "utf8"));
  const row = exports[below === undefined ? "." : `./${below}`] ?? exports["./*"]?.replace("*", below);
  const source = typeof row === "string" ? row : row["@burin/source"];
  return join(emitted, name, source).replace(/\.ts$/, ".d.ts");
}
