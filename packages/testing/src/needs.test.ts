import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFile, createTemporaryFolder } from "./made-files.ts";
import { groupByPrograms, requirePrograms } from "./needs.ts";
import { findProgram } from "./programs.mjs";

const TOP = join(import.meta.dirname, "../../..");
const TESTING = join(TOP, "packages/testing/src");
/** What the scripts that stand for programs call themselves, and what the preparation starts. */
const PLAIN = ["sh", "cat", "env", "timeout", "test", "touch", "chmod", "true", "runuser", "mkdir", "cp"];
const PROXY = "http://ada:it's a secret@proxy.example:3128";

/** A machine whose PATH has nothing but these programs. */
function machineWith(programs: Readonly<Record<string, string>>) {
  const folder = createTemporaryFolder();
  const bin = join(folder, "my bin");
  mkdirSync(bin);
  for (const name of PLAIN) {
    const file = findProgram(name);
    // Only root starts `runuser`, and only root's PATH is sure to have it.
    if (file !== null || name !== "runuser") symlinkSync(file ?? "", join(bin, name));
  }
  symlinkSync(process.execPath, join(bin, "node"));
  for (const [name, script] of Object.entries(programs))
    chmodSync(createFile(bin, name, `#!/bin/sh\n${script}\n`), 0o755);
  const run = (words: readonly string[], variables: NodeJS.ProcessEnv = {}) => {
    const env = { PATH: bin, HOME: folder, BIN: bin, LOG: join(folder, "log"), ...variables };
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    return { status, said: stdout + stderr };
  };
  const log = () => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8") : "");
  return { folder, run, log };
}

const PREPARE = [join(TOP, "prepare-tests.mjs")];
/** What it installs is there afterwards, and works. */
const APT = `echo "apt-get $*; $http_proxy; $no_proxy; $DEBIAN_FRONTEND; [$(cat)]" >> "$LOG"
case "$*" in *--no-download*) for name in bwrap setfacl getfacl setfattr getfattr initdb python3 ps pgrep curl jq strings script tmux; do
  printf '#!/bin/sh\\n' > "$BIN/$name"; chmod 755 "$BIN/$name"; done;; esac`;
const SUDO = 'test "$1" = -n || { echo "Password:"; exit 1; }; shift; exec "$@"';
const MAY_NOT = 'test "$1" = -n || cat /dev/zero; echo "sudo: a password is required" >&2; exit 1';

describe.runIf(process.platform === "linux")("npm test on a machine that lacks programs", () => {
  // Where root's clone is closed to others, no package helps.
  const open = requirePrograms("the user nobody", "PostgreSQL of npm");
  it("names them and installs them by the system's packages, and hands the proxies on unseen", open, () => {
    const machine = machineWith({ "apt-get": APT, sudo: SUDO });
    const variables = { HTTP_PROXY: PROXY, no_proxy: "here", BURIN_TESTS: "all" };
    const { status, said } = machine.run(PREPARE, variables);
    expect(said).toMatch(
      /^Tests need programs that do not work here: bwrap is missing; setfacl is missing; /,
    );
    expect(said).toContain("Installing bubblewrap, acl, attr, ");
    expect(status, said).toBe(0);
    const lines = machine.log().trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines)
      expect(line.split("; ").slice(1)).toEqual([PROXY, "here", "noninteractive", "[]"]);
    for (const line of lines) expect(line.split("; ")[0]).not.toContain("proxy.example");
    expect(machine.run(PREPARE)).toEqual({ status: 0, said: "" });
  });

  it.runIf(process.getuid?.() !== 0)("never waits for a password", () => {
    const machine = machineWith({ "apt-get": APT, sudo: MAY_NOT });
    expect(machine.run(PREPARE).status).toBe(0);
    expect(machine.log()).toBe("");
  });

  it("goes on where nothing can be installed, unless all tests are asked for", () => {
    const machine = machineWith({ "apt-get": "exit 100", sudo: MAY_NOT });
    expect(machine.run(PREPARE).status).toBe(0);
    expect(machine.run(PREPARE, { BURIN_TESTS: "all" }).status).toBe(1);
  });

  it("says it in words of its own where bubblewrap is there and may not make namespaces", () => {
    const machine = machineWith({
      "apt-get": APT.replace("bwrap ", ""),
      sudo: SUDO,
      bwrap: "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
    });
    const told = "bwrap is installed, but this system does not let it make namespaces; ";
    expect(machine.run(PREPARE).said).toContain(told);
    expect(machine.log()).toContain("install");
    expect(machine.log()).not.toContain("bubblewrap");
  });
});

describe.runIf(process.platform === "linux")("tests that need a program", () => {
  /** Runs a file of tests there. */
  function runTests(variables: NodeJS.ProcessEnv = {}) {
    const machine = machineWith({});
    symlinkSync(join(TOP, "node_modules"), join(machine.folder, "node_modules"));
    createFile(
      machine.folder,
      "vitest.config.mjs",
      `import { WaitingTests } from ${JSON.stringify(join(TESTING, "waiting-tests.ts"))};
       export default { test: { reporters: ["default", new WaitingTests()] } };`,
    );
    createFile(
      machine.folder,
      "a.test.ts",
      `import { writeFileSync } from "node:fs";
       import { beforeAll, describe, it } from "vitest";
       import { requirePrograms } from ${JSON.stringify(join(TESTING, "needs.ts"))};
       describe("in a sandbox", requirePrograms("bwrap"), () => {
         beforeAll(() => { throw new Error("it was set up") });
         it("one", () => { throw new Error("it ran") });
         it.each(["two", "three"])("%s", requirePrograms("jq"), () => { throw new Error("it ran") });
       });
       it("four", requirePrograms("jq"), () => { throw new Error("it ran") });
       it("five", requirePrograms(), () => writeFileSync("five", ""));`,
    );
    const vitest = join(TOP, "node_modules/vitest/vitest.mjs");
    return { ...machine.run([vitest, "run"], variables), folder: machine.folder };
  }

  it("are skipped, and the last lines say what is missing, how many wait and what installs it", () => {
    const { status, said, folder } = runTests();
    expect(said).not.toContain("it ran");
    const lines = said.trimEnd().split("\n");
    expect(lines.slice(-3, -1)).toEqual([
      "bwrap is missing: 3 tests wait for it.",
      "jq is missing: 3 tests wait for it.",
    ]);
    expect(lines.at(-1)).toMatch(/^To install: .*\bbubblewrap jq\b/);
    expect(existsSync(join(folder, "five"))).toBe(true);
    expect(status, said).toBe(0);
  });

  it("fail the run where all tests are asked for", () => {
    const { status, said } = runTests({ BURIN_TESTS: "all" });
    expect(said).toContain("BURIN_TESTS asks for all tests, so these count as failed.\n");
    expect(status).toBe(1);
  });

  it("are grouped by what their commands call", () => {
    const rows = ["jq -n env", "ls", "ls | jq .", "python3 -c 'x'"];
    expect(groupByPrograms(rows, (row) => row)).toEqual([
      [["jq"], ["jq -n env", "ls | jq ."]],
      [[], ["ls"]],
      [["python3"], ["python3 -c 'x'"]],
    ]);
  });
});
