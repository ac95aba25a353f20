import { describe, expect, it } from "vitest";
import { applyRow, type EditRow } from "../tests/edit-row.ts";
import { findEdit } from "./edit-match.ts";

const UNPROVEN: readonly EditRow[] = [
  {
    what: "a line is left out behind a blank one, which is taken for the end of the line above",
    content: "a();\n\n### Full\nb();\n",
    old: "\nb();",
    new: "\n### More\n\nb();",
  },
  {
    what: "the same where all is shifted",
    content: "  a();\n\n  full();\n  b();\n  c();\n",
    old: "\nb();\nc();",
    new: "\nmore();\n\nb();\nc();",
  },
  {
    what: "the lines around which others come are there already, without a line that was left out",
    content: "start();\n\nif (ready) {\n    a();\n    b();\n}\n}\n",
    old: "start();\n\na();\nb();\n}",
    new: "start();\n\nif (ready) {\n    a();\n    b();\n}\n}",
  },
  {
    what: "the word that comes at the end of the last line is there already",
    content: " * question.\n * @param {GetVisibleElementsParameters} params\n * @returns\n",
    old: "5→ * question.\n6→ * @param {GetVisibleElementsParameters}",
    new: "5→ * question.\n6→ * @param {GetVisibleElementsParameters} params",
  },
  {
    what: "the text begins with the second of two hyphens amid a very long line",
    content: `let html = "<!--foo--!><b>one</b>"; ${"go(on); ".repeat(30)}\n`,
    old: "-!&gt;&lt;b&gt;one&lt;/b&gt;",
    new: "-!&gt;&lt;b&gt;two&lt;/b&gt;",
  },
  {
    what: "a lost escape beside new words that have the letter",
    content: "split(/\\d+/);\nnext();\nend();\n",
    old: "split(/d+/);\nnext();\nend();",
    new: "split(/d+/);\nadd(padding);\nend();",
  },
  {
    what: "a line break ends old_string, where the file's line goes on",
    content: "let count = total + 1;\nlet more = 2;\n",
    old: "let count = total\n",
    new: "let count = all;\n",
  },
  {
    what: "the new text ends with the sign that the file has behind a part of a line",
    content: 'import type { Server } from "./index";\n',
    old: '    import type { Server } from "./index"',
    new: 'import type { Server, Request } from "./index";',
  },
  {
    what: "the file escapes a sign at one place and not at another, and a new line has it beside a word",
    content: "put(`{f}`, one);\nput(`\\{}`, two);\nput(`{q}`, end);\n",
    old: "put(`{f}`, one);\nput(`{}`, two);\nput(`{q}`, end);",
    new: "put(`{f}`, one);\nput(`{}`, two);\nput(`{more}`, three);\nput(`{q}`, end);",
  },
  {
    what: "kept lines are indented neither as old_string nor as the file, and moved by different amounts",
    content: "{\n  one(1);\n  if (a) {\n    two(2);\n  }\n}\n",
    old: "\t\tone(1);\n\t\tif (a) {\n\t\t\t\ttwo(2);\n\t\t}\n}",
    new: "\tone(1);\n\tif (b) {\n\t\ttwo(2);\n\t}\n}",
  },
  {
    what: "the line that comes first stands above the place already, instead of one like it",
    content: "    check(alpha, one);\n\n    check(beta, one);\n\n    check(gamma, one);\n",
    old: "\t\tcheck(beta, one);\n\n\t\tcheck(gamma, one);",
    new: "\t\tcheck(alpha, one);\n\n\t\tself(beta, one);\n\n\t\tcheck(gamma, one);",
  },
  {
    what: "a line that is wrong in old_string comes where the file has another one like it",
    content: "a(1);\n  }\nb(2);\n  }\nc(3);\n",
    old: "a(1);\n  }\nb(2);\n   }\nc(3);",
    new: "a(1);\n   }\nb(2);\nc(3);",
  },
  {
    what: "either of two like brackets may be the one left out, and a line comes between them",
    content: "  check(port, {\n    family: 4,\n    port: one\n  })\n})\n\ntest(two)\n",
    old: "    family: 4,\n    port: one\n})\n\ntest(two)",
    new: "    family: 4,\n    port: one\n  await close()\n})\n\ntest(two)",
  },
  {
    what: "a plus that both texts have is the file's own, beside lines with the marks of a diff",
    content: "+ one: first\n+ two: second\n      return one || two\n",
    old: "+ two: second\n-      return one || two",
    new: "+ two: second\n+      return one && two",
  },
  {
    what: "a mistyped word would be written, on a line with another mistake",
    content: '#import <one.h>\n#import "two.h"\n#import "three.h"\n',
    old: "#import &lt;one.h&gt;\n#impport “two.h”\n#import “three.h”",
    new: '#import <one.h>\n#impport "half.h"\n#impport "two.h"\n#import "three.h"',
  },
  {
    what: "the letter that a word lacks makes it another word of the file's",
    content: "function gunzipSync(buffer, options);\n/**\n * other\n",
    old: "function unzipSync(buffer, options);\n/**",
    new: "function unzipSync(buffer, options);\nfunction more();\n/**",
  },
  {
    what: "the text begins amid a row of the same sign",
    content: "===== Title of number one\nnext line here\n",
    old: "== Title  of number one",
    new: "== Title  of number two",
  },
  {
    what: "a line of nothing but spaces comes, in a text that is shifted",
    content: "one(1);\n\ntwo(2);\nthree(3);\n",
    old: "  one(1);\n\n  two(2);\n  three(3);",
    new: "  one(1);\n\n  more(1);\n  \n  two(2);\n  three(3);",
  },
  {
    what: "a line of nothing but spaces comes for an empty one, in a text that is shifted",
    content: "a(1);\nb(2);\n\n\nc(3);\n",
    old: "  a(1);\n  b(2);\n\n\n  c(3);",
    new: "  a(1);\n  b(22);\n  \n  c(3);",
  },
  {
    what: "lines come behind a last line that the file has with a sign more",
    content: "  throw a;\n}\nstored.status = nextStatus;\nd();\n",
    old: "\tthrow a;\n}\nstored.status = nextStatus",
    new: "\tthrow a;\n}\nstored.status = nextStatus\ne: 1,",
  },
  {
    what: "lines come behind dots at the end, which stand for nobody knows how many",
    content: "one(1);\ntwo(2);\nthree(3);\nfour(4);\n",
    old: "one(1);\ntwo(2);\n...",
    new: "one(1);\ntwo(2);\n...\nlast(0);",
  },
  {
    what: "dots moved between lines that have nothing between them",
    content: "one(1);\ntwo(2);\nthree(3);\n",
    old: "one(1);\n...\ntwo(2);\nthree(3);",
    new: "one(1);\ntwo(2);\n...\nthree(3);",
  },
  {
    what: "lines come behind a bracket that is either one shifted, or the next one",
    content: "class A {\n  get() {\n    return { a };\n  }\n}\n",
    old: "    return { a };\n}",
    new: "    return { a };\n}\nexport { A };",
  },
  {
    what: "the text begins with a line break, and the only one there is half of a line end",
    content: "/** One. */\r\none;\r\n/** One. */\r\n",
    old: "\n/** One. */",
    new: "two;\n\n/** One. */",
  },
  {
    what: "quotes of a new line are curly, and nothing shows whether they stand for plain ones as an ellipsis does",
    content: "join(...all);\nend();\n",
    old: "join(…all);\nend();",
    new: "join(…all);\nadd(“one”);\nend();",
  },
  {
    what: "a line is left out, and the blank line above it as well",
    content: "ready(() => {\n  check(a);\n\n  extra(b);\n  inject(c);\n  done(1);\n});\n",
    old: "ready(() => {\n  check(a);\n  inject(c);\n  done(1);\n});",
    new: "ready(() => {\n  check(a);\n  inject(c);\n  done(2);\n});",
  },
  {
    what: "the old text has a blank line more above than the new one, and both have more than the file",
    content: "one(1);\n\ntwo(2);\nthree(3);\n",
    old: "\n\n\ntwo(2);\nthree(3);",
    new: "\n\ntwo(22);\nthree(3);",
  },
];

