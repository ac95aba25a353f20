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

const HOSTILE = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc
    .array(
      fc.constantFrom(
        "$&",
        "$1",
        "$$",
        "$`",
        "$'",
        "\\",
        "\\n",
        "\r\n",
        "\n",
        "\t",
        " ",
        "“",
        "é",
        "\ufeff",
        "&lt;",
        "a",
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join("")),
);

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

const AREA = "    const { width, height } = shape;\n    return width * height;\n}";
const AREA2 = "    const { width, height } = shape;\n    return width * height * 2;\n}";
const DONE = FILE.replace("width * height;", "width * height * 2;");
describe("exact matches", () => {
  it("P17 R94 writes exactly the text given, whatever it holds, or refuses it by name, and touches nothing else", () => {
    fc.assert(
      fc.property(fc.tuple(HOSTILE, HOSTILE, HOSTILE, HOSTILE), ([head, middle, tail, newText]) => {
        const oldText = `<<${middle}>>`;
        const content = `${head}${oldText}${tail}`;
        fc.pre(content.split("<<").length === 2 && !content.includes("\r") && oldText !== newText);
        fc.pre(!newText.includes("\r\n"));
        // After an indentation, the new text may have it as well.
        fc.pre(!/^[ \t]+$/.test(head.slice(head.lastIndexOf("\n") + 1)));
        const whole = `${head}${newText}${tail}`;
        const answer = applied({ content, oldText, newText });
        // Only an escape may be doubted, or a line that the file has as well.
        const around = `${head}\n${tail}`.split("\n").map((line) => line.trim());
        const mayDoubt =
          newText.includes("\\") || around.some((line) => line !== "" && newText.includes(line));
        if (typeof answer === "string" || !mayDoubt) expect(answer).toBe(whole);
        else expect(["doubled", "escaped"]).toContain(answer.status);
      }),
    );
  });

  it("P17 R94 replaces as many as expected, literally", () => {
    expect(applied({ content: "a.b a.b a.b", oldText: "a.b", newText: "$&\\1", expected: 3 })).toBe(
      "$&\\1 $&\\1 $&\\1",
    );
  });

  it("X7 R98 refuses any count that is not the expected one and tells lines and number", () => {
    const content = "one\ntwo\none\n";
    expect(edit(content, "one", "1")).toEqual({ status: "ambiguous", found: 2, lines: [1, 3] });
    expect(findEdit({ content: content, oldText: "one", newText: "1", expected: 3 })).toMatchObject({
      status: "ambiguous",
      found: 2,
    });
    expect(findEdit({ content: content, oldText: "two", newText: "2", expected: 2 })).toMatchObject({
      status: "ambiguous",
      found: 1,
    });
  });

  it("X7 never goes on to a lenient stage when exact places are too many or too few", () => {
    expect(edit("  a()\n\ta( )\n  a()\n", "  a()", "b()").status).toBe("ambiguous");
  });

  it("X7 counts overlapping places when it matters which of them is taken", () => {
    expect(edit("aaa", "aa", "b").status).toBe("ambiguous");
    expect(applied({ content: "aaaa", oldText: "aa", newText: "b", expected: 2 })).toBe("bb");
  });

  it("P31 reports an edit that changes nothing instead of success", () => {
    expect(edit(FILE, "width * height", "width * height").status).toBe("no_change");
  });

  it("R96 finds nothing for an empty old text", () => {
    expect(edit(FILE, "", "x")).toEqual({ status: "none", alreadyApplied: false });
  });

  it("P32 gives new lines the line end of the line they are put into", () => {
    expect(applied({ content: "a\r\nb\r\nc\r\n", oldText: "b", newText: "b1\nb2" })).toBe(
      "a\r\nb1\r\nb2\r\nc\r\n",
    );
    expect(applied({ content: "a\nb\r\nc\n", oldText: "a", newText: "a1\na2" })).toBe("a1\na2\nb\r\nc\n");
  });
});

