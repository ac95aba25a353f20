import { describe, expect, it } from "vitest";
import { findEdit } from "./edit-match.ts";

interface Doubt {
  readonly doubt: string;
  readonly content: string;
  readonly old: string;
  readonly new: string;
}

function edit({ content, old, new: newText }: Doubt) {
  return findEdit({ content, oldText: old, newText, expected: 1 });
}

const DOUBTS: readonly Doubt[] = [
  {
    doubt: "backslashes are lost before quotes in a string, and perhaps in the new line",
    content: '"one": "set --by=\\"a;b\\"",\n"three": "3"\n',
    old: '"one": "set --by="a;b"",\n"three": "3"',
    new: '"one": "set --by="a;b"",\n"two": "set "2"",\n"three": "3"',
  },
  {
    doubt: "the lines that were joined are the ones that change",
    content: "const { a, b } = shape;\nreturn a * b;\n",
    old: "const { a, b } = shape; return a * b;",
    new: "const { a, b } = shape; return a * b * 2;",
  },
  {
    doubt: "a blank line is missing beside a line that is rewritten",
    content: "one(1); // first\n\ntwo(2);\nthree(3);\n",
    old: "one(1); // first\ntwo(2);\nthree(3);",
    new: "one(1);\ntwo(2);\nthree(3);",
  },
  {
    doubt: "the new text has the indentation of the changed line right, and may have its blank lines right",
    content: "  one(1);\n\n  two(2);\n\n  three(3);\n",
    old: "  one(1);\n two(2); \n  three(3);",
    new: "  one(1);\n  two(a, 2);\n  three(3);",
  },
  {
    doubt: "the file has curly quotes in words, and the new text has straight ones in code",
    content: "module.exports = {\n  dark: 1, // or ‘media’ or ‘class’\n};\n",
    old: "module.exports = {\n  dark: 1, // or 'media' or 'class'",
    new: "/** @type {import('css').Config} */\nmodule.exports = {\n  dark: 1, // or 'media' or 'class'",
  },
  {
    doubt: "a line was left out of one of two places that are alike but for blanks",
    content: "a(1);\nb(2);\nc(3);  \nd(4);\n// one\na(1);\nb(2);\nc(3);\nd(4);\ne(5);\n",
    old: "a(1);\nc(3);\nd(4);",
    new: "a(1);\nb(2);\nc(3);\nd(44);",
  },
  {
    doubt: "an escape was lost in a string that is a pattern now",
    content: "one(1);\nbegin: '\\\\s*#',\ntwo(2);\n",
    old: "one(1);\nbegin: '\\s*#',\ntwo(2);",
    new: "one(1);\nbegin: /\\s*#/,\ntwo(2);",
  },
  {
    doubt: "the blank lines at the file's end may be what is to go",
    content: "alpha(1);\nomega( 2 );\n\n\n\n",
    old: "alpha(1);\nomega(2);\n\n\n",
    new: "alpha(1);\nomega(22);",
  },
  {
    doubt: "the blank line at the file's beginning may be what is to go",
    content: "\nalpha( 1 );\nomega(2);\n",
    old: "\nalpha(1);\nomega(2);",
    new: "alpha(1);\nomega(22);",
  },
  {
    doubt: "the file has gained a line beside what is changed",
    content: "one(1);\ntwo(2);\nadded(9);\nthree(3);\nfour(4);\n",
    old: "one(1);\ntwo(2);\nthree(3);\nfour(4);",
    new: "one(1);\ntwo(22);\nthree(3);\nfour(4);",
  },
  {
    doubt: "the file has gained a line beside lines that are nested deeper",
    content: "one(1);\ntwo(2);\nadded(9);\nthree(3);\nfour(4);\n",
    old: "one(1);\ntwo(2);\nthree(3);\nfour(4);",
    new: "one(1);\n  two(2);\nthree(3);\nfour(4);",
  },
  {
    doubt: "the file has gained a line beside one that gets longer",
    content: "one(1);\nadded(9);\nif (two)\nthree(3);\nfour(4);\n",
    old: "one(1);\nif (two)\nthree(3);\nfour(4);",
    new: "one(1);\nif (two) {\nthree(3);\nfour(4);",
  },
  {
    doubt: "the file has gained a line beside one that loses the blank at its end",
    content: "one(1);\nadded(9);\ntwo(2); \nthree(3);\nfour(4);\n",
    old: "one(1);\ntwo(2); \nthree(3);\nfour(4);",
    new: "one(1);\ntwo(2);\nthree(33);\nfour(4);",
  },
  {
    doubt: "single lines on both sides are all that tells where a line was left out",
    content: "alpha(1);\nextra(4);\nend(5);\n",
    old: "alpha(1);\nend(5);",
    new: "alpha(11);\nend(5);",
  },
  {
    doubt: "lines are wrong by one in two places that read the same",
    content: "a(1);\nb(2);\nx(3);\nc(4);\n\na(1);\nb(2);\ny(3);\nc(4);\n",
    old: "a(1);\nb(2);\nc(4);",
    new: "a(11);\nb(2);\nc(4);",
  },
  {
    doubt: "blank lines are wrong beside a line that is exchanged",
    content: "first(1);\n\nold(2);\n\nlast(3);\n",
    old: "first(1);\n\nold(2);\n\n\nlast(3);",
    new: "first(1);\n\nfresh(2);\n\nlast(3);",
  },
  {
    doubt: "blanks are wrong where other signs meet now",
    content: "return '<b>' + text + '</b>';\n",
    old: "return '<b>'+text + '</b>';",
    new: "return '<b>'.concat(text, '</b>');",
  },
  {
    doubt: "blanks within a line are wrong where something is put in",
    content: "const __ = y18n.__;\nfails(1);\n",
    old: "const __=y18n.__;\nfails(1);",
    new: "const __=shim.y18n.__;\nfails(1);",
  },
  {
    doubt: "a backslash is new on a line where the file's are doubled, and is right with one in a string",
    content: "rest = '[\\\\w-]*' + tail;\nlast = 1;\n",
    old: "rest = '[\\w-]*' + tail;\nlast = 1;",
    new: "rest = '[\\w-]*' + '\\t' + tail;\nlast = 1;",
  },
  {
    doubt: "a blank line is put in before the dots, behind a new line",
    content: "one(1);\n\nrest(1);\nrest(2);\nlast(1);\nlast(2);\n",
    old: "one(1);\n\n// ...\nlast(1);\nlast(2);",
    new: "one(1);\ntwo(2);\n\n\n// ...\nlast(1);\nlast(2);",
  },
  {
    doubt: "lines were joined, of which none is kept, and may have been indented otherwise",
    content: "a {\n  .tip {\n    top: 0;\n  }\n}\n",
    old: "\n.tip { top: 0;\n",
    new: "\n.low .tip {\n  top: calc(1);\n",
  },
  {
    doubt: "the file has curly quotes, and the new text an apostrophe",
    content: "import { one } from ‘one’;\nexport { one };\n",
    old: "import { one } from 'one';\nexport { one };",
    new: "import { one } from 'one';\n// It won't be another\nexport { one };",
  },
  {
    doubt: "lines were joined, and a sign is taken out where they meet",
    content: "  x = (b === 1) ? 'st' :\n    (b === 2) ? 'nd' : 'th';\n  end();\n",
    old: "  x = (b === 1) ? 'st' : (b === 2) ? 'nd' : 'th';\n  end();",
    new: "  x =\n    b === 1\n      ? 'st'\n      : b === 2\n      ? 'nd'\n      : 'th';\n  end();",
  },
  {
    doubt: "the file has curly quotes only, and the new line is code",
    content: "import { one } from ‘one’;\nexport { one };\n",
    old: "import { one } from 'one';\nexport { one };",
    new: "import { one } from 'one';\nimport { two } from 'two';\nexport { one };",
  },
  {
    doubt: "the new text has a line end less where the file ends with a blank line",
    content: "one(1);\n\n  two(2);\n\n",
    old: "one(1);\n\n\n  two(2);\n",
    new: "one(1);\n\n\n  two(22);\n  three(3);",
  },
  {
    doubt: "the whole text is shifted, and lines that the edit moves back stand where the file has them",
    content: "one :\n\n  // two\n    (function () {\n      three();\n    })()\n  );\n",
    old: "    // two\n      (function () {\n        three();\n      })()\n    );\n",
    new: "    // two\n    (function () {\n      three();\n    })();\n",
  },
  {
    doubt: "a blank line is missing beside a changed line, and the new text has other blanks right",
    content: "  get = function () {\n    var a = this;\n\n    var that = 1;\n",
    old: "  get = function () {\nvar a = this; \n    var that = 1;",
    new: "  get = function () {\n    var b = this;\n    var that = 1;",
  },
  {
    doubt: "one curly quote is right and another wrong, and there are new ones",
    content: "// Don't stop, it’s fine\nrun(1);\n",
    old: "// Don’t stop, it’s fine\nrun(1);",
    new: "// Don’t stop, it’s fine\n// a ‘new’ one\nrun(1);",
  },
  {
    doubt: "a line that comes last stands there already",
    content: "/**\n */\nfunction f(a) {\n    const all = list();\n\n    go();\n",
    old: "/**\\n */\\nfunction f(a) {\\n",
    new: "/**\n */\nfunction f(b) {\n    const all = list();\n",
  },
  {
    doubt: "the new text is indented neither like the old one nor like the file",
    content: "x {\n    one: A;\n    two: B;\n    last: C;\n",
    old: "          one: A;\n          two: B;\n          last: C;",
    new: "      one: A;\n      two?: B;\n      last: C;",
  },
  {
    doubt: "an escape in a new line may be meant where whole lines are escaped",
    content: "one(\n  two\n);\n",
    old: "one(\\n  two\\n);",
    new: "one(\\n  two,\\n  /[\\t\\n]/\\n);",
  },
  {
    doubt: "a line break would split a new string",
    content: "one();\ntwo();\n",
    old: "one();\\ntwo();",
    new: 'one();\\nlog("a\\n");\\ntwo();',
  },
  {
    doubt: "the bracket that old_string leaves out follows the one that the new text brings",
    content: "f(a) {\n  one(a);\n}\n\ng();\n",
    old: "f(a) {\n  one( a);\n\n",
    new: "f(a) {\n  two(a);\n}\n\n",
  },
  {
    doubt: "a blank line that the file has otherwise stays beside another that comes",
    content: "a(1);\n  \nb(2);\n",
    old: "a(1);\n\nb(2);",
    new: "a(1);\n\nc(3);\n\nb(2);",
  },
  {
    doubt: "two lines are one at one place, and one of them is indented otherwise at another",
    content: "a(1);\nmake(pool, size);\nend(2);\n\na(1);\nmake(pool,\n     size);\nend(2);\n",
    old: "a(1);\nmake(pool,\n    size);\nend(2);",
    new: "a(1);\nmake(pool,\n    size);\nend(22);",
  },
  {
    doubt: "all lines are shifted but one, and a new line is indented as the others",
    content: "    one(1);\n    two(2);\n    three(3);\n",
    old: "one(1);\n    two(2);\nthree(3);",
    new: "one(1);\ntwo(a, 2);\nthree(3);",
  },
  {
    doubt: "a line was left out here, and elsewhere a single line is another",
    content:
      "open(1);\nreset(1);\nread(2);\ncheck(3);\nclose(4);\n\nopen(1);\nread(2);\ntest(3);\nclose(4);\n",
    old: "open(1);\nread(2);\ncheck(3);\nclose(4);",
    new: "open(1);\nread(2);\ncheck(33);\nclose(4);",
  },
  {
    doubt: "either of two blank lines around what is deleted may be what goes, and one has blanks on it",
    content: "a( 1 );\n\nb(2);\n  \nc(3);\n",
    old: "a(1);\n\nb(2);\n\nc(3);",
    new: "a(1);\n\nc(3);",
  },
  {
    doubt: "it stands elsewhere with other indentation, and here with a line more, which the new text has",
    content:
      "if (a) {\n        stop();\n        go(1);\n        end();\n}\nif (b) {\n    stop();\n    hold();\n    go(1);\n    end();\n}\n",
    old: "    stop();\n    go(1);\n    end();",
    new: "    stop();\n    hold();\n    go(2);\n    end();",
  },
  {
    doubt: "one of two places has another space, and the other one others at a line end",
    content: "one(1);\ntwo (2);\nsave(3);\n\n// again\none(1);\ntwo\u00a0(2);\nsave(3);  \n",
    old: "one(1);\ntwo (2);\nsave(3);  ",
    new: "one(1);\ntwo (2);\nmore(4);\nsave(3);  ",
  },
  {
    doubt: "a line has the indentation of old_string, among lines that new_string has as the file",
    content: "  if (a) {\n    let x;\n      // note\n    two();\n  }\n",
    old: "if (a) {\n  let x;\n    // note\n  two();\n}",
    new: "  if (a) {\n    // note\n    three();\n  }",
  },
  {
    doubt: "new_string is further out as a whole, and only some of its lines are where the file has them",
    content: "if (one) {\n    /**\n     * note\n     */\n    two(1);\n}\n",
    old: "  if (one) {\n          /**\n            * note\n            */\n          two(1);\n  }",
    new: "if (one) {\n        /**\n          * note\n          */\n        two(2);\n}",
  },
  {
    doubt: "lines move further in, and one of them as far as the file has it",
    content: "open(1);\nwhile (a) {\n    find(1);\n    more(2);\n}\n",
    old: "open(1);\nwhile (a) {\n  find(1);\n  more(2);\n}",
    new: "open(1);\n  while (a) {\n    find(1);\n    more(3);\n  }\n}",
  },
  {
    doubt: "a block ends below all that stays, which may have moved into it",
    content: "  expect(0);\n\n  let a = from(1);\n  expect(\n      a);\n",
    old: "let a = from(1);\nexpect(\n    a);",
    new: "  let a = from(n);\n  expect(\n      a);\n}",
  },
  {
    doubt: "a block comes around what is shifted, below a line that is not",
    content: "def url(a)\n    # note\n    ask(a)\nend\n",
    old: "def url(a)\n  # note\n  ask(a)\nend",
    new: "def url(a)\n  unless known(a)\n    # note\n    keep(a)\n  end\n  get(a)\nend",
  },
  {
    doubt: "a line that old_string leaves out is among lines that come",
    content: "first: 1,\n// later\n// note\nsecond: 2,\n",
    old: "first: 1,\n// note\nsecond: 2,",
    new: "first: 1,\n// since 3\nthird: 3,\n// later\n// note\nsecond: 2,",
  },
  {
    doubt: "of two blank lines around what goes the first has spaces",
    content: "  trailing: true;\n}\n    \nconst a = {\n  b: 1,\n};\n\n/**\n * Emits.\n",
    old: "  trailing: true;\n}\n\nconst a = {\n  b: 1,\n};\n\n/**\n * Emits.",
    new: "  trailing: false;\n}\n\n/**\n * Emits.",
  },
  {
    doubt: "a space behind a bracket is behind a comma now",
    content: "case 1: {\n  print((p+2)->buff);\n  break;\n}\n",
    old: "case 1: {\n  print( (p+2)->buff);\n  break;\n}",
    new: "case 1: {\n  printI(p, (p+2)->buff);\n  break;\n}",
  },
  {
    doubt: "new_string stands elsewhere, and a line was left out here",
    content:
      "  wait(1);\n  run(c);\n}\n\n#endif\n\n\n#if (THREADS)\n\nint\nset(2);\n\n  wait(1);\n  if (a) {\n    run(c);\n  }\n}\n\n#endif\n\n\nint\n",
    old: "  wait(1);\n  run(c);\n}\n\n#endif\n\n\nint",
    new: "  wait(1);\n  if (a) {\n    run(c);\n  }\n}\n\n#endif\n\n\nint",
  },
  {
    doubt: "a line of brackets that stays has spaces behind it, and comes for another one",
    content: "a: seq(\n  one,\n  two,\n)), \nb,\n\nc: seq(\n  x,\n  choice(\n    y,\n  ),\n),\nb,\n",
    old: "a: seq(\n  one,\n  two,\n)),\nb,\n\nc: seq(\n  x,\n  choice(\n    y,\n  ),\n),\nb,",
    new: "a: seq(\n  x,\n  choice(\n    y,\n  ),\n)),\nb,",
  },
  {
    doubt: "a full-width comma is learned, and the new line has a full-width colon too",
    content: '  "private": true,\n  "license": "UNLICENSED",\n  "scripts": {\n',
    old: '  "private": true,\n  "license": "UNLICENSED"，\n  "scripts": {',
    new: '  "private": true,\n  "license": "UNLICENSED"，\n  "scripts": {\n    "deploy"： "nest deploy"，',
  },
  {
    doubt: "a full-width sign became a plain one, and others come in the same line",
    content:
      "See [Come Back](https://www.come.in.ua) charity. For others, see [Support](https://support.org).\n",
    old: "See [Come Back](https://www.come.in.ua） charity. For others, see [Support](https://support.org).",
    new: "See [Come Back]（https：//save.in.ua/en/) charity. For others， see [Stand]（https：//stand.org)。",
  },
  {
    doubt: "a line of words was left out where it stood, and comes further down",
    content: "one(1);\ntwo(2);\nthree(3);\nfour(4);\nfive(5);\n",
    old: "one(1);\nthree(3);\nfour(4);\nfive(5);",
    new: "one(1);\nthree(3);\nadd(0);\nfour(4);\ntwo(2);\nfive(5);",
  },
];

