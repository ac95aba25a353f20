import { describe, expect, it } from "vitest";
import { applyRow, type EditRow } from "../tests/edit-row.ts";
import { findEdit } from "./edit-match.ts";

const KNOWN: readonly Required<EditRow>[] = [
  {
    what: "a line that stays shows that new_string is escaped, too, whatever stands in its other lines",
    content: "say(\"a\", 'b');\nrun(1);\n",
    old: "say(\\\"a\\\", \\'b\\');\nrun(1);",
    new: "say(\\\"a\\\", \\'b\\');\nask('c');\nrun(1);",
    result: "say(\"a\", 'b');\nask('c');\nrun(1);\n",
  },
  {
    what: "new lines get the normal form of the file",
    content: "import a;\n\nfunctio\u0302n f() {\n  a();\n",
    old: "import a;\n\nfuncti\u00f4n f() {\n",
    new: "import a;\n\n// j\u00e4n\nfuncti\u00f4n f() {\n",
    result: "import a;\n\n// ja\u0308n\nfunctio\u0302n f() {\n  a();\n",
  },
  {
    what: "a diff in which lines only come",
    content: "/*\n * one\n * two\n */\n",
    old: "  * one\n  * two",
    new: "  * one\n+ * more\n  * two",
    result: "/*\n * one\n * more\n * two\n */\n",
  },
  {
    what: "diff markers before two hyphens of the file",
    content: ".dark {\n  --back-one: var(--b);\n  --text: var(--r);\n}\n",
    old: " .dark {\n-  --back-one: var(--b);",
    new: " .dark {\n+  --back-two: var(--b);",
    result: ".dark {\n  --back-two: var(--b);\n  --text: var(--r);\n}\n",
  },
  {
    what: "a diff in which lines only come, with line numbers",
    content: "a {\n  one(1);\n}\n",
    old: "  2→   one(1);\n  3→ }",
    new: "  2→   one(1);\n  3→ }\n  4→+\n  5→+b {\n  6→+}",
    result: "a {\n  one(1);\n}\n\nb {\n}\n",
  },
  {
    what: "line numbers only before the lines that stay, among more that come",
    content: "a(0);\nb(0);\nc(0);\nd(0);\n",
    old: "  2 | b(0);\n  3 | c(0);",
    new: "  2 | b(0);\nb(1);\nb(2);\nb(3);\nb(4);\n  3 | c(0);",
    result: "a(0);\nb(0);\nb(1);\nb(2);\nb(3);\nb(4);\nc(0);\nd(0);\n",
  },
  {
    what: "line numbers before the last line, where all before it are new",
    content: "a(0);\nb(0);\nc(0);\nd(0);\n",
    old: "2|b(0);\n3|c(0);\n4|d(0);",
    new: "// b(0);\n// c(0);\n4|d(0);",
    result: "a(0);\n// b(0);\n// c(0);\nd(0);\n",
  },
  {
    what: "a diff in which lines only go",
    content: "one();\ntwo();\nthree();\n",
    old: " one();\n-two();\n three();",
    new: " one();\n three();",
    result: "one();\nthree();\n",
  },
  {
    what: "curly quotes behind backslashes, in a line that has them without",
    content: 'case "a":\n  f("b", 1);\nend();\n',
    old: "case \\”a\\”:\n  f(\\”b\\”, 1);",
    new: "case ”a”:\n  f(”b”);\n  g(”c”);",
    result: 'case "a":\n  f("b");\n  g("c");\nend();\n',
  },
  {
    what: "escapes of a text that begins and ends with a fence, of which each is of another block",
    content: "```\n\nOne `a` line.\n\n```js\nb();\n```\n",
    old: "\\`\\`\\`\n\nOne \\`a\\` line.\n\n\\`\\`\\`js\nb();\n\\`\\`\\`",
    new: "```\n\nTwo `a` lines.\n\n```js\nb();\n```",
    result: "```\n\nTwo `a` lines.\n\n```js\nb();\n```\n",
  },
  {
    what: "a fence around old_string alone, which ends with a blank line",
    content: "start();\none();\n\ntwo();\n",
    old: "```js\nstart();\none();\n\n```",
    new: "start();\nmore();\n",
    result: "start();\nmore();\n\ntwo();\n",
  },
  {
    what: "a fence around old_string alone, where both end with a blank line",
    content: "start();\none();\n\ntwo();\n",
    old: "```js\nstart();\none();\n\n```",
    new: "start();\nmore();\n\n",
    result: "start();\nmore();\n\ntwo();\n",
  },
  {
    what: "blanks of a kept line that are fewer on purpose, where the file has other signs in it",
    content: "one(1);\nput('a');    // it's here\ntwo(2);\n",
    old: "one(1);\nput(‘a’);    // it’s here\ntwo(2);",
    new: "one(1);\nput(‘a’); // it’s here\ntwo(2);",
    result: "one(1);\nput('a'); // it's here\ntwo(2);\n",
  },
  {
    what: "blanks too many in a line that keeps little more than its ends",
    content: "const a = 1; use(one, two, three, four); const b = 2;\n",
    old: "const  a = 1; use(one, two, three, four); const  b = 2;",
    new: "const  a = 1; for (const each of list) { call(each, 12); stop(); } wait(for, it); const  b = 2;",
    result: "const a = 1; for (const each of list) { call(each, 12); stop(); } wait(for, it); const b = 2;\n",
  },
  {
    what: "an escaped old_string, where new_string has quotes with and without a backslash",
    content: 'start();\nf("a \\" b",\n  r\n);\nend();\n',
    old: 'start();\nf(\\"a \\\\\\" b\\",\n  r\n);\nend();',
    new: 'start();\ng("a \\" b", r);\nend();',
    result: 'start();\ng("a \\" b", r);\nend();\n',
  },
  {
    what: "a fence around code that loses only the spaces at its end",
    content: "one();\ntwo(); \nthree();\n",
    old: "two(); \nthree();\n",
    new: "```c\ntwo();\nthree();\n```",
    result: "one();\ntwo();\nthree();\n",
  },
  {
    what: "lines that become a blank line, where the file has other line ends",
    content: "one();\r\n/* a\r\n */\r\ntwo();\r\n",
    old: "/* a\n */\n",
    new: "\n",
    result: "one();\r\n\r\ntwo();\r\n",
  },
];

