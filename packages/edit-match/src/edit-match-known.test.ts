import { describe, expect, it } from "vitest";
import { applyRow, type EditRow } from "../tests/edit-row.ts";
import { findEdit } from "./edit-match.ts";

const CODE = "function a() {\n  one();\n  two();\n  three();\n  four();\n}\n";

describe("a placeholder in new_string", () => {
  it.each([
    "/* ... */",
    "// ... existing code ...",
    "# ... rest unchanged",
    "...",
    "<!-- ... -->",
    "-- ...",
    "{/* ... */}",
    "// rest of the code unchanged",
    "[...]",
    "// <existing code>",
  ])("P2 for lines of old_string is refused and named: %s", (mark) => {
    const newText = `function a() {\n  zero();\n  ${mark}\n  four();\n}`;
    const match = findEdit({ content: CODE, oldText: CODE.trim(), newText, expected: 1 });
    expect(match).toEqual({ status: "omission", placeholder: mark });
  });

  it.each([
    { old: "  one();\n  two();", new: "  f(...args);\n  const { a, ...rest } = b;" },
    { old: "  one();", new: "  ..." },
    { old: "  one();\n  two();", new: '  // wait ... then go\n  print("loading...")' },
    { old: "  one();\n  two();", new: "  one();\n  // ...\n  two();" },
    { old: "  four();\n}", new: "  five();\n}\n\ntype A = {\n  four: 4,\n  ...\n};" },
    { old: "  one();\n", new: "  each((\n    a) {\n    ...\n  }\n" },
  ])("P2 is not seen where dots are content: $new", ({ old, new: newText }) => {
    expect(findEdit({ content: CODE, oldText: old, newText, expected: 1 }).status).toBe("matched");
  });

  it("P2 is seen where a lone bracket comes back further down", () => {
    const newText = "  ...\n\nfunction b() {\n  five();\n}";
    const match = findEdit({ content: CODE, oldText: "  four();\n}", newText, expected: 1 });
    expect(match).toEqual({ status: "omission", placeholder: "..." });
  });

  it("P2 is seen where the brackets of new lines do not close those of the lines it stands for", () => {
    const content = "if (a) {\n  skip();\n}\nif (b) {\n";
    const newText = "  // ...\nif (c) {\n  skip();\n}\nif (b) {";
    const match = findEdit({ content, oldText: "  skip();\n}\nif (b) {", newText, expected: 1 });
    expect(match).toEqual({ status: "omission", placeholder: "// ..." });
  });

  it("P2 is seen at the end, where a line that it stands for comes back in new lines", () => {
    const content = "}\n\n/*\n  Opens.\n*/\nopen();\n";
    const newText = "}\n\n/*\n  Closes.\n*/\nclose() {\n}\n\n...";
    const match = findEdit({ content, oldText: "}\n\n/*\n  Opens.", newText, expected: 1 });
    expect(match).toEqual({ status: "omission", placeholder: "..." });
  });

  it("P2 is seen for a single line behind lines that are new", () => {
    const newText = "  one();\n  zero();\n  ...";
    const match = findEdit({ content: CODE, oldText: "  one();\n  two();", newText, expected: 1 });
    expect(match.status).toBe("omission");
  });

  it("P2 is seen where a line that it stands for comes back above, indented otherwise", () => {
    const newText = "  one();\n  if (a) {\n    four();\n  }\n  ...";
    const match = findEdit({
      content: CODE,
      oldText: "  one();\n  two();\n  three();\n  four();",
      newText,
      expected: 1,
    });
    expect(match.status).toBe("omission");
  });

  const beside = (old: string, newText: string) =>
    findEdit({ content: `top\n${old}\nbottom\n`, oldText: old, newText, expected: 1 }).status;

  it.each([
    ["a line whose next ones come again behind new ones", "fi\n#end\n`;", "fi\n...\nb = `\n#end\n`;"],
    ["a line whose last ones come again before new ones", "a1\nb1\nc1", "a1\nb1\nd1\n# ...\nc1"],
    ["the last of all lines", "one();\ntwo();", "one();\ntwo();\nthree();\n..."],
    ["the head of a body that old_string does not have", "def a(b):", "def a(b, c):\n    ..."],
    ["the head of a body that goes on behind it", "a();", "a();\nif (b) {\n  // ..."],
  ])("P2 is seen beside %s", (_, old, newText) => {
    expect(beside(old, newText)).toBe("omission");
  });

  it.each([
    ["between others", "a = 1\nb = 2\n\ndef c():", "a = 3\nb = 2\n\ndef d():\n    ...\n\ndef c():"],
    ["at the end", "class A:\n    b: int", "class A:\n    b: int\n\n    def c(self) -> int:\n        ..."],
    ["behind one like it", "def a():\n    ...\n\nb()", "def a():\n    ...\n\ndef c():\n    ...\n\nb()"],
  ])("P2 is content as the body of a new head %s", (_, old, newText) => {
    expect(beside(old, newText)).toBe("matched");
  });

  it("P2 is content when old_string has it as well", () => {
    const content = "a();\n// ... existing code ...\nb();\n";
    const oldText = "a();\n// ... existing code ...\nb();";
    expect(findEdit({ content, oldText, newText: oldText.replace("a", "c"), expected: 1 }).status).toBe(
      "matched",
    );
  });
});

