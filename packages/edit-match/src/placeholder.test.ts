import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BEGINNINGS, classifyOmission, ENDINGS, findNewOmission } from "./placeholder.ts";

describe("a line that stands for lines left out", () => {
  it.each([
    "// rest of the file unchanged",
    "// ... rest of the file unchanged ...",
    "// ... existing code ...",
    "# ... existing code ...",
    "... existing code ...",
    "/* ... existing code ... */",
    "{/* ... existing code ... */}",
    "<!-- ... rest of the page ... -->",
    "-- ... remaining rows unchanged",
    "  // ...rest of code",
    "// … existing imports …",
    "(rest of the file unchanged)",
    "[... rest of the file remains the same ...]",
    "// ... other methods ...",
    "# rest of the code remains unchanged",
    "// The rest of the file stays the same.",
    "// remaining code omitted for brevity",
    "# ... unchanged ...",
    "// ... (rest of the function unchanged)",
    "// existing code here",
    "...rest of the code...",
    "// ... keep existing code ...",
    "// same as before...",
    "<!-- existing content unchanged -->",
    "// (...rest of implementations)",
    "// (...no changes around here)",
    "# ... no other changes ...",
    "// ... all other tests ...",
    "// rest of the code",
    "<!-- rest of the content -->",
    "# existing code",
    "{/* ... existing JSX ... */}",
    "-- ... remaining columns",
    "// ... 28 more functions",
  ])("P2 is seen: %s", (line) => {
    expect(classifyOmission(line)).toBe("certain");
    expect(findNewOmission("a\nb\n", `a\n${line}\nb\n`)).toBe(line.trim());
    expect(findNewOmission("a\nb\n", `a\r\n${line.toUpperCase()}\r\nb`)).toBe(line.trim().toUpperCase());
  });

  it.each([...BEGINNINGS, ...ENDINGS])("P2 is seen by %s: %s", (_words, example) => {
    expect(classifyOmission(`// ... ${example} ...`)).toBe("certain");
  });

  it.each(["// ...", "# ...", "/* ... */", "<!-- ... -->", "{/* … */}", "  -- ..."])(
    "P2 is suspected: %s",
    (line) => {
      expect(classifyOmission(line)).toBe("bare");
      expect(findNewOmission("a\nb\nc\nd\n", `a\n${line}\nd\n`)).toBe(line.trim());
    },
  );

  it.each([
    "",
    "...",
    "    ...",
    "return { ...rest };",
    "...rest,",
    "const { a, ...rest } = props;",
    "function f(...args) {}",
    "// The rest of the arguments are handed to the child.",
    "The rest of the file is read by the next stage.",
    "# Rest API",
    "// rest parameters must come last",
    "// No changes",
    "// no change of the state may be lost",
    "// existing users keep their name",
    "print('loading...')",
    "// wait...",
    "// Later: handle the remaining cases",
    "# remaining",
    "// code",
    "other",
    "# unchanged",
    "// same",
    "- existing code",
    "* the same as before",
    "echo ... rest of the story begins here ... and goes on",
    "// see RFC 9110, section 5 ...",
    "...props",
    "...existing",
    "  ...original,",
    "  ...other",
  ])("P2 is not seen in %j", (line) => {
    expect(classifyOmission(line)).toBe(null);
  });
});

describe("new omissions", () => {
  const old = "a\nb\nc\nd\n";

  it("P2 are found where the old text had none", () => {
    expect(findNewOmission(old, "a\n// ... existing code ...\n")).toBe("// ... existing code ...");
    expect(findNewOmission(old, "a\nb\nc\nd\n// rest of the file unchanged\n")).toBe(
      "// rest of the file unchanged",
    );
  });

  it("P2 are no fault when the old text had them, as often", () => {
    const before = "a\n// ... existing code ...\nb\n";
    expect(findNewOmission(before, "x\n  // ... existing code ...\ny\n")).toBe(null);
    expect(findNewOmission(before, `${before}// ... existing code ...\n`)).toBe("// ... existing code ...");
  });

  it("P2 count as bare dots only when something is gone", () => {
    expect(findNewOmission(old, "a\n// ...\nb\nc\nd\n")).toBe(null);
    expect(findNewOmission(old, "a\n// ...\n")).toBe("// ...");
  });

  it("P2 are dots alone between kept lines, of which those in between are gone", () => {
    expect(findNewOmission("a1\na2\na3\na4\na5\n", "a1\n...\na5\n")).toBe("...");
    expect(findNewOmission("a1\r\na2\r\na3\r\na4\r\na5", "a0\na1\n\n  [...]\n\na5\na6")).toBe("[...]");
    expect(findNewOmission("a:\n    b\n    c\n    d\n    e\n", "a:\n    ...\n    e\n")).toBe("...");
    expect(findNewOmission("a\nb\nc\n", "a\n...\n")).toBe("...");
  });

  it.each([
    ["nothing is gone", "a\nb\nc\n", "a\n...\nb\nc\n"],
    ["one line is gone", "a\nb\nc\n", "a\n...\nc\n"],
    ["the lines are elsewhere", "a\nb\nc\nd\n", "a\n...\nd\nb\nc\n"],
    ["the line above is new", "a\nb\nc\nd\n", "x\n...\nd\n"],
    ["they were there", "a\n...\nb\nc\nd\n", "a\n...\nd\n"],
    [
      "a body",
      "class A:\n    def b():\n        c\n        d\ne\n",
      "class A:\n    def b():\n        ...\ne\n",
    ],
    ["a body with words", 'def b():\n    """c"""\n    d\n    e\nf\n', 'def b():\n    """c"""\n    ...\nf\n'],
    ["one line is gone at the end", "a\nb\nc\n", "a\nb\n...\n"],
  ])("P2 are not dots alone: %s", (_, before, after) => {
    expect(findNewOmission(before, after)).toBe(null);
  });

  it("P2 are no fault in a text that replaces nothing", () => {
    expect(findNewOmission("", "// rest of the file unchanged\n")).toBe(null);
    expect(findNewOmission("\n", "// rest of the file unchanged\n")).toBe(null);
  });

  it("P2 are found wherever they stand, and whatever stands behind their last word", () => {
    const pieces = [
      "// ",
      "rest of the file ",
      "unchanged",
      "SAME",
      "...",
      "…",
      " here",
      ")",
      " -->",
      "\r",
      "\u2028",
      "\t ",
      "x",
      "é",
    ];
    const line = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((some) => some.join(""));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const first = lines.find((one) => classifyOmission(one) === "certain");
        expect(findNewOmission("a", lines.join("\n"))).toBe(first?.trim() ?? null);
      }),
      { numRuns: 3000 },
    );
  });
});
