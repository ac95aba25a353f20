import { describe, expect, it } from "vitest";
import { findQuirk, ROWS } from "./quirks.ts";

const EXAMPLES = Object.values(ROWS)
  .flat()
  .flatMap(([quirk, words, example]: readonly [string, RegExp, string?]) =>
    example === undefined ? [] : [{ quirk, words, example }],
  );

describe("what a service refuses", () => {
  it.each(EXAMPLES)("P12 teaches $quirk: $example", ({ quirk, words, example }) => {
    expect(words.test(example)).toBe(true);
    expect(findQuirk("openai", example, new Set())).toBe(quirk);
  });

  it("P12 teaches nothing where it is about something else", () => {
    expect(findQuirk("openai", "The model is overloaded, try again later.", new Set())).toBeUndefined();
  });
});
