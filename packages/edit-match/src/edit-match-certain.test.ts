import { describe, expect, it } from "vitest";
import { type Row, resultOf } from "../tests/edit-row.ts";

const KNOWN: readonly Row[] = [
  {
    what: "only lines that come have the marker of a diff, and old_string is exactly there",
    content: "open(one);\nread(one, two);\nclose(one);\n",
    old: "open(one);\nread(one, two);\nclose(one);",
    new: "open(one);\n+read(one);\n+  read(two);\nclose(one);",
    result: "open(one);\nread(one);\n  read(two);\nclose(one);\n",
  },
  {
    what: "the marker of a diff before lines that are indented by one space",
    content: "/**\n * One.\n */\n",
    old: "/**\n * One.\n */",
    new: "/**\n * One.\n+ * Two.\n */",
    result: "/**\n * One.\n * Two.\n */\n",
  },
  {
    what: "a plus before a part of a line, which is no marker of a diff",
    content: "const at = new Date();\n",
    old: "new Date();",
    new: "+new Date();",
    result: "const at = +new Date();\n",
  },
  {
    what: "a new list with pluses",
    content: "Fruit:\n\nMore.\n",
    old: "Fruit:\n",
    new: "Fruit:\n\n+ apple\n+ pear\n",
    result: "Fruit:\n\n+ apple\n+ pear\n\nMore.\n",
  },
  {
    what: "tabs for the file's spaces, above a block comment, whose lines have a space in both",
    content: "class A {\n    one: 1;\n}\n/**\n * Two.\n */\n",
    old: "class A {\n\t\tone: 1;\n}\n/**\n * Two.\n */",
    new: "class A {\n\t\tone: 1;\n}\nclass B {\n\t\ttwo: 2;\n}\n/**\n * Two.\n */",
    result: "class A {\n    one: 1;\n}\nclass B {\n    two: 2;\n}\n/**\n * Two.\n */\n",
  },
  {
    what: "spaces for the file's tab, in the only line that is indented, and another one in its place",
    content: "check: all\n\tpath=`pwd` $(src)/runtests.sh\n",
    old: "check: all\n    path=`pwd` $(src)/runtests.sh",
    new: 'check: all $(MORE)\n    "$(src)/tests.py" --jobs=2',
    result: 'check: all $(MORE)\n\t"$(src)/tests.py" --jobs=2\n',
  },
  {
    what: "tabs for the file's spaces, in a line and in those that take its place",
    content: "class A {\n  one(1);\n}\n",
    old: "\tone(1);",
    new: "\tif (x) {\n\t\ttwo(2);\n\t}",
    result: "class A {\n  if (x) {\n    two(2);\n  }\n}\n",
  },
  {
    what: "numbers of lines that only new_string has further in",
    content:
      "  path(one) {\n    target.path = kebab(one.path);\n    target.suffix = kebab(one.suffix);\n  }\n",
    old: "25\t    target.path = kebab(one.path);\n26\t    target.suffix = kebab(one.suffix);",
    new: "    25\t    target.path = kebab(one.path);\n    26\t    target.suffix = 'spec';",
    result: "  path(one) {\n    target.path = kebab(one.path);\n    target.suffix = 'spec';\n  }\n",
  },
  {
    what: "a list of pluses, not a diff, where no line of old_string would stay",
    content: "+ [pretty](#pretty)\n+ [roll](#roll)\n+ [seq](#seq)\n",
    old: "  + [roll](#roll)\n  + [seq](#seq)",
    new: "+ [roll](#roll)\n+ [native](#native)\n+ [seq](#seq)",
    result: "+ [pretty](#pretty)\n+ [roll](#roll)\n+ [native](#native)\n+ [seq](#seq)\n",
  },
  {
    what: "an ellipsis stands for three dots that go",
    content: "walk() {\n  return [\n    ...new Walker(one, {\n",
    old: "walk() {\n  return [\n    …new Walker(one, {",
    new: "walk() {\n  return new Walker(one, {",
    result: "walk() {\n  return new Walker(one, {\n",
  },
  {
    what: "a letter too many in a word of a changed line",
    content: "one(1);\nadd(paths: Path, internal?: boolean): void;\ntwo(2);\n",
    old: "one(1);\nadd(paths: Path, internal?: boollean): void;\ntwo(2);",
    new: "one(1);\nadd(paths: Path): void;\ntwo(2);",
    result: "one(1);\nadd(paths: Path): void;\ntwo(2);\n",
  },
  {
    what: "a letter too few in what a changed line keeps in both texts",
    content: "one(1);\nconst option = read(first);\ntwo(2);\n",
    old: "one(1);\nconst opion = read(first);\ntwo(2);",
    new: "one(1);\nconst opion = read(second);\ntwo(2);",
    result: "one(1);\nconst option = read(second);\ntwo(2);\n",
  },
  {
    what: "a mistyped word on a line with curly quotes",
    content: '#import <one.h>\n#import "two.h"\n#import "three.h"\n',
    old: "#import <one.h>\n#impport “two.h”\n#import “three.h”",
    new: '#import <one.h>\n#import "half.h"\n#impport "two.h"\n#import "three.h"',
    result: '#import <one.h>\n#import "half.h"\n#import "two.h"\n#import "three.h"\n',
  },
  {
    what: "a mistyped word, where another place differs in a whole line",
    content: "open(a);\nclient.queue = null;\nclose(a);\n\nopen(a);\nserver();\nclose(a);\n",
    old: "open(a);\ncleint.queue = null;\nclose(a);",
    new: "open(a);\nclient.queue = [];\nclose(a);",
    result: "open(a);\nclient.queue = [];\nclose(a);\n\nopen(a);\nserver();\nclose(a);\n",
  },
  {
    what: "which of two like lines stays, by the line that follows it in both texts",
    content: "same(\n  '1',\n);\n\nequal(\n  '4',\n  five,\n);\n\nequal( \n  'last',\n",
    old: "same(\n  '1',\n);\n\nequal(\n  '4',\n  five,\n);\n\nequal(\n  'last',",
    new: "same(\n  '1',\n);\n\nsame('4', five);\n\nequal(\n  'last',",
    result: "same(\n  '1',\n);\n\nsame('4', five);\n\nequal( \n  'last',\n",
  },
  {
    what: "blanks in the last blank line of old_string alone",
    content: "one( 1 );\ntwo(2);\n\nthree(3);\n",
    old: "one(1);\ntwo(2);\n \n",
    new: "one(1);\ntwo(22);\n\n",
    result: "one( 1 );\ntwo(22);\n\nthree(3);\n",
  },
  {
    what: "a backslash before a space is lost in both texts",
    content: "let g:fzf_action = {\n  \\ 'ctrl-t': 'tab split',\n  \\ 'ctrl-x': 'split' }\n",
    old: "let g:fzf_action = {\n   'ctrl-t': 'tab split',\n   'ctrl-x': 'split' }",
    new: "let g:fzf_action = {\n   'ctrl-t': 'tab drop',\n   'ctrl-x': 'split' }",
    result: "let g:fzf_action = {\n  \\ 'ctrl-t': 'tab drop',\n  \\ 'ctrl-x': 'split' }\n",
  },
  {
    what: "a backslash before a space is there by mistake",
    content: "cp My Documents one\nls\n",
    old: "cp My\\ Documents one\nls",
    new: "cp My\\ Documents two\nls",
    result: "cp My Documents two\nls\n",
  },
  {
    what: "a final line end that the file lacks, after a line that comes before a blank one as well",
    content: "begin();\n}\n\nend();\n}",
    old: "begin();\n}\n\nend();\n}\n",
    new: "begin(1);\n}\n\nend();\n}",
    result: "begin(1);\n}\n\nend();\n}",
  },
  {
    what: "how far the only line of old_string is shifted, by several new lines like it",
    content: "  one() {\n    a();\n  }\n\n  two() {\n",
    old: "\ntwo() {",
    new: "\nhalf() {\n  b();\n}\n\ntwo() {",
    result: "  one() {\n    a();\n  }\n\n  half() {\n    b();\n  }\n\n  two() {\n",
  },
  {
    what: "a new line further in, among lines that are as the file has them and old_string has not",
    content: "import { one } from 'one';\nimport { two } from 'two';\n",
    old: "  import { one } from 'one';\n  import { two } from 'two';",
    new: "import { one } from 'one';\nimport {\n  more\n} from 'more';\nimport { two } from 'two';",
    result: "import { one } from 'one';\nimport {\n  more\n} from 'more';\nimport { two } from 'two';\n",
  },
  {
    what: "a fence around new lines that are the old ones further in, in a file that has fences",
    content: "// ```\nif (a) one(1);\nelse two(2);\n// ```\n",
    old: "if (a) one(1);\nelse two(2);",
    new: "```js\nif (b) {\n  if (a) one(1);\n  else two(2);\n}\n```",
    result: "// ```\nif (b) {\n  if (a) one(1);\n  else two(2);\n}\n// ```\n",
  },
  {
    what: "signs where the file has entities, and entities where it has signs, in one edit",
    content: "if (a && b) {\n  put('salt &amp; pepper');\n  put('oil');\n}\n",
    old: "if (a &amp;&amp; b) {\n  put('salt & pepper');\n  put('oil');",
    new: "if (a &amp;&amp; b) {\n  put('salt & pepper');\n  put('vinegar');",
    result: "if (a && b) {\n  put('salt &amp; pepper');\n  put('vinegar');\n}\n",
  },
  {
    what: "a fence around new code, where comments of the file have fences",
    content: " * ```js\n * two(1);\n * ```\n */\ntwo( 2 );\nend();\n",
    old: "two( 2 );",
    new: "```js\nthree(3);\nfour(4);\n```",
    result: " * ```js\n * two(1);\n * ```\n */\nthree(3);\nfour(4);\nend();\n",
  },
  {
    what: "a line left out below a blank line that both texts have",
    content: "if (isFirst) {\n  one(1);\n}\n\nupdate(derived);\nreturn everything;\n",
    old: "if (isFirst) {\n  one(1);\n}\n\nreturn everything;",
    new: "if (isLast) {\n  one(1);\n}\n\nupdate(derived);\nreturn everything;",
    result: "if (isLast) {\n  one(1);\n}\n\nupdate(derived);\nreturn everything;\n",
  },
  {
    what: "a value that another line of the file has already",
    content: "[live]\nstatus = enabled\n\n[staging]\nstatus    = disabled\n",
    old: "status = disabled",
    new: "status = enabled",
    result: "[live]\nstatus = enabled\n\n[staging]\nstatus    = enabled\n",
  },
  {
    what: "dots above and below all that is named",
    content: "a() {\n  one(1);\n  two(2);\n  three(3);\n}\n",
    old: "// ... existing code ...\n  two(2);\n// ... existing code ...",
    new: "// ... existing code ...\n  two(22);\n// ... existing code ...",
    result: "a() {\n  one(1);\n  two(22);\n  three(3);\n}\n",
  },
  {
    what: "that the space after line numbers is not the file's, by a new text without numbers",
    content: "      int jmp;\n      codegen(tree);\n      jumptohere(test);\n",
    old: "7:      int jmp;\n8:      codegen(tree);\n9:      jumptohere(test);",
    new: "     int jmp;\n     codegen(tree);\n     closeloop(test);",
    result: "      int jmp;\n      codegen(tree);\n      closeloop(test);\n",
  },
  {
    what: "a diff in which the lines that stay begin with a space, and others come at a depth of their own",
    content: "  one() {\n    two(2);\n    three(3);\n  },\n",
    old: "   one() {\n-    two(2);\n     three(3);\n   },",
    new: "   one() {\n+    if (a) {\n+      two(2);\n+    }\n     three(3);\n   },",
    result: "  one() {\n    if (a) {\n      two(2);\n    }\n    three(3);\n  },\n",
  },
];

