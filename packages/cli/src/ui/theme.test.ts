import { describe, expect, it } from "vitest";
import { type ColorDepth, mixTheme } from "./theme.ts";

function withColors(colors: Readonly<Record<string, string>>, depth: ColorDepth) {
  return mixTheme({ name: "dark", isLight: false, colors }, depth);
}

function lookOf(words: string, depth: ColorDepth) {
  const { theme, faults } = withColors({ added: words }, depth);
  return faults.length === 0 ? theme.added : undefined;
}

describe("the user's own colours", () => {
  it.each([
    ["green", "full", "32"],
    ["bold brightred", "16", "1;91"],
    ["#88c0d0", "full", "38;2;136;192;208"],
    ["#88c0d0", "256", "38;5;110"],
    ["#fff on #001", "full", "38;2;255;255;255;48;2;0;0;17"],
    ["#ff0000 on gray", "16", "31;100"],
    ["underline", "16", "4"],
  ] as const)("%s with %s colours", (words, depth, wanted) => {
    expect(lookOf(words, depth)).toEqual(wanted);
  });

  it.each(["", "on", "pink-ish", "#12345", "bold #zzz"])("says that %j is none", (words) => {
    expect(lookOf(words, "full")).toBeUndefined();
  });

  it("says which style there is not, and shows none where there are no colours", () => {
    const { faults } = withColors({ plus: "red" }, "full");
    expect(faults).toEqual(["ui.colors.plus: red"]);
    expect(withColors({ added: "red" }, "none").theme).toEqual({});
  });
});
