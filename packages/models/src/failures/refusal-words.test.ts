import { describe, expect, it } from "vitest";
import {
  FOREIGN_SIGNATURES,
  matchesAny,
  OUTPUT_LIMITS,
  readOutputLimit,
  TOO_MANY_MEDIA,
} from "./refusal-words.ts";

describe("words of a refusal", () => {
  it.each([...FOREIGN_SIGNATURES, ...TOO_MANY_MEDIA])("P12 %s is known from: %s", (words, example) => {
    expect(words.test(example)).toBe(true);
  });

  it.each(OUTPUT_LIMITS)("P12 %s stands before the limit of a reply: %s", (_words, example, limit) => {
    expect(readOutputLimit(example)).toBe(limit);
  });

  it("P12 mean neither where the refusal is about something else", () => {
    const other = "The image format is not supported; max_tokens is a number.";
    expect(matchesAny([...FOREIGN_SIGNATURES, ...TOO_MANY_MEDIA], other)).toBe(false);
    expect(readOutputLimit(other)).toBeNaN();
  });
});
