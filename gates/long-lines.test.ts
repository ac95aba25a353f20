import { describe, expect, it } from "vitest";
import { checkLongLines } from "./long-lines.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const PATH = "packages/core/src/agent/agent.ts";

describe("long lines", () => {
  it("become fewer", () => {
    const { looked, violations } = checkLongLines(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(300);
  });

  it("are found, and their number only falls", () => {
    const files = new Map([[PATH, `const a = 1;\nconst b = "${"x".repeat(150)}";`]]);
    expect(checkLongLines(files, 0).violations).toEqual([
      "1 lines have more than 160 characters, more than the 0 of gates/long-lines.ts",
      `${PATH}:2 has 163 characters`,
    ]);
    expect(checkLongLines(files, 1).violations).toEqual([]);
    expect(checkLongLines(files, 7).violations).toEqual(["gates/long-lines.ts:1 lower the 7 to 1"]);
  });
});
