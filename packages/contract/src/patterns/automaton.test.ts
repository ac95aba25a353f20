import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Automaton, MatchTimeoutError } from "./automaton.ts";
import { PatternError } from "./pattern.ts";
import { findRequiredText } from "./required-text.ts";
import { parseSearchPattern } from "./search-dialect.ts";

function finder(text: string, caseSensitive = true): Automaton {
  return new Automaton(parseSearchPattern(text, { caseSensitive, fixed: false }), { whole: false });
}

function finds(pattern: string, line: string, caseSensitive = true): boolean {
  return finder(pattern, caseSensitive).findMatchEnd(line, 0, line.length) !== -1;
}

/** Generates pattern sources from the syntax that the dialect and JavaScript share. */
const source = fc.letrec<{ atom: string; piece: string; whole: string }>((tie) => ({
  atom: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "_", "1", " ", "é", "A", "-", "\\.") },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        ".",
        "\\d",
        "\\w",
        "\\s",
        "\\W",
        "[ab]",
        "[^a]",
        "[a-c1]",
        "\\b",
        "^",
        "$",
        "\\B",
      ),
    },
    { weight: 2, arbitrary: tie("whole").map((inner) => `(?:${inner})`) },
  ),
  piece: fc
    .tuple(tie("atom"), fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?"))
    .map(([atom, times]) => (/^(?:\\b|\\B|\^|\$)$/.test(atom) ? atom : atom + times)),
  whole: fc
    .array(fc.array(tie("piece"), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((options) => options.map((pieces) => pieces.join("")).join("|")),
})).whole;
const line = fc.string({
  unit: fc.constantFrom("a", "b", "c", "A", "1", "_", " ", "-", ".", "é", "😀"),
  maxLength: 12,
});

describe("search patterns", () => {
  it("R79 R83 find what JavaScript finds, for any pattern of the shared syntax", () => {
    fc.assert(
      fc.property(source, line, (pattern, text) => {
        // V8 also matches \\B in the middle of a surrogate pair, where the standard never looks.
        fc.pre(!(pattern.includes("\\B") && /[\u{10000}-\u{10ffff}]/u.test(text)));
        expect(finds(pattern, text)).toBe(new RegExp(pattern, "u").test(text));
      }),
      { numRuns: 3000 },
    );
  });

  it("R79 a line that matches holds the text that is said to be required", () => {
    fc.assert(
      fc.property(source, line, fc.boolean(), (pattern, text, caseSensitive) => {
        const parsed = parseSearchPattern(pattern, { caseSensitive, fixed: false });
        const required = findRequiredText(parsed, caseSensitive);
        fc.pre(required !== "" && finds(pattern, text, caseSensitive));
        const looked = caseSensitive ? text : text.toLowerCase();
        expect(looked).toContain(required);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ["größe", false, "gr"],
    ["größe", true, "größe"],
    ["漢字+ \\bKelvin", false, " kelvin"],
    ["ab?cd", true, "cd"],
    ["a|b", true, ""],
  ])("R79 %s requires, with case %s, %j", (pattern, caseSensitive, required) => {
    const parsed = parseSearchPattern(pattern, { caseSensitive, fixed: false });
    expect(findRequiredText(parsed, caseSensitive)).toBe(required);
  });

  it.each([
    ["foo(?=bar)", "look-around"],
    ["(?<!a)b", "look-around"],
    ["(a)\\1", "back-reference"],
    ["a(", "never closed"],
    ["a)", "closes no group"],
    ["[a", "never closed"],
    ["*a", "repeats nothing"],
    ["a**", "quantifier follows"],
    ["a++", "possessive"],
    ["a{3,1}", "out of order"],
    ["a{5000}", "repetitions"],
    ["\\p{L}", "not supported"],
    ["a\\nb", "single lines"],
    ["a\nb", "single lines"],
    ["\\", "lone"],
    ["[z-a]", "out of order"],
    ["(?m)a", "inline flags"],
    ["(((a{1000}){1000}){1000})", "too large"],
    ["a".repeat(2001), "longer than 2000"],
    [`${"(".repeat(101)}a${")".repeat(101)}`, "nested too deeply"],
    ["(?>a)", '"(?>" is not supported'],
    ["\\q", '"\\q" is not supported'],
    ["(a)\\k<a>", '"\\k" is not supported'],
    ["\\xZZ", "needs a code"],
    ["\\u{110000}", "needs a code"],
    ["[]", "is empty"],
  ])("R88 refuses %s and names the cause: %s", (pattern, cause) => {
    expect(() => finder(pattern)).toThrow(PatternError);
    expect(() => finder(pattern)).toThrow(cause);
  });

  it("R88 accepts what people write without thinking: a lone brace, (?i), named groups", () => {
    expect(finds("function f() {", "function f {")).toBe(true);
    expect(finds("(?i)HELLO", "say hello")).toBe(true);
    expect(finds("(?<year>\\d{4})", "in 2024")).toBe(true);
    expect(finds("[[:digit:]]+x", "12x")).toBe(true);
    expect(finds("\\u{1f600}", "a 😀")).toBe(true);
    expect(finds("\\x41[\\b]", "A\b")).toBe(true);
    expect(finds("a[\\w-.]b", "a-b")).toBe(true);
    expect(finds("a[+-\\d]b", "a,b")).toBe(false);
    expect(finds("a[\\x30-\\x39]b", "a5b")).toBe(true);
  });

  it("R88 letter case is ignored for letters of every script, one letter for one", () => {
    expect(finds("ÉTÉ", "un été", false)).toBe(true);
    expect(finds("straße", "STRASSE", false)).toBe(false);
    expect(finds("k", "\u212a", false)).toBe(false);
    expect(finds("привет", "ПРИВЕТ", false)).toBe(true);
    expect(finds("[^a]", "A", false)).toBe(false);
  });

  it.each(["(a+)+$", "(a|a)*$", "(a*)*b", "(.*a){12}b", "(x+x+)+y", "(a|b)*a(a|b){14}c"])(
    "P18 %s, which explodes in a backtracking engine, answers for a long line",
    (pattern) => {
      expect(finds(`^${pattern}`, `${"a".repeat(200_000)}!`)).toBe(false);
      expect(finds(`^${pattern}`, `${"x".repeat(200_000)}!`)).toBe(false);
    },
  );

  it("P18 keeps to its memory where the text asks for more states than it keeps, and finds all the same", () => {
    let seed = 1;
    const letter = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % 2 === 0 ? "a" : "b";
    };
    const text = Array.from({ length: 30_000 }, letter).join("");
    const pattern = "(a|b)*a(a|b){14}c";
    expect(finds(pattern, `${text}c`)).toBe(/a[ab]{14}c/.test(`${text}c`));
    expect(finds(pattern, `${text}a${text.slice(0, 14)}c`)).toBe(true);
    expect(finds(pattern, `${text}b${text.slice(0, 14)}c`)).toBe(false);
  });

  it("P18 stops at the moment that it was given", () => {
    const pattern = parseSearchPattern("a+b", { caseSensitive: true, fixed: false });
    const late = new Automaton(pattern, { whole: false, stopAt: performance.now() - 1 });
    expect(() => late.findMatchEnd("aab", 0, 3)).toThrow(MatchTimeoutError);
  });
});
