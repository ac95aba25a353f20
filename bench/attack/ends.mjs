// Commands that try to say how they ended or that they left nothing, to reach what is not theirs, and to outlive their
// session: as this user and, for root, as an ordinary one as well.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);
const NOBODY = 65_534;

/** Writes what would tell an end into each file that any visible process has open, and tries every other door. */
const FORGE = `
import ctypes, os, struct
libc = ctypes.CDLL(None)
for name in os.listdir("/proc"):
    if not name.isdigit() or int(name) == os.getpid(): continue
    pid = int(name)
    held = libc.syscall(434, pid, 0)
    for number in range(3, 64):
        taken = libc.syscall(438, held, number, 0)
        for words in (b"0 2\\n", struct.pack("Q", 1), b'{ "exit-code": 0 }\\n'):
            try: os.write(taken, words)
            except OSError: pass
    if pid == os.getppid(): continue
    for path in ("root/", "cwd/", "ns/user", "ns/mnt", "ns/net", "ns/pid"):
        try: os.close(os.open(f"/proc/{pid}/{path}", os.O_RDONLY)); print("OPENED", pid, path)
        except OSError: pass
    for number in range(0, 64):
        try: os.close(os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY)); print("OPENED", pid, "fd", number)
        except OSError: pass
    try: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR)); print("OPENED", pid, "mem")
    except OSError: pass
    if libc.ptrace(16, pid, 0, 0) == 0: print("OPENED", pid, "trace")
    if libc.ptrace(0x4206, pid, 0, 0) == 0: print("OPENED", pid, "seize")
    for kinds in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x30020000):
        if libc.setns(held, kinds) == 0: print("OPENED", pid, "entered", kinds)
`;

const createWord = () => `left-${Math.random().toString(36).slice(2)}`;
const listAlive = (/** @type {string} */ words) =>
  readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && readCommandLine(pid).includes(words));

/** @param {string} pid */
function readCommandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** @param {{ mode?: string }} [options] @returns {Promise<number>} how many attacks had an effect */
export async function run({ mode = "yolo" } = {}) {
  let failures = await runAttacks(mode);
  if (process.getuid?.() === 0) {
    const words = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", process.execPath];
    const done = spawnSync("setpriv", [...words, fileURLToPath(import.meta.url), "as-user", mode], {
      stdio: "inherit",
    });
    failures += done.status ?? 1;
  }
  return failures;
}

/** @param {string} mode */
async function runAttacks(mode) {
  const base = mkdtempSync(join(tmpdir(), "burin-ends-"));
  const who = process.getuid?.() === 0 ? "root" : "an ordinary user";
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  const open = (/** @type {string} */ name) => {
    const root = join(base, name);
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, "forge.py"), FORGE);
    const environment = { ...process.env, HOME: base, BURIN_HOME: join(base, "home") };
    const toolbox = createToolbox({
      root,
      approvalMode: /** @type {import("@burin/core").ApprovalMode} */ (mode),
      record: mode === "auto",
      confirm: async ({ kind }) => (kind === "exec" ? { outcome: "once" } : null),
      environment,
      settings: { sandbox: { mode: "workspace-write" } },
    });
    const shell = async (/** @type {string} */ command, more = {}) =>
      String((await toolbox.call("run_shell_command", { command, ...more })).llmContent);
    return { root, toolbox, shell };
  };
  const [one, other] = [open("one"), open("other")];
  const words = createWord();
  /** @type {[string, boolean][]} */
  const held = [];
  const expect = (/** @type {string} */ title, /** @type {boolean} */ isHeld) => held.push([title, isHeld]);
  try {
    await one.shell(`sleep 300; : ${words}`, { is_background: true });
    for (const terminal of [false, true]) {
      const text = await one.shell("python3 forge.py; exit 7", { terminal });
      expect(`exit 7 stays 7 (terminal ${terminal})`, text.startsWith("Exit code: 7\n"));
      expect(`nothing of others opens (terminal ${terminal})`, !text.includes("OPENED"));
    }
    // In a file: what the words of a line name is covered by the yes to that line.
    writeFileSync(
      join(one.root, "plant.sh"),
      "while :; do mkdir -p .husky; echo x > .envrc; echo x > .husky/pre-commit; sleep 0.2; done\n",
    );
    const left = await one.shell(
      `(setsid env -i sh plant.sh ${words} >/dev/null 2>&1 &); python3 forge.py; exit 7`,
    );
    expect("what is left is told", left.startsWith("Exit code: 7\nLeft running as "));
    const thread = `import ctypes, threading, time; threading.Thread(target=time.sleep, args=(300,)).start(); ctypes.CDLL(None).syscall(60, 0) # ${words}`;
    const threads = await one.shell(`(python3 -c '${thread}' >/dev/null 2>&1 &); sleep 1`);
    expect("a thread without its first one is told", threads.includes("Left running as "));
    const serve = `python3 -m http.server 3456 >/dev/null 2>&1 & for n in $(seq 100); do curl -s -o /dev/null localhost:3456 && break; sleep 0.1; done`;
    await one.shell(serve);
    expect(
      "a server is reached by the next command",
      (await one.shell("curl -s -o /dev/null localhost:3456")).startsWith("Exit code: 0"),
    );
    expect(
      "and by no other session",
      (await other.shell("curl -s -o /dev/null localhost:3456")).startsWith("Exit code: 7"),
    );
    await other.shell("kill -9 -1; for n in $(seq 1 300); do kill -9 $n; done");
    expect(
      "nor ended by one",
      (await one.shell("curl -s -o /dev/null localhost:3456")).startsWith("Exit code: 0"),
    );
    const files = (await one.shell("ls -l /proc/self/fd"))
      .split("\n")
      .filter((line) => / (?:[3-9]|\d\d+) -> /.test(line));
    expect(
      "no file of Burin is open",
      files.every((line) => / -> (?:\/dev\/null|\/proc\/\d+\/fd)$/.test(line)),
    );
    await pause(1000);
    await Promise.all([one.toolbox.close(), other.toolbox.close()]);
    expect("nothing outlives its session", listAlive(words).length === 0);
    expect(
      "nothing planted stays",
      ![".envrc", ".husky/pre-commit"].some((name) => existsSync(join(one.root, name))),
    );
  } finally {
    await Promise.all([one.toolbox.close(), other.toolbox.close()]);
    rmSync(base, { recursive: true, force: true });
  }
  const broken = held.filter(([, isHeld]) => !isHeld);
  console.log(`ends, as ${who}: ${held.length} attacks, ${broken.length} with an effect`);
  for (const [title] of broken) console.log(`  not held: ${title}`);
  return broken.length;
}

if (process.argv[2] === "as-user") process.exit(await runAttacks(process.argv[3] ?? "yolo"));
