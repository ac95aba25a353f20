import { describe, expect, it } from "vitest";
import { applyReplacements, findEdit } from "./edit-match.ts";

function edited(content: string, oldText: string, newText: string): string {
  const match = findEdit({ content, oldText, newText, expected: 1 });
  return match.status === "matched" ? applyReplacements(content, match.replacements) : match.status;
}

const CODE = "one(1, () => {\n  first();\n  second();\n});\ntwo(2, () => {\n  third();\n  fourth();\n});\n";

describe("parts of a file", () => {
  it("P1 a part beyond dots that stays may be in the file several times", () => {
    const old = "two(2, () => {\n  ...\n});";
    expect(edited(CODE, old, old.replace("two(2", "two(22"))).toBe(CODE.replace("two(2", "two(22"));
    const above = "() => {\n  ...\n  fourth();\n});";
    expect(edited(CODE, above, above.replace("fourth", "fifth"))).toBe("none");
    const twice = `${CODE}two(2, () => {\n  sixth();\n});\n`;
    expect(edited(twice, old, old.replace("two(2", "two(22"))).not.toContain("two(22");
  });

  it("P1 of several fences that begin like old_string, any may be meant, where new_string goes on behind the block", () => {
    const content =
      "```js\nuse()\n```\n\n```js\nconst {\n  a: one\n} = use()\n\nconst {\n  a: two\n} = use()\n```\n";
    const old = "\n```js\n# ...\nconst {\n  a: two\n} = use()\n```\n";
    expect(edited(content, old, `${old}\n## More\n\nIt ends.\n`)).toBe(`${content}\n## More\n\nIt ends.\n`);
  });

  it("P2 a part beyond dots that changes must be in the file once", () => {
    const old = "one(1, () => {\n  ...\n});";
    expect(edited(CODE, old, "one(1, () => {\n  ...\n}, 7);")).toBe("none");
  });

  it("P1 a line break behind a part of a very long line stands for nothing, if both texts have it", () => {
    const long = `${Array.from({ length: 60 }, (_, at) => `name${at}(${at});`).join(" ")}\n`;
    const [old, fresh] = ["name7(7); name8(8);\n", "name7(7); other(8);\n"];
    expect(edited(long, old, fresh)).toBe(long.replace("name8", "other"));
    expect(edited("name7(7); name8(8); name9(9);\n", old, fresh)).toBe("none");
  });

  it("P1 quotes between other quotes are no part of a text with a lost line break", () => {
    const content = "case 'a':\n  return '\\\\';\ncase 'b':\n  return '\"';\n";
    const old = "case 'a':\n  return '\\';\ncase 'b':\n  return '\"';";
    expect(edited(content, old, old.replace("'\"'", '"\'"'))).toBe(content.replace("'\"'", '"\'"'));
    const half = old.replace("return '\"';", "return '\n';");
    expect(edited(content, old, half)).toBe("none");
  });
});