describe("edits that must fail", () => {
  const refused: readonly [why: string, content: string, oldText: string, newText: string][] = [
    ["the text is not there", FILE, "import { nothing } from 'here';\nnothing();", "x"],
    ["a like place has another word", FILE, AREA.replaceAll("height", "depth"), AREA2],
    [
      "a number differs",
      "const limit = 100;\nrun(limit, again);\n",
      "const limit = 1000;\nrun(limit, again);",
      "const limit = 5;",
    ],
    [
      "a word differs by a letter that makes another word",
      "sort(items, first, by);\n",
      "sort(item, first, by);",
      "sort(item, last, by);",
    ],
    ["two places are equally like it", "  a(1);\n\ta(1);\n", "a( 1 );", "a( 2 );"],
    ["the file has been changed in that line", FILE.replace("width *", "radius *"), AREA, AREA2],
    [
      "a line was dropped where the change goes",
      "a();\nb();\nc();\nd();\n",
      "a();\nc();\nd();",
      "a();\nx();\nc();\nd();",
    ],
    [
      "a blank line was dropped where the change goes",
      "a();\n\nb();\nc();\n",
      "a();\nb();\nc();",
      "a();\nx();\nb();\nc();",
    ],
    ["either of two elisions would do", "f {\n  a\n}\nf {\n  b\n}\n", "f {\n  ...\n}", "g {\n  ...\n}"],
  ];

  it.each(refused)("P1 X7 refuses when %s", (...[, content, oldText, newText]) => {
    expect(["none", "ambiguous"]).toContain(edit(content, oldText, newText).status);
  });

  it("P1 tells that the change is already there", () => {
    expect(edit(DONE, AREA, AREA2)).toMatchObject({ status: "none", alreadyApplied: true });
    const again = "import 'one';\nimport 'two';\nimport 'one';\nstart();\n";
    const [before, after] = [
      "import 'one';\nimport 'two';\nstart();",
      "import 'one';\t\nimport 'two';\nimport 'one';\nstart();",
    ];
    expect(edit(again, before, after)).toMatchObject({ alreadyApplied: true });
  });

  const ADDED = "start();\n\none(1);\ntwo(2);\nend();\n\nlast();\n";

  it.each([
    { what: "the line above comes", old: "two(2);", new: "one(1);\ntwo(22);", line: "one(1);" },
    { what: "it comes behind a blank line", old: "\ntwo(2);", new: "\none(1);\ntwo(22);", line: "one(1);" },
    { what: "the line below comes", old: "two(2);\n", new: "two(22);\nend();\n", line: "end();" },
    { what: "it comes beyond a blank line", old: "end();\n", new: "end(9);\n\nlast();\n", line: "last();" },
  ])("P1 refuses an exact old text when $what: it would be there twice", ({ old, line, new: newText }) => {
    expect(edit(ADDED, old, newText)).toEqual({ status: "doubled", line });
  });

  it.each([
    ["above", "two(2);", "one(1);\ntwo(2);"],
    ["below", "one(1);\n", "one(1);\ntwo(2);\nend();\n"],
    ["on both sides", "two(2);", "start();\n\none(1);\ntwo(2);\nend();"],
    ["in the line", "two", "two(2)"],
  ])("P1 adds nothing a second time: %s", (_, oldText, newText) => {
    expect(edit(ADDED, oldText, newText)).toEqual({ status: "no_change" });
  });

  it("P1 shortens a line that is then like its neighbour", () => {
    const content = "start(); // first\nstart();\n";
    expect(applied({ content, oldText: " // first", newText: "" })).toBe("start();\nstart();\n");
  });

  it("P1 refuses a bracket a second time, but not that of a further block", () => {
    const newText = "  b(2);\n}\nc {\n  d(3);\n}";
    expect(edit("a {\n  b(1);\n}\n", "  b(1);", newText)).toEqual({ status: "doubled", line: "}" });
    for (const [open, close] of [
      ["#ifdef A", "#endif"],
      ["f {", "}"],
      ["begin", "end"],
      ["if a; then", "fi"],
      ["for b in c; do", "done"],
      ["case d in", "esac"],
      ["<p>", "</p>"],
      ["{% if e %}", "{%- endif %}"],
      ["/* f", "*/"],
      ["---", "---"],
    ]) {
      const content = `x(1);\ny(2);\n${close}\n`;
      const block = ["y(2);", open, "a(3);", close].join("\n");
      expect(applied({ content, oldText: "y(2);", newText: block })).toBe(content.replace("y(2);", block));
    }
  });

  it.each([
    { content: "a = 1;\n", old: "a = 1", new: "a = 2;", line: ";" },
    { content: "f(\n  a,\n)\n", old: "a", new: "b,", line: "," },
    { content: "  f(a)\n", old: "f(a", new: "f(a, b)", line: ")" },
    { content: "f(a)\n", old: "f(a", new: "f(g(a)", line: undefined },
    { content: "a, b;\n", old: "a", new: "c;", line: undefined },
    { content: "b, a;\n", old: "a", new: "c;", line: undefined },
    { content: "a;\n", old: "a", new: "a\n  .then(b)", line: undefined },
  ])(
    "P1 refuses a sign that the file has behind an exact old text: $new",
    ({ content, old, new: fresh, line }) => {
      const match = edit(content, old, fresh);
      expect(match.status === "doubled" ? match.line : undefined).toBe(line);
    },
  );

  it("P1 repeats a line that the old text has, or another one", () => {
    expect(
      applied({ content: ADDED, oldText: "one(1);\ntwo(2);", newText: "one(1);\none(1);\ntwo(2);" }),
    ).toBe(ADDED.replace("one(1);", "one(1);\none(1);"));
    expect(applied({ content: ADDED, oldText: "end();\n", newText: "end();\n\n" })).toBe(
      ADDED.replace("end();\n", "end();\n\n"),
    );
    const gone = "a(1);\nb(2);\na(1);\n";
    expect(applied({ content: gone, oldText: "a(1);\nb(2);", newText: "a(1);" })).toBe("a(1);\na(1);\n");
  });

  it.each([
    { where: "behind", old: "two(2);\n", written: "two(22);\n" },
    { where: "before", old: "\ntwo(2);", written: "\ntwo(22);" },
  ])(
    "P31 keeps the line break $where whole lines, of which the new text says nothing",
    ({ old, written }) => {
      const result = ADDED.replace(old, written);
      expect(applied({ content: ADDED, oldText: old, newText: "two(22);" })).toBe(result);
      const [content, crlf] = [ADDED, result].map((text) => text.replaceAll("\n", "\r\n"));
      expect(applied({ content: content ?? "", oldText: old, newText: "two(22);" })).toBe(crlf);
    },
  );

  it("P31 takes a line break away where that is all, or where the new text ends with a space", () => {
    expect(applied({ content: ADDED, oldText: "one(1);\n", newText: "one(1);" })).toContain("one(1);two(2);");
    expect(applied({ content: ADDED, oldText: "one(1);\n", newText: "one(1), " })).toContain(
      "one(1), two(2);",
    );
    expect(applied({ content: ADDED, oldText: "one(1);\n", newText: "" })).toContain("start();\n\ntwo(2);");
  });

  it("P31 does not take a like place elsewhere when the change is already there", () => {
    const content =
      "f {\n  new(1, 2);\n  next();\n}\n      f {\n        old(1, 2);\n        next();\n      }\n";
    const oldText = "f {\n  old(1, 2);\n  next();\n}";
    expect(edit(content, oldText, oldText.replace("old", "new"))).toMatchObject({ alreadyApplied: true });
  });

  it("P1 shows the closest region and what differs there", () => {
    const match = edit(FILE, AREA.replaceAll("height", "depth"), AREA2);
    expect(match).toMatchObject({
      status: "none",
      alreadyApplied: false,
      closest: { startLine: 6, endLine: 8 },
    });
    expect(match.status === "none" && match.closest?.differences[0]).toEqual({
      line: 6,
      given: "const { width, depth } = shape;",
      file: "const { width, height } = shape;",
    });
  });

  it("takes words that every object has for words", () => {
    const content = "constructor…(toString—valueOf, 1);\nend();\n";
    const slip = "a.constructer(1);\nb.two(2);\nc.three(3);";
    const file = slip.replace("constructer", "constructor");
    const newText = slip.replace("three", "hasOwnProperty");
    expect(applied({ content: file, oldText: slip, newText })).toBe(file.replace("three", "hasOwnProperty"));
    expect(applied({ content, oldText: "constructor…( toString—valueOf, 1 );", newText: "gone();" })).toBe(
      "gone();\nend();\n",
    );
  });

  it("P31 never succeeds with an unchanged file", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", " ", "\n", "(", "\t"), { maxLength: 14 }),
        HOSTILE,
        (parts, text) => {
          const content = parts.join("");
          for (const [oldText, newText] of [
            [content.trim(), text],
            [text, content.trim()],
            [` ${content}`, content],
          ]) {
            const result = applied({ content: content, oldText: oldText ?? "", newText: newText ?? "" });
            if (typeof result === "string") expect(result).not.toBe(content);
          }
        },
      ),
    );
  });
});