const DOUBTS: readonly EditRow[] = [
  {
    what: "a new line has an escape that old_string does not show",
    content: "check(`it is 'a'`);\nend();\n",
    old: "check(`it is \\'a\\'`);\nend();",
    new: "warn(`call \\`send\\` on a`);\ncheck(`it is \\'a\\'`);\nend();",
  },
  {
    what: "the line breaks of the new text are escapes, and some of them stand in a string",
    content: "one();\n\n    close(a);\n\n    // end\n",
    old: "\\n    close(a);\\n",
    new: '\\n    free(a);\\n    log("no way!\\n");\\n',
  },
  {
    what: "escapes were lost and a new line has a pattern",
    content: "end: '\\\\]',\nnext: 1,\n",
    old: "end: '\\]',\nnext: 1,",
    new: "end: '\\]',\nbegin: ///=?/,\nnext: 1,",
  },
  {
    what: "the file has an entity in other letters",
    content: "one(1);\n// &AMP; becomes a sign\ntwo(2);\n",
    old: "one(1);\n// &amp; becomes a sign\ntwo(2);",
    new: "one(1);\n// it stays\ntwo(2);",
  },
  {
    what: "new lines are indented as only old_string is, between lines that are indented as the file is",
    content: "f() {\n    a = b(1,\n        2);\n}\n",
    old: "a = b(1,\n    2);",
    new: "lazy(() => {\n    a = b(1,\n        2);\n});",
  },
  {
    what: "the first line begins amid a word of the file",
    content: "xMini was made from one\nChange in two\n",
    old: "Mini was made  from one\nChange in two",
    new: "Mini was made  from two\nChange in two",
  },
  {
    what: "the blank line below may go",
    content: "one(1);\n“two”(2);\n\nthree(3);\n",
    old: 'one(1);\n"two"(2);\n',
    new: 'one(1);\n"two"(22);',
  },
  {
    what: "the new text has a line that stands above the place, behind a blank line",
    content: "[one](a) first\n\n[two](b) second\n\n[three](c) third\n",
    old: "[three](c)  third",
    new: "[two](b) second\n\n[more](d) new\n\n[three](c)  third",
  },
  {
    what: "the file has the corrected word already, and only spaces at a line end are new",
    content: "It is similar to\nthat one\n",
    old: "It is simmilar to\nthat one\n",
    new: "It is similar to\nthat one  \n",
  },
  {
    what: "a place lacks the blank line above, and the other one has spaces at a line end",
    content: "/**\n * a\n */\nf();\n\n/**  \n * b\n */\ng();\n",
    old: "\n/**\n",
    new: "\nmore();\n\n/**\n",
  },
];

