import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

let home: string;
let model: Record<string, string>;

beforeEach(async () => {
  home = createTemporaryFolder();
  for (const [path, text] of [
    ["agents/scout.md", "---\ndescription: scouts ahead\n---\nYou scout.\n"],
    ["skills/release/SKILL.md", "---\ndescription: how a release is made\n---\nTag it.\n"],
    ["commands/greet.md", "Say good morning.\n"],
  ] as const) {
    put(`.burin/${path}`, text);
  }
  model = await modelEnv({ text: "one" }, { text: "two" });
});

function run(...args: string[]) {
  return burin(args, { cwd: root, env: { HOME: home, BURIN_HOME: home, ...model } });
}

describe("what a folder brings beside its settings", () => {
  it("P24 skills that are shared with other agents are listed and trusted too, and again when they change", async () => {
    await rm(join(root, ".burin"), { recursive: true });
    const skill = ".agents/skills/tag/SKILL.md";
    put(skill, "---\ndescription: how a tag is made\n---\nTag it.\n");
    const before = await run("-p", "hello");
    expect(before.stderr).toContain('tell the model of its skill ".agents/skills/tag"');
    expect(JSON.stringify(server.requests[0])).not.toContain("how a tag is made");
    await run("trust", "yes");
    await run("-p", "hello");
    expect(JSON.stringify(server.requests[1])).toContain("how a tag is made");
    put(skill, "---\ndescription: how a tag is made\n---\nTag it twice.\n");
    expect((await run("trust")).stdout).toContain("have changed since");
  });

  it("P24 is listed, and used only once the folder is trusted", async () => {
    const greeted = await run("-p", "/greet");
    expect(greeted.code).toBe(2);
    expect(greeted.stderr).toContain("there is no command /greet");
    const before = await run("-p", "hello");
    expect(before.stderr).toContain('this folder is not trusted (it would use its subagent "scout"');
    expect(before.stdout).toBe("one\n");
    const first = JSON.stringify(server.requests[0]);
    expect(first).not.toContain("scout");
    expect(first).not.toContain("release");

    const listed = await run("trust");
    for (const words of ['subagent "scout"', 'skill "release"', 'command "greet"']) {
      expect(listed.stdout).toContain(words);
    }
    expect((await run("trust", "yes")).code).toBe(0);

    const after = await run("-p", "/greet");
    expect(after.stderr).not.toContain("trust");
    const second = JSON.stringify(server.requests[1]);
    expect(second).toContain("Say good morning.");
    expect(second).toContain("scouts ahead");
    expect(second).toContain("how a release is made");
  });

  it("P24 a new subagent in a trusted folder asks again", async () => {
    await run("trust", "yes");
    put(".burin/agents/spy.md", "---\ndescription: spies\n---\nYou spy.\n");
    const { stderr } = await run("-p", "hi");
    expect(stderr).toContain("has changed since this folder was trusted");
    expect(JSON.stringify(server.requests[0])).not.toContain("spies");
  });
});
