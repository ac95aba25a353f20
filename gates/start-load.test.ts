import { describe, expect, it } from "vitest";
import { loadOfStart } from "../build.mjs";
import { checkStartLoad, type StartLoad } from "./start-load.ts";

const LIGHT: StartLoad = {
  modules: ["packages/cli/src/start.ts", "node_modules/fastest-levenshtein/esm/mod.js"],
  builtins: ["node:path"],
  importedBuiltins: [],
  bytes: 1000,
  files: 50,
};

describe("what a start loads", () => {
  it("P45 is little, and nothing of the network or a screen is among it", async () => {
    const load = await loadOfStart();
    expect(checkStartLoad(load).violations).toEqual([]);
    expect(load.modules).toContain("packages/cli/src/start.ts");
    expect(load.modules).toContain("packages/core/src/tools/edit.ts");
    expect(load.bytes).toBeGreaterThan(50_000);
  });

  it("may be light", () => {
    expect(checkStartLoad(LIGHT)).toEqual({ looked: 2, violations: [] });
  });

  it.each<[Partial<StartLoad>, string]>([
    [{ files: 52 }, "the command line has 51 late chunks, more than 50: build-moments.mjs"],
    [{ modules: ["node_modules/diff/libesm/index.js"] }, "would load node_modules/diff/libesm/index.js"],
    [
      { modules: ["packages/edit-match/src/edit-match.ts"] },
      "would load packages/edit-match/src/edit-match.ts",
    ],
    [{ builtins: ["node:fs", "node:crypto"] }, "would load node:crypto"],
    [{ importedBuiltins: ["node:crypto"] }, 'could not import("node:crypto")'],
    [{ bytes: 1_000_000 }, "a start loads 1000000 bytes"],
  ])("finds %j", (fault, text) => {
    const { violations } = checkStartLoad({ ...LIGHT, ...fault });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(text);
  });
});
