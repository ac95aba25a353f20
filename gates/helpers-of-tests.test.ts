import { describe, expect, it } from "vitest";
import { checkTestHelpers } from "./helpers-of-tests.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const HEAD = 'import { beforeEach } from "vitest";\n';
const faultsOf = (path: string, text: string) => checkTestHelpers(new Map([[path, HEAD + text]])).violations;

describe("helpers of tests", () => {
  it("hold in the repository", () => {
    const { looked, violations } = checkTestHelpers(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it("may set up nothing when they are loaded", () => {
    const set = "let root = 1;\n\nbeforeEach(() => {\n  root = 2;\n});\n";
    expect(faultsOf("packages/core/tests/room.ts", set)).toEqual([
      "packages/core/tests/room.ts:4 sets up tests when it is loaded: export a function for each file of tests to call",
    ]);
  });

  it("may do so when a file of tests calls them, where each file has a process, and in tests", () => {
    const called = "export function makeRoom() {\n  beforeEach(() => {});\n}\n";
    expect(faultsOf("packages/core/tests/room.ts", called)).toEqual([]);
    expect(faultsOf("packages/cli/tests/room.ts", "beforeEach(() => {});\n")).toEqual([]);
    expect(faultsOf("packages/core/tests/a.test.ts", "beforeEach(() => {});\n")).toEqual([]);
  });
});