describe("what is said to be done", () => {
  const applied = (content: string, oldText: string, newText: string) => {
    const match = findEdit({ content, oldText, newText, expected: 1 });
    return match.status === "none" && match.alreadyApplied;
  };

  it("P1 R95 is certain: the new lines are there and the old ones are gone", () => {
    expect(
      applied("start(1);\nlimit = 20;\nstop(1);\n", "start(1);\nlimit = 10;", "start(1);\nlimit = 20;"),
    ).toBe(true);
    expect(
      applied("limit = 20;\nlimit = 10 ;\nother();\n", "limit = 10;\ngone();", "limit = 20;\ngone();"),
    ).toBe(false);
  });

  it("P1 R95 is said of lines that are there where the old ones have no place, and never of short ones", () => {
    const [before, after] = ["call(first, second);\nend(first);", "call(first);\nstop(first, second);"];
    expect(applied(`call(1);\n${after}\n`, before, after)).toBe(true);
    expect(applied("a(1);\nb(2);\n", "a(1, 2);\nc(1);", "a(1);\nb(2);")).toBe(false);
  });

  it("P1 R95 is never said of an edit that only deletes or shortens", () => {
    expect(applied("first(1);\nthird(3);\n", "first(1);\nsecond(2);", "first(1);")).toBe(false);
    expect(applied("call(first);\nend();\n", "call(first, second);", "call(first);")).toBe(false);
  });
});

const WRONG_BEFORE: readonly EditRow[] = [
  {
    what: "one mis-indented line shifts no new line",
    content: "class A {\n    one();\n    two();\n    three();\n}\n",
    old: "    one();\n      two();\n    three();",
    new: "    one();\n      two();\n    new1();\n      new2();\n    three();",
    result: "class A {\n    one();\n    two();\n    new1();\n      new2();\n    three();\n}\n",
  },
  {
    what: "an escape that slipped into a kept line stays out of the file",
    content: "a(`$x`);\nb('c');\n",
    old: "a(\\`$x\\`);\nb('c');",
    new: "a(\\`$x\\`);\nb('d');",
    result: "a(`$x`);\nb('d');\n",
  },
  {
    what: "signs that contradict each other are not guessed",
    content: "a('x');\nb(‘y’);\nc('z');\n",
    old: "a(‘x’);\nb(‘y’);\nc('z');",
    new: "a(‘x’);\nb(‘y’);\nc(‘w’);",
  },
  {
    what: "a bracket put in for another reason does not restore the one left out",
    content: "f(() => {\n  if (a) {\n    one();\n  }\n});\nlast();\n",
    old: "f(() => {\n  if (a) {\n    one();\n});\nlast();",
    new: "f(() => {\n  g(() => {\n    one();\n  });\n  }\n});\nlast();",
  },
  {
    what: "all inserted lines are shifted alike, the first one too",
    content: "if (x) {\n        one(1);\n        two(2);\n}\n",
    old: "    one(1);\n    two(2);",
    new: "    zero(0);\n    half(1);\n    one(1);\n    two(2);",
    result: "if (x) {\n        zero(0);\n        half(1);\n        one(1);\n        two(2);\n}\n",
  },
];

describe("what was wrong before", () => {
  it.each(WRONG_BEFORE)("P31 $what", (row) => {
    expect(applyRow(row)).toBe(row.result);
  });
});

const LONG = `{"a":1,${"b".repeat(50)}:2,"title":"first  value of many","next":3${",x".repeat(200)}}`;

