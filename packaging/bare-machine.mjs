// Shows that both commands of README.md work on a machine without the programs that tests call: in a clone in a folder
// with spaces, as this user and, for root, as another one. The programs are deleted in a layer over their folders that
// only the two commands see, and apt-get and sudo with them, so that nothing is installed.
//   node packaging/bare-machine.mjs [--whole]    with ten files of tests, or with all of them
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const SYSTEM = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const HIDDEN = [
  ...["bwrap", "setfacl", "getfacl", "setfattr", "getfattr", "tmux", "initdb", "pg_ctl", "postgres"],
  ...["chromium", "google-chrome", "jq", "strings", "ps", "pgrep", "curl", "python3", "apt-get", "sudo"],
];
const POSTGRES = "/usr/lib/postgresql";
/** Some that need a program and some that need none, of each kind. */
const TEN = [
  "gates/no-switched-off.test.ts",
  "packages/cli/tests/call.test.ts",
  "packages/cli/tests/print.test.ts",
  "packages/cli/tests/screen.test.ts",
  "packages/core/src/tools/edit-attributes.test.ts",
  "packages/core/src/tools/write-file-kept.test.ts",
  "packages/core/tests/planted-names.test.ts",
  "packages/fleet/tests/isolation.test.ts",
  "packages/commands/tests/process-ledger.test.ts",
  "packages/commands/src/sandbox/sandbox-protected.test.ts",
];
const MINUTES = { install: 10, tests: 15, all: 60, start: 5 };
const NOBODY = 65_534;

/** Each folder is covered with a layer in which the programs are deleted. The shell stays, and looks after orphans. */
const HIDE = `
layers="$1/layers"; hidden="$2"; shift 2
mkdir -p "$layers" && mount -t tmpfs tmpfs "$layers" || exit 97
for path in $hidden; do
  folder=\${path%/*}; layer="$layers$folder"
  if [ ! -e "$layer" ]; then
    mkdir -p "$layer/upper" "$layer/work"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$layer/upper,workdir=$layer/work" "$folder" || exit 97
  fi
  rm "$path" || exit 97
done
"$@"; exit $?`;

/** @typedef {{ name: string, isOther: boolean, home: string, clone: string }} Person */

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [what, work] of bareMachine(process.argv.includes("--whole"))) {
    await work();
    process.stdout.write(`ok      ${what}\n`);
  }
}

/**
 * What has to hold, one after another; each throws when it does not.
 * @param {boolean} isWhole
 * @returns {[what: string, work: () => Promise<void>][]}
 */
export function bareMachine(isWhole) {
  const people = process.getuid?.() === 0 ? [true, false] : [false];
  return people.map((isOther) => [
    `README's commands work without the programs that tests call, as ${isOther ? "another user" : "this user"}`,
    async () => {
      const place = mkdtempSync(join(tmpdir(), "burin on a bare machine "));
      chmodSync(place, 0o755);
      try {
        await followReadme(personIn(place, isOther), isWhole);
      } finally {
        rmSync(place, { recursive: true, force: true });
      }
    },
  ]);
}

/** @param {Person} person @param {boolean} isWhole */
async function followReadme(person, isWhole) {
  await run(person, { command: ["npm", "ci"], minutes: MINUTES.install });
  const tests = isWhole ? [] : TEN;
  const minutes = isWhole ? MINUTES.all : MINUTES.tests;
  const said = await run(person, { command: ["npm", "test", "--", ...tests], minutes });
  const [last = "", ...before] = said.trim().split("\n").reverse();
  if (
    !before.some((line) => /^bwrap is missing: \d+ tests wait for it\.$/.test(line)) ||
    !last.includes(" bubblewrap ")
  )
    throw new Error(`the last lines do not say what is missing:\n${said.slice(-3000)}`);
  await startDemo(person);
}

/** The files as they are here, also those that are not committed, with the history that some tests ask for. */
function personIn(/** @type {string} */ place, /** @type {boolean} */ isOther) {
  const home = join(place, "home");
  const clone = join(place, "my clone");
  mkdirSync(home);
  const git = (/** @type {string[]} */ ...words) =>
    execFileSync("git", words, { cwd: repository, encoding: "utf8" });
  git("clone", "--quiet", "--no-hardlinks", repository, clone);
  const files = (/** @type {string} */ kind) =>
    git("ls-files", "-z", kind, "--exclude-standard").split("\0").filter(Boolean);
  for (const file of files("--deleted")) rmSync(join(clone, file), { force: true });
  for (const file of [...files("--modified"), ...files("--others")]) {
    if (existsSync(join(repository, file))) cpSync(join(repository, file), join(clone, file));
  }
  const settings = join(process.env.HOME ?? "", ".npmrc");
  if (existsSync(settings)) copyFileSync(settings, join(home, ".npmrc"));
  if (isOther) execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, home, clone]);
  return { name: isOther ? "nobody" : "", isOther, home, clone };
}

