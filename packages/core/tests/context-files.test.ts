import { chown, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createSession, type SettingsInput } from "@burin/core";
import { buildHistory } from "@burin/core/sessions";
import { type ScriptedCall, scriptedModel } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";

let base: string;
let root: string;

beforeEach(async () => {
  base = createTemporaryFolder();
  root = join(base, "repo", "package");
  await mkdir(join(root, "src", "deep"), { recursive: true });
  await mkdir(join(base, "home"));
});

const put = (path: string, text: string) => writeFile(join(base, path), text);
const read = (path: string): ScriptedCall => ({
  name: "read_file",
  args: { absolute_path: join(root, path) },
});

async function play(calls: readonly ScriptedCall[] = [], settings: SettingsInput = {}) {
  const script = [
    ...calls.map((call) => ({ calls: [call] })),
    { text: "Done." },
    { text: "Done. ".repeat(300) },
  ];
  const session = createSession({
    root,
    model: scriptedModel(script),
    settings,
    approvalMode: "yolo",
    environment: { ...process.env, BURIN_HOME: join(base, "home") },
  });
  const events: AgentEvent[] = [];
  for (const prompt of ["go", "again"]) {
    for await (const event of session.run(prompt)) events.push(event);
  }
  expect(buildHistory(events)).toEqual(session.history);
  const told = events.flatMap((event) => (event.type === "context" ? [event] : []));
  return { told, files: told.map(({ file = "" }) => file.slice(base.length + 1)), events, session };
}

