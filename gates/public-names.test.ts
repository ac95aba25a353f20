import { describe, expect, it } from "vitest";
import { checkPublicNames, NAMES_FILE, publicComments } from "./public-names.ts";
import { readRepositoryFiles } from "./repository-files.ts";

describe("the names of the library", () => {
  it("are those that the file lists", () => {
    const { looked, violations } = checkPublicNames(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(100);
  });

  it("cannot come or go without the file", () => {
    const code = 'export { type One, two as three } from "./a.ts";\nexport * from "@burin/testing";\n';
    const files = new Map([
      ["packages/testing/package.json", '{ "exports": { ".": { "@burin/source": "./src/index.ts" } } }'],
      ["packages/core/src/index.ts", code],
      ["packages/testing/src/index.ts", "export function four() {}\nexport interface Five {}\n"],
      [NAMES_FILE, "@burin/core four\n@burin/core type Five\n@burin/core gone\n"],
    ]);
    expect(checkPublicNames(files).violations).toEqual([
      expect.stringContaining('does not list "@burin/core three"'),
      expect.stringContaining('does not list "@burin/core type One"'),
      expect.stringContaining('lists "@burin/core gone"'),
    ]);
  });

  it("are at most 70 on the main door, those of an earlier version aside", () => {
    const list = (from: number, max: number) =>
      Array.from({ length: max }, (_, index) => `name${from + index}`).join(", ");
    const files = (max: number) =>
      new Map([
        [
          "packages/core/src/index.ts",
          `export { ${list(0, max)} } from "./a.ts";\nexport * from "./old-names.ts";\n`,
        ],
        ["packages/core/src/old-names.ts", `export { ${list(100, 20)} } from "./a.ts";\n`],
      ]);
    const faults = (max: number) =>
      checkPublicNames(files(max)).violations.filter((line) => line.includes("more than"));
    expect(faults(70)).toEqual([]);
    expect(faults(71)).toEqual(["packages/core/src/index.ts:1 has 71 names, more than 70"]);
  });

  it("do not count what is internal, which no page or example may show", () => {
    const example = 'import { x } from "@burin/core/internal";\n';
    const faultsOf = (path: string, text: string) =>
      checkPublicNames(new Map([[path, text]])).violations.filter((line) => line.startsWith(path));
    for (const path of ["docs/library.md", "README.md", "packages/core/README.md", "examples/a/b.mjs"])
      expect(faultsOf(path, example)).toEqual([
        `${path}:1 shows @burin/core/internal, which only Burin may use`,
      ]);
    expect(faultsOf("docs/library.md", "Leave `@burin/core/internal` alone.\n")).toEqual([]);
    expect(faultsOf("packages/cli/src/a.ts", example)).toEqual([]);
  });
});

describe("the comments of the library", () => {
  it("say of each name what it is, and of each option what it does", () => {
    const { looked, violations } = publicComments(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(100);
  });

  it("are missed where there is none, or one that says nothing", () => {
    const declared = [
      "/** Opens what the options name. */\nexport function open() {}",
      "export function close() {}",
      "/** The options. */\nexport interface BoxOptions {\n  /** The folder of all work. */\n  root: string;\n  size: number;\n}",
      "/** Of a line alone, not of documentation. */\n\nexport type Two = 2;",
      "// Not for editors, who read it.\nexport const three = 3;",
    ].join("\n");
    const code = 'export { close, open, three, type BoxOptions, type Two as Second } from "./a.ts";\n';
    const files = new Map([
      ["packages/core/src/index.ts", code],
      ["packages/core/src/a.ts", declared],
    ]);
    expect(publicComments(files).violations.map((line) => line.replace(/^.* what (\S+) is.*/, "$1"))).toEqual(
      ["close", "three", "BoxOptions", "BoxOptions.size"],
    );
  });
});