/** @param {Person} person @param {{ command: string[], minutes: number }} what */
async function run(person, { command, minutes }) {
  const child = start(person, command, minutes);
  const { code, said } = await child.ended;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${said().slice(-20_000)}`);
  return said();
}

/** Chooses "Try the demo", lets the demo change and run what it wants, and waits for its last words. @param {Person} person */
async function startDemo(person) {
  const inTerminal = ["script", "-qec", "stty rows 40 cols 100; npm start", "/dev/null"];
  const { child, said } = start(person, inTerminal, MINUTES.start);
  let over = false;
  child.once("close", () => {
    over = true;
  });
  let from = 0;
  /** Types until that is shown: a key does not count before a question has stood a while. @param {string} keys @param {string} wanted */
  const type = async (keys, wanted) => {
    child.stdin.write(keys);
    for (await pause(500); !over && !said().slice(from).includes(wanted); await pause(2000))
      if (keys.length === 1) child.stdin.write(keys);
    if (over) throw new Error(`npm start ended without "${wanted}":\n${said().slice(-5000)}`);
    from = said().length;
  };
  await type("", "Which model service?");
  await type("try the", "› Try the demo");
  await type("\r", "Carry out this plan?");
  await type("a", "Make this change?");
  await type("y", "Run this command?");
  await type("y", "0 words now");
  while (!over) {
    child.stdin.write("\x03");
    await pause(500);
  }
}

/** @param {Person} person @param {string[]} command @param {number} minutes */
function start(person, command, minutes) {
  const env = environmentOf(person);
  const [program = "", ...words] = [...prefixOf(person), ...command];
  const child = spawn(program, words, {
    cwd: person.clone,
    env,
    timeout: minutes * 60_000,
    killSignal: "SIGKILL",
  });
  child.stdin.on("error", () => {});
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
  }
  /** Without what sets colours and moves the cursor. */
  const said = () =>
    text.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;?>]*[a-zA-Z]`, "g"), "").replaceAll("\r", "");
  const ended = new Promise((resolve) => child.once("close", (code) => resolve({ code, said })));
  return { child, ended, said };
}

/** A mount namespace in which the hidden programs are gone; whoever comes from it ends with the first process. */
function prefixOf(/** @type {Person} */ { isOther, home }) {
  const isRoot = process.getuid?.() === 0;
  const again = ["unshare", `--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
  const other = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  const spaces = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const root = isRoot ? [] : ["--map-root-user"];
  const words = [
    "sh",
    "-c",
    HIDE,
    "sh",
    dirname(home),
    hiddenPaths().join(" "),
    ...(isOther ? other : isRoot ? [] : again),
  ];
  return ["unshare", ...root, ...spaces, ...words];
}

function hiddenPaths() {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  const folders = [
    ...SYSTEM,
    dirname(process.execPath),
    ...versions.map((name) => join(POSTGRES, name, "bin")),
  ];
  const real = new Set(folders.filter((folder) => existsSync(folder)).map((folder) => realpathSync(folder)));
  return [...real].flatMap((folder) => {
    const names = readdirSync(folder).filter((name) =>
      HIDDEN.some((hidden) => hidden === name || /^python3\.\d+$/.test(name)),
    );
    return names.map((name) => join(folder, name));
  });
}

/** Nothing of the npm that runs this, but for where the registry is. */
function environmentOf(/** @type {Person} */ { name, home }) {
  const kept = Object.entries(process.env).filter(
    ([key]) =>
      !/^(?:npm_|BURIN_|INIT_CWD$)/i.test(key) || /^npm_config_(?:registry|cafile|.*proxy)$/i.test(key),
  );
  const PATH = [dirname(process.execPath), ...SYSTEM].join(":");
  const own = { PATH, HOME: home, TERM: "xterm-256color", ...(name !== "" && { USER: name, LOGNAME: name }) };
  return { ...Object.fromEntries(kept), ...own };
}
