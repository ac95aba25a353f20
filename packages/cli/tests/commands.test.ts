import { mkdtemp, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { root } from "./project.ts";

const run = (...args: string[]) => burin(args, { cwd: root });

describe("burin", () => {
  it("prints its version", async () => {
    const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
    expect(await run("--version")).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });

  it("prints its options", async () => {
    const { code, stdout } = await run("--help");
    expect(code).toBe(0);
    for (const option of [
      "--output-format",
      "--approval-mode",
      "--allow",
      "--deny",
      "--root",
      "--max-turns",
      "--settings",
    ]) {
      expect(stdout).toContain(option);
    }
  });

  it("says what each command does in one column", async () => {
    const { stdout } = await run("--help");
    const [, ...lines] = (stdout.split("\n\n")[0] ?? "").split("\n");
    const isMeaning = (line = "") => line.startsWith(" ".repeat(44));
    const meanings = lines.filter((line, index) => isMeaning(line) || !isMeaning(lines[index + 1]));
    expect(meanings.length).toBeGreaterThan(30);
    expect(meanings.filter((line) => !/^.{43} \S/.test(line))).toEqual([]);
  });

  it.each([
    ["help", "call"],
    ["call", "--help"],
  ])("burin %s %s is the help on one command", async (...args) => {
    const { code, stdout } = await burin(args, { cwd: root });
    expect(code).toBe(0);
    expect(stdout).toContain("burin call <tool> [json|-]");
    expect(stdout).not.toContain("burin doctor");
  });

  it("burin help <command> lists the options that count for it, and no others", async () => {
    const helpOf = async (name: string) => (await burin(["help", name], { cwd: root })).stdout;
    const call = await helpOf("call");
    for (const option of ["--allow", "--yes", "--sandbox", "--root", "--output-format", "--help"])
      expect(call).toContain(option);
    for (const option of ["--continue", "--park", "--lang", "--json-schema", "--model"])
      expect(call).not.toContain(option);
    expect(await helpOf("replay")).toContain("--model");
    const demo = await helpOf("demo");
    expect(demo.match(/^ .*--[a-z-]+/gm)).toHaveLength(2);
  });

  it.each([[["--no-color", "--version"]], [["sessions", "--version"]], [["-p", "hi", "--version"]]])(
    "burin %j prints the version, and does nothing else",
    async (args) => {
      expect(await run(...args)).toEqual(await run("--version"));
    },
  );

  it("burin help and burin version are what --help and --version are", async () => {
    for (const name of ["help", "version"]) {
      const [word, option] = await Promise.all([
        burin([name], { cwd: root }),
        burin([`--${name}`], { cwd: root }),
      ]);
      expect(word).toEqual(option);
      expect(word.stdout).not.toBe("");
    }
  });

  it.each([
    ["calls", "call"],
    ["tool", "tools"],
    ["exlpain", "explain"],
    ["hlep", "help"],
    ["session", "sessions"],
  ])("P44 burin %s is a mistyped burin %s, not a prompt", async (typed, meant) => {
    const { code, stderr } = await burin([typed, "x"], { cwd: root });
    expect(code).toBe(2);
    expect(stderr).toContain(`there is no command "${typed}"; did you mean burin ${meant}?`);
    const help = await burin(["help", typed], { cwd: root });
    expect(help.stderr).toContain(`Did you mean burin help ${meant}?`);
  });

  it.each([
    ["callback handling is broken"],
    ["callback", "handling"],
    ["update", "these", "docs"],
    ["-p", "exec", "x"],
  ])("burin %s is a prompt", async (...args) => {
    const { stderr } = await burin(args, { cwd: root });
    expect(stderr).toContain("no model is configured");
  });

  it("R17 lists what the model is told, with its source", async () => {
    const { stdout } = await run("tools", "--json");
    const tools = JSON.parse(stdout) as {
      name: string;
      description: string;
      parameters: { type: string };
      source: string;
    }[];
    expect(tools.map((tool) => tool.name)).toEqual([...tools.map((tool) => tool.name)].sort());
    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(["list_directory", "read_file"]));
    for (const tool of tools) {
      expect(tool).toMatchObject({
        description: expect.any(String),
        parameters: { type: "object" },
        source: "built-in",
      });
    }
    expect((await run("tools")).stdout).toContain("list_directory  (built-in)");
  });

  it("the demo shows a call, its result and the answer, says how to connect, and leaves nothing behind", async () => {
    const temporary = await realpath(await mkdtemp(join(root, "tmp-")));
    const { code, stdout } = await burin(["demo"], { cwd: root, env: { TMPDIR: temporary } });
    expect(code).toBe(0);
    expect(stdout).toContain("+  const words = text.split(/\\s+/).filter(Boolean);");
    expect(stdout).toContain("no: why filter? (the demo answers for you)");
    expect(stdout).toContain("You said: “why filter?”. Here is another way");
    expect(stdout).toContain("+  const words = text.match(/\\S+/g) ?? [];");
    expect(stdout).toContain("Successfully modified file");
    expect(stdout).toContain('The test passes: tally("") = 0.');
    expect(stdout).toContain("OPENAI_API_KEY=<key>");
    expect(await readdir(temporary)).toEqual([]);
  });

  it("without a model and a prompt it is the demo", async () => {
    expect((await run()).stdout).toContain("Scripted models, the real agent");
  });

  it.each([
    ["an unknown option", ["--colour"], "--colour"],
    ["an unknown mode", ["--approval-mode", "wild", "-p", "x"], "plan, default, auto-edit, auto, yolo"],
    ["an unknown format", ["--output-format", "xml", "-p", "x"], "text, json, stream-json"],
    ["a number that is none", ["--max-turns", "many", "-p", "x"], "whole number"],
    ["a rule that is none", ["--allow", "edit(", "tools"], "tool(pattern)"],
    ["a root that does not exist", ["tools", "--root", "nowhere"], "nowhere does not exist"],
    ["a settings file that does not exist", ["tools", "--settings", "none.json"], "none.json does not exist"],
    ["-p without a prompt", ["-p"], "there is no prompt"],
    ["a word too many", ["demo", "now"], "takes no"],
  ])("says what is wrong with %s: exit code 2", async (_title, args, words) => {
    const { code, stderr } = await run(...args);
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).toBe(2);
  });
});
