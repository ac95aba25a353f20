import { describe, expect, it } from "vitest";
import { applyRow, type EditRow } from "../tests/edit-row.ts";

/** Edits that failed or went wrong in other agents, as their users published them, with the intended results. */
const PLACED: readonly Required<EditRow>[] = [
  {
    what: "only the first line has lost its indentation, in a file with CRLF",
    content:
      "def outer():\r\n    x = 1\r\n    if x:\r\n        y = 2\r\n        print(y)\r\n    return x\r\n",
    old: "if x:\n        y = 2\n        print(y)",
    new: "if x:\n        y = 999\n        print(y * 2)",
    result:
      "def outer():\r\n    x = 1\r\n    if x:\r\n        y = 999\r\n        print(y * 2)\r\n    return x\r\n",
  },
  {
    what: "only the first of two lines has lost its indentation, and both change",
    content: 'class Outer:\n    def go(self):\n        self.a = "before"\n        self.b = "before"\n',
    old: 'self.a = "before"\n        self.b = "before"',
    new: 'self.a = "after"\n        self.b = "after"',
    result: 'class Outer:\n    def go(self):\n        self.a = "after"\n        self.b = "after"\n',
  },
  {
    what: "one line, further in, with its line end: the next line keeps its own indentation",
    content: "if ok:\n  foo()\n  bar()\n",
    old: "    foo()\n",
    new: "    baz()\n",
    result: "if ok:\n  baz()\n  bar()\n",
  },
  {
    what: "line numbers as they are shown before tabs",
    content: '\t\t\t<Page>\n\t\t\t\t<div\n\t\t\t\t\taria-live="polite"\n\t\t\t\t>\n',
    old: '   248→\t\t\t<Page>\n   249→\t\t\t\t<div\n   250→\t\t\t\t\taria-live="polite"',
    new: '   248→\t\t\t<Page>\n   249→\t\t\t\t<div\n   250→\t\t\t\t\taria-live="off"',
    result: '\t\t\t<Page>\n\t\t\t\t<div\n\t\t\t\t\taria-live="off"\n\t\t\t\t>\n',
  },
  {
    what: "four spaces for each tab of Go",
    content: "func main() {\n\tif err != nil {\n\t\treturn err\n\t}\n\tdone()\n}\n",
    old: "    if err != nil {\n        return err\n    }",
    new: '    if err != nil {\n        return fmt.Errorf("main: %w", err)\n    }',
    result: 'func main() {\n\tif err != nil {\n\t\treturn fmt.Errorf("main: %w", err)\n\t}\n\tdone()\n}\n',
  },
  {
    what: "three spaces for each tab",
    content: "fn a() {\n\t\tif b {\n\t\t\tc();\n\t\t}\n}\n",
    old: "      if b {\n         c();\n      }",
    new: "      if b {\n         d();\n      }",
    result: "fn a() {\n\t\tif b {\n\t\t\td();\n\t\t}\n}\n",
  },
  {
    what: "one blank line for the two between functions of Python",
    content: "class A:\n    def f(self):\n        return 1\n\n\ndef g():\n    return A()\n",
    old: "        return 1\n\ndef g():\n    return A()\n",
    new: "        return 1\n\ndef g():\n    return A().f()\n",
    result: "class A:\n    def f(self):\n        return 1\n\n\ndef g():\n    return A().f()\n",
  },
  {
    what: "an entity of a comment is decoded",
    content: "// read &amp; write of <T>\nint value = read();\nuse(value);\n",
    old: "// read & write of <T>\nint value = read();",
    new: "// read & write of <T>\nint value = readAll();",
    result: "// read &amp; write of <T>\nint value = readAll();\nuse(value);\n",
  },
  {
    what: "JSON in a string of JSON has lost its escapes",
    content: '{\n  "a": "[\\"a\\",\\"b\\"]",\n  "d": 1\n}\n',
    old: '  "a": "["a","b"]",\n  "d": 1',
    new: '  "a": "["a","b"]",\n  "d": 2',
    result: '{\n  "a": "[\\"a\\",\\"b\\"]",\n  "d": 2\n}\n',
  },
  {
    what: "the escape of a quote is lost in a line that stays",
    content: "for (p = opts; (p = strchr(p, '\\'')); ++p) *p = '\"';\nname[len] = '\\0';\n",
    old: "for (p = opts; (p = strchr(p, ''')); ++p) *p = '\"';\nname[len] = '\\0';",
    new: "for (p = opts; (p = strchr(p, ''')); ++p) *p = '\"';\nname[max] = '\\0';",
    result: "for (p = opts; (p = strchr(p, '\\'')); ++p) *p = '\"';\nname[max] = '\\0';\n",
  },
  {
    what: "the escape of a line end became one, in a line that stays",
    content: 'start(TAG);\nLOG(TAG,"--Skipping.\\n");\nreturn 0;\n',
    old: 'start(TAG);\nLOG(TAG,"--Skipping.\n");\nreturn 0;',
    new: 'start(TAG);\nLOG(TAG,"--Skipping.\n");\nreturn 1;',
    result: 'start(TAG);\nLOG(TAG,"--Skipping.\\n");\nreturn 1;\n',
  },
  {
    what: "the old text is escaped as a whole, and the new one is not",
    content: "const s = `a b`;\nrun('x');\n",
    old: "const s = \\`a b\\`;\\nrun(\\'x\\');",
    new: "const s = `a b`;\nrun('y');",
    result: "const s = `a b`;\nrun('y');\n",
  },
  {
    what: "the old text has twice the backslashes of a word, and the new one has the file's",
    content: "go({\n  text: 'e.g., x^2, \\\\frac{a}{b}',\n});\n",
    old: "  text: 'e.g., x^2, \\\\\\\\frac{a}{b}',\n});",
    new: "  text:\n    'e.g., x^2, \\\\frac{a}{b}, \\\\sqrt{x}',\n});",
    result: "go({\n  text:\n    'e.g., x^2, \\\\frac{a}{b}, \\\\sqrt{x}',\n});\n",
  },
  {
    what: "spaces at line ends are left out, and all other lines keep theirs",
    content: "untouched   \nreplace me   \nafter\ntrailing   \n",
    old: "replace me\nafter",
    new: "DONE\nDONE2",
    result: "untouched   \nDONE\nDONE2\ntrailing   \n",
  },
  {
    what: "curly quotes in the old text, and straight ones in the file and the new text",
    content: 'const greeting = "Hello";\n// “smart” — for style\nconst name = "Alice";\n',
    old: "const name = “Alice”;",
    new: 'const name = "Bob";',
    result: 'const greeting = "Hello";\n// “smart” — for style\nconst name = "Bob";\n',
  },
  {
    what: "the file has a narrow no-break space",
    content: "Prix : 10\u202f€ et plus\nfin\n",
    old: "Prix : 10 € et plus\nfin",
    new: "Prix : 10 € et plus\nFIN",
    result: "Prix : 10\u202f€ et plus\nFIN\n",
  },
  {
    what: "letters and accents are apart in the file",
    content: "чай один\nдва\n".normalize("NFD"),
    old: "чай один\nдва",
    new: "чай один\nтри",
    result: "чай один\nтри\n".normalize("NFD"),
  },
  {
    what: "a part of a line, in which only spaces differ",
    content: "if size > 1:  # all   of them, first to last\n",
    old: "# all of them, first",
    new: "# all of them, second",
    result: "if size > 1:  # all   of them, second to last\n",
  },
  {
    what: "a line without its indentation becomes two, and neither has one",
    content: "def example():\n    try:\n        result = process()\n        return result\n",
    old: "result = process()",
    new: "result = process()\nvalidate(result)",
    result:
      "def example():\n    try:\n        result = process()\n        validate(result)\n        return result\n",
  },
  {
    what: "only new_string has the indentation of a line",
    content: "    try:\n        assert path is not None\n        # Updates it\n",
    old: "assert path is not None",
    new: "        assert path is not None\n        assert hash is not None",
    result:
      "    try:\n        assert path is not None\n        assert hash is not None\n        # Updates it\n",
  },
  {
    what: "only new_string has the indentation of the first of several lines",
    content: "class A:\n    def f(self):\n        x = 1\n        return x\n",
    old: "def f(self):\n        x = 1",
    new: "    def f(self):\n        x = 2",
    result: "class A:\n    def f(self):\n        x = 2\n        return x\n",
  },
  {
    what: "two lines come behind one that has the file's indentation as they have",
    content: "class A:\n    def f(self):\n        return x\n",
    old: "return x",
    new: "if x:\n            return x\n        return None",
    result: "class A:\n    def f(self):\n        if x:\n            return x\n        return None\n",
  },
  {
    what: "a line without its indentation stays below others, with a blank one between",
    content: "{\n    Node n(tree);\n    n.mark(names);\n}\n",
    old: "n.mark(names);",
    new: "tree = n.print();\n\nn.mark(names);",
    result: "{\n    Node n(tree);\n    tree = n.print();\n\n    n.mark(names);\n}\n",
  },
  {
    what: "the block of a line without its indentation ends behind it",
    content: "f() {\n  return x;\n}\n",
    old: "return x;",
    new: "return x;\n}\n\ng() {\n  return y;",
    result: "f() {\n  return x;\n}\n\ng() {\n  return y;\n}\n",
  },
  {
    what: "the line break before an indented line is only in old_string",
    content: "a:\n    b()\n    c()\n",
    old: "\n    b()",
    new: "    d()",
    result: "a:\n    d()\n    c()\n",
  },
  {
    what: "new lines with the marker of a diff, in texts that are further in",
    content: "a: {\n  one: 1,\n  two: 2,\n}\n",
    old: "    one: 1,\n    two: 2,",
    new: "+    zero: 0,\n    one: 1,\n+    two: 3,",
    result: "a: {\n  zero: 0,\n  one: 1,\n  two: 3,\n}\n",
  },
  {
    what: "a new line with the marker of a diff, below a line without its indentation",
    content: "if (a) {\n    one();\n    two();\n}\n",
    old: "one();\n    two();",
    new: "one();\n+    half();\n    two();",
    result: "if (a) {\n    one();\n    half();\n    two();\n}\n",
  },
  {
    what: "a number with a plus, which is none of a diff",
    content: "Alice\n0049 30 12345\nBob\n",
    old: "Alice\n0049 30 12345",
    new: "Alice\n+49 30 12345",
    result: "Alice\n+49 30 12345\nBob\n",
  },
];