const PROVEN: readonly Required<EditRow>[] = [
  {
    what: "items of a list behind the hyphens of a diff",
    content: "- one\n- two\n- three\n",
    old: " - one\n-- two\n - three",
    new: " - one\n+- two (2)\n - three",
    result: "- one\n- two (2)\n- three\n",
  },
  {
    what: "two hyphens are a dash, and a copy elsewhere has them, but another indentation",
    content: "one(); // a — b\ntwo();\n\n  one(); // a -- b\n  two();\n",
    old: "one(); // a -- b\ntwo();",
    new: "one(); // a -- c\ntwo();",
    result: "one(); // a — c\ntwo();\n\n  one(); // a -- b\n  two();\n",
  },
  {
    what: "only new lines have the mark of a diff, beside another mistake",
    content: "a();\n\nif (x) {\n\tb();\n}\n\nthis.c = d;\n",
    old: "a();\n\nif (x) {\n\tb();\n}\nthis.c = d;",
    new: "a();\n\nif (x) {\n\tb();\n+\tmore();\n}\nthis.c = d;",
    result: "a();\n\nif (x) {\n\tb();\n\tmore();\n}\n\nthis.c = d;\n",
  },
  {
    what: "lines of a list stay beside one with the mark of a diff",
    content: "a:\n- one\n- two\n",
    old: "a: \n- one\n- two",
    new: "a: \n- one\n+- more\n- two",
    result: "a:\n- one\n- more\n- two\n",
  },
  {
    what: "the pluses of a new list are its own, beside another mistake",
    content: "The list:\n\nof all\n",
    old: "The list: \n\nof all",
    new: "The list: \n\n+ one\n\nof all",
    result: "The list:\n\n+ one\n\nof all\n",
  },
  {
    what: "old_string is escaped as a whole, and new_string has line breaks",
    content: '{\n  "a": "x",\n  "b": "y",\n  "c": "z"\n}\n',
    old: '  \\"a\\": \\"x\\",\\n  \\"b\\": \\"y\\",\\n  \\"c\\": \\"z\\"',
    new: '  \\"a\\": \\"x\\",\n  \\"b\\": [\\"y\\"],\n  \\"c\\": \\"z\\"',
    result: '{\n  "a": "x",\n  "b": ["y"],\n  "c": "z"\n}\n',
  },
  {
    what: "in a file with CRLF, what begins behind the indentation of a line begins there",
    content: "a {\r\n  color: red;\r\n  size: 1;\r\n}\r\n",
    old: "color: red;\n  size: 1;",
    new: "color: blue;\n  color: red;\n  size: 1;",
    result: "a {\r\n  color: blue;\r\n  color: red;\r\n  size: 1;\r\n}\r\n",
  },
  {
    what: "a list is no diff, though its lines begin with hyphens and spaces",
    content: "  - [One](#one)\n    - [Two](#two)\n    - [Three](#three)\n  - [Four](#four)\n",
    old: "- [One](#one)\n  - [Two](#two)\n  - [Three](#three)",
    new: "  - [One](#one)\n    - [Three](#three)",
    result: "  - [One](#one)\n    - [Three](#three)\n  - [Four](#four)\n",
  },
  {
    what: "of two places with several mistakes the one with fewer, however they are found",
    content: 'print a; # &quot;moo&quot;\n\nsub b { }\n$a->c();\n\n\nprint a; # "moo"\nsub b { }\n$a->c();\n',
    old: 'print a; # "moo"\n\nsub b { }\n$a-&gt;c();',
    new: 'print a; # "moo"\n\nsub bb { }\n$a-&gt;c();',
    result: 'print a; # &quot;moo&quot;\n\nsub bb { }\n$a->c();\n\n\nprint a; # "moo"\nsub b { }\n$a->c();\n',
  },
  {
    what: "the space after a number is the line's own, as the other lines tell",
    content: "type A {\n  path: string\n  time: number\n}\n",
    old: "2|  path: string\\n  time: number",
    new: "2|  path: string\n3|  /** When. */\n4|  time: number",
    result: "type A {\n  path: string\n  /** When. */\n  time: number\n}\n",
  },
  {
    what: "an indented line is no part of another line",
    content: "export let source_lines = [];\n\nreset(() => {\n\tsource_lines = [];\n});\n",
    old: "  \tsource_lines = [];",
    new: "  \tsource_lines = undefined;",
    result: "export let source_lines = [];\n\nreset(() => {\n\tsource_lines = undefined;\n});\n",
  },
  {
    what: "the spaces after a number are the line's own, as a new text without numbers tells",
    content: "struct A {\n  const uint16_t *table;\n  const uint32_t *map;\n};\n",
    old: " 2→   const uint16_t *table;\n 3→   const uint32_t *map;",
    new: "   const uint16_t *table;\n   const uint64_t *map;",
    result: "struct A {\n  const uint16_t *table;\n  const uint64_t *map;\n};\n",
  },
  {
    what: "a bracket that is shifted was not changed to the line that comes",
    content: "test(() => {\n  a();\n  expect(b.value).toEqual(5);\n});\n\nlast(() => {\n  c();\n});\n",
    old: "test(() => {\n  a();\n  expect(b.value).toEqual(5);\n  });\n\nlast(() => {",
    new: "test(() => {\n  a();\n  check(z.json(b)).isLike({ of: 5 });\n});\n\nlast(() => {",
    result: "test(() => {\n  a();\n  check(z.json(b)).isLike({ of: 5 });\n});\n\nlast(() => {\n  c();\n});\n",
  },
  {
    what: "a line that moves has the bytes of the file there too",
    content: "first(1);\nsecond(2);\nthird(3);\nvalue( 4);\nlast(5);\n",
    old: "first(1);\nsecond(2);\nthird(3);\nvalue(4);\nlast(5);",
    new: "first(1);\nvalue(4);\nsecond(2);\nthird(3);\nlast(6);",
    result: "first(1);\nvalue( 4);\nsecond(2);\nthird(3);\nlast(6);\n",
  },
  {
    what: "a line is left out, and the lines below it are further in",
    content: "it(one) do\n  if old?\n    if found?\n      check(a)\n    end\n  end\nend\n",
    old: "it(one) do\n  if found?\n    check(a)\n  end",
    new: "it(one) do\n  if found?\n    check(b)\n  end",
    result: "it(one) do\n  if old?\n    if found?\n      check(b)\n    end\n  end\nend\n",
  },
  {
    what: "all is shifted, a line is left out, and only a lone bracket comes after it",
    content: "{\n      while (next()) {\n         take(1);\n      }\n      count(2);\n}\n",
    old: "    while (next()) {\n       take(1);\n    }\n  }",
    new: "    while (next()) {\n       take(2);\n    }\n  }",
    result: "{\n      while (next()) {\n         take(2);\n      }\n      count(2);\n}\n",
  },
  {
    what: "the new text has the blank line inside that the old one has at its edge, with spaces left by numbers",
    content: "use one;\n\n// last\n",
    old: "   1: \n   2: use one;\n   3: \n   4: // last",
    new: "   1: use two;\n   2: \n   3: use one;\n   4: \n   5: // last",
    result: "use two;\n\nuse one;\n\n// last\n",
  },
  {
    what: "lines come behind a bracket that is shifted with all others, and looks like the next one",
    content: "class A {\n  get() {\n    return 1;\n  }\n}\n",
    old: "get() {\n  return 1;\n}",
    new: "get() {\n  return 1;\n}\n\nset() {\n}",
    result: "class A {\n  get() {\n    return 1;\n  }\n\n  set() {\n  }\n}\n",
  },
];

