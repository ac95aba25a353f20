import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyReplacements, type EditMatch, type EditRequest, findEdit } from "./edit-match.ts";

function edit(content: string, oldText: string, newText: string): EditMatch {
  return findEdit({ content, oldText, newText, expected: 1 });
}

function applied(request: Omit<EditRequest, "expected"> & { expected?: number }): string | EditMatch {
  const match = findEdit({ expected: 1, ...request });
  return match.status === "matched" ? applyReplacements(request.content, match.replacements) : match;
}

const FILE = [
  "export function area(shape) {",
  "    if (!shape) {",
  '        return "none"; // nothing',
  "    }",
  "",
  "    const { width, height } = shape;",
  "    return width * height;",
  "}",
  "",
  "export function name(shape) {",
  "    return shape.name ?? 'nameless';",
  "}",
  "",
].join("\n");

interface Slip {
  readonly slip: string;
  readonly content?: string;
  readonly old: string;
  readonly new: string;
  readonly result: string;
}

const AREA = "    const { width, height } = shape;\n    return width * height;\n}";
const AREA2 = "    const { width, height } = shape;\n    return width * height * 2;\n}";
const DONE = FILE.replace("width * height;", "width * height * 2;");
const crlf = (text: string) => text.replaceAll("\n", "\r\n");
const eachLine = (text: string, change: (line: string, index: number) => string) =>
  text.split("\n").map(change).join("\n");

const SLIPS: readonly Slip[] = [
  { slip: "LF for CRLF", content: crlf(FILE), old: AREA, new: AREA2, result: crlf(DONE) },
  { slip: "CRLF for LF", old: crlf(AREA), new: crlf(AREA2), result: DONE },
  {
    slip: "mixed line ends",
    content: FILE.replace("shape;\n", "shape;\r\n"),
    old: AREA,
    new: AREA2,
    result: DONE.replace("shape;\n", "shape;\r\n"),
  },
  {
    slip: "a byte order mark",
    content: `\ufeff${FILE}`,
    old: `\ufeff${AREA}`,
    new: `\ufeff${AREA2}`,
    result: `\ufeff${DONE}`,
  },
  {
    slip: "trailing blanks dropped",
    content: FILE.replace("shape;\n", "shape;  \n"),
    old: AREA,
    new: AREA2,
    result: DONE.replace("shape;\n", "shape;  \n"),
  },
  {
    slip: "indentation shifted in both texts",
    old: eachLine(AREA, (line) => `  ${line}`),
    new: eachLine(AREA2, (line) => `  ${line}`),
    result: DONE,
  },
  {
    slip: "two spaces for four, a nested line added",
    old: '  if (!shape) {\n    return "none"; // nothing\n  }',
    new: '  if (!shape) {\n    if (strict) {\n      fail();\n    }\n    return "none"; // nothing\n  }',
    result: FILE.replace(
      '        return "none"',
      '        if (strict) {\n            fail();\n        }\n        return "none"',
    ),
  },
  {
    slip: "tabs for spaces",
    old: '\tif (!shape) {\n\t\treturn "none"; // nothing',
    new: '\tif (!shape) {\n\t\tlog();\n\t\treturn "none"; // nothing',
    result: FILE.replace('        return "none"', '        log();\n        return "none"'),
  },
  {
    slip: "indentation off in the old text only",
    old: AREA.replaceAll("    ", "\t"),
    new: AREA2,
    result: DONE,
  },
  {
    slip: "inner blanks",
    old: AREA.replace("{ width,", "{width,"),
    new: AREA2.replace("{ width,", "{width,"),
    result: DONE,
  },
  {
    slip: "lines joined",
    old: `    if (!shape) { return "none"; // nothing\n    }\n\n${AREA}`,
    new: `    if (!shape) { return "none"; // nothing\n    }\n\n${AREA2}`,
    result: DONE,
  },
  { slip: "a blank line missing", old: `    }\n${AREA}`, new: `    }\n${AREA2}`, result: DONE },
  {
    slip: "a blank line too many",
    old: `    }\n\n\n${AREA}`,
    new: `    }\n\n\n${AREA2.replace("return", "// all\n    return")}`,
    result: DONE.replace("return width * height * 2", "// all\n    return width * height * 2"),
  },
  { slip: "newlines around it", old: `\n\n\n${AREA}\n\n\n`, new: `\n\n\n${AREA2}\n\n\n`, result: DONE },
  { slip: "newlines around the old text only", old: `\n\n\n${AREA}\n\n\n`, new: AREA2, result: DONE },
  ...["12→", "L12: ", "12|", "12\t", "  12: "].map((format) => ({
    slip: `line numbers ${JSON.stringify(format)}`,
    old: eachLine(AREA, (line, index) => format.replace("12", String(12 + index)) + line),
    new: eachLine(AREA2, (line, index) => format.replace("12", String(12 + index)) + line),
    result: DONE,
  })),
  {
    slip: "line numbers in the old text only",
    old: eachLine(AREA, (line, index) => `${6 + index}→${line}`),
    new: AREA2,
    result: DONE,
  },
  {
    slip: "diff markers",
    old: ` ${AREA.replace("\n", "\n-").replace("\n}", "\n }")}`,
    new: ` ${AREA2.replace("\n", "\n+").replace("\n}", "\n }")}`,
    result: DONE,
  },
  {
    slip: "quotes over-escaped",
    old: 'return \\"none\\"; // nothing',
    new: 'return \\"nil\\"; // nothing',
    result: FILE.replace('"none"', '"nil"'),
  },
  {
    slip: "everything escaped on one line",
    old: 'if (!shape) {\\n        return \\"none\\"; // nothing',
    new: 'if (!shape) {\\n        return \\"nil\\"; // nothing',
    result: FILE.replace('"none"', '"nil"'),
  },
  {
    slip: "an escape lost",
    content: 'log("a\\nb");\nrun(one);\n',
    old: 'log("a\nb");\nrun(one);',
    new: 'log("a\nb");\nrun(two);',
    result: 'log("a\\nb");\nrun(two);\n',
  },
  {
    slip: "HTML entities",
    content: "if (a < b && c) {\n  go();\n}\n",
    old: "if (a &lt; b &amp;&amp; c) {\n  go();",
    new: "if (a &lt; b &amp;&amp; d) {\n  go();",
    result: "if (a < b && d) {\n  go();\n}\n",
  },
  {
    slip: "curly quotes",
    old: "return shape.name ?? ‘nameless’;",
    new: "return shape.label ?? ‘nameless’;",
    result: FILE.replace("shape.name", "shape.label"),
  },
  {
    slip: "straight quotes for the file's curly ones",
    content: "He said “yes” — and left.\nEnd.\n",
    old: 'He said "yes" - and left.',
    new: 'He said "yes" - and stayed.',
    result: "He said “yes” — and stayed.\nEnd.\n",
  },
  {
    slip: "NFD for NFC",
    content: "const café = 1;\nuse(café);\n",
    old: "const café = 1;".normalize("NFD"),
    new: "const café = 2;".normalize("NFD"),
    result: "const café = 2;\nuse(café);\n",
  },
  {
    slip: "an elided middle",
    old: "export function area(shape) {\n    // ...\n    return width * height;",
    new: "export function area(shape) {\n    // ...\n    return width * height * 2;",
    result: DONE,
  },
  {
    slip: "a dropped line",
    old: `    if (!shape) {\n    }\n\n${AREA}`,
    new: `    if (!shape) {\n    }\n\n${AREA2}`,
    result: DONE,
  },
  {
    slip: "a mistyped word, repeated",
    old: AREA.replace("shape", "shpae"),
    new: AREA2.replace("shape", "shpae"),
    result: DONE,
  },
  {
    slip: "a mistyped word, right in the new text",
    old: AREA.replace("shape", "shae"),
    new: AREA2,
    result: DONE,
  },
  {
    slip: "indentation, quotes and trailing blanks at once",
    content: FILE.replace("nothing\n", "nothing \n"),
    old: "  if (!shape) {\n      return “none”; // nothing\n  }",
    new: "  if (!shape || !shape.width) {\n      return “none”; // nothing\n  }",
    result: FILE.replace("nothing\n", "nothing \n").replace("(!shape)", "(!shape || !shape.width)"),
  },
];

