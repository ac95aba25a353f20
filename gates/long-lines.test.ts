import { describe, expect, it } from "vitest";
import { checkLongLines } from "./long-lines.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const PATH = "packages/core/src/agent/agent.ts";

describe("long lines", () => {
  it("do not occur", () => {
    const { looked, violations } = checkLongLines(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(300);
  });

  it("are found", () => {
    const files = new Map([[PATH, `const a = 1;\nconst b = "${"x".repeat(150)}";`]]);
    expect(checkLongLines(files).violations).toEqual([`${PATH}:2 has 163 characters, more than 160`]);
  });
});
