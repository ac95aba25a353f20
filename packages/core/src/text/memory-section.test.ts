import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addFact } from "./memory-section.ts";

describe("withFact", () => {
  it("P55 begins a file, and adds to the section the next time", () => {
    const first = addFact("", "Tests run with npm test.");
    expect(first).toBe("## Remembered\n\n- Tests run with npm test.\n");
    expect(addFact(first ?? "", "Use tabs")).toBe(
      "## Remembered\n\n- Tests run with npm test.\n- Use tabs\n",
    );
  });

  it("P55 leaves all that stands around the section as it is", () => {
    const text = "# Mine\n\nRules.  \n\n## Remembered\n\n- one\n\n\n# After\n\ntext without end";
    expect(addFact(text, "two")).toBe(
      "# Mine\n\nRules.  \n\n## Remembered\n\n- one\n- two\n\n\n# After\n\ntext without end",
    );
  });

  it.each(["```\n", "```\n~~~\n", "~~~a\n"])(
    "P55 P7 in a file of many %j, each line is looked at once",
    (fence) => {
      const text = `## Remembered\n\n- one\n${fence.repeat(240_000)}`;
      expect(addFact(text, "two")).toBe(`${text}- two\n`);
    },
  );

  it.each(["Use tabs", "use tabs.", "  Use   tabs ", "- Use\ntabs"])("P55 knows %j already", (fact) => {
    expect(addFact("## Remembered\n\n* Use tabs.\n", fact)).toBeNull();
  });

  it("P55 does not take a bullet elsewhere for the fact, nor a heading in a code fence for the section", () => {
    const text = "- Use tabs\n\n```md\n## Remembered\n- Use tabs\n```\n";
    expect(addFact(text, "Use tabs")).toBe(`${text}\n## Remembered\n\n- Use tabs\n`);
  });

  it("keeps the line ends of the file, and a missing final newline", () => {
    expect(addFact("a\r\n", "b")).toBe("a\r\n\r\n## Remembered\r\n\r\n- b\r\n");
    expect(addFact("## Remembered\n- a", "b")).toBe("## Remembered\n- a\n- b");
  });

  it("starts a list below a heading that has none", () => {
    expect(addFact("## Remembered\n## Next\n", "a")).toBe("## Remembered\n\n- a\n## Next\n");
  });

  it("P55 adds a fact once, and takes nothing away, whatever the file holds", () => {
    const line = fc.constantFrom("## Remembered", "# T", "- a", "", "text", "```", "  - b ");
    fc.assert(
      fc.property(fc.array(line), fc.string({ minLength: 1 }), (lines, fact) => {
        fc.pre(/\p{L}/u.test(fact));
        const text = lines.join("\n");
        const once = addFact(text, fact);
        if (once === null) return;
        expect(addFact(once, fact)).toBeNull();
        const kept = once.split("\n");
        let at = 0;
        for (const old of lines) {
          at = kept.indexOf(old, at) + 1;
          expect(at).toBeGreaterThan(0);
        }
      }),
    );
  });
});