/** Edits in a Markdown file, which is recognised by its path. */
const FENCED: readonly Omit<EditRow, "content">[] = [
  {
    what: "around the same command",
    old: "    % make test\n",
    new: "```\nmake test\n```\n",
    result: "```\nmake test\n```\n",
  },
  {
    what: "around a command for a sentence",
    old: "Run it with:\n",
    new: "```\nnpx it\n```\n",
  },
  {
    what: "around lines of which one stays",
    old: "One\nTwo\n",
    new: "```\nOne\nTwo 2\n```\n",
    result: "One\nTwo 2\n",
  },
  {
    what: "around a like command, with a language of code",
    old: "npm install it\n",
    new: "```sh\nnpm install it@2\n```\n",
    result: "```sh\nnpm install it@2\n```\n",
  },
  {
    what: "around commands of which one stays, with a language of code",
    old: "npm install it\n",
    new: "```sh\nnpm install it\nnpx it\n```\n",
    result: "```sh\nnpm install it\nnpx it\n```\n",
  },
  {
    what: "around a like sentence, named a text",
    old: "Run npm install it\n",
    new: "```md\nRun npm install it!\n```\n",
  },
  {
    what: "around another sentence, named a text",
    old: "Each month a snapshot is made.\n",
    new: "```markdown\nOnce a year a release is cut.\n```\n",
  },
  {
    what: "around a list with other marks, named a text",
    old: "Names:\n\n-   one\n",
    new: "```md\nNames:\n\n- one\n```\n",
    result: "Names:\n\n- one\n",
  },
  { what: "around a heading", old: "## Persistence\n", new: "```\n## Backend\n```\n" },
  { what: "around a like sentence", old: "Run npm install it\n", new: "```\nnpm install it\n```\n" },
];

describe("what a text says as a whole", () => {
  it.each(KNOWN)("P1 P31 is read without the mistake: $what", (row) => {
    expect(applyRow(row)).toBe(row.result);
  });

  it.each(DOUBTS)("P1 P31 is refused where $what", (row) => {
    expect(applyRow(row)).toBeUndefined();
  });

  const inMarkdown = (content: string, oldText: string, newText: string) =>
    findEdit({ content, oldText, newText, expected: 1, fileName: "a.md" });

  it.each(FENCED)("P1 P31 a fence that only new_string has in a Markdown file: $what", (row) => {
    const match = inMarkdown(`# A\n\n${row.old}\nEnd.\n`, row.old, row.new);
    if (row.result === undefined) expect(match).toEqual({ status: "omission", placeholder: "```" });
    else expect(match).toMatchObject({ replacements: [{ text: row.result }] });
  });

  it("P1 P31 a block of code between the end of another one and a text is written", () => {
    const match = inMarkdown("# A\n\n```\none\n```\nText.\n", "```\nText.", "```\ntwo\n```");
    expect(match).toMatchObject({ stage: "exact", replacements: [{ text: "```\ntwo\n```" }] });
  });

  it("P1 a fence that only new_string has is not written into a block of code", () => {
    const match = inMarkdown("# A\n\n```js\none();\ntwo();\n```\n", "two();", "```js\nthree();\n```");
    expect(match).toMatchObject({ replacements: [{ text: "three();" }] });
  });

  it.each([
    ["a fence with spaces", `\`\`\`\n${"\t".repeat(300_000)}x`],
    ["quotes with backslashes", `"${"\\".repeat(300_001)}`],
  ])("P1 %s without end is looked at once", (_what, oldText) => {
    const content = "one();\n";
    expect(findEdit({ content, oldText, newText: `${oldText}"`, expected: 1 }).status).toBe("none");
  });

  it("P2 dots after a line that stays are a placeholder where the new text leaves another bracket open", () => {
    const entry = (name: string) => `"${name}": {\n  "optional": true\n},\n`;
    const newText = `"one": {\n  ...\n${entry("two")}${entry("three")}`;
    const content = entry("one") + entry("three");
    const match = findEdit({ content, oldText: content, newText, expected: 1 });
    expect(match).toEqual({ status: "omission", placeholder: "..." });
  });

  it("P2 dots between lines that had others between them are a placeholder, also where those come again further on", () => {
    const old = "one\ntwo\nthree\nfour\nfive";
    const newText = "one\ntwo\n...\nfive\nnext\none\ntwo\nthree\nfour\nfive";
    const match = findEdit({ content: `${old}\n`, oldText: old, newText, expected: 1 });
    expect(match).toEqual({ status: "omission", placeholder: "..." });
  });

  it("P2 dots in new code are no placeholder where all lines of old_string are kept", () => {
    const content = "```\nuse(a);\n```\n";
    const newText = "use(a);\n```\n\n```\nwait(() => {\n  // ...\n}, 500);\n```";
    expect(findEdit({ content, oldText: "use(a);\n```", newText, expected: 1 }).status).toBe("matched");
  });

  it.each(["# (unchanged)", "// (omitted)"])(
    "P2 a comment of one word in brackets is a placeholder: %s",
    (mark) => {
      const content = "one();\ntwo();\nthree();\n";
      const match = findEdit({ content, oldText: content, newText: `one();\n${mark}\n`, expected: 1 });
      expect(match).toEqual({ status: "omission", placeholder: mark });
    },
  );
});
