import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indentJson } from "./shape-page.ts";

describe("indented JSON", () => {
  it("is what JSON.stringify makes, where that changes nothing", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const plain = JSON.stringify(JSON.parse(text));
        const isKept = !/"__proto__"|"\d+":/.test(plain);
        if (isKept) expect(indentJson(plain)).toBe(JSON.stringify(JSON.parse(plain), null, 2));
        expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['{"id":12345678901234567890,"x":1.10}', '{\n  "id": 12345678901234567890,\n  "x": 1.10\n}'],
    ['{"2":1,"1":2,"2":3}', '{\n  "2": 1,\n  "1": 2,\n  "2": 3\n}'],
    [' { "a" : [ ] , "b" : { } } ', '{\n  "a": [],\n  "b": {}\n}'],
    ['{"a":"{\\"b\\": [1, 2]}"}', '{\n  "a": "{\\"b\\": [1, 2]}"\n}'],
    ["{broken", "{broken"],
    ['{"a":1}\n{"b":2}', '{"a":1}\n{"b":2}'],
  ])("%j keeps what it says", (text, wanted) => {
    expect(indentJson(text)).toBe(wanted);
  });

  it("deep nesting does not make a long text of blanks", () => {
    const deep = `${"[".repeat(3000)}${"]".repeat(3000)}`;
    expect(indentJson(deep).length).toBeLessThan(800_000);
  });
});
