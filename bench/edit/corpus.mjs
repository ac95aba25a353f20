// Real changes: the hunks between two published versions of well-known packages.
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, relative } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * @typedef {object} Hunk
 * @property {string} where package and path, for reports
 * @property {string[]} lines the old file, by line, without line ends
 * @property {number} from index of the first old line that changes
 * @property {number} to index after the last old line that changes
 * @property {string[]} put the lines that come in their stead
 */

/** @type {Record<string, [name: string, older: string, newer: string][]>} */
const SETS = {
  a: [
    ["express", "4.16.0", "4.18.2"],
    ["lodash", "4.17.11", "4.17.21"],
    ["commander", "8.3.0", "10.0.0"],
    ["chalk", "3.0.0", "4.1.2"],
    ["normalize.css", "7.0.0", "8.0.1"],
    ["semver", "7.3.5", "7.5.4"],
    ["moment", "2.24.0", "2.29.4"],
    ["prismjs", "1.25.0", "1.29.0"],
    ["yargs", "16.2.0", "17.7.2"],
    ["node-gyp", "8.0.0", "9.4.0"],
    ["type-fest", "2.19.0", "3.13.1"],
    ["handlebars", "4.5.3", "4.7.8"],
  ],
  b: [
    ["koa", "2.11.0", "2.14.2"],
    ["underscore", "1.12.1", "1.13.6"],
    ["jquery", "3.5.1", "3.7.1"],
    ["fastify", "3.29.0", "4.10.0"],
    ["rxjs", "7.5.7", "7.8.1"],
    ["bulma", "0.9.1", "0.9.4"],
    ["mocha", "9.0.0", "10.2.0"],
    ["js-yaml", "3.14.1", "4.1.0"],
    ["async", "3.2.0", "3.2.5"],
    ["inquirer", "8.0.0", "8.2.6"],
  ],
  c: [
    ["socket.io-client", "4.4.0", "4.7.2"],
    ["redux", "4.0.5", "4.2.1"],
    ["marked", "3.0.0", "4.3.0"],
    ["immer", "9.0.0", "9.0.21"],
    ["knex", "0.95.0", "1.0.7"],
    ["foundation-sites", "6.6.3", "6.7.5"],
    ["pug", "2.0.4", "3.0.2"],
    ["winston", "3.3.3", "3.8.2"],
  ],
  d: [
    ["zod", "3.19.1", "3.22.4"],
    ["bootstrap", "5.1.3", "5.3.2"],
    ["eslint", "7.32.0", "8.30.0"],
    ["preact", "10.5.0", "10.19.2"],
    ["vite", "2.9.0", "3.2.7"],
    ["github-markdown-css", "4.0.0", "5.2.0"],
    ["highlight.js", "10.7.3", "11.9.0"],
    ["ajv", "8.6.0", "8.12.0"],
    ["swagger-ui-dist", "4.1.0", "4.15.5"],
  ],
  e: [
    ["axios", "0.21.0", "1.4.0"],
    ["vue", "3.2.0", "3.3.4"],
    ["dayjs", "1.9.0", "1.11.7"],
    ["webpack", "5.60.0", "5.88.0"],
    ["postcss", "8.2.0", "8.4.31"],
    ["ws", "7.4.0", "8.13.0"],
    ["nodemailer", "6.6.0", "6.9.0"],
    ["stylelint", "13.13.0", "14.16.0"],
  ],
  f: [
    ["sequelize", "6.6.2", "6.28.0"],
    ["luxon", "2.0.2", "3.3.0"],
    ["tailwindcss", "2.2.0", "3.2.0"],
    ["eslint-plugin-import", "2.22.0", "2.27.5"],
    ["body-parser", "1.18.0", "1.20.2"],
    ["nunjucks", "3.1.0", "3.2.4"],
    ["reveal.js", "4.1.0", "4.5.0"],
    ["mongoose", "5.12.0", "6.9.0"],
  ],
  g: [
    ["nan", "2.14.0", "2.18.0"],
    ["node-addon-api", "3.0.0", "7.0.0"],
    ["canvas", "2.6.0", "2.11.2"],
    ["sharp", "0.28.0", "0.32.0"],
    ["react-native-webview", "11.0.0", "13.2.0"],
    ["react-native-svg", "12.1.0", "13.9.0"],
    ["element-ui", "2.13.0", "2.15.13"],
    ["react-native-reanimated", "2.3.0", "2.17.0"],
  ],
};

