import { describe, expect, it } from "vitest";
import { checkNothingSwitchedOff } from "./no-switched-off.ts";
import { readRepositoryFiles } from "./repository-files.ts";

/** Words that this file must not contain are put together here. */
const AT = "@";
const DOT = ".";
const TEST_FAULT = "every test runs, finish it or delete it";

function faultsOf(text: string): readonly string[] {
  return checkNothingSwitchedOff(new Map([["bench/a.mjs", text]])).violations;
}

describe("nothing switched off", () => {
  it("holds in the repository", () => {
    const { looked, violations } = checkNothingSwitchedOff(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it.each([
    [`${"biome"}-ignore`, " lint/a/b: why", "write the code so that the rule holds"],
    [`${AT}ts-ignore`, "", "give the value its true type"],
    [`${AT}ts-expect-error`, " why", "give the value its true type"],
    [`${AT}ts-nocheck`, "", "give the value its true type"],
    [`${"TO"}DO`, ": later", "finish it, or open an issue"],
    [`${"FIX"}ME`, " later", "finish it, or open an issue"],
  ])("finds %s", (word, rest, instead) => {
    expect(faultsOf(`const a = 1;\n// ${word}${rest}\n`)).toEqual([
      `bench/a.mjs:2 has "${word}": ${instead}`,
    ]);
  });

  it.each(["skip(", "only(", "todo(", "fails(", "skip.each(", `concurrent${DOT}only(`])(
    "finds a test with %s",
    (call) => {
      const [found] = /^[\w.]*(?:skip|only|todo|fails)/.exec(call) ?? [];
      expect(faultsOf(`it${DOT}${call}"reads", () => {});`)).toEqual([
        `bench/a.mjs:1 has "it${DOT}${found}": ${TEST_FAULT}`,
      ]);
    },
  );

  it.each(["skip(", "only("])("finds a call of %s on whatever makes the tests", (call) => {
    expect(faultsOf(`flow${DOT}${call}"reads", () => {});`)).toEqual([
      `bench/a.mjs:1 has "${DOT}${call}": ${TEST_FAULT}`,
    ]);
  });

  it.each(["skip", "only", "todo"])("finds the option %s", (name) => {
    expect(faultsOf(`it("reads", { ${name}: true }, () => {});`)).toEqual([
      `bench/a.mjs:1 has "${name}: true": say which program the test needs: needs.ts`,
    ]);
  });

  it("lets todoWrite, TodoList and prose be", () => {
    expect(faultsOf("const todoWrite = new TodoList();\n// only this, skip (nothing) else\n")).toEqual([]);
  });
});
