import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSession, type SessionOptions } from "@burin/core";
import { type ScriptLine, scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

async function define(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

async function run(
  prompt: string,
  lines: readonly ScriptLine[] = [{ text: "ok" }],
  options: Partial<SessionOptions> = {},
) {
  const requests: string[] = [];
  const script = scriptedModel(lines);
  const model = {
    name: "watched",
    stream(request: Parameters<typeof script.stream>[0], signal: AbortSignal) {
      requests.push(
        request.history.flatMap((message) => message.parts.map((part) => part.text ?? "")).join("\n---\n"),
      );
      return script.stream(request, signal);
    },
  };
  const session = createSession({ root, model, environment: { BURIN_HOME: home }, ...options });
  const events = await collectEvents(session.run(prompt));
  await session.close();
  const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
  const answers = events.flatMap((event) =>
    event.type === "tool_call" && "llmContent" in event.call ? [event.call] : [],
  );
  return { requests, notices, answers, session };
}

const SKILL = "---\nname: release\ndescription: how a release\n  is made\n---\n1. Tag it.\n";

describe("skills", () => {
  it("are told of by name, description and file, and read when they are used", async () => {
    const path = await define(join(home, "skills/release/SKILL.md"), SKILL);
    const reading = { name: "read_file", args: { absolute_path: path } };
    const { requests, answers } = await run("make a release", [{ calls: [reading] }, { text: "tagged" }]);
    expect(requests[0]).toContain(`- release: how a release is made (${path})`);
    expect(requests[0]).not.toContain("Tag it");
    expect(answers).toMatchObject([{ status: "success", llmContent: SKILL }]);
  });

  it("of .agents/skills and .claude/skills count too, the user's own and those of a trusted folder, and no commands", async () => {
    const user = createTemporaryFolder();
    const environment = { BURIN_HOME: home, HOME: user };
    const skill = (name: string) => SKILL.replace("release", name);
    const path = await define(join(user, ".agents/skills/one/SKILL.md"), skill("one"));
    await define(join(user, ".claude/skills/two/SKILL.md"), skill("two"));
    await define(join(user, ".claude/commands/hello.md"), "Say hello.");
    await define(join(root, ".agents/skills/three/SKILL.md"), skill("three"));
    await define(join(home, "skills/two/SKILL.md"), skill("two").replace("how a", "our how a"));
    const reading = { name: "read_file", args: { absolute_path: path } };
    const { requests, answers } = await run("go", [{ calls: [reading] }, { text: "ok" }], { environment });
    expect(requests[0]).toContain("- one: how a release is made");
    expect(requests[0]).toContain("- two: our how a release is made");
    expect(requests[0]).not.toContain("three");
    expect(answers[0]).toMatchObject({ status: "success", llmContent: skill("one") });
    const trusted = await run("go", undefined, { environment, isTrusted: true });
    expect(trusted.requests[0]).toContain("- three: how a release is made");
    const session = createSession({ root, model: scriptedModel([]), environment });
    expect(await session.customCommands()).toEqual([]);
    await session.close();
  });

  it("P24 those of the project count only in a trusted folder", async () => {
    await define(join(root, ".burin/skills/release/SKILL.md"), SKILL);
    expect((await run("hi")).requests[0]).not.toContain("release");
    expect((await run("hi", [{ text: "ok" }], { isTrusted: true })).requests[0]).toContain("- release:");
  });

  it("one that cannot be used is told, and harms no other", async () => {
    await define(join(home, "skills/release/SKILL.md"), SKILL);
    await define(join(home, "skills/empty/SKILL.md"), "no front matter\n");
    await define(join(home, "skills/broken/SKILL.md"), '---\ndescription: "x\n---\n');
    await mkdir(join(home, "skills/none"));
    const { requests, notices } = await run("hi");
    expect(requests[0]).toContain("- release:");
    expect(notices).toHaveLength(2);
    expect(notices.join("\n")).toMatch(
      /broken\/SKILL\.md cannot be used[\s\S]*empty\/SKILL\.md cannot be used: it has no `description`/,
    );
  });

  it.each([
    ["flow lists", "[".repeat(40_000)],
    ["flow maps", '{"a":'.repeat(20_000)],
    ["block lists", `\n ${"- ".repeat(40_000)}`],
    ["block lists in a short text", `\n ${"- ".repeat(4000)}`],
    ["many properties of one value", "&a ".repeat(60_000)],
  ])("P18 front matter of %s without end is told, and ends nothing", async (_what, value) => {
    await define(join(home, "skills/deep/SKILL.md"), `---\nname: deep\na: ${value}\n---\nText.\n`);
    await define(join(home, "skills/release/SKILL.md"), SKILL);
    const { requests, notices } = await run("hello");
    expect(requests[0]).toContain("release: how a release is made");
    expect(notices).toEqual([expect.stringContaining("is too long or nested too deeply")]);
  });

  it("P18 lines of dashes that nothing closes are read once", async () => {
    await define(join(home, "skills/open/SKILL.md"), `Text.\n${"\ufeff---\n".repeat(37_000)}`);
    const { notices } = await run("hello");
    expect(notices).toEqual([expect.stringContaining("it has no `description`")]);
  });

  it("P29 without any, nothing is added to the request", async () => {
    expect((await run("hi")).requests).toEqual(["hi"]);
  });
});

describe("commands of one's own", () => {
  beforeEach(async () => {
    await define(
      join(home, "commands/review.md"),
      "---\ndescription: reviews\n---\nReview $1 with $2. All: $ARGUMENTS\n",
    );
    await define(join(home, "commands/plain.md"), "Say hello.\n");
  });

  it.each([
    ['/review src/a.ts "great care"', 'Review src/a.ts with great care. All: src/a.ts "great care"'],
    ["/review", "Review  with . All: "],
    ["/plain", "Say hello."],
    ["/plain to the moon\nand back", "Say hello.\n\nto the moon\nand back"],
    ["/unknown thing", "/unknown thing"],
    ["/plainer", "/plainer"],
    ["/usr/bin is a folder", "/usr/bin is a folder"],
    ["see /plain", "see /plain"],
  ])("%j is sent as %j", async (prompt, sent) => {
    expect((await run(prompt)).requests).toEqual([sent]);
  });

  it("are listed for faces", async () => {
    const { session } = await run("hi");
    expect((await session.customCommands()).map(({ name, description }) => [name, description])).toEqual([
      ["plain", ""],
      ["review", "reviews"],
    ]);
  });

  it("P24 those of the project count only in a trusted folder, and win over the person's own there", async () => {
    await define(join(root, ".burin/commands/plain.md"), "Say goodbye.\n");
    expect((await run("/plain")).requests).toEqual(["Say hello."]);
    expect((await run("/plain", [{ text: "ok" }], { isTrusted: true })).requests).toEqual(["Say goodbye."]);
  });

  it("one that cannot be used is told", async () => {
    await define(join(home, "commands/a b.md"), "x\n");
    await define(join(home, "commands/none.md"), "---\ndescription: x\n---\n");
    const { notices } = await run("hi");
    expect(notices.join("\n")).toMatch(
      /a b\.md cannot be used: the name of a command [\s\S]*none\.md cannot be used: it contains no prompt/,
    );
  });
});
