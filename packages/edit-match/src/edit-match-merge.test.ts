import { describe, expect, it } from "vitest";
import { applyReplacements, findEdit } from "./edit-match.ts";

interface Merged {
  readonly slip: string;
  readonly content: string;
  readonly old: string;
  readonly new: string;
  readonly result: string;
}

const MERGED: readonly Merged[] = [
  {
    slip: "a look-alike sign where the first line moves left",
    content: "start();\n\n  // note\n  call('x');\n",
    old: "\n  // note\n  call(‘x’);",
    new: "\n// note\n  call(‘x’);",
    result: "start();\n\n// note\n  call('x');\n",
  },
  {
    slip: "tabs for spaces, also alone on a line",
    content: "a\n  b;\n\nc\n  d;\n",
    old: "a\n\tb;\n\nc\n\td;",
    new: "a\n\tb;\n\t\nx\n\ty;\n\nc\n\td;",
    result: "a\n  b;\n  \nx\n  y;\n\nc\n  d;\n",
  },
  {
    slip: "trailing blanks left out that the new line has",
    content: "a( 1 ); \nb(2);\n\n",
    old: "a(1);",
    new: "a(1); \nx(9);",
    result: "a( 1 ); \nx(9);\nb(2);\n\n",
  },
  {
    slip: "curly quotes, where other blanks are right in the new text",
    content: "var d = days ? 'D' : '';\nvar s =  1;\n",
    old: "var d = days ? ‘D’ : ‘’;\nvar s = 1;",
    new: "var d = unit(days, ‘D’);\nvar s =  1;",
    result: "var d = unit(days, 'D');\nvar s =  1;\n",
  },
  {
    slip: "other indentation, where the last line goes",
    content: "if (x) {\n    one(1);\n    two(2); // why\n\n    end();\n}\n",
    old: "one(1);\ntwo(2); // why\n",
    new: "one(1);\ntwo(2);\n",
    result: "if (x) {\n    one(1);\n    two(2);\n\n    end();\n}\n",
  },
  {
    slip: "a line break lost in a string, and a comment put in",
    content: "one('\\n');\ntwo(2);\n",
    old: "one('\n');\ntwo(2);",
    new: "one('\n');\n// don't\ntwo(2);",
    result: "one('\\n');\n// don't\ntwo(2);\n",
  },
  {
    slip: "line numbers in the old text, and a new one that has numbers of its own",
    content: "const sizes = {\n  0: 'none',\n};\nend();\n",
    old: "1: const sizes = {\n2:   0: 'none',\n3: };",
    new: "const sizes = {\n  0: 'none',\n  1: 'thin',\n};",
    result: "const sizes = {\n  0: 'none',\n  1: 'thin',\n};\nend();\n",
  },
  {
    slip: "a line left out, where the file itself has dots",
    content: "{\n  ...\n  rules: {\n    a: [1, 2]\n  }\n}\n",
    old: "{\n  ...\n    a: [1, 2]\n  }\n}",
    new: "{\n  ...\n  rules: {\n    a: [1, 2, 3]\n  }\n}",
    result: "{\n  ...\n  rules: {\n    a: [1, 2, 3]\n  }\n}\n",
  },
  {
    slip: "other indentation, where a line is put into a comment behind the one above",
    content: "if (x) {\n    one(1);\n    two(2);\n    three(3);\n}\n",
    old: "one(1);\ntwo(2);\nthree(3);",
    new: "one(1); // two(2);\n\nthree(3);",
    result: "if (x) {\n    one(1); // two(2);\n\n    three(3);\n}\n",
  },
  {
    slip: "blanks between words with joiners in them",
    content: "h: 'یه‌ك كاتژمێر',\ny: 'یه‌ك  ساڵ',\nlast: 'ක්‍රි',\n",
    old: "h: 'یه‌ك كاتژمێر',\ny: 'یه‌ك ساڵ',\nlast: 'ක්‍රි',",
    new: "h: 'یه‌ك كاتژمێر',\ny: 'یه‌ك ساڵ',\nlast: 'x',",
    result: "h: 'یه‌ك كاتژمێر',\ny: 'یه‌ك  ساڵ',\nlast: 'x',\n",
  },
  {
    slip: "indentation beside a sign without a width",
    content: "if (x) {\n    one(1); \u200b\n    two(2);\n}\n",
    old: "one(1);\ntwo(2);",
    new: "one(1);\ntwo(22);",
    result: "if (x) {\n    one(1); \u200b\n    two(22);\n}\n",
  },
  {
    slip: "curly quotes, where other signs are rightly no plain ones",
    content: "// Don't use {…}\nrun(1);\n",
    old: "// Don’t use {…}\nrun(1);",
    new: "// Don’t use {…}\n// a ‘new’ one\nrun(1);",
    result: "// Don't use {…}\n// a 'new' one\nrun(1);\n",
  },
];

