// Real changes that nobody chose: two successive versions of a package, compared file by file, kept outside the repository.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, relative } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const KEPT = join(tmpdir(), "burin-edit-independent");

/** @typedef {{ from: number, to: number, put: string[] }} Hunk lines `from` to `to` become `put` */
/** @typedef {{ where: string, ending: string, text: string, hunks: Hunk[] }} Changed */

/** Two successive versions of packages that the other bench does not use. */
const PACKAGES =
  `got 16.0.0 16.1.0, nanoid 5.1.16 6.0.2, lodash-es 4.17.23 4.18.1, marked 18.1.3 18.2.1, cheerio 1.1.2 1.2.0,
  pino 10.3.1 10.4.0, winston 3.18.3 3.19.0, eslint-plugin-react 7.36.1 7.37.5, socket.io 4.7.5 4.8.4, three 0.186.1 0.187.0,
  d3-array 3.1.6 3.2.5, ramda 0.31.3 0.32.0, luxon 3.6.1 3.7.2, hono 4.12.34 4.13.19, koa 3.2.1 3.3.0, sequelize 6.36.0 6.37.8,
  typeorm 1.0.0 1.1.1, ioredis 5.11.1 6.0.0, nodemailer 10.5.0 10.6.1, passport 0.6.0 0.7.0, stylelint 18.0.0 18.1.0,
  less 4.8.1 4.9.1, pug 2.0.4 3.0.4, ejs 6.0.1 7.0.2, nunjucks 3.1.7 3.2.4, mustache 4.1.0 4.2.0, puppeteer-core 25.15.0 25.16.0,
  tslib 2.8.1 2.9.1, katex 0.18.11 0.19.1, leaflet 1.8.0 1.9.4, swiper 14.3.0 14.4.0, video.js 8.23.9 8.24.1, ink 7.1.1 8.0.0`
    .split(",")
    .map((row) => row.trim().split(" "));
/** Source packages of Debian in other languages, from the machine's own lists; left out where it has none. */
const SOURCES = ["dash", "golang-github-gorilla-mux", "lua-cjson"];

const TEXTS =
  /^\.(?:[cm]?[jt]sx?|css|scss|less|html?|md|rst|json|ya?ml|toml|py|rb|pl|pm|c|h|cc|rs|go|sh|txt|xml|java|lua)$/;
const MADE = /\.min\.|\.map$|-lock\.|CHANGELOG|changelog|\.d\.ts\.map/;
const MAX_FILES = 50;
const MAX_BYTES = 300_000;

/** @param {(line: string) => void} say @returns {Promise<Changed[]>} */
export async function loadChanges(say) {
  await mkdir(KEPT, { recursive: true });
  const jobs = [
    ...PACKAGES.map(([name = "", ...versions]) => ({
      name,
      get: (/** @type {string} */ into) => fromNpm(name, versions, into),
    })),
    ...SOURCES.map((name) => ({
      name: `debian-${name}`,
      get: (/** @type {string} */ into) => fromDebian(name, into),
    })),
  ];
  const all = [];
  for (const { name, get } of jobs) {
    const kept = join(KEPT, `${name.replaceAll("/", "+")}.json`);
    const known = await readFile(kept, "utf8").catch(() => undefined);
    if (known === undefined) {
      const found = await compared(name, get).catch((error) => {
        say(
          `${name} is missing: ${String(error.stderr ?? error.message)
            .trim()
            .split("\n")
            .at(-1)
            ?.slice(0, 150)}`,
        );
        return undefined;
      });
      if (found === undefined) continue;
      await writeFile(`${kept}.part`, JSON.stringify(found));
      await rename(`${kept}.part`, kept);
      all.push(...found);
    } else all.push(...JSON.parse(known));
  }
  if (all.length === 0) throw new Error("No package could be fetched: npm must be online once.");
  return all;
}

/** @param {string} name @param {string[]} versions @param {string} into */
async function fromNpm(name, versions, into) {
  const trees = [];
  for (const version of versions) {
    const { stdout } = await execute("npm", ["pack", `${name}@${version}`, "--silent", "--ignore-scripts"], {
      cwd: into,
    });
    trees.push(await unpacked(join(into, stdout.trim()), join(into, version)));
  }
  return trees;
}

/** @param {string} name @param {string} into */
async function fromDebian(name, into) {
  const { fetchDebian } = await import("../edit/fetch.mjs");
  const { older, newer, remove } = await fetchDebian(name);
  await rename(older, join(into, "older")).catch(() => execute("cp", ["-r", older, join(into, "older")]));
  await rename(newer, join(into, "newer")).catch(() => execute("cp", ["-r", newer, join(into, "newer")]));
  await remove();
  return [join(into, "older"), join(into, "newer")];
}

/** @param {string} archive @param {string} into */
async function unpacked(archive, into) {
  await mkdir(into);
  await execute("tar", ["-xzf", archive, "-C", into, "--strip-components=1", "--no-same-owner"]);
  return into;
}

/** @param {string} name @param {(into: string) => Promise<string[]>} get @returns {Promise<Changed[]>} */
async function compared(name, get) {
  const folder = await mkdtemp(join(tmpdir(), "burin-independent-"));
  try {
    const [older = "", newer = ""] = await get(folder);
    const entries = await readdir(older, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile() && TEXTS.test(extname(entry.name)) && !MADE.test(entry.name))
      .map((entry) => relative(older, join(entry.parentPath ?? entry.path, entry.name)))
      .sort();
    // Every nth, so that all folders are seen.
    const step = Math.max(1, Math.floor(paths.length / (MAX_FILES * 6)));
    const found = [];
    for (let at = 0; at < paths.length && found.length < MAX_FILES; at += step) {
      const changed = await changeOf({ older, newer, path: paths[at] ?? "", name });
      if (changed !== undefined) found.push(changed);
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {{ older: string, newer: string, path: string, name: string }} which @returns {Promise<Changed | undefined>} */
async function changeOf({ older, newer, path, name }) {
  const files = [join(older, path), join(newer, path)];
  const [was, is] = await Promise.all(files.map((file) => readFile(file).catch(() => undefined)));
  if (was === undefined || is === undefined || was.equals(is) || Math.max(was.length, is.length) > MAX_BYTES)
    return undefined;
  const [text, after] = [was, is].map((bytes) => bytes.toString("utf8").replaceAll("\r\n", "\n"));
  if (/[\0\r\ufffd\ufeff]/.test(`${text}${after}`) || text?.split("\n").some((line) => line.length > 800))
    return undefined;
  const { stdout } = await execute("diff", ["-U0", "--strip-trailing-cr", ...files], {
    maxBuffer: 1 << 28,
  }).catch((error) => error);
  const hunks = hunksIn(String(stdout)).filter(({ from, to, put }) => to - from <= 30 && put.length <= 30);
  return hunks.length === 0
    ? undefined
    : { where: `${name}/${path}`, ending: extname(path), text: text ?? "", hunks };
}

/** @param {string} diff */
function hunksIn(diff) {
  /** @type {Hunk[]} */
  const hunks = [];
  for (const line of diff.split("\n").slice(2)) {
    const head = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (head !== null) {
      const [start, count] = [Number(head[1]), Number(head[2] ?? 1)];
      const from = count === 0 ? start : start - 1;
      hunks.push({ from, to: from + count, put: [] });
    } else if (line.startsWith("+")) hunks.at(-1)?.put.push(line.slice(1).replace(/\r$/, ""));
  }
  return hunks;
}