describe("large input", () => {
  it("P1 answers for a megabyte of equal lines and a long old text", () => {
    const content = "same line\n".repeat(100_000);
    expect(edit(content, "same  line\n".repeat(2000), "x").status).toBe("ambiguous");
    expect(edit(content, `${"same line\n".repeat(1999)}other`, "x").status).toBe("none");
  });

  it("R94 finds the one place in a megabyte", () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `  call(${index}, "some text ${index}");`);
    const content = lines.join("\n");
    const result = applied({
      content: content,
      oldText: 'call( 15000, "some text 15000" );',
      newText: "gone();",
    });
    expect(result).toBe(content.replace('call(15000, "some text 15000");', "gone();"));
  });

  it("P1 answers at once for an exact text with a long word, or long blanks before a line", () => {
    const word = "w".repeat(300_000);
    const oldText = `${word}!\nb()`;
    expect(applied({ content: `a\n${oldText};\n`, oldText, newText: "c()" })).toBe("a\nc();\n");
    const newText = `\ny${"\n".repeat(300_000)}z\nx`;
    expect(applied({ content: "a\nx\n", oldText: "\nx", newText })).toBe(`a${newText}\n`);
  }, 2000);

  it.each(["thread", "a;\nthread"])(
    "R94 60,000 places in one line become %j",
    (newText) => {
      const content = "a needle stands here; ".repeat(60_000);
      const match = findEdit({ content, oldText: "needle", newText, expected: 60_000 });
      const replacements = match.status === "matched" ? match.replacements : [];
      expect(applyReplacements(content, replacements)).toBe(content.replaceAll("needle", newText));
    },
    20_000,
  );

  describe("of several megabytes", () => {
    const lines = Array.from({ length: 90_000 }, (_, index) => `  call(${index}, "some text ${index}");`);
    const content = lines.join("\n");

    it("R94 finds the one place in spite of blanks", () => {
      const oldText = 'call( 15000, "some text 15000" );\n\tcall( 15001, "some text 15001" );';
      const result = applied({ content, oldText, newText: oldText.replace("text 15001", "word") });
      expect(result).toBe(content.replace("some text 15001", "some word"));
    });

    it("X7 counts all places, however far apart", () => {
      const twice = `${content}\n${lines[7]}\n`;
      const match = findEdit({
        content: twice,
        oldText: 'call( 7, "some text 7" );',
        newText: "x",
        expected: 1,
      });
      expect(match).toMatchObject({ status: "ambiguous", found: 2, lines: [8, 90_001] });
    });

    it("R98 says what is closest", () => {
      const oldText = '  call(500, "some txet 500");\n  call(501, "some text 501");';
      const match = findEdit({ content, oldText, newText: "x", expected: 1 });
      expect(match).toMatchObject({ status: "none", closest: { startLine: 501, endLine: 502 } });
    });
  });
});