const DOUBTS: readonly Row[] = [
  {
    what: "one line has spaces for the file's tab, another one has the file's, and a new one has more",
    content: "all: one \\\n     two\n\n\tmake one\n\nmore: one\n",
    old: "all: one \\\n     two\n\n    make one\n\nmore: one",
    new: "all: one \\\n     two\n\nALL = one \\\n      two\n\nmore: one",
  },
  {
    what: "a look-alike sign stands for one in new text that ends as the file does",
    content: 'a("x");\nr = s.replace(/"/g, "c");\nb("y");\n',
    old: "a(“x”);\nr = s.replace(/“/g, ”c”);\nb(“y”);",
    new: 'a(“x”);\nr = s.replace(/[q“]/g, ”d");\nb(“y”);',
  },
  {
    what: "the old text has two backslashes for each, and the new one has one, which may be the file's or an escape",
    content: "  '<!(node -e \"require(\\'nan\\')\")',\n",
    old: "  '<!(node -e \"require(\\\\'nan\\\\')\")',",
    new: "  '<!(node -p \"require(\\'addon\\').dir\")',",
  },
  {
    what: "all lines are further in, and of those that go some were around the one that stays",
    content: "one();\nif (a) {\n    two();\n}\nend();\n",
    old: "    if (a) {\n        two();\n    }",
    new: "    two();",
  },
  {
    what: "some lines of the old text are shifted, and the new one has them at a third depth",
    content: "    one(1);\n    two(2);\n#endif\n    end();\n",
    old: "one(1);\ntwo(2);\n#endif",
    new: "  one(1);\n  two(22);\n#endif",
  },
  {
    what: "the one indented line is at half its depth, and new lines are at other depths",
    content: "void grow() {\n  if (a) flush();\n}\n#endif\n",
    old: "void grow() {\n if (a) flush();\n}\n#endif",
    new: "void grow() {\n if (a) flush();\n}\n\nint size() {\n  return 2;\n}\n#endif",
  },
  {
    what: "all lines but the first are further in than in the file, and new ones are further in still",
    content: "if (a) {\n    /**\n     * One.\n     *\n     * Two.\n     */\n",
    old: "    /**\n      * One.\n      *\n      * Two.\n      */",
    new: "        /**\n          * One.\n          *\n          * Three.\n          */",
  },
  {
    what: "backslashes are lost in one pattern, and a new one in another may be half of two",
    content: "one: /^[^\\\\]+$/,\ntwo: /[\\s*]/,\n",
    old: "one: /^[^\\]+$/,\ntwo: /[\\s*]/,",
    new: "one: /^[^\\]+$/,\ntwo: /[\\s*\\]/,",
  },
  {
    what: "a backslash before a space is lost, and those before a letter that comes may be all or one too few",
    content: 'begin: /R"([^()\\\\ ]*)\\(/,\nlast: 1,\n',
    old: 'begin: /R"([^()\\ ]*)\\(/,\nlast: 1,',
    new: 'begin: /R"([^()\\\\s"]*)\\(/,\nlast: 1,',
  },
  {
    what: "an escaped text has a new string that would go over several lines",
    content: "has 'one';\n\nsub add {\n  go(1);\n}\n",
    old: "has 'one';\\n\\nsub add {\\n  go(1);",
    new: "has 'one';\\n\\nmy $NOTE = \"# Cookies\\n# Made by hand\\n\\n\";\\n\\nsub add {\\n  go(1);",
  },
  {
    what: "no line stays that shows whether the new text is shifted like the old one",
    content: "if (a) {\n\t\tif (b) {\n\t\t\tone(1);\n\t\t}\n}\n",
    old: "\tif (b) {\n\t\tone(1);\n\t}",
    new: "\t\tconst two = 2;\n\t\treturn [two, three];",
  },
  {
    what: "a mistyped word is in the new text more often than in the old one",
    content: "one(1);\nconst option = read(first);\ntwo(2);\n",
    old: "one(1);\nconst opion = read(first);\ntwo(2);",
    new: "one(1);\nconst opion = read(second);\nset(opion);\ntwo(2);",
  },
  {
    what: "a like line is another one from above than from below",
    content: "a(1);\nend \nb(2);\n",
    old: "a(1);\nend\nb(2);",
    new: "a(1);\nend\nc(3);\nend\nb(2);",
  },
  {
    what: "a tab in a changed line may be the escape that the file has there",
    content: 'a = replace(token, "\\t", " ", 1);\nb = find("\\t");\n',
    old: 'a = replace(token, "\t", " ", 1);\nb = find("\t");',
    new: 'a = replaceAll(token, "\t", " ");\nb = find("\t");',
  },
  {
    what: "a new pattern may have lost the escape of a line break, as a string did",
    content: '  die("one\\n");\n  two(2);\n',
    old: '  die("one\n");\n  two(2);',
    new: '  die("one\n");\n  cut(three, /\n/);\n  two(2);',
  },
  {
    what: "one new line is the old one to the byte, and another is the file's",
    content: "#if a\n# en\u200bdif\nlast();\n",
    old: "#if a\n# endif\nlast();",
    new: "#if b\n# en\u200bdif\n#if c\n# endif\nlast();",
  },
  {
    what: "a bracket of the old text is at the depth of one new line, and the file's at that of another",
    content: "try {\n  one(1);\n  return;\n}\nlast();\n",
    old: "try {\n  one(1);\n  return;\n  }\nlast();",
    new: "try {\n  if (a) {\n    two(2);\n  }\n}\nlast();",
  },
];

describe("what both texts together leave no doubt of", () => {
  it.each(KNOWN)("P1 P31 is known: $what", (row) => {
    expect(resultOf(row)).toBe(row.result);
  });

  it.each(DOUBTS)("P1 P31 is refused where $what", (row) => {
    expect(resultOf(row)).toBeUndefined();
  });
});
