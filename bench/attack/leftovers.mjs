// What a command in the sandbox leaves behind that runs code later: its own commits, many folders, a session or a
// process beside it, git's step files, set-user-ID. Run as root and as an ordinary user.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CORE = fileURLToPath(new URL("../../packages/core/dist/index.js", import.meta.url));
const AS = "git -c user.name=a -c user.email=a@b";
const NAMES = ".envrc .npmrc .husky/pre-commit .vscode/tasks.json .mcp.json";
const PLANT = `for f in ${NAMES}; do mkdir -p $(dirname $f); echo evil > $f; done`;

/** @typedef {{ name: string, lines: readonly string[], prepare?: (root: string) => void, beside?: "session" | "process" }} Attack */

/** @param {string} root */
const makeRepository = (root) => {
  for (const words of ["init -q -b main", "config user.name a", "config user.email a@b"])
    execFileSync("git", ["-C", root, ...words.split(" ")]);
  for (const text of ["one", "two"]) {
    writeFileSync(join(root, "a.txt"), text);
    execFileSync("git", ["-C", root, "add", "-A"]);
    execFileSync("git", ["-C", root, "commit", "-qm", text]);
  }
};

/** A rebase that has stopped at a conflict. @param {string} root */
const makeStoppedRebase = (root) => {
  makeRepository(root);
  const git = (/** @type {string} */ words) => spawnSync("git", ["-C", root, ...words.split(" ")]);
  git("checkout -q -b other HEAD~1");
  writeFileSync(join(root, "a.txt"), "three");
  git("commit -qam three");
  git("rebase -q main");
};

/** @type {readonly Attack[]} */
const ATTACKS = [
  {
    name: "its own commit in a new repository",
    lines: [`${PLANT}; git init -q; git add -f .; ${AS} commit -qm x`],
  },
  {
    name: "its own commit below",
    lines: [`mkdir s; cd s; ${PLANT}; git init -q; git add -f .; ${AS} commit -qm x`],
  },
  {
    name: "its own commit on top",
    prepare: makeRepository,
    lines: [`${PLANT}; git add -f .; ${AS} commit -q --amend -m x`],
  },
  {
    name: "a commit of an earlier command",
    prepare: makeRepository,
    lines: [
      `b=$(echo evil | git hash-object -w --stdin); t=$(printf '100644 blob %s\\t.envrc\\n' $b | git mktree); git update-ref refs/heads/evil $(${AS} commit-tree -m x $t)`,
      "git checkout -q evil -- .envrc",
    ],
  },
  {
    name: "many folders",
    lines: [`seq 1 30000 | sed 's|^|a/|' | xargs mkdir -p; mkdir a/9/z; cd a/9/z; ${PLANT}`],
  },
  {
    name: "beside a command without limits of another session",
    beside: "session",
    lines: [`sleep 1; ${PLANT}`],
  },
  { name: "beside one of another process", beside: "process", lines: [`sleep 2; ${PLANT}`] },
  {
    name: "a step of a rebase",
    prepare: makeStoppedRebase,
    lines: ["echo 'exec touch sung' >> .git/rebase-merge/git-rebase-todo"],
  },
  {
    name: "a rebase of its own making",
    prepare: makeRepository,
    lines: [
      "mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name; git rev-parse HEAD | tee onto > orig-head; touch interactive; echo 'x touch sung' > git-rebase-todo",
    ],
  },
  {
    name: "what git follows",
    prepare: makeRepository,
    lines: ["echo '* filter=x' > .git/info/attributes; mkdir .git/sl; echo x > .git/sl/config"],
  },
  { name: "set-user-ID", lines: ["cp /bin/true t; chmod u+s t; chmod g+s t; install -m 6755 /bin/true u"] },
];

/** Everything of it that is still there. @param {string} folder @returns {string[]} */
function listLeftovers(folder) {
  const left = NAMES.split(" ").filter((name) => existsSync(join(folder, name)));
  if (readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o6000) !== 0).length > 0)
    left.push("set-user-ID");
  spawnSync("git", ["-C", folder, "add", "-A"]);
  spawnSync("git", ["-C", folder, "-c", "core.editor=true", "rebase", "--continue"]);
  for (const name of ["sung", ".git/sl", "s/.envrc", "a/9/z/.envrc"])
    if (existsSync(join(folder, name))) left.push(name);
  return left;
}

/** A call of the toolbox in a process of its own, approved. @param {string} root @param {string} home */
function runUnlimited(root, home) {
  const code = `const { createToolbox } = await import(${JSON.stringify(CORE)});
    const box = createToolbox({ root: ${JSON.stringify(root)}, confirm: async () => ({ outcome: "once" }) });
    await box.call("run_shell_command", { command: "sleep 4", sandbox_exception: "unlimited" }); await box.close();`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, BURIN_HOME: home },
    stdio: "ignore",
  });
}

/** @param {{ mode?: string }} [options] @returns {Promise<number>} */
export async function run({ mode = "default" } = {}) {
  const { createToolbox } = await import(CORE);
  let failures = 0;
  for (const { name, lines, prepare, beside } of ATTACKS) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "burin-leftovers-")));
    const [root, home] = [join(base, "root"), join(base, "home")];
    mkdirSync(root);
    prepare?.(root);
    const { BURIN_HOME } = process.env;
    process.env.BURIN_HOME = home;
    // The command itself is approved, and nothing that it leaves.
    const confirm = async (/** @type {{ kind: string }} */ { kind }) =>
      kind === "exec" ? { outcome: "once" } : null;
    const box = createToolbox({ root, confirm, approvalMode: mode, record: mode === "auto" });
    const other = beside === "session" ? createToolbox({ root, confirm }) : null;
    const wide = other?.call("run_shell_command", { command: "sleep 3", sandbox_exception: "unlimited" });
    const child = beside === "process" ? runUnlimited(root, home) : null;
    const ended = child === null ? null : new Promise((resolve) => child.once("exit", resolve));
    // Written to a file first: the words of the line name what it plants, and a yes to those would cover it.
    for (const [index, line] of lines.entries()) {
      writeFileSync(join(root, `run-${index}.sh`), `${line}\n`);
      await box.call("run_shell_command", { command: `sh run-${index}.sh`, timeout: 120_000 });
    }
    await Promise.all([wide, ended]);
    await Promise.all([box.close(), other?.close()]);
    const left = listLeftovers(root);
    console.log(
      `${left.length === 0 ? "held" : "LEFT"}  ${name}${left.length === 0 ? "" : `: ${left.join(", ")}`}`,
    );
    failures += left.length === 0 ? 0 : 1;
    if (BURIN_HOME === undefined) delete process.env.BURIN_HOME;
    else process.env.BURIN_HOME = BURIN_HOME;
    rmSync(base, { recursive: true, force: true });
  }
  return failures;
}