const TEXT = new Set(
  ".js .mjs .cjs .ts .mts .css .scss .sass .less .md .json .py .gyp .gypi .yml .yaml .html .hbs .vue .h .cc .cpp .java .kt .m .mm .swift .rb .sh .xml .gradle".split(
    " ",
  ),
);
const LARGEST = 600_000;
const LONGEST_HUNK = 40;
/** Nobody edits minified code. */
const LONGEST_LINE = 500;

/** @param {string} name @param {string} version */
async function unpacked(name, version) {
  const cache = join(tmpdir(), "burin-bench-edit");
  const folder = join(cache, `${name.replaceAll("/", "+")}@${version}`);
  if (await stat(folder).catch(() => undefined)) return join(folder, "package");
  const part = `${folder}.part`;
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true });
  const { stdout } = await run("npm", ["pack", `${name}@${version}`, "--silent", "--ignore-scripts"], {
    cwd: part,
  });
  await run("tar", ["-xzf", stdout.trim().split("\n").pop() ?? ""], { cwd: part });
  await rename(part, folder);
  return join(folder, "package");
}

/** @param {string} older @param {string} newer */
async function changedFiles(older, newer) {
  const entries = await readdir(older, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && TEXT.has(extname(entry.name)) && !entry.name.includes(".min."))
    .map((entry) => relative(older, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
  const found = [];
  for (const path of paths) {
    const texts = await Promise.all(
      [older, newer].map((folder) => readFile(join(folder, path), "utf8").catch(() => undefined)),
    );
    const [before, after] = texts;
    if (before === undefined || after === undefined || before === after) continue;
    if (before.length > LARGEST || /[\r\ufffd\ufeff]/.test(before + after)) continue;
    if (before.split("\n").some((line) => line.length > LONGEST_LINE)) continue;
    found.push({ path, before });
  }
  return found;
}

/** @param {string} older @param {string} newer @param {string} path */
async function hunkHeads(older, newer, path) {
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
  /** @type {{from: number, to: number, put: string[]}[]} */
  const heads = [];
  for (const line of String(stdout).split("\n")) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(line);
    if (head) {
      const count = Number(head[2] ?? 1);
      const from = count === 0 ? Number(head[1]) : Number(head[1]) - 1;
      heads.push({ from, to: from + count, put: [] });
    } else if (line.startsWith("+") && heads.length > 0) heads.at(-1)?.put.push(line.slice(1));
  }
  return heads;
}

/** @param {string} set @returns {Promise<Hunk[]>} */
export async function loadHunks(set) {
  const packages = SETS[set];
  if (packages === undefined) throw new Error(`no such set: ${set}`);
  /** @type {Hunk[]} */
  const hunks = [];
  for (const [name, older, newer] of packages) {
    const folders = [await unpacked(name, older), await unpacked(name, newer)];
    const [from, to] = [folders[0] ?? "", folders[1] ?? ""];
    for (const { path, before } of await changedFiles(from, to)) {
      const lines = before.split("\n");
      for (const head of await hunkHeads(from, to, path)) {
        const size = Math.max(head.to - head.from, head.put.length);
        const same = lines.slice(head.from, head.to).join("\n") === head.put.join("\n");
        const blank = [...lines.slice(head.from, head.to), ...head.put].every((line) => line.trim() === "");
        if (size > LONGEST_HUNK || blank || same) continue;
        hunks.push({ where: `${name}/${path}`, lines, ...head });
      }
    }
  }
  return hunks;
}