describe("what the new text changes is written as the file writes it", () => {
  it.each(MERGED)("P1 P31 $slip", ({ content, old, new: newText, result }) => {
    const match = findEdit({ content, oldText: old, newText, expected: 1 });
    expect(match.status).toBe("matched");
    expect(match.status === "matched" && applyReplacements(content, match.replacements)).toBe(result);
  });
});

interface Decided {
  readonly shape: string;
  readonly content: string;
  readonly old: string;
  readonly new: string;
  readonly result: string;
}

const DECIDED: readonly Decided[] = [
  {
    shape: "the last line stands in the file only as the beginning of another",
    content: "run(a);\n};\n\n/**\n * Explains it.\n *\n */\n",
    old: "run(a);\n};\n\n/**\n *\n\n",
    new: "run(b);\n};\n\n/**\n * Explains it.\n *\n\n",
    result: "run(b);\n};\n\n/**\n * Explains it.\n *\n */\n",
  },
  {
    shape: "the same of the blank lines above the first line",
    content: "one(1);\n\n\ntwo(2);\n\nthree(3);\n",
    old: "\n two(2);\n\n",
    new: "\n// second\ntwo(22);\n\n",
    result: "one(1);\n\n\n// second\ntwo(22);\n\nthree(3);\n",
  },
  {
    shape: "a line is longer now, and neither text has the blanks that it ended with",
    content: "$ extra --one\n\n$ extra \nOptions: none\n",
    old: "$ extra --one\n\n$ extra\nOptions: none",
    new: "$ extra --one\n\n$ extra --two --three\nOptions: some",
    result: "$ extra --one\n\n$ extra --two --three\nOptions: some\n",
  },
  {
    shape: "the line that was left out is one that more places have",
    content:
      "one {\n  height: 3px;\n}\ntwo {\n  width: 10px;\n  height: 3px;\n  color: red;\n  border: 0;\n}\n",
    old: "  width: 10px;\n  color: red;\n  border: 0;",
    new: "  width: 10px;\n  color: red;\n  border: 1px;",
    result:
      "one {\n  height: 3px;\n}\ntwo {\n  width: 10px;\n  height: 3px;\n  color: red;\n  border: 1px;\n}\n",
  },
  {
    shape: "the first line is exactly the one above the place",
    content: " *     }\n *   }\n * end\n * last\n",
    old: " *     }\n * end\n * last",
    new: " *     }\n * end\n * first",
    result: " *     }\n *   }\n * end\n * first\n",
  },
  {
    shape: "blanks at a line's end are right in the new text, and there are more lines now",
    content: "find('x'); \n\n// end\n",
    old: "find(‘x’);\n\n// end",
    new: "find('x'); \nmore('x');\n\n// end",
    result: "find('x'); \nmore('x');\n\n// end\n",
  },
  {
    shape:
      "a line with a mistyped word and wrong blanks, corrected but for the blanks, comes behind one like it",
    content: '<a href="https://a.org/one">one</a>\n<a href="https://github.com/new">new</a>\n<b>end</b>\n',
    old: '<a href="https://a.org/one">one</a>\n<a href=  "https://gixhub.com/new">new</a>\n<b>end</b>',
    new: '<a href="https://a.org/one">one</a>\n<a href="https://b.org/two">two</a>\n<a href=  "https://github.com/new">new</a>\n<b>end</b>',
    result:
      '<a href="https://a.org/one">one</a>\n<a href="https://b.org/two">two</a>\n<a href="https://github.com/new">new</a>\n<b>end</b>\n',
  },
  {
    shape: "the old text ends with more blank lines than the several there are, and the new one with none",
    content: "include(1);\n\n\n\nrun(1);\n",
    old: "include(1);\n\n\n\n\n",
    new: "include(1);\ninclude(2);\n",
    result: "include(1);\ninclude(2);\n\n\n\nrun(1);\n",
  },
];

describe("a kept line has the bytes of the file, a changed one is written as the new text has it", () => {
  it.each(DECIDED)("P1 P31 also when $shape", ({ content, old, new: newText, result }) => {
    const match = findEdit({ content, oldText: old, newText, expected: 1 });
    expect(match.status === "matched" && applyReplacements(content, match.replacements)).toBe(result);
  });
});