const KNOWN: readonly EditRow[] = [
  {
    what: "a plain sign in a new line, where the file has it both ways",
    content: "a: 'x',\nb: ‘y’,\nc: 'z',\n",
    old: "a: 'x',\nb: 'y',\nc: 'z',",
    new: "a: 'x',\nb: 'y',\nn: 'w',\nc: 'z',",
    result: "a: 'x',\nb: ‘y’,\nn: 'w',\nc: 'z',\n",
  },
  {
    what: "a sign in a new line, where one line of the file has its entity",
    content: "one(a->b);\ntwo(a-&gt;b);\n",
    old: "one(a->b);\ntwo(a->b);",
    new: "one(a->b);\nhalf(a->b);\ntwo(a->b);",
    result: "one(a->b);\nhalf(a->b);\ntwo(a-&gt;b);\n",
  },
  {
    what: "an accent of two code points in a new line, where the file has one",
    content: "vär a = 1;\nend();\n",
    old: "va\u0308r a = 1;\nend();",
    new: "va\u0308r a = 1;\nma\u0308r();\nend();",
    result: "vär a = 1;\nmär();\nend();\n",
  },
  {
    what: "diff markers on every line",
    content: "one();\ntwo();\nthree();\n",
    old: "-one();\n-two();\n-three();",
    new: "+one();\n+2();\n+three();",
    result: "one();\n2();\nthree();\n",
  },
  {
    what: "one of two copies, of which the other is indented otherwise in all lines",
    content: "one(’a’);\ntwo(2);\nx();\n      one('a');\n      two(2);\n",
    old: "one('a');\ntwo(2);",
    new: "one('a');\ntwo(3);",
    result: "one(’a’);\ntwo(3);\nx();\n      one('a');\n      two(2);\n",
  },
  {
    what: "a text shifted as a whole that begins with one of two brackets",
    content: "    }\n  }\n\n  func write() {\n    try()\n  }\n",
    old: "    }\n\n    func write() {\n        try()\n    }",
    new: "    }\n\n    func write() {\n        lock()\n        try()\n    }",
    result: "    }\n  }\n\n  func write() {\n    lock()\n    try()\n  }\n",
  },
  {
    what: "the end of a changed line without its blanks",
    content: "one();\nif(a) { // go\t\ntwo();\n",
    old: "one();\nif(a) { // go\ntwo();",
    new: "one();\nif (a) { // go\ntwo();",
    result: "one();\nif (a) { // go\ntwo();\n",
  },
  {
    what: "full-width signs",
    content: "call(a,b);\nend();\n",
    old: "call（a，b）;\nend();",
    new: "call（a，c）;\nend();",
    result: "call(a,c);\nend();\n",
  },
  {
    what: "a code fence around old_string",
    content: "one();\ntwo();\n",
    old: "```js\none();\ntwo();\n```",
    new: "one();\n2();",
    result: "one();\n2();\n",
  },
  {
    what: "a code fence around new_string",
    content: "one();\ntwo();\n",
    old: "two();",
    new: "```\n2();\n```",
    result: "one();\n2();\n",
  },
  {
    what: "tabs written as escapes over several lines",
    content: "if (x) {\n\tone();\n\t\ttwo();\n}\n",
    old: "\\tone();\n\\t\\ttwo();",
    new: "\\tone();\n\\t\\t2();",
    result: "if (x) {\n\tone();\n\t\t2();\n}\n",
  },
  {
    what: "entities where the file has signs",
    content: "if (a && b) {\n  go();\n}\n",
    old: "if (a &amp;&amp; b) {\n  go();",
    new: "if (a &amp;&amp; c) {\n  go();",
    result: "if (a && c) {\n  go();\n}\n",
  },
  {
    what: "signs where the file has entities",
    content: "<p>salt &amp; pepper</p>\n<p>oil</p>\n",
    old: "<p>salt & pepper</p>\n<p>oil</p>",
    new: "<p>salt & pepper</p>\n<p>vinegar</p>",
    result: "<p>salt &amp; pepper</p>\n<p>vinegar</p>\n",
  },
  {
    what: "a part of a very long line, from amid a word",
    content: `${LONG}\n`,
    old: 'tle":"first value of many","next":3',
    new: 'tle":"first value of many","next":4',
    result: `${LONG.replace('"next":3', '"next":4')}\n`,
  },
  {
    what: "a final newline that the file lacks",
    content: "one();\n  two();",
    old: "one();\n  two();\n",
    new: "one();\n  2();\n",
    result: "one();\n  2();",
  },
  {
    what: "line numbers before a blank line",
    content: "one();\n\ntwo();\n",
    old: "1→one();\n2→\n3→two();",
    new: "1→one();\n2→\n3→2();",
    result: "one();\n\n2();\n",
  },
  {
    what: "a line left out where only one place can be meant",
    content: "alpha(1);\nbeta(2);\ngamma(3);\ndelta(4);\nend(5);\n",
    old: "alpha(1);\ngamma(3);\ndelta(4);\nend(5);",
    new: "alpha(1);\ngamma(3);\ndelta(4);\nend(6);",
    result: "alpha(1);\nbeta(2);\ngamma(3);\ndelta(4);\nend(6);\n",
  },
  {
    what: "a zero-width space in a word",
    content: "first(word);\nsecond();\n",
    old: "first(wo\u200brd);\nsecond();",
    new: "first(wo\u200brd);\n2();",
    result: "first(word);\n2();\n",
  },
  {
    what: "CRLF in new_string for an LF file",
    content: "one();\ntwo();\n",
    old: "two();",
    new: "2();\r\n3();",
    result: "one();\n2();\n3();\n",
  },
  {
    what: "blanks at line ends on one side",
    content: "one();\ntwo();\n",
    old: "one();  \ntwo();",
    new: "one();\n2();",
    result: "one();\n2();\n",
  },
  {
    what: "entities on a changed line that old_string shows to be a slip",
    content: "one();\nsend('a', b);\nend();\n",
    old: "one();\nsend(&#39;a&#39;, b);\nend();",
    new: "one();\nmake(&#39;c&#39;);\nend();",
    result: "one();\nmake('c');\nend();\n",
  },
  {
    what: "a dash for two hyphens",
    content: '"a": "run --one",\n"b": 1,\n',
    old: '"a": "run —one",\n"b": 1,',
    new: '"a": "run —one",\n"c": "run —two",',
    result: '"a": "run --one",\n"c": "run --two",\n',
  },
  {
    what: "plain quotes in new lines where only old_string has curly ones",
    content: "load('a');\nnext();\n",
    old: "load(‘a’);\nnext();",
    new: "load(\"b\");\nput('c');\nnext();",
    result: "load(\"b\");\nput('c');\nnext();\n",
  },
  {
    what: "no-break spaces in a file that has some elsewhere",
    content: "a\u00a0b\nnode fast sync\nnode slow sync\nend\n",
    old: "node\u00a0fast\u00a0sync\nnode\u00a0slow\u00a0sync\nend",
    new: "go\u00a0fast\u00a0sync\ngo\u00a0slow\u00a0sync\nend",
    result: "a\u00a0b\ngo fast sync\ngo slow sync\nend\n",
  },
  {
    what: "no-break spaces that the file has too, behind line numbers",
    content: "one\n<a>\u00a0\u00a0Made at\nend\n",
    old: "2→<a>\u00a0\u00a0Made at\n3→end",
    new: "<a>\u00a0\u00a0Built by\nend",
    result: "one\n<a>\u00a0\u00a0Built by\nend\n",
  },
  {
    what: "lines that begin with two hyphens, indented otherwise",
    content: "-- | Reads.\n--reads :: Int\nreads = 1\n",
    old: "  -- | Reads.\n  --reads :: Int\n  reads = 1",
    new: "  -- | Reads.\n  --reads :: Int\n  reads = 2",
    result: "-- | Reads.\n--reads :: Int\nreads = 2\n",
  },
  {
    what: "a numbered blank line with a space before its bar",
    content: "one();\ntwo();\n",
    old: "1 | one();\n2 | two();",
    new: "1 | one();\n2 | two(2);\n3 |\n4 | three();",
    result: "one();\ntwo(2);\n\nthree();\n",
  },
  {
    what: "a sign in another normal form on a line that stays",
    content: "one('\u8c48');\ncafe\u0301(2);\n",
    old: "one('\u8c48');\ncafe\u0301( 2);",
    new: "one('\uf900');\ncafe\u0301( 3);",
    result: "one('\u8c48');\ncafe\u0301(3);\n",
  },
  {
    what: "a bracket with spaces behind it that stays with the lines of words below it",
    content:
      "    }\n  }  \n\n  warn() {\n    return 1;\n  }\n\n  css() {\n    return 2;\n  }\n\n  map() {\n    return 3;\n  }\n}\n",
    old: "    }\n  }\n\n  warn() {\n    return 1;\n  }\n\n  css() {\n    return 2;\n  }\n\n  map() {\n    return 3;\n  }\n}",
    new: "\n      if (a) {\n        if (b) {\n          c();\n        }\n      }\n\n      stop();\n    }\n  }\n\n  warn() {\n    return 1;\n  }\n}",
    result:
      "\n      if (a) {\n        if (b) {\n          c();\n        }\n      }\n\n      stop();\n    }\n  }  \n\n  warn() {\n    return 1;\n  }\n}\n",
  },
  {
    what: "a new_string that is right beside an old_string with a doubled escape",
    content: 'go(1);\nif (a) {\n  write("has+=(\\"-%s"+end);\n}\n',
    old: 'go(1);\nif (a) {\n  write(\\"has+=(\\\\"-%s\\"+end);\n}',
    new: 'go(1);\nwrite("has+=(\\"-%s"+end);',
    result: 'go(1);\nwrite("has+=(\\"-%s"+end);\n',
  },
  {
    what: "an exact old_string with the file's line ends, and a new_string with others",
    content: "one();\r\ntwo();\r\nthree();\r\n",
    old: "one();\r\ntwo();",
    new: "one();\n2();\nmore();",
    result: "one();\r\n2();\r\nmore();\r\nthree();\r\n",
  },
];

describe("what can be known", () => {
  it.each(KNOWN)("P1 P31 $what", (row) => {
    expect(applyRow(row)).toBe(row.result);
  });
});