describe("context files", () => {
  it("P6 another agent's file stands in where there is no AGENTS.md, one to a folder, unless names are set", async () => {
    await mkdir(join(base, "repo", ".git"));
    await put("repo/AGENTS.md", "Ours.");
    await put("repo/CLAUDE.md", "Theirs.");
    await put("repo/package/QWEN.md", "Second.");
    await put("repo/package/GEMINI.md", "First.");
    expect((await play()).files).toEqual(["repo/AGENTS.md", "repo/package/GEMINI.md"]);
    const named = await play([], { context: { fileNames: ["QWEN.md"] } });
    expect(named.files).toEqual(["repo/package/QWEN.md"]);
  });

  it("P6 the person's, those from the repository's top down to the root, then the prompt; each once", async () => {
    await mkdir(join(base, "repo", ".git"));
    await put("AGENTS.md", "not in the repository");
    await put("home/AGENTS.md", "Be brief.");
    await put("repo/AGENTS.md", "Top rule.");
    await put("repo/package/AGENTS.md", "Package rule.\n");
    const { files, told, session } = await play();
    expect(files).toEqual(["home/AGENTS.md", "repo/AGENTS.md", "repo/package/AGENTS.md"]);
    expect(told[0]?.text).toBe(
      `The user's instructions for all projects, from ${base}/home/AGENTS.md:\n\nBe brief.`,
    );
    expect(session.history[0]?.parts.map(({ text }) => text?.split("\n").at(-1))).toEqual([
      "Be brief.",
      "Top rule.",
      "Package rule.",
      "go",
    ]);
  });

  it.runIf(process.getuid?.() === 0)("P38 what another user has put above the root is not read", async () => {
    await mkdir(join(base, "repo", ".git"));
    await put("repo/AGENTS.md", "Top rule.");
    await put("repo/package/AGENTS.md", "Package rule.");
    const ours = (await play()).files;
    expect(ours).toEqual(["repo/AGENTS.md", "repo/package/AGENTS.md"]);
    for (const foreign of ["repo/AGENTS.md", "repo/.git"]) {
      await chown(join(base, foreign), 4321, 4321);
      expect((await play()).files, foreign).toEqual(["repo/package/AGENTS.md"]);
      await chown(join(base, foreign), 0, 0);
    }
    // Where the root is theirs too, as in a container, it is one project.
    for (const name of ["repo/.git", "repo/AGENTS.md", "repo/package"])
      await chown(join(base, name), 4321, 4321);
    expect((await play()).files).toEqual(ours);
  });

  it("P29 the prompt behind them has a heading of its own, which stays where it is", async () => {
    await put("repo/package/AGENTS.md", "Package rule.");
    const { session, events } = await play([read("a.txt")]);
    const asked = session.history
      .filter(({ role }) => role === "user")
      .map(({ parts }) => parts.at(-1)?.text);
    expect(asked).toEqual(["Prompt:\n\ngo", undefined, "again"]);
    expect(events).toContainEqual({ type: "text", role: "user", text: "go" });
    const alone = await play([], { context: { fileNames: ["none.md"] } });
    expect(alone.session.history[0]?.parts).toEqual([{ text: "go" }]);
  });

  it("P29 so has the first prompt behind the summary of a conversation", async () => {
    const { session } = await play();
    await session.compact();
    for await (const _ of session.run("and now?"));
    expect(session.history[0]?.parts.at(-1)?.text).toBe("Prompt:\n\nand now?");
  });

  it("without a repository only the root's count", async () => {
    await put("repo/AGENTS.md", "above");
    await put("repo/package/AGENTS.md", "here");
    expect((await play()).files).toEqual(["repo/package/AGENTS.md"]);
  });

  it("those of inner folders are told behind the first call that comes there", async () => {
    await put("repo/package/src/AGENTS.md", "Source rule.");
    await put("repo/package/src/deep/AGENTS.md", "Deep rule.");
    await put("repo/package/src/deep/a.txt", "alpha");
    const write = { name: "write_file", args: { file_path: join(root, "src", "b.txt"), content: "b" } };
    const { files, events } = await play([write, read("src/deep/a.txt"), read("src/deep/a.txt")]);
    expect(files).toEqual(["repo/package/src/AGENTS.md", "repo/package/src/deep/AGENTS.md"]);
    const order = events.flatMap((event) => {
      if (event.type === "tool_call" && event.call.status === "success") return [event.call.name];
      return event.type === "context" ? ["context"] : [];
    });
    expect(order).toEqual(["write_file", "context", "read_file", "context", "read_file"]);
  });

  it("other names can be given, and then only those count; a path is no name", async () => {
    await put("repo/package/AGENTS.md", "not asked for");
    await put("repo/package/RULES.md", "asked for");
    await put("repo/OUT.md", "outside");
    const context = { fileNames: ["RULES.md", "../OUT.md"] };
    expect((await play([], { context })).files).toEqual(["repo/package/RULES.md"]);
  });

  it("a link that leads out, a file that no tool may open, a folder, a pipe's worth of nothing: not told", async () => {
    await mkdir(join(base, "repo", ".git"));
    await put("secret.txt", "canary");
    await symlink(join(base, "secret.txt"), join(base, "repo", "AGENTS.md"));
    await symlink(join(base, "secret.txt"), join(root, "AGENTS.md"));
    await mkdir(join(root, "src", "AGENTS.md"));
    await put("repo/package/src/deep/AGENTS.md", "hidden canary");
    await put("repo/package/src/deep/a.txt", "alpha");
    const { told, session } = await play([read("src/deep/a.txt")], {
      permissions: { deny: ["read_file(src/deep/AGENTS.md)"] },
    });
    expect(told).toEqual([]);
    expect(JSON.stringify(session.history)).not.toContain("canary");
  });

  it("the person's own may be a link to wherever they keep it", async () => {
    await put("dotfiles.md", "Linked.");
    await symlink(join(base, "dotfiles.md"), join(base, "home", "AGENTS.md"));
    expect((await play()).told[0]?.text).toContain("Linked.");
  });

  it("one that is too large is cut, with a word on it", async () => {
    await put("repo/package/AGENTS.md", `Begin. ${"x".repeat(60_000)} End.`);
    const { told } = await play();
    expect(told[0]?.text.length).toBeLessThan(25_000);
    expect(told[0]?.text).toMatch(/Begin\..*characters left out; read .*AGENTS\.md for the rest/s);
  });

  it("what they ask to include is text and nothing else", async () => {
    await put("repo/package/other.md", "canary");
    await put("repo/package/AGENTS.md", "See @other.md and @./other.md\n<!-- include other.md -->");
    const { told } = await play();
    expect(told).toHaveLength(1);
    expect(told[0]?.text).not.toContain("canary");
  });
});