describe("doubtful edits", () => {
  it.each(DOUBTS)("P1 P31 refuses when $doubt", (row) => {
    expect(["none", "ambiguous"]).toContain(edit(row).status);
  });

  it.each([
    [
      "escaped as a whole",
      "  minDate: Date;\\n  maxDate: Date;\\n  columns: T;\\n}>;\\nexport default one;",
      "  minDate: Date;\\n// (unchanged)\\n}, {}>;\\nexport default one;",
    ],
    [
      "numbered",
      "1\t  minDate: Date;\n2\t  maxDate: Date;\n3\t  columns: T;\n4\t}>;",
      "1\t  minDate: Date;\n2\t// (unchanged)\n3\t}, {}>;",
    ],
    [
      "a diff",
      "-  minDate: Date;\n-  maxDate: Date;\n-  columns: T;\n-}>;",
      "+  minDate: Date;\n+// (unchanged)\n+}, {}>;",
    ],
  ])("P2 refuses when a placeholder stands for lines in texts that are %s", (_, oldText, newText) => {
    const content = "  minDate: Date;\n  maxDate: Date;\n  columns: T;\n}>;\nexport default one;\n";
    const match = findEdit({ content, oldText, newText, expected: 1 });
    expect(match).toEqual({ status: "omission", placeholder: "// (unchanged)" });
  });

  it("P1 one of many equal places of a long text is not taken for the only one", () => {
    const content = "0 0 0 0 0 0 0 0\n".repeat(10_000);
    const old = "0 0  0 0 0 0 0 0\n".repeat(4000);
    expect(edit({ doubt: "", content, old, new: "x\n" })).toMatchObject({ status: "ambiguous" });
  });

  it("P1 eight of nine places are not taken for all, where the file has longer letters than the old text", () => {
    const text = Array.from({ length: 2200 }, (_, line) => `한국어 문장 ${line}`).join("\n");
    const content = Array(9).fill(text).join("\n-\n").normalize("NFD");
    const oldText = text.replace("문장 0", " 문장 0");
    for (let expected = 6; expected < 9; expected += 1)
      expect(findEdit({ content, oldText, newText: "x", expected })).toMatchObject({ status: "ambiguous" });
  });
});
