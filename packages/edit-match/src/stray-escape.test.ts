import { describe, expect, it } from "vitest";
import { findEdit } from "./edit-match.ts";

interface Sent {
  readonly fileName: string;
  readonly content: string;
  readonly old: string;
  readonly fresh: string;
  readonly isLiteral?: boolean;
}

function edit({ fileName, content, old, fresh, ...more }: Sent) {
  return findEdit({ fileName, content, oldText: old, newText: fresh, expected: 1, ...more });
}

const MARKDOWN = "# Words\n\nCounts the words.\n";

/** Escapes at places where the language has none. */
const STRAY: readonly (readonly [where: string, fileName: string, old: string, fresh: string])[] = [
  ["between two statements", "a.ts", "one();", "one();\\n  two();"],
  ["before quotes in code", "a.ts", "one();", 'one(\\"a\\");'],
  ["behind a string in code", "a.js", 'one("a");', 'one("a", "\\n");\\n\\ttwo();'],
  ["behind a division", "a.js", "a = b;", "a = b / 2;\\nc = d / 2;"],
  ["as an indentation", "a.go", "return a", "\\treturn b"],
  ["behind a comment", "a.c", "one();", "/* why */\\none();"],
  ["behind a character", "a.rs", "one();", "one('a');\\ntwo();"],
  ["between lines", "a.py", "one()", "one()\\n    two()"],
  ["before quotes of a key", "a.json", '"a": 1', '\\"a\\": 2'],
  ["between two rules", "a.css", "a {}", "a {}\\nb {}"],
  ["in a text between tags", "a.tsx", "<p>one</p>", "<p>one</p>\\n<p>two</p>"],
];

/** Escapes that may be intended. */
const MEANT: readonly (readonly [
  where: string,
  fileName: string,
  content: string,
  old: string,
  fresh: string,
])[] = [
  ["in a string", "a.ts", 'one("a");', "a", "a\\n"],
  ["in a string of the other quotes", "a.js", "one('a');", "'a'", "'\\\"a\\\"'"],
  ["in a pattern", "a.ts", "a.split(b);", "b", "/\\r?\\n|\\t/"],
  ["in a pattern of quotes", "a.js", "return a;", "a", '/[\\"/]\\n/g.test(a)'],
  ["in a template of several lines", "a.ts", "x = `\n  a\n`;", "  a", "  a\\n{b}\\t"],
  ["in a template in the code of another", "a.ts", "x = `$" + "{a ? `$" + "{b}` : {}}c`;", "c`", "\\nc`"],
  ["in a text of several lines", "a.py", 'x = """\na\n"""', "a\n", "b\\n\n"],
  ["in a comment", "a.java", "// ends with a line", "with a line", "with \\n"],
  ["in a comment of several lines", "a.c", "/*\n a\n*/", " a", " a\\t"],
  ["as a character", "a.rs", "f('a', \"b\")", "'a'", "'\\n'"],
  ["in a string over lines", "a.rs", 'f("a\n  b");', "  b", "  b\\n"],
  ["in a raw string", "a.cpp", 'f(R"(\na\n)");', "\na", "\na\\n"],
  ["in a path", "a.cs", 'f(@"C:\\");', "C:\\", "C:\\new\\temp\\"],
  ["in a value of JSON", "a.json", '{"a": "b"}', '"b"', '"b\\n\\"c\\""'],
  ["as a command of a language with backslashes", "a.tex", "\\section{a}\nb", "b", "b\\newline"],
  ["as a function", "a.hs", "f = g\nh = 1", "h = 1", "h = \\n -> n"],
  ["in a text about escapes", "a.md", MARKDOWN, "the words", "the words, `\\n` and `\\t`"],
  ["in a language that nobody knows", "a.xyz", "one", "one", "one\\ttwo"],
  ["where the old text has one, too", "a.ts", "a\\n;\nb;", "a\\n;", "a\\n\\n;"],
];

describe("escapes that only the new text has", () => {
  it.each(STRAY)(
    "P17 an escape %s is refused and named, and written if it is meant",
    (_, ...[fileName, old, fresh]) => {
      const sent = { fileName, content: `// a\n${old}\nend\n`, old, fresh };
      const match = edit(sent);
      expect(match.status === "escaped" && fresh.includes(match.escape)).toBe(true);
      const text = edit({ ...sent, isLiteral: true });
      expect(text).toMatchObject({ status: "matched", replacements: [{ text: fresh }] });
    },
  );

  it.each(MEANT)("P17 an escape %s is written as it is", (_, ...[fileName, content, old, fresh]) => {
    expect(edit({ fileName, content, old, fresh }).status).toBe("matched");
  });

  it("P17 a line break that hides a line of the file is refused in a language that nobody knows", () => {
    const match = edit({
      fileName: "a.md",
      content: MARKDOWN,
      old: "# Words",
      fresh: "# Words\\n\\nA small tool.",
    });
    expect(match).toEqual({ status: "escaped", escape: "\\n" });
  });

  it("P17 line breaks that hide several lines of the file are refused in a template, too", () => {
    const content = "x = `\n  one;\n  two;\n`;\n";
    const match = edit({
      fileName: "a.ts",
      content,
      old: "  one;\n  two;",
      fresh: "  one;\\n  more;\\n  two;",
    });
    expect(match).toEqual({ status: "escaped", escape: "\\n" });
    const indented = { content: 'x = `\n\tone;\n\ttwo("a");\n`;\n', old: '\tone;\n\ttwo("a");' };
    const fresh = '\\tone;\\n\\tmore;\\n\\ttwo(\\"a\\");';
    expect(edit({ fileName: "a.ts", ...indented, fresh }).status).toBe("escaped");
  });

  it("P17 an old text that is not exact is judged alike", () => {
    const sent = { fileName: "a.ts", content: "\tone();\n\ttwo();\n", old: "  one();\n  two();" };
    expect(edit({ ...sent, fresh: "  one();\n  three();\\n  two();" }).status).not.toBe("matched");
  });

  it("P17 a literal new text is never written otherwise, also where the old one has escapes by mistake", () => {
    const sent = { fileName: "a.ts", content: 'f("a");\n', old: 'f(\\"a\\");', fresh: 'f(\\"b\\");' };
    expect(edit(sent)).toMatchObject({ status: "matched", replacements: [{ text: "b" }] });
    expect(edit({ ...sent, isLiteral: true }).status).toBe("none");
  });
});