const REFUSED: readonly EditRow[] = [
  {
    what: "one line between others is another one",
    content: "func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n}\n",
    old: "func a() {\n\tx := 1\n\ty := 99\n\tz := 3\n}",
    new: "func a() {\n\tx := 1\n\ty := 100\n\tz := 3\n}",
  },
  {
    what: "one call between two lines that are there is another one",
    content: "def handle(r):\n    start(r)\n    audit_log(r.user_id)\n    return finish(r)\n",
    old: "    start(r)\n    validate(r.token)\n    return finish(r)",
    new: "    start(r)\n    validate(r.token, strict=True)\n    return finish(r)",
  },
  {
    what: "the file has the change already, and the first line with a word more",
    content: "pub struct Shards {\n    len: u32,\n}\n\nimpl Shards {\n    pub fn init(&mut self) {\n",
    old: "struct Shards {\n    len: u32,\n}\n\nimpl Shards {\n    fn init(&mut self) {\n",
    new: "pub struct Shards {\n    len: u32,\n}\n\nimpl Shards {\n    pub fn init(&mut self) {\n",
  },
  {
    what: "a bracket is all that is named",
    content: "a() {\n}\nb() {\n}\n",
    old: "}",
    new: "// some long code block\n}",
  },
  {
    what: "methods become a line about the rest of them",
    content: "class A {\n  one() { return 1; }\n  two() { return 2; }\n  three() { return 3; }\n}\n",
    old: "class A {\n  one() { return 1; }\n  two() { return 2; }\n  three() { return 3; }\n}",
    new: "class A {\n  one() { return 11; }\n  // (...rest of implementations)\n}",
  },
  {
    what: "fields become a line that says that they are as they were",
    content: "type A = {\n  one: 1;\n  two: 2;\n  three: 3;\n};\n",
    old: "type A = {\n  one: 1;\n  two: 2;\n  three: 3;\n};",
    new: "type A = {\n  // (...no changes around here)\n  four: 4;\n};",
  },
  {
    what: "a cut word ends old_string, and another line comes behind it",
    content: "use rand::Rng;\nuse std::thread;\n\nconst N: u8 = 1;\n",
    old: "use rand::Rng;\nuse std::threa",
    new: "use rand::Rng;\nuse std::thread;\nuse log::info;",
  },
  {
    what: "methods become a line that names them in other words",
    content: "class A {\n  one() { return 1; }\n  two() { return 2; }\n  three() { return 3; }\n}\n",
    old: "class A {\n  one() { return 1; }\n  two() { return 2; }\n  three() { return 3; }\n}",
    new: "class A {\n  one() { return 11; }\n  // rest of the methods\n}",
  },
  {
    what: "old_string ends before a comment that new_string has at its end as well",
    content: 'a = "one";\nb = "two";  // later\nend();\n',
    old: 'a = "one";\nb = "two";',
    new: 'a = "one";\nb = "two";\nc = "three";  // later',
  },
  {
    what: "old_string ends inside a line that comes whole in new_string",
    content: "  }\n  /**\n   * Reads it all.\n   */\n",
    old: "  }\n  /**\n   *",
    new: "  }\n  more();\n  /**\n   * Reads it all.\n   *",
  },
];

describe("edits that failed elsewhere", () => {
  it.each(PLACED)("P1 P31 are placed as they were meant: $what", (row) => {
    expect(applyRow(row)).toBe(row.result);
  });

  it.each(REFUSED)("P1 P2 P31 are refused where nobody can know, or lines would be lost: $what", (row) => {
    expect(applyRow(row)).toBeUndefined();
  });
});
