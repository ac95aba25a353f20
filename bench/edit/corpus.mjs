// Real changes: what two neighbouring releases of well-known packages do to their files, kept in a cache.
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, extname, join, relative } from "node:path";
import { promisify } from "node:util";
import { CACHE, fetchDebian, fetchNpm } from "./fetch.mjs";
import { DEBIAN, NPM } from "./packages.mjs";
import { createRandom, hashText } from "./random.mjs";

const run = promisify(execFile);

/** @typedef {{ from: number, to: number, put: string[] }} Hunk lines `from` to `to` of the old file become `put` */
/** @typedef {{ name: string, language: string, text: string, hunks: Hunk[] }} ChangedFile */
/** @typedef {{ name: string, files: ChangedFile[] }} Package */

const LANGUAGES = /** @type {Record<string, string>} */ ({
  js: "js mjs cjs jsx",
  ts: "ts mts cts tsx",
  css: "css scss sass less",
  html: "html hbs ejs vue svelte twig",
  markdown: "md markdown rst pod",
  data: "json yml yaml toml xml plist gyp gypi gradle cmake cabal ini",
  python: "py pyi",
  c: "c h",
  "c++": "cc cpp cxx hpp hh",
  java: "java",
  kotlin: "kt kts",
  swift: "swift",
  "objective-c": "m mm",
  go: "go",
  rust: "rs",
  ruby: "rb rake",
  php: "php",
  perl: "pl pm t",
  lua: "lua",
  haskell: "hs",
  shell: "sh bash ac am",
});
const LANGUAGE_OF = new Map(
  Object.entries(LANGUAGES).flatMap(([language, ends]) =>
    ends.split(" ").map((end) => [`.${end}`, language]),
  ),
);
const MAX_FILE = 400_000;
const MAX_FILES = 60;
const MAX_HUNK = 40;
/** Nobody edits minified code, nor what a program made. */
const MAX_LINE = 1000;
const MADE = /\.min\.|\.map$|\.d\.ts\.map|lock\.json$|(?:^|\/)(?:vendor|third_party|node_modules)\//;
/** A change of this way to look at packages makes the kept ones stale. */
const KEPT_AS = "v1";

/** @returns {Promise<Package[]>} */
export async function loadPackages() {
  await mkdir(CACHE, { recursive: true });
  /** @type {Package[]} */
  const found = [];
  /** @type {string[]} */
  const missing = [];
  const jobs = [
    ...NPM.map((which) => ({ key: which.join("@"), name: which[0], get: () => fetchNpm(which) })),
    ...DEBIAN.map((name) => ({
      key: `debian-${name}`,
      name: `debian/${name}`,
      get: () => fetchDebian(name),
    })),
  ];
  for (const { key, name, get } of jobs) {
    const path = join(CACHE, `${KEPT_AS}-${key.replaceAll("/", "+")}.json`);
    const kept = await readFile(path, "utf8").catch(() => undefined);
    if (kept !== undefined) {
      found.push(JSON.parse(kept));
      continue;
    }
    try {
      const made = { name, files: await findChangedFiles(await get()) };
      await writeFile(`${path}.part`, JSON.stringify(made));
      await rename(`${path}.part`, path);
      found.push(made);
    } catch (error) {
      missing.push(`${name}: ${readReason(error)}`);
    }
  }
  if (found.length === 0) {
    throw new Error(
      `No package could be fetched, and none is in ${CACHE}. The bench needs npm and apt-get online once. ${missing[0]}`,
    );
  }
  if (missing.length > 0) console.log(`${missing.length} packages are missing:\n  ${missing.join("\n  ")}`);
  return found.filter(({ files }) => files.length > 0);
}

/** @param {unknown} error what a command that failed said last, if it said anything */
function readReason(error) {
  const { stderr, message } = /** @type {{ stderr?: string, message?: string }} */ (error);
  return (stderr?.trim() || message || String(error)).split("\n").at(-1)?.slice(0, 200);
}

/** @param {import("./fetch.mjs").TwoReleases} releases */
async function findChangedFiles({ older, newer, remove }) {
  try {
    const entries = await readdir(older, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(older, join(entry.parentPath ?? entry.path, entry.name)))
      .filter((path) => findLanguage(path) !== undefined && !MADE.test(path));
    // Which files are taken is chance, yet the same for everybody.
    const drawn = paths.map((path) => ({ path, at: createRandom(hashText(path)).int(1e9) }));
    /** @type {ChangedFile[]} */
    const files = [];
    for (const { path } of drawn.sort((a, b) => a.at - b.at)) {
      if (files.length === MAX_FILES) break;
      const file = await readChangedFile(older, newer, path);
      if (file !== undefined) files.push(file);
    }
    return files;
  } finally {
    await remove();
  }
}

/** @param {string} path */
function findLanguage(path) {
  return LANGUAGE_OF.get(extname(path)) ?? (basename(path) === "Makefile" ? "shell" : undefined);
}

/** @param {string} older @param {string} newer @param {string} path @returns {Promise<ChangedFile | undefined>} */
async function readChangedFile(older, newer, path) {
  const both = await Promise.all(
    [older, newer].map((folder) => readFile(join(folder, path)).catch(() => null)),
  );
  const [was, is] = both;
  if (!was || !is || was.equals(is) || was.length > MAX_FILE || is.length > MAX_FILE) return undefined;
  const [text, after] = [was.toString("utf8"), is.toString("utf8")];
  if (/[\0\ufffd\ufeff]/.test(text + after)) return undefined;
  const lines = text.split("\n");
  if (lines.some((line) => line.length > MAX_LINE)) return undefined;
  const args = [
    "diff",
    "--no-index",
    "-U0",
    "--no-color",
    "--histogram",
    join(older, path),
    join(newer, path),
  ];
  const { stdout } = await run("git", args, { maxBuffer: 1 << 28 }).catch((error) => error);
  const hunks = parseHunks(String(stdout)).filter((hunk) => isRealChange(lines, hunk));
  return hunks.length === 0
    ? undefined
    : { name: path, language: findLanguage(path) ?? "", text, hunks: hunks.slice(0, 200) };
}

/** @param {string} diff */
function parseHunks(diff) {
  /** @type {Hunk[]} */
  const hunks = [];
  for (const line of diff.split("\n")) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(line);
    if (head) {
      const count = Number(head[2] ?? 1);
      const from = count === 0 ? Number(head[1]) : Number(head[1]) - 1;
      hunks.push({ from, to: from + count, put: [] });
    } else if (line.startsWith("+") && hunks.length > 0) hunks.at(-1)?.put.push(line.slice(1));
  }
  return hunks;
}

/** @param {string[]} lines @param {Hunk} hunk */
function isRealChange(lines, { from, to, put }) {
  const old = lines.slice(from, to);
  const isBlank = [...old, ...put].every((line) => line.trim() === "");
  const size = Math.max(old.length, put.length);
  return size <= MAX_HUNK && !isBlank && old.join("\n") !== put.join("\n");
}
