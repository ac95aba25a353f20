import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Confirmation } from "@burin/contract/tools";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { createSession } from "../configured-session.ts";
import { createToolbox, type ToolboxOptions } from "../create-session.ts";

let root: string;
let home: string;

beforeEach(() => {
  root = createTemporaryFolder();
  home = join(createTemporaryFolder(), "home");
});

function toolbox(options: Partial<ToolboxOptions> = {}) {
  return createToolbox({ root, environment: { BURIN_HOME: home }, ...options });
}

const yes = async () => ({ outcome: "once" as const });

describe("save_memory", () => {
  it("R44 P55 shows the diff, asks, and adds to the project's file", async () => {
    const path = createFile(root, "AGENTS.md", "# Rules\r\nBe kind.\r\n");
    const asked: Confirmation[] = [];
    const box = toolbox({
      confirm: async (question) => {
        asked.push(question);
        expect(readFileSync(path, "utf8")).toBe("# Rules\r\nBe kind.\r\n");
        return { outcome: "once" };
      },
    });
    const result = await box.call("save_memory", { fact: "Tests run with npm test." });
    expect(result.error).toBeUndefined();
    expect(result.llmContent).toBe(`Remembered in ${path}: Tests run with npm test.`);
    expect(asked).toMatchObject([{ kind: "edit", path, diff: { addedLines: 4, removedLines: 0 } }]);
    expect(readFileSync(path, "utf8")).toBe(
      "# Rules\r\nBe kind.\r\n\r\n## Remembered\r\n\r\n- Tests run with npm test.\r\n",
    );
  });

  it("P32 P55 every other line keeps its own end", async () => {
    const [head, tail] = ["# Rules\r\nBe kind.\n\n## Remembered\n\n- a\n", "\n# More\r\nlast"];
    const path = createFile(root, "AGENTS.md", head + tail);
    await toolbox({ confirm: yes }).call("save_memory", { fact: "b" });
    expect(readFileSync(path, "utf8")).toBe(`${head}- b\r\n${tail}`);
  });

  it("P55 what the user writes instead in the question is what the file gets, and the model is told", async () => {
    const path = createFile(root, "AGENTS.md", "# Rules\n");
    const content = "# Rules\n\n- Tests run with npm run check.\n";
    const box = toolbox({ confirm: async () => ({ outcome: "edited", content }) });
    const result = await box.call("save_memory", { fact: "Tests run with npm test." });
    expect(result.error).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe(content);
    expect(result.llmContent).toMatch(/holds their version.*^-- Tests run with npm test\.$/ms);
    expect(result.returnDisplay).toMatchObject({ originalContent: "# Rules\n", newContent: content });
  });

  it("P55 the scope decides the file; the home of the person is made when it is needed", async () => {
    const box = toolbox({ confirm: yes });
    expect(existsSync(home)).toBe(false);
    await box.call("save_memory", { fact: "I like tabs", scope: "global" });
    expect(readFileSync(join(home, "AGENTS.md"), "utf8")).toBe("## Remembered\n\n- I like tabs\n");
    expect(existsSync(join(root, "AGENTS.md"))).toBe(false);
  });

  it("P55 the same fact twice is stored once, and the second time nobody is asked", async () => {
    await toolbox({ confirm: yes }).call("save_memory", { fact: "Use tabs" });
    const result = await toolbox().call("save_memory", { fact: "use tabs." });
    expect(result).toMatchObject({ llmContent: `Already remembered in ${join(root, "AGENTS.md")}.` });
    expect(readFileSync(join(root, "AGENTS.md"), "utf8").match(/tabs/g)).toHaveLength(1);
  });

  it("P55 goes to the file that the next session is told of, where settings give it another name", async () => {
    const settings = { context: { fileNames: ["../NOT.md", "NOTES.md", "AGENTS.md"] } };
    await toolbox({ confirm: yes, settings }).call("save_memory", { fact: "Use tabs" });
    expect(readFileSync(join(root, "NOTES.md"), "utf8")).toContain("- Use tabs");
    expect(existsSync(join(root, "AGENTS.md"))).toBe(false);
    const requests: string[] = [];
    const session = createSession({
      root,
      settings,
      environment: { BURIN_HOME: home },
      model: {
        name: "watched",
        async *stream({ history }) {
          requests.push(JSON.stringify(history));
          yield { type: "end", reason: "stop" };
        },
      },
    });
    for await (const _event of session.run("hello"));
    await session.close();
    expect(requests[0]).toContain("Use tabs");
  });

  it.each(["CLAUDE.md", "GEMINI.md"])("P55 goes to %s where the project has no AGENTS.md", async (name) => {
    const path = createFile(root, name, "Be kind.\n");
    const box = toolbox({ confirm: yes });
    await box.call("save_memory", { fact: "Use tabs" });
    expect(readFileSync(path, "utf8")).toBe("Be kind.\n\n## Remembered\n\n- Use tabs\n");
    const better = createFile(root, "AGENTS.md", "Be kind.\n");
    await box.call("save_memory", { fact: "Use tabs" });
    expect(readFileSync(better, "utf8")).toContain("- Use tabs");
  });

  it("writes nothing without an approval, and nothing when it is refused", async () => {
    const nobody = await toolbox().call("save_memory", { fact: "x" });
    expect(nobody.error?.type).toBe("needs_approval");
    const refused = toolbox({ confirm: async () => ({ outcome: "cancel", reason: "not that" }) });
    expect((await refused.call("save_memory", { fact: "x" })).llmContent).toContain("not that");
    expect(existsSync(join(root, "AGENTS.md"))).toBe(false);
  });

  it("R50 a rule for the project's file does not cover the file for all projects", async () => {
    const box = toolbox({
      settings: { permissions: { allow: ["save_memory(project)"], ask: [], deny: [] } },
    });
    expect((await box.call("save_memory", { fact: "x" })).error).toBeUndefined();
    const global = await box.call("save_memory", { fact: "x", scope: "global" });
    expect(global.error?.type).toBe("needs_approval");
  });

  it("twenty facts at once from two toolboxes all land", async () => {
    const boxes = [toolbox({ confirm: yes }), toolbox({ confirm: yes })];
    const facts = Array.from({ length: 20 }, (_, index) => `fact number ${index}`);
    const results = await Promise.all(
      facts.map((fact, index) => boxes[index % 2]?.call("save_memory", { fact })),
    );
    expect(results.filter((result) => result?.error)).toEqual([]);
    const text = readFileSync(join(root, "AGENTS.md"), "utf8");
    for (const fact of facts) expect(text).toContain(`- ${fact}\n`);
  });

  it.each([
    [{ fact: "   " }, "empty"],
    [{ fact: "x", scope: "team" }, "scope"],
    [{}, "fact"],
  ])("R30 refuses %j with words", async (args, word) => {
    const result = await toolbox({ confirm: yes }).call("save_memory", args);
    expect(result.error).toMatchObject({ type: "invalid_arguments", message: expect.stringContaining(word) });
  });

  it("refuses a file that holds no text", async () => {
    createFile(root, "AGENTS.md", new Uint8Array([0, 1, 2, 0, 255]));
    expect((await toolbox({ confirm: yes }).call("save_memory", { fact: "x" })).error?.type).toBe("io_error");
  });
});
