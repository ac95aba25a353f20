import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createToolbox } from "@burin/core";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";

let base: string;
let root: string;
let canary: string;

beforeEach(() => {
  base = createTemporaryFolder();
  root = join(base, "project");
  canary = join(root, "canary");
  mkdirSync(join(root, "node_modules", ".bin"), { recursive: true });
  mkdirSync(join(base, "elsewhere", "src"), { recursive: true });
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "a.txt"), "alpha\n");
  writeFileSync(join(base, "elsewhere/src/secret"), "elsewhere\n");
  execFileSync("tar", ["cf", "a.tar", "a.txt"], { cwd: root });
  execFileSync("git", ["init", "-q"], { cwd: root });
  execFileSync("git", ["add", "a.txt"], { cwd: root });
  writeFileSync(join(root, "a.txt"), "changed\n");
  script(join(root, "run.sh"));
  for (const name of ["ls", "cat", "git"]) script(join(root, "node_modules/.bin", name));
});

function script(path: string): void {
  writeFileSync(path, `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(path, 0o755);
}

const HOSTILE: readonly (readonly [string, string, () => Record<string, string>])[] = [
  [
    "a file that bash runs first",
    "ls",
    () => ({ BASH_ENV: join(root, "run.sh"), ENV: join(root, "run.sh") }),
  ],
  ["a function in place of a program", "ls", () => ({ "BASH_FUNC_ls%%": `() { touch ${canary}; }` })],
  ["a diff program", "git diff", () => ({ GIT_EXTERNAL_DIFF: join(root, "run.sh") })],
  [
    "git settings",
    "git diff",
    () => ({
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "diff.external",
      GIT_CONFIG_VALUE_0: join(root, "run.sh"),
    }),
  ],
  ["a trace of git", "git status", () => ({ GIT_TRACE: canary })],
  [
    "options of tar",
    "tar tf a.tar",
    () => ({ TAR_OPTIONS: `--checkpoint=1 --checkpoint-action=exec=${join(root, "run.sh")}` }),
  ],
  [
    "the project's own programs",
    "ls && cat a.txt && git log -1",
    () => ({ PATH: [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter) }),
  ],
  [
    "the current folder's programs",
    "ls",
    () => ({ PATH: ["", ".", "node_modules/.bin", process.env.PATH].join(delimiter) }),
  ],
];

describe("a command that is judged by its words", () => {
  it.each(HOSTILE)(
    "P21 means the same whatever Burin was started with: %s (%s)",
    async (_title, command, variables) => {
      const environment = { ...process.env, BURIN_HOME: join(base, "home"), ...variables() };
      const toolbox = createToolbox({ root, environment, settings: { sandbox: { mode: "off" } } });
      const { llmContent } = await toolbox.call("run_shell_command", { command });
      await toolbox.close();
      expect(llmContent).toContain("Exit code:");
      expect(existsSync(canary)).toBe(false);
    },
  );

  it.each([
    ["in a repository", "tools"],
    ["in a folder without one", "node_modules/.bin"],
  ])("P21 means the same in an inner folder %s, whose top brings programs", async (_title, folder) => {
    mkdirSync(join(root, folder), { recursive: true });
    for (const name of ["ls", "git"]) script(join(root, folder, name));
    if (folder !== "tools") rmSync(join(root, ".git"), { recursive: true });
    const PATH = [join(root, folder), process.env.PATH].join(delimiter);
    const environment = { ...process.env, BURIN_HOME: join(base, "home"), PATH };
    const settings = { sandbox: { mode: "off" as const } };
    const toolbox = createToolbox({ root: join(root, "src"), environment, settings });
    for (const command of ["ls", "git status", "git --version"]) {
      await toolbox.call("run_shell_command", { command }).catch(() => {});
    }
    await toolbox.close();
    expect(existsSync(canary)).toBe(false);
  });

  it("P21 cd goes where it says, and nowhere that CDPATH names", async () => {
    const environment = { ...process.env, BURIN_HOME: join(base, "home"), CDPATH: join(base, "elsewhere") };
    const toolbox = createToolbox({ root, environment, settings: { sandbox: { mode: "off" } } });
    const { llmContent } = await toolbox.call("run_shell_command", { command: "cd src && ls" });
    await toolbox.close();
    expect(llmContent).toContain("Exit code: 0");
    expect(llmContent).not.toContain("secret");
  });
});
