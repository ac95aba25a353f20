import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildQuestionView, createToolbox, type ToolResult } from "@burin/core";
import { beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

const ODD = [
  "a\n[DIR] made-up",
  "a\rb",
  "a\u2028b.txt",
  "a\u001b[31mred",
  "a\u202etxt.exe",
  "a\tb",
  '"quoted"',
  "a\u{e0041}tag",
  "[DIR] src",
  "\u0085x",
];

let toolbox: ReturnType<typeof createToolbox>;

makeFolders();
beforeEach(() => {
  for (const name of ODD) writeFileSync(join(root, name), "needle\n");
  toolbox = createToolbox({ root, approvalMode: "yolo" });
});

const textOf = ({ llmContent }: ToolResult) =>
  Array.isArray(llmContent) ? llmContent.map(String).join("") : String(llmContent);

/** What is in quotes at the end of a line, as the JSON string that it is. */
function quotedNames(text: string): string[] {
  const found = [...text.matchAll(/(?:^|^File: |^--- |^\[DIR\] )("(?:[^"\\]|\\.)*")(?: ---)?$/gm)];
  return found.map(([, name = ""]) => JSON.parse(name) as string);
}

describe("file names that are no plain line", () => {
  it.each([
    ["list_directory", () => ({ path: root }), (name: string) => name],
    ["glob", () => ({ pattern: "**" }), (name: string) => join(root, name)],
    ["search_file_content", () => ({ pattern: "needle", names_only: true }), (name: string) => name],
    ["search_file_content", () => ({ pattern: "needle" }), (name: string) => name],
    ["read_many_files", () => ({ paths: ["**"] }), (name: string) => join(root, name)],
  ])("%s shows each as one line that means it alone", async (tool, args, shown) => {
    const text = textOf(await toolbox.call(tool, args()));
    expect(text).not.toMatch(/(?!\n)\p{Cc}|\p{Cf}|\p{Zl}/u);
    // An absolute path cannot be taken for a line of ours.
    const plain = { list_directory: [], search_file_content: ["[DIR] src"] }[tool] ?? [
      '"quoted"',
      "[DIR] src",
    ];
    const names = ODD.filter((name) => !(plain as readonly string[]).includes(name)).map(shown);
    expect(quotedNames(text).sort()).toEqual(names.sort());
  });

  it("what stands in quotes, taken over into a call as JSON, is the file", async () => {
    const text = textOf(await toolbox.call("glob", { pattern: "*made-up" }));
    const quoted = /^".*"$/m.exec(text)?.[0] ?? "";
    const args = JSON.parse(`{"absolute_path": ${quoted}}`) as Record<string, string>;
    expect(textOf(await toolbox.call("read_file", args))).toContain("needle");
    expect(text).toContain("write it exactly like that");
  });

  it("a near name and the title of a question show them so, too", async () => {
    const missing = await toolbox.call("read_file", { absolute_path: join(root, "a\u202etxt.ex") });
    expect(missing.error?.message).toContain('\\u202etxt.exe"');
    const asked: string[] = [];
    const careful = createToolbox({
      root,
      overwriteUnread: true,
      confirm: async (question) => {
        asked.push(buildQuestionView(question).title);
        return { outcome: "cancel" };
      },
    });
    await careful.call("write_file", { file_path: join(root, "a\n[DIR] made-up"), content: "new\n" });
    expect(asked).toEqual(['Overwrite "a\\n[DIR] made-up"?']);
  });
});

describe("what save_memory saves", () => {
  it("P55 is text that is seen: nothing drives a terminal or turns a line around", async () => {
    mkdirSync(join(root, "project"));
    const memory = createToolbox({ root: join(root, "project"), approvalMode: "yolo" });
    const fact = "Use \u001b[31mtabs\u202e neeb ton\u2066, \u0007never\u200f blanks\u2028.";
    const result = await memory.call("save_memory", { fact });
    const clean = "Use [31mtabs neeb ton, never blanks .";
    expect(readFileSync(join(root, "project", "AGENTS.md"), "utf8")).toContain(`- ${clean}\n`);
    expect(String(result.llmContent)).toContain(clean);
    expect((await memory.call("save_memory", { fact: "\u202e\u0000" })).error?.message).toContain("is empty");
  });
});
