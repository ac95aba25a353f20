import type { Confirmation } from "@burin/contract/tools";
import { describe, expect, it } from "vitest";
import { buildQuestionView } from "./question-view.ts";

/** One character of each kind: escape, C1, bell, return, bidi, zero-width, mark, tag, filler, half a surrogate. */
const HOSTILE = [
  0x1b, 0x9b, 0x07, 0x0d, 0x202e, 0x2066, 0x200b, 0x200d, 0xfeff, 0xe0041, 0x3164, 0xad, 0x61c, 0x2028,
  0xd800,
].map((code) => String.fromCodePoint(code));
const bad = `a${HOSTILE.join("")}b`;

const QUESTIONS: readonly Confirmation[] = [
  {
    kind: "edit",
    title: bad,
    grants: [bad],
    path: `/project/${bad}`,
    diff: {
      kind: "file_diff",
      fileName: bad,
      fileDiff: `--- ${bad}\n+++ b\n@@ -1 +1 @@\n-x\n+${bad}\n`,
      originalContent: "x",
      newContent: bad,
      addedLines: 1,
      removedLines: 1,
    },
  },
  {
    kind: "exec",
    title: bad,
    grants: [bad],
    command: `echo ${bad}\n${bad}`,
    parts: [bad, bad],
    directory: bad,
  },
  { kind: "info", title: bad, grants: [bad], prompt: bad, urls: [bad, `https://${bad}.example/`] },
  { kind: "mcp", title: bad, grants: [bad], server: bad, tool: bad, args: { [bad]: bad } },
  { kind: "discovered", title: bad, grants: [bad], tool: bad, command: bad, args: { [bad]: bad } },
  { kind: "plan", title: bad, grants: [bad], plan: bad },
];

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

const exec = (command: string, parts = [command]) =>
  ({ kind: "exec", title: "Run?", grants: [], command, parts }) as const;

describe("questionView", () => {
  it.each(QUESTIONS)("P21 shows what is hidden, in every field of a question of kind $kind", (question) => {
    const view = buildQuestionView(question);
    const shown = strings(view);
    expect(shown.length).toBeGreaterThanOrEqual(3);
    for (const text of shown) {
      for (const character of HOSTILE) expect(text.includes(character), JSON.stringify(text)).toBe(false);
      expect(text).not.toContain("\n");
    }
    expect(view.title).toContain("a\\x1b\\x9b\\x07\\x0d\\u{202e}");
    expect(strings(view.lines).join("\n")).toContain("202e");
  });

  it("P21 shows what Unicode calls ignorable, and blanks of other kinds that push the rest out of sight", () => {
    const unseen = Array.from({ length: 0x11_0000 }, (_, code) => code).filter(
      (code) =>
        (code < 0xd800 || code > 0xdfff) &&
        /\p{Default_Ignorable_Code_Point}/u.test(String.fromCodePoint(code)),
    );
    expect(unseen.length).toBeGreaterThan(4000);
    const hidden = unseen.filter((code) => {
      const command = `cat a${String.fromCodePoint(code)}b`;
      return buildQuestionView(exec(command)).lines[0] === command;
    });
    expect(hidden.map((code) => code.toString(16))).toEqual([]);
    for (const blank of [" ", "\u00a0", "\u2003", "\u2800", "\u3000"]) {
      const plan = `Look.${blank.repeat(500)}Delete it.${`\n${blank}`.repeat(50)}\nAnd go.`;
      const { lines } = buildQuestionView({ kind: "plan", title: "Plan", grants: [], plan });
      expect(lines).toEqual(["Look.[500 spaces]Delete it.", "[50 empty lines]", "And go."]);
    }
  });

  it("leaves other scripts, emoji, tabs and colours of nobody as they are", () => {
    const text = "日本語 ✓ 👍🏽 ❤️ ☝🏽️ 1️⃣ é\tعربى";
    expect(buildQuestionView({ kind: "plan", title: text, grants: [], plan: text })).toMatchObject({
      title: text,
      lines: [text],
    });
  });

  it("P21 shows the whole command, its parts, and blanks that are none", () => {
    expect(buildQuestionView(exec("a &&\n  b", ["a", "b"]))).toEqual({
      title: "Run?",
      target: [],
      lines: ["a &&", "  b"],
      parts: ["a", "b"],
      reach: [],
      warning: null,
      grants: [],
      subjects: [],
      omittedLines: 0,
    });
    expect(buildQuestionView(exec("ls\u00a0-la"))).toMatchObject({ lines: ["ls\\xa0-la"], parts: [] });
  });

  it("P21 a long command is shown with head, tail and a count; more lines show all of it", () => {
    const command = Array.from({ length: 500 }, (_, n) => `echo ${n}`).join("\n");
    const view = buildQuestionView(exec(`${command}\nrm x`));
    expect(view.omittedLines).toBe(301);
    expect(view.lines[0]).toBe("echo 0");
    expect(view.lines).toContain("[... 301 lines not shown ...]");
    expect(view.lines.at(-1)).toBe("rm x");
    expect(buildQuestionView(exec(command), { maxLines: Number.POSITIVE_INFINITY }).lines.join("\n")).toBe(
      command,
    );
    const long = buildQuestionView(exec(`echo ${"x".repeat(5000)}; rm y`)).lines[0] ?? "";
    expect(long).toMatch(/^echo x+\[\.\.\. 3011 characters not shown \.\.\.\]x+; rm y$/);
  });

  it("P21 blanks and empty lines push nothing out of sight", () => {
    expect(buildQuestionView(exec(`ls${" ".repeat(400)}; rm x${"\n".repeat(300)}rm y`)).lines).toEqual([
      "ls[400 spaces]; rm x",
      "[299 empty lines]",
      "rm y",
    ]);
  });

  it("P21 names the host as it is really called", () => {
    const urls = ["https://example.org@evil.test/x", "https://ex\u0430mple.org/"];
    expect(buildQuestionView({ kind: "info", title: "", grants: [], prompt: "", urls }).target).toEqual([
      "evil.test",
      "xn--exmple-4nf.org",
    ]);
  });

  it("a carriage return that every line has is no news, one that changes is", () => {
    const edit = (fileDiff: string) => {
      const [question] = QUESTIONS;
      if (question?.kind !== "edit") throw new Error("not an edit");
      return buildQuestionView({ ...question, diff: { ...question.diff, fileDiff } }).lines.slice(3);
    };
    expect(edit("--- a\n+++ b\n@@\n a\r\n-b\r\n+c\r\n")).toEqual([" a", "-b", "+c", ""]);
    expect(edit("--- a\n+++ b\n@@\n-b\n+b\r\n")).toEqual(["-b", "+b\\x0d", ""]);
  });
});
