import { describe, expect, it } from "vitest";
import { checkProofs } from "./proofs.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const LIST =
  "- **R1** a\n- **R7** b\n- **R9** c\n- **R57** d\n- **R99** e\n- **X16** f\n- **P55** g\n- **P56**\n";

function faultsOf(text: string): readonly string[] {
  const files = new Map([
    ["docs/requirements.md", LIST],
    ["a.test.ts", text],
  ]);
  return checkProofs(files).violations;
}

describe("numbers in test titles", () => {
  it("exist, everywhere in the repository", () => {
    const { looked, violations } = checkProofs(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it.each([
    "R1 reads",
    "R99 reads",
    "X16, P55 and R7 read",
    "R1-R9 the contract",
    "reads 2000 lines",
    "UTF-8 text",
  ])("may be as in: %s", (title) => {
    expect(faultsOf(`it(${JSON.stringify(title)}, () => {});`)).toEqual([]);
  });

  it.each([
    ["R0 reads", "R0"],
    ["R100 reads", "R100"],
    ["X17 reads", "X17"],
    ["P56: reads", "P56"],
    ["R057 reads", "R057"],
    ["r57 reads", "r57"],
    ["R-57 reads", "R-57"],
    ["R 57 reads", "R 57"],
    ["Q3 reads", "Q3"],
    ["57 reads", "57"],
    ["R57, X99 reads", "X99"],
    ["reads (P70)", "P70"],
  ])("are found when wrong: %s", (title, number) => {
    expect(faultsOf(`\nit(${JSON.stringify(title)}, () => {});`)).toEqual([
      `a.test.ts:2 "${number}" in "${title}" is not in docs/requirements.md`,
    ]);
  });

  it.each([
    'describe("R100 x", () => {});',
    'test.concurrent("R100 x", () => {});',
    'it.each([1])("R100 x", () => {});',
    "it.each`a`(`R100 x`, () => {});",
    'describe.skipIf(true)("R100 x", () => {});',
    'describe("R1", () => { it("R100 x", () => {}); });',
  ])("are found in every form of a test: %s", (text) => {
    expect(faultsOf(text)).toEqual(['a.test.ts:1 "R100" in "R100 x" is not in docs/requirements.md']);
  });

  it("are not looked for elsewhere", () => {
    expect(faultsOf('read("R100 x"); // it("R100")')).toEqual([]);
    expect(checkProofs(new Map([["a.ts", 'it("R100", () => {});']])).looked).toBe(0);
  });
});
