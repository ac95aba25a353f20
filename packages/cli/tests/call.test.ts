import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeAll, describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin } from "./burin.ts";

let root: string;
const run = (...args: string[]) => burin(args, { cwd: root });
const readFive = (more: object = {}) => [
  "call",
  "read_file",
  JSON.stringify({ path: join(root, "five.txt"), ...more }),
];

beforeAll(async () => {
  root = createTemporaryFolder();
  await mkdir(join(root, "src"));
  await writeFile(join(root, "five.txt"), "one\ntwo\nthree\nfour\nfive\n");
  await writeFile(join(root, "settings.json"), '{ "permissions": { "ask": ["read_file"] } }');
});

describe("burin call", () => {
  it("R55 lists a folder, folders first", async () => {
    const { code, stdout } = await run("call", "list_directory", '{"path":".","ignore":["settings.json"]}');
    expect(stdout).toBe(`Directory listing for ${root}:\n[DIR] src\nfive.txt\n`);
    expect(code).toBe(0);
  });

  it("R60 R63 reads a range and says what it shows", async () => {
    const { stdout } = await run(...readFive({ offset: 1, limit: 2 }));
    expect(stdout).toMatch(
      /^\[File content truncated: showing lines 2-3 of 5 total lines[^\n]*\]\ntwo\nthree\n$/,
    );
  });

  it("prints the whole result as JSON", async () => {
    const { code, stdout } = await run(...readFive(), "--output-format", "json");
    expect(JSON.parse(stdout)).toEqual({
      status: "success",
      llmContent: "one\ntwo\nthree\nfour\nfive\n",
      returnDisplay: "Read 5 lines.",
    });
    expect(code).toBe(0);
  });

  it("reads its arguments from stdin", async () => {
    const { stdout } = await burin(["call", "list_directory", "-"], { cwd: root, stdin: '{"path":"src"}' });
    expect(stdout).toBe(`Directory ${join(root, "src")} is empty.\n`);
  });

  it("a missing approval runs nothing: exit code 3, and the question in the document", async () => {
    const args = [...readFive(), "--settings", join(root, "settings.json")];
    const asJson = await run(...args, "--output-format", "json");
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      status: "needs_confirmation",
      error: { type: "needs_approval" },
      confirmation: { kind: "info", grants: [] },
    });
    expect(asJson.code).toBe(3);
    const asText = await run(...args);
    expect(asText).toMatchObject({ code: 3, stdout: expect.stringContaining("Read five.txt") });
    expect(asText.stderr).toContain("the rule ask read_file demands it");
  });

  it("a denied call: exit code 3, the rule named", async () => {
    const { code, stderr } = await run("call", "list_directory", '{"path":"."}', "--deny", "list_*");
    expect(code).toBe(3);
    expect(stderr).toContain("deny list_*");
  });

  it.each([
    ["an unknown tool", ["call", "read_fil"], 1, "Did you mean read_file"],
    ["wrong types", ["call", "list_directory", '{"path":5}'], 1, '"path" must be a string, got number 5'],
    ["a missing key", ["call", "list_directory", "{}"], 1, '"path" is required'],
    ["no arguments", ["call", "list_directory"], 1, '"path" is required'],
    [
      "an unknown key",
      ["call", "list_directory", '{"path":".","deep":true}'],
      1,
      '"deep" is not a parameter',
    ],
    ["a folder that is not there", ["call", "list_directory", '{"path":"srx"}'], 1, "Did you mean"],
    ["a path outside", ["call", "list_directory", '{"path":"/"}'], 1, "outside the root"],
    ["X1 a relative path", ["call", "read_file", '{"path":"five.txt"}'], 1, "five.txt"],
    ["X8 offset without limit", ["call", "read_file", '{"path":"/five.txt","offset":3}'], 1, 'needs "limit"'],
    ["broken JSON", ["call", "list_directory", "{path:.}"], 2, "not valid JSON"],
    ["JSON that is no object", ["call", "list_directory", "[]"], 2, "must be a JSON object"],
    ["no tool", ["call"], 2, "name a tool"],
    ["too many words", ["call", "list_directory", "{}", "x"], 2, "a second word"],
  ])("says what is wrong with %s", async (_title, ...[args, wantedCode, words]) => {
    const { code, stderr, stdout } = await run(...args);
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).toBe("");
    expect(code).toBe(wantedCode);
  });

  /** `burin call` behind another program that prepares the surroundings. */
  const callBehind = (prefix: readonly string[], tool: string, params: object) => {
    const called = [process.execPath, BURIN, "call", tool, JSON.stringify(params), "-y"];
    const [program = "", ...words] = [...prefix, ...called];
    return spawnSync(program, words, { cwd: root, env: buildEnvironment(root), encoding: "utf8" });
  };

  it.runIf(process.platform === "linux")(
    "R19 a command for which no more files can be opened fails in words",
    () => {
      const limits = [20, 22, 24, 26, 28].map((limit) => ["bash", "-c", `ulimit -n ${limit}; "$@"`, "bash"]);
      const ended = limits.map((prefix) => callBehind(prefix, "run_shell_command", { command: "true" }));
      expect(ended.map(({ stderr }) => stderr).join("")).toMatch(/EMFILE|too many open files|see ulimit -n/i);
      for (const { stderr } of ended) expect(stderr).not.toMatch(/iterable|unexpectedly|spawn/);
    },
  );

  const SANDBOX = "bwrap";
  const HIDING = ["--dev-bind", "/", "/", "--tmpfs", "/proc"];
  const WITHOUT_PROC = [SANDBOX, ...HIDING];
  const canHide = spawnSync(SANDBOX, [...HIDING, "true"]).status === 0;

  it.runIf(canHide)(
    "R48 files are read, written and searched where /proc is not mounted, and none outside",
    () => {
      const path = join(root, "new.txt");
      expect(callBehind(WITHOUT_PROC, "write_file", { file_path: path, content: "written" }).status).toBe(0);
      expect(callBehind(WITHOUT_PROC, "read_file", { path }).stdout).toContain("written");
      expect(callBehind(WITHOUT_PROC, "search_file_content", { pattern: "writt" }).stdout).toContain(
        "new.txt",
      );
      symlinkSync("/etc", join(root, "out"));
      const outside = callBehind(WITHOUT_PROC, "read_file", { path: join(root, "out/hosts") });
      expect(outside.stderr).toContain("outside the root");
    },
  );
});
