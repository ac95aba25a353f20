import { describe, expect, it } from "vitest";
import { checkLineBudgets, checkSmallFiles } from "./budgets.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const WEB = "packages/web/src";
const lines = (count: number) => "// line\n".repeat(count);

describe("lines of each package", () => {
  it("keep within the budgets, and the budgets near the lines", () => {
    const { looked, violations } = checkLineBudgets(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it.each([
    [
      "more lines than the budget",
      lines(101),
      "packages/web has 101 lines: more than the 100 of gates/budgets.ts",
    ],
    ["far fewer lines", lines(97), "packages/web has 97 lines: lower the 100 of gates/budgets.ts to that"],
    ["no lines any more", "", "packages/web has 0 lines: lower the 100 of gates/budgets.ts to that"],
  ])("find %s", (_what, text, fault) => {
    expect(checkLineBudgets(new Map([[`${WEB}/a.ts`, text]]), { web: 100 }).violations).toEqual([fault]);
  });

  it("let a package be a little smaller, and count no tests", () => {
    const files = new Map([
      [`${WEB}/a.ts`, lines(98)],
      [`${WEB}/a.test.ts`, lines(50)],
      ["packages/web/tests/b.ts", lines(50)],
    ]);
    expect(checkLineBudgets(files, { web: 100 })).toEqual({ looked: 1, violations: [] });
  });

  it("find a package without a budget", () => {
    expect(checkLineBudgets(new Map([[`${WEB}/a.ts`, "a\n"]]), {}).violations).toEqual([
      "packages/web has 1 lines: it has no number in gates/budgets.ts",
    ]);
  });
});

describe("small files with one importer", () => {
  const small = (from: string, path = `${WEB}/one.ts`) =>
    new Map([
      [`${WEB}/small.ts`, lines(39)],
      [path, from],
    ]);

  it("become fewer", () => {
    const { looked, violations } = checkSmallFiles(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it.each([
    ["a relative import", small('import "./small.ts";')],
    ["two imports of one file", small('import "./small.ts";\nexport type { A } from "./small.ts";')],
  ])("are found by %s", (_how, files) => {
    const { violations } = checkSmallFiles(files, 0);
    expect(violations).toHaveLength(2);
    expect(violations[0]).toContain("1 files of fewer than 40 lines have one importer, more than the 0");
    expect(violations[1]).toContain(`${WEB}/small.ts has 39 lines and only packages/`);
  });

  it("are fine where they are loaded late, have two importers, are for others, or are not small", () => {
    expect(checkSmallFiles(small('export const late = () => import("./small.ts");'), 0).violations).toEqual(
      [],
    );
    const named = small('import "@burin/web/small";', "packages/mcp/src/one.ts");
    expect(checkSmallFiles(named, 0).violations).toEqual([]);
    expect(checkSmallFiles(small('export * from "./small.ts";', `${WEB}/index.ts`), 0).violations).toEqual(
      [],
    );
    const two = new Map([...small('import "./small.ts";'), [`${WEB}/two.ts`, 'import "./small.ts";']]);
    expect(checkSmallFiles(two, 0).violations).toEqual([]);
    const large = new Map([...small('import "./small.ts";'), [`${WEB}/small.ts`, lines(40)]]);
    expect(checkSmallFiles(large, 0).violations).toEqual([]);
  });

  it("may not be fewer than their number says for long", () => {
    expect(checkSmallFiles(small('import "./small.ts";'), 5).violations).toEqual([
      "1 files of fewer than 40 lines have one importer: lower the 5 of gates/budgets.ts to that",
    ]);
  });
});
