import { readdir, rm } from "node:fs/promises";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

let root: string;
const explain = (...args: string[]) => burin(["explain", ...args], { cwd: root });

beforeAll(async () => {
  root = createTemporaryFolder();
});

afterAll(() => rm(root, { recursive: true }));

describe("burin explain", () => {
  it("P22 names the part that is not allowed, and what always would allow: that part alone", async () => {
    const { code, stdout } = await explain("git diff | head && npm publish");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ask: `npm publish` needs an approval/);
    expect(stdout).toContain('"always" would allow: run_shell_command(npm publish;)\n');
    expect(stdout).toContain("  ask   npm publish  (`npm` is not known to be read-only)\n");
    expect(stdout).toContain("allow git diff");
  });

  it("P21 says the same as JSON, and runs nothing", async () => {
    const line = "ls && touch canary";
    const { stdout } = await explain("--output-format", "json", "--allow", "run_shell_command(ls)", line);
    expect(JSON.parse(stdout)).toMatchObject({
      command: line,
      verdict: "ask",
      part: "touch canary",
      grants: ["run_shell_command(touch *)"],
      widths: { exact: ["run_shell_command(touch canary;)"] },
      parts: [
        { text: "ls", verdict: "allow" },
        { text: "touch canary", verdict: "ask" },
      ],
    });
    expect(await readdir(root)).toEqual([]);
  });

  it("P21 a rule that forbids is named with the part that it meets", async () => {
    const { stdout } = await explain("--deny", "run_shell_command(rm)", "-y", "echo $(env /bin/rm x)");
    expect(stdout).toBe("deny: the rule deny run_shell_command(rm) forbids `env /bin/rm x`\n");
  });

  it("characters that nobody sees are shown", async () => {
    const { stdout } = await explain("ls \u202e\r");
    expect(stdout).toContain("invisible character");
    expect(stdout).not.toMatch(/[\u202e\r]/);
  });

  it("says how to call it", async () => {
    for (const args of [[], ["a", "b"]]) {
      const { code, stderr } = await explain(...args);
      expect(code).toBe(2);
      expect(stderr).toContain("burin explain");
    }
    expect((await explain("--allow", "run_shell_command(ls && rm)", "ls")).code).toBe(2);
  });
});
