import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createToolbox, type Toolbox } from "@burin/core";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** One line each: the verdict and the command, taken from scripts, pages and sessions of others. */
const TABLE = readFileSync(new URL("everyday-commands.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split("\t") as [string, string]);
/** It may fall, never grow. */
const MAX_NEEDLESS = 11;

let base: string;
let toolbox: Toolbox;

beforeAll(() => {
  base = createTemporaryFolder();
  const root = join(base, "root");
  const files = {
    "src/a.ts": "export const foo = 1;\n",
    "src/b.ts": "b\n",
    "docs/a.ts": "a\n",
    "docs/a picture.png": "",
  };
  const more = {
    "a.txt": "a:b\n",
    "b.txt": "b:c\n",
    "README.md": "# Read\n",
    "package.json": "{}\n",
    "tools/run.sh": "",
  };
  for (const [file, text] of Object.entries({ ...files, ...more })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  chmodSync(join(root, "tools/run.sh"), 0o755);
  mkdirSync(join(base, "elsewhere"));
  symlinkSync("../elsewhere", join(root, "link"));
  execFileSync("git", ["init", "-q"], { cwd: root });
  const environment = { ...process.env, BURIN_HOME: join(base, "home") };
  toolbox = createToolbox({ root, environment });
});

afterAll(async () => {
  await toolbox.close();
});

describe("everyday commands without any rule", () => {
  it("P22 there are at least 200, each once, and few of them ask without need", () => {
    expect(new Set(TABLE.map(([, command]) => command)).size).toBe(TABLE.length);
    expect(TABLE.length).toBeGreaterThanOrEqual(200);
    expect(TABLE.filter(([verdict]) => verdict === "needless").length).toBeLessThanOrEqual(MAX_NEEDLESS);
  });

  it.each(TABLE)("P21 P22 %s: %s", async (wanted, command) => {
    const { verdict, reason } = await toolbox.explain(command);
    expect(verdict, reason).toBe(wanted === "needless" ? "ask" : wanted);
  });
});

describe("programs that only the project brings", () => {
  it("P21 are no known readers, whatever stands around them", async () => {
    const root = realpathSync(mkdtempSync(join(base, "project-")));
    for (const name of ["tree", "ls"]) {
      mkdirSync(join(root, "bin"), { recursive: true });
      writeFileSync(join(root, "bin", name), "#!/bin/sh\n");
      chmodSync(join(root, "bin", name), 0o755);
    }
    const environment = {
      BURIN_HOME: join(base, "home"),
      PATH: `${join(root, "bin")}:${join(root, "../elsewhere-bin")}`,
    };
    mkdirSync(join(root, "../elsewhere-bin"));
    for (const name of ["ls", "which", "timeout", "find", "sh", "echo"]) {
      symlinkSync("/bin/true", join(root, "../elsewhere-bin", name));
    }
    const there = createToolbox({ root, environment });
    const verdicts = async (...commands: string[]) =>
      Promise.all(commands.map(async (command) => (await there.explain(command)).verdict));
    const asked = [
      "tree",
      "ls | tree",
      "timeout 5 tree",
      "find . -exec tree {} +",
      "sh -c tree",
      'echo "$(tree)"',
    ];
    expect(await verdicts(...asked)).toEqual(asked.map(() => "ask"));
    expect(await verdicts("ls", "which tree", "timeout 5 ls")).toEqual(["allow", "allow", "allow"]);
    await there.close();
  });
});
