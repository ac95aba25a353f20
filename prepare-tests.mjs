// What `npm test` does first: it names the programs that tests call and that are missing here, and installs them by
// the system's packages where it may. With --ci also what else `.ci/run` calls. It never asks for a password, and ends
// within five minutes. Where it can install nothing, tests are skipped and the end of the run says so, unless
// BURIN_TESTS=all asks for all of them.
import { spawnSync } from "node:child_process";
import {
  findProgram,
  installCommand,
  MISSING,
  NEEDED_HERE,
  PROGRAMS,
  PROGRAMS_OF_CI,
} from "./packages/testing/src/programs.mjs";

const SUDO_MS = 10_000;
const MOST_MS = 290_000;
const PROXIES = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];

/**
 * What comes by standard input are the proxies, which may hold a password that no list of processes should show. Once
 * dpkg has begun it is never killed, for it would leave packages that are half installed.
 */
const INSTALL = `
eval "$(cat)"
exec </dev/null
export DEBIAN_FRONTEND=noninteractive
options="-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o DPkg::Lock::Timeout=40"
install="install -y --no-install-recommends $options"
timeout --foreground -k 5 60 apt-get update $options &&
  timeout --foreground -k 5 130 apt-get $install --download-only "$@" &&
  timeout --foreground -k 5 80 apt-get $install --no-download "$@"`;

const rows = [
  ...NEEDED_HERE.map((name) => /** @type {const} */ ([name, PROGRAMS[name]])),
  ...(process.argv.includes("--ci") ? Object.entries(PROGRAMS_OF_CI) : []),
];

const before = faults();
if (before.length > 0) {
  say(`Tests need programs that do not work here: ${before.map(({ text }) => text).join("; ")}.`);
  install(before.flatMap(({ row, fault }) => (fault === MISSING && row.package !== "" ? [row.package] : [])));
  const after = faults();
  if (after.length > 0) say("Tests that call what still does not work wait; the end of the run counts them.");
  if (process.env.BURIN_TESTS === "all" && after.length > 0) process.exitCode = 1;
}

function faults() {
  return rows.flatMap(([name, row]) => {
    const fault = row.fault();
    return fault === null ? [] : [{ row, fault, text: `${name} ${fault}` }];
  });
}

/** @param {string[]} packages */
function install(packages) {
  if (packages.length === 0 || process.platform !== "linux" || findProgram("apt-get") === null) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync("sudo", ["-n", "true"], { stdio: "ignore", timeout: SUDO_MS }).status !== 0)
    return;
  const names = [...new Set(packages)];
  say(`Installing ${names.join(", ")}, for five minutes at most.`);
  const words = [...(isRoot ? [] : ["sudo", "-n"]), "sh", "-c", INSTALL, "sh", ...names];
  const { status } = spawnSync(words[0] ?? "", words.slice(1), {
    input: proxies(),
    stdio: ["pipe", "inherit", "inherit"],
    timeout: MOST_MS,
    killSignal: "SIGKILL",
  });
  if (status !== 0) say(`They could not be installed. By hand: ${installCommand(names)}`);
}

/** As commands of a shell, and by the names in small letters, which apt reads. */
function proxies() {
  return PROXIES.map((name) => {
    const value = process.env[name] ?? process.env[name.toUpperCase()];
    return value === undefined ? "" : `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`;
  }).join("");
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}
