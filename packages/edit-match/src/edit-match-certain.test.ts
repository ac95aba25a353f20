import { describe, expect, it } from "vitest";
import { type Row, resultOf } from "../tests/edit-row.ts";

const KNOWN: readonly Row[] = [
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
    what: "a shift, by the lines that stay and not by a changed one that moves in as much",
    content:
      "const a = b\n    (process.env === 1 &&\n        process.env.two) ||\n    'posix';\nopen({\n    sep: 1,\n",
    old: "const a = b\n        (process.env === 1 &&\n                process.env.two) ||\n        'posix';\nopen({\n        sep: 1,",
    new: "const a = b\n        process.env?.two ||\n        'posix';\nopen({\n        sep: 1,",
    result: "const a = b\n    process.env?.two ||\n    'posix';\nopen({\n    sep: 1,\n",
  },
  {
    what: "that the space after line numbers is not the file's, by a new text without numbers",
    content: "      int jmp;\n      codegen(tree);\n      jumptohere(test);\n",
    old: "7:      int jmp;\n8:      codegen(tree);\n9:      jumptohere(test);",
    new: "     int jmp;\n     codegen(tree);\n     closeloop(test);",
    result: "      int jmp;\n      codegen(tree);\n      closeloop(test);\n",
  },
  {
    what: "a fence around new lines that are the old ones further in, in a file that has fences",
    content: "// ```\nif (a) one(1);\nelse two(2);\n// ```\n",
    old: "if (a) one(1);\nelse two(2);",
    new: "```js\nif (b) {\n  if (a) one(1);\n  else two(2);\n}\n```",
    result: "// ```\nif (b) {\n  if (a) one(1);\n  else two(2);\n}\n// ```\n",
  },
];

const DOUBTS: readonly Row[] = [
  {
    what: "a blank line at the edge is to lose the blanks that the file has",
    content: "one( 1 );\ntwo(2);\n \nthree(3);\n",
    old: "one(1);\ntwo(2);\n \n",
    new: "one(1);\ntwo(22);\n\n",
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
    what: "a line left out may be moved to where the new text has it",
    content: "#!/run\nimport { one } from 'one';\nimport two from 'two';\n\nif (one(1)) {\n  two(2);\n",
    old: "#!/run\nimport { one } from 'one';\n\nif (one(1)) {\n  two(2);",
    new: "#!/run\nimport two from 'two';\nimport { one } from 'one';\n\nif (one(1)) {\n  two(2);",
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