const LOST: readonly EditRow[] = [
  {
    what: "as the last of several lines, behind one that came",
    content: "type A = {\n  /**\n   * One.\n   *\n   * Two.\n   */\n",
    old: "type A = {\n  /**\n   * One.\n   *",
    new: "type A = {\n  /**\n   * Three.\n   *\n   */\n  three: 3;\n  /**\n   ...",
  },
  {
    what: "as the first of several lines, where all lines come again further down",
    content: "start(1);\n  #endif\n#endif\n\nlast(2);\nend(3);\n",
    old: "  #endif\n#endif\n\nlast(2);",
    new: "...\n\n#if a\n  #endif\n#endif\n\n#if b\nmore(3);\n#end\n\nlast(2);",
  },
  {
    what: "between a line that stays and lines that come back indented otherwise",
    content: "    one(1);\n    two(2);\n    three(3);\n",
    old: "    one(1);\n    two(2);\n    three(3);",
    new: "    one(1);\n    ...\n  start();\n  one(1);\n  two(2);\n  three(3);",
  },
  {
    what: "behind new lines, for lines that stood before one that stays",
    content: "#include <a.h>\n#include <b.h>\n#include <c.h>\n#include <d.h>\n",
    old: "#include <a.h>\n#include <b.h>\n#include <c.h>\n#include <d.h>",
    new: "#include <c.h>\n#include <limits.h>\n/* ... */\n#include <d.h>",
  },
  {
    what: "between lines that stand next to each other elsewhere",
    content: "one(1);\n/**\n * Since one.\n */\ntwo(2);\n/**\n * Since one.\n */\nthree(3);\n",
    old: "one(1);\n/**\n * Since one.\n */\ntwo(2);\n/**\n * Since one.\n */\nthree(3);",
    new: "one(1);\n// ...\n/**\n * Since one.\n */\nthree(33);",
  },
  {
    what: "at the end, where lines are gone that others are like",
    content: "check(a);\nfind(1);\ncheck(a);\nfind(2);\ncheck(a);\nfind(3);\ncheck(a);\n",
    old: "check(a);\nfind(1);\ncheck(a);\nfind(2);\ncheck(a);",
    new: "check(a);\nfind(1);\ncheck(b);\nfind(2);\n...",
  },
  {
    what: "between new lines, where lines are gone",
    content: "'alpha',\n'beta',\n'gamma',\n'delta',\n'omega',\n",
    old: "'alpha',\n'beta',\n'gamma',\n'delta',\n'omega',",
    new: "'alpha',\n'anew',\n// ...\n'more',\n'delta',\n'omega',",
  },
];

describe("what is not proven", () => {
  it.each(UNPROVEN)("P1 P31 is not written: $what", (row) => {
    expect(applyRow(row)).toBeUndefined();
  });

  it.each(PROVEN)("P1 P31 is written where it is proven: $what", (row) => {
    expect(applyRow(row)).toBe(row.result);
  });

  it.each(LOST)("P2 dots stand for lines $what", ({ content, old, new: newText }) => {
    expect(findEdit({ content, oldText: old, newText, expected: 1 }).status).toBe("omission");
  });
});
