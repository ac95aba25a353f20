import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolbox, type ToolboxOptions } from "@burin/core";
import { createGitHome, type GitHome } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { beforeEach, describe, expect, it } from "vitest";

const confined = requirePrograms("bwrap");
let base: string;
let root: string;
let environment: NodeJS.ProcessEnv;
let git: GitHome["git"];

/** A program of the person's own shows what a look may do: it tries to write, and tells its surroundings. */
beforeEach(() => {
  const home = createGitHome();
  ({ base, root, git } = home);
  mkdirSync(join(root, "bin"));
  const tells = `echo "net=$(grep -c : /proc/net/dev) path=$PATH hooks=$(git config core.hooksPath)"`;
  writeFileSync(join(base, "home/own.sh"), `touch ${join(root, "mark")} 2>/dev/null\n${tells}\n`);
  const own = `sh ${join(base, "home/own.sh")}`;
  appendFileSync(join(base, "home/.gitconfig"), `[diff "own"]\n\ttextconv = ${own}\n`);
  environment = {
    ...home.environment,
    PATH: `${join(root, "bin")}:${process.env.PATH}`,
    BURIN_HOME: join(base, "burin"),
  };
  writeFileSync(join(root, ".gitattributes"), "*.txt diff=own\n");
  writeFileSync(join(root, "a.txt"), "alpha\n");
  home.makeRepository(root);
});

async function run(command: string, options: Partial<ToolboxOptions> = {}): Promise<string> {
  const toolbox = createToolbox({ root, environment, includeDirectories: [join(base, "home")], ...options });
  const { llmContent } = await toolbox.call("run_shell_command", { command });
  await toolbox.close();
  return String(llmContent);
}

const LOOK = "git log -p -- a.txt";
const hasWritten = () => existsSync(join(root, "mark"));
const openFully = { sandbox: { mode: "off" } } as const;

describe("a line that runs because it only reads", () => {
  it(
    "P21 P53 writes nothing in the root, has no network and no hooks, and finds no program of the project",
    confined,
    async () => {
      const said = await run(LOOK, { settings: { sandbox: { mode: "workspace-write", network: true } } });
      expect(said).toContain("net=1 ");
      expect(said).toContain("hooks=/dev/null");
      expect(said).not.toContain(join(root, "bin"));
      expect(hasWritten()).toBe(false);
    },
  );

  it.each(["git config --get core.hooksPath", "cd bin && git config core.hooksPath && pwd"])(
    "P53 shows the user's own settings where git only shows settings: %s",
    async (command) => {
      git(root, "config", "core.hooksPath", ".husky");
      expect(await run(command)).toMatch(/^\.husky$/m);
    },
  );

  it("P21 without a sandbox git runs no hooks and finds no program of the project", async () => {
    const said = await run(LOOK, { settings: openFully });
    expect(said).toContain("hooks=/dev/null");
    expect(said).not.toContain(join(root, "bin"));
  });

  it.each([
    [
      "beside a part that a rule covers",
      `${LOOK}; echo 1 > b.txt`,
      { permissions: { allow: ["run_shell_command"] } },
    ],
    ["with a rule for every command", LOOK, { permissions: { allow: ["run_shell_command"] } }],
  ])("P22 it is not held to that %s", async (_, command, settings) => {
    expect(await run(command, { settings })).not.toContain("hooks=/dev/null");
    expect(hasWritten()).toBe(true);
  });

  it("P22 nor in yolo mode, nor when a person said yes", async () => {
    await run(LOOK, { approvalMode: "yolo" });
    expect(hasWritten()).toBe(true);
    rmSync(join(root, "mark"));
    git(root, "config", "diff.x.textconv", "cat");
    expect(await run(LOOK)).toContain("diff.x.textconv");
    expect(hasWritten()).toBe(false);
    await run(LOOK, { confirm: () => Promise.resolve({ outcome: "once" }) });
    expect(hasWritten()).toBe(true);
  });

  it("P22 beside what a rule covers only git's own tidying is off", async () => {
    const allow = ["run_shell_command(touch)"];
    const said = await run(`${LOOK} && touch b.txt`, { settings: { permissions: { allow } } });
    expect(said).toContain("hooks=\n");
    expect(existsSync(join(root, "b.txt"))).toBe(true);
  });

  it("P22 a filter such as that of git-lfs finds a place for what it compares", confined, async () => {
    const keeps = 'mkdir -p "$folder" && cat > "$folder/$$" && echo "pointer to $(cat "$folder/$$")"';
    writeFileSync(join(base, "home/lfs.sh"), `folder=$(git config lfs.storage || echo .git/lfs)\n${keeps}\n`);
    git(root, "config", "--global", "filter.lfs.clean", `sh ${join(base, "home/lfs.sh")}`);
    git(root, "config", "--global", "filter.lfs.required", "true");
    writeFileSync(join(root, ".gitattributes"), "*.bin filter=lfs\n");
    writeFileSync(join(root, "a.bin"), "one\n");
    git(root, "add", "-A");
    git(root, "commit", "-qm", "second");
    rmSync(join(root, ".git/lfs"), { recursive: true });
    writeFileSync(join(root, "a.bin"), "two\n");
    expect(await run("git diff")).toContain("+pointer to two");
    expect(existsSync(join(root, ".git/lfs"))).toBe(false);
  });

  it("P21 the program that checks signatures is not started, whatever format the repository names", async () => {
    const by = (role: string) => `${role} Ada <a@example.org> 1700000000 +0000\n`;
    const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n";
    const tree = git(root, "rev-parse", "HEAD^{tree}");
    const file = join(base, "home/commit");
    writeFileSync(file, `tree ${tree}${by("author")}${by("committer")}${signature}\nsigned\n`);
    git(root, "reset", "--hard", git(root, "hash-object", "-t", "commit", "-w", file).trim());
    writeFileSync(join(base, "home/gpg"), `#!/bin/sh\ntouch ${join(root, "mark")}\n`, { mode: 0o755 });
    git(root, "config", "--global", "gpg.program", join(base, "home/gpg"));
    git(root, "config", "format.pretty", "%G? %s");
    expect(await run("git log -1", { settings: openFully })).toContain("signed");
    expect(hasWritten()).toBe(false);
    await run("git log -1", { approvalMode: "yolo" });
    expect(hasWritten()).toBe(true);
  });

  it("P14 P21 the index stays as it is, with a sandbox and in plan mode without one", async () => {
    const index = join(root, ".git/index");
    const before = readFileSync(index);
    writeFileSync(join(root, "a.txt"), "alpha\n");
    expect(await run("git status --short && git diff --stat")).toContain("Exit code: 0");
    await run("git diff --stat", { approvalMode: "plan", settings: openFully });
    expect(readFileSync(index).equals(before)).toBe(true);
  });
});