describe("one stage after the other", () => {
  it.each(SLIPS)("P1 P31 R95 sees through $slip and changes only what was meant", (row) => {
    const content = row.content ?? FILE;
    expect(applied({ content: content, oldText: row.old, newText: row.new })).toBe(row.result);
    expect(edit(content, row.old, row.new)).not.toMatchObject({ stage: "exact" });
  });

  it("R95 changes every expected place when several have the same slip", () => {
    expect(
      applied({
        content: "\tf(a);\n\tg();\n\tf(a);\n",
        oldText: "  f( a );",
        newText: "  f( b );",
        expected: 2,
      }),
    ).toBe("\tf(b);\n\tg();\n\tf(b);\n");
  });

  it("R95 prefers the place that needs fewer mistakes over a look-alike", () => {
    const content = "{\n  a('x');\n  b();\n}\n{\n    a('x');\n    b();\n}\n";
    expect(
      applied({ content: content, oldText: "    a(‘x’);\n    b();", newText: "    a(‘y’);\n    b();" }),
    ).toBe("{\n  a('x');\n  b();\n}\n{\n    a('y');\n    b();\n}\n");
  });

  it("P31 keeps relative indentation and every other line when the whole text is shifted", () => {
    const line = fc.tuple(fc.nat(3), fc.stringMatching(/^[a-z]{3,8}\([a-z]{1,5}\);$/));
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 4, maxLength: 8 }),
        fc.nat(3),
        fc.nat(2),
        (lines, at, shift) => {
          const write = (level: number, text: string) => "  ".repeat(level + 1) + text;
          const rows = lines.map(([level, text], index) =>
            write(level, text.replace("(", `${"abcdefgh"[index]}(`)),
          );
          const added = write(lines[at]?.[0] ?? 0, "inserted();");
          const changed = rows.flatMap((row, index) =>
            index === at ? [row, added, `${added} // 2`] : [row],
          );
          const moved = (all: string[]) => all.map((row) => " ".repeat(4 * shift + 3) + row).join("\n");
          const result = applied({
            content: `top {\n${rows.join("\n")}\n}\n`,
            oldText: moved(rows),
            newText: moved(changed),
          });
          expect(result).toBe(`top {\n${changed.join("\n")}\n}\n`);
        },
      ),
    );
  });
});
