import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import {
  buildHelperPath,
  excludeFromHelperSearch,
  findHelper,
} from "@burin/commands/processes/helper-program";
import { createToolbox } from "@burin/core";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGitGrep, createSystemGrep, listNamesFromProgram } from "../src/search/engine.ts";
import { searchTree } from "./searched-tree.ts";

const NAMES = ["mkfifo", "git", "grep", "rg", "bwrap", "tar", "cp", "getfattr", "sh", "bash", "only-here"];
const { PATH } = process.env;
let root: string;
let canary: string;

function plant(folder: string): void {
  for (const name of NAMES) {
    chmodSync(createFile(root, `${folder}/${name}`, `#!/bin/sh\necho ${name} >> ${canary}\nexit 1\n`), 0o755);
  }
  process.env.PATH = [join(root, folder), PATH].join(delimiter);
}

beforeEach(() => {
  root = createTemporaryFolder();
  canary = join(dirname(root), "canary");
});

afterEach(() => {
  process.env.PATH = PATH;
});

describe("programs that Burin starts by itself", () => {
  it("P21 are none of the project's, though its folder is the first of PATH", async () => {
    const path = createFile(root, "a.txt", "a needle\n");
    execFileSync("git", ["init", "-q", root]);
    plant("node_modules/.bin");
    const box = createToolbox({ root, approvalMode: "yolo" });
    const answer = await box.run("run_shell_command", { command: "echo started" });
    expect(answer.llmContent).toContain("started");
    for (const engine of [createGitGrep, createSystemGrep]) {
      expect((await searchTree(root, { pattern: "ne+dle" }, [engine])).files).toHaveLength(1);
    }
    await box.run("edit", { file_path: path, old_string: "needle", new_string: "thread" });
    expect(readFileSync(path, "utf8")).toBe("a thread\n");
    await box.close();
    expect(existsSync(canary)).toBe(false);
  });

  it.each([
    ["none", () => undefined],
    ["only the project's", () => join(root, "bin")],
  ])("P21 are the system's where PATH has %s", (_title, pathOf) => {
    plant("bin");
    plant(".");
    excludeFromHelperSearch([root]);
    const how = { cwd: root, env: { PATH: buildHelperPath(pathOf()) }, encoding: "utf8" } as const;
    expect(execFileSync("sh", ["-c", "echo system"], how)).toBe("system\n");
    expect(existsSync(canary)).toBe(false);
  });

  it("P21 may be the user's own, of a home folder that is the root", () => {
    const { HOME } = process.env;
    process.env.HOME = root;
    const [own, project] = [join(root, ".local/bin"), join(root, "project/bin")];
    excludeFromHelperSearch([root]);
    const inHome = buildHelperPath([own, "/usr/bin"].join(delimiter));
    excludeFromHelperSearch([join(root, "project")]);
    const inProject = buildHelperPath([project, own].join(delimiter));
    process.env.HOME = HOME;
    expect(inHome).toBe([own, "/usr/bin"].join(delimiter));
    expect(inProject).toBe(own);
  });

  it("P21 are not found in the project where the system has none, through a link neither", () => {
    plant("bin");
    expect(findHelper("only-here", process.env.PATH)).toBe(join(root, "bin/only-here"));
    excludeFromHelperSearch([root]);
    expect(findHelper("only-here", process.env.PATH)).toBeNull();
    const link = join(dirname(root), "link");
    symlinkSync(join(root, "bin"), link);
    expect(findHelper("only-here", [link, PATH].join(delimiter))).toBeNull();
    expect(findHelper("sh", PATH)).toMatch(/^\/(?:usr\/)?bin\/sh$/);
  });

  it("P21 are looked for in the environment that is given, and get its PATH, not that of this process", async () => {
    const given = createTemporaryFolder();
    const tool = createFile(given, "only-given", "#!/bin/sh\nprintf '%s\\0' \"$PATH\"\n");
    chmodSync(tool, 0o755);
    const { signal } = new AbortController();
    const asked = (environment: NodeJS.ProcessEnv) =>
      listNamesFromProgram(["only-given"], { folder: root, environment, helpers: fileHelpers }, signal);
    expect(await asked({ PATH: given })).toEqual(new Set([given]));
    process.env.PATH = given;
    expect(await asked({ PATH: "/nowhere" })).toBeNull();
    expect(await asked({})).toBeNull();
  });
});
