import { describe, expect, it } from "vitest";
import { isWideningOption, WIDENING_BEGINNINGS, WIDENING_OPTIONS } from "./wide-row.ts";

describe("an option that another call must not add", () => {
  it.each(Object.entries(WIDENING_OPTIONS))("P22 may %s: %s", (_effect, names) => {
    for (const name of names.split(" "))
      for (const word of [`--${name}`, `-${name}`, `--${name}=x`, `--${name.toUpperCase()}`])
        expect(isWideningOption(word), word).toBe(true);
  });

  it.each(WIDENING_BEGINNINGS)("P22 begins with --%s", (beginning) => {
    expect(isWideningOption(`--${beginning}x`)).toBe(true);
    expect(isWideningOption(`--${beginning}x=y`)).toBe(true);
  });

  it.each(["-c", "-o=x", "-u", "-C"])("P22 is one letter: %s", (word) => {
    expect(isWideningOption(word)).toBe(true);
  });

  it.each([
    "--verbose",
    "--fix-dry-run",
    "--outer",
    "--config-of-mine",
    "--updated",
    "--c",
    "-j4",
    "-v",
    "force",
    "--reporter=dot",
    "--",
  ])("P22 is not %s", (word) => {
    expect(isWideningOption(word)).toBe(false);
  });
});