describe("what only the file has is kept", () => {
  it("P31 P32 keeps the line break before the place when only the old text begins with one", () => {
    const content = "before\r\n * one\r\n * two\r\n";
    const match = findEdit({
      content,
      oldText: "\n * one\n * two\n",
      newText: " * one\n * 2\n",
      expected: 1,
    });
    expect(match.status === "matched" && applyReplacements(content, match.replacements)).toBe(
      "before\r\n * one\r\n * 2\r\n",
    );
  });

  const gained = "alpha(1);\nbeta(2);\ngamma(3);\nextra(4);\nend();\nother(5);\nend();\n";
  it.each([
    { change: "two lines above", old: "alpha(1);", put: "alpha(11);" },
    { change: "next to the line above", old: "beta(2);", put: "beta(22);" },
    { change: "put in above the line above", old: "gamma(3);", put: "\nfresh(9);\ngamma(3);" },
  ])("P31 keeps a line of the file that the old text leaves out, with a change $change", ({ old, put }) => {
    const oldText = "alpha(1);\nbeta(2);\ngamma(3);\nend();";
    const match = findEdit({ content: gained, oldText, newText: oldText.replace(old, put), expected: 1 });
    expect(match.status === "matched" && applyReplacements(gained, match.replacements)).toBe(
      gained.replace(old, put),
    );
  });

  it("P31 keeps a line that the old text leaves out below the new first line", () => {
    const content = "import a;\nimport b;\nimport e;\nimport c;\nrun();\n";
    const match = findEdit({
      content,
      oldText: "import a;\nimport b;\nimport c;\nrun();",
      newText: "import b;\nimport c;\nrun();",
      expected: 1,
    });
    expect(match.status === "matched" && applyReplacements(content, match.replacements)).toBe(
      content.replace("import a;\n", ""),
    );
  });

  it("P31 keeps blanks at a line's end though the new text has the line the old text left out", () => {
    const content = "a(1);\nb(2);  \nc(3);\nd(4);\ne(5);\n";
    const match = findEdit({
      content,
      oldText: "a(1);\nc(3);\nd(4);\ne(5);",
      newText: "a(1);\nb(2);\nc(3);\nd(44);\ne(5);",
      expected: 1,
    });
    expect(match.status === "matched" && applyReplacements(content, match.replacements)).toBe(
      content.replace("d(4)", "d(44)"),
    );
  });

  it.each([
    ["replaced, though only one line is meant", "a(1);\n...\nc(3);\nd(4);", "a(1);\nx();\nc(3);\nd(4);"],
    ["removed, though only one line is meant", "a(1);\n...\nc(3);\nd(4);", "a(1);\nc(3);\nd(4);"],
    ["moved from above all lines between them", "...\nc(3);\nd(4);", "c(3);\n...\nd(4);"],
    ["moved from below all lines between them", "a(1);\nb(2);\n// ...", "a(1);\n// ...\nb(2);"],
  ])("P2 P31 refuses when dots of the old text are %s", (_, oldText, newText) => {
    const content = "a(1);\nb(2);\nc(3);\nd(4);\n";
    expect(findEdit({ content, oldText, newText, expected: 1 }).status).toBe("none");
  });
});

describe("signs that the file has in two ways", () => {
  const REFUSED = [
    [
      "a dash between spaces is another sign there, and one between digits is not",
      "## 1.9 — 2026-09-15\n\nSame.\n",
      "## 1.9 - 2026-09-15\n\nSame.",
      "## 2.0 - 2026-09-20\n\nSame.",
    ],
    [
      "three dots are one sign",
      "a: waiting…\nb: 1. one\n",
      "a: waiting...\nb: 1. one",
      "a: waiting...\nc: loading...\nb: 1. one",
    ],
    [
      "only in tags a sign is no entity",
      "<b>x</b>\n<i>#&gt; one</i>\n",
      "<b>x</b>\n<i>#> one</i>",
      "<b>x</b>\n<i>#> one</i>\n<i>#> two</i>",
    ],
    [
      "a backslash at the end of lines stands for two",
      "one,\\\\\ntwo,\nthree,\\\\\n",
      "one,\\\ntwo,\nthree,\\",
      "one,\\\ntwo,\nmore, \\\nthree,\\",
    ],
    [
      "a line that stays has them in a third way",
      'a("x");\nlast = None\n',
      "a(\\”x\\”);\nlast = None",
      'a(\\"x\\");\nlast = \\"en\\"',
    ],
  ] as const;

  it.each(REFUSED)("P1 P31 refuses new lines where %s", (...[, content, oldText, newText]) => {
    expect(findEdit({ content, oldText, newText, expected: 1 }).status).toBe("none");
  });

  it("P31 writes a plain sign where what is beside it says that it is the file's own", () => {
    const content = "say('x'); // don’t\nend();\n";
    const oldText = "say('x'); // don't\nend();";
    const match = findEdit({ content, oldText, newText: `${oldText}\nsay('y');`, expected: 1 });
    expect(match.status === "matched" && applyReplacements(content, match.replacements)).toBe(
      `${content}say('y');\n`,
    );
  });
});
