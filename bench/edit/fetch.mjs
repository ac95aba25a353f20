// Fetches the two releases of a package by its name, with the ordinary clients, into a folder outside the repository.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DEBIAN_RELEASES } from "./packages.mjs";

const run = promisify(execFile);
const MAX_OUTPUT = 1 << 28;
/** Where Debian's package of its own keys has them. */
const KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";

export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "burin-bench");

/** @typedef {{ older: string, newer: string, remove: () => Promise<void> }} TwoReleases */

/** @param {readonly [name: string, older: string, newer: string]} which @returns {Promise<TwoReleases>} */
export async function fetchNpm([name, older, newer]) {
  const folder = await mkdtemp(join(tmpdir(), "burin-bench-npm-"));
  const specs = [`${name}@${older}`, `${name}@${newer}`];
  const unpacked = [];
  for (const [at, spec] of specs.entries()) {
    const into = join(folder, String(at));
    await mkdir(into);
    const packing = ["pack", spec, "--silent", "--ignore-scripts"];
    const { stdout } = await run("npm", packing, { cwd: into, maxBuffer: MAX_OUTPUT });
    await unpack(join(into, stdout.trim().split("\n").pop() ?? ""), join(into, "tree"));
    unpacked.push(join(into, "tree"));
  }
  const [from = "", to = ""] = unpacked;
  return { older: from, newer: to, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** @param {string} name @returns {Promise<TwoReleases>} */
export async function fetchDebian(name) {
  const folder = await mkdtemp(join(tmpdir(), "burin-bench-deb-"));
  const unpacked = [];
  for (const release of DEBIAN_RELEASES) {
    const into = join(folder, release);
    await mkdir(into);
    const getting = [...(await aptOptions()), "source", "--download-only", `${name}/${release}`];
    await run("apt-get", getting, { cwd: into, maxBuffer: MAX_OUTPUT });
    const source = (await readdir(into)).find((file) => /\.orig\.tar\.[a-z0-9]+$/.test(file));
    if (source === undefined) throw new Error(`${name}: no source archive in ${release}`);
    await unpack(join(into, source), join(into, "tree"));
    unpacked.push(join(into, "tree"));
  }
  const [from = "", to = ""] = unpacked;
  return { older: from, newer: to, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Debian's archives have a folder with the version in its name at the top. @param {string} archive @param {string} into */
async function unpack(archive, into) {
  await mkdir(into);
  await run("tar", ["-xf", archive, "-C", into, "--strip-components=1", "--no-same-owner"]);
}

/** @type {Promise<string[]> | undefined} */
let options;

/** Options of apt-get for lists of sources of its own, so that the machine's are left alone. */
function aptOptions() {
  options ??= prepareApt();
  return options;
}

async function prepareApt() {
  const folder = join(CACHE, "apt");
  const lists = join(folder, "lists");
  const { stdout } = await run("apt-get", ["indextargets", "--format", "$(REPO_URI)"]);
  const site = stdout.split("\n").find((line) => /debian\/?$/.test(line));
  if (site === undefined) throw new Error("apt-get knows no archive of Debian");
  await mkdir(join(lists, "partial"), { recursive: true });
  const signed = (await stat(KEYS).catch(() => undefined)) ? `[signed-by=${KEYS}] ` : "";
  const wanted = DEBIAN_RELEASES.map((release) => `deb-src ${signed}${site} ${release} main\n`);
  await writeFile(join(folder, "sources.list"), wanted.join(""));
  const own = [
    `Dir::Etc::sourcelist=${join(folder, "sources.list")}`,
    "Dir::Etc::sourceparts=-",
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${folder}`,
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  const isFresh = await stat(join(folder, "updated")).catch(() => undefined);
  if (isFresh === undefined) {
    await run("apt-get", [...own, "update"], { maxBuffer: MAX_OUTPUT });
    await writeFile(join(folder, "updated"), "");
  }
  return own;
}
