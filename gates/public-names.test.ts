import { describe, expect, it } from "vitest";
import { NAMES_FILE, publicNames } from "./public-names.ts";
import { repositoryFiles } from "./repository-files.ts";

describe("the names of the library", () => {
  it("are those that the file lists", () => {
    const { looked, violations } = publicNames(repositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(100);
  });

  it("cannot come or go without the file", () => {
    const code = 'export { type One, two as three } from "./a.ts";\nexport * from "@burin/testing";\n';
    const files = new Map([
      ["packages/core/src/index.ts", code],
      ["packages/testing/src/index.ts", "export function four() {}\nexport interface Five {}\n"],
      [NAMES_FILE, "@burin/core four\n@burin/core type Five\n@burin/core gone\n"],
    ]);
    expect(publicNames(files).violations).toEqual([
      expect.stringContaining('does not list "@burin/core three"'),
      expect.stringContaining('does not list "@burin/core type One"'),
      expect.stringContaining('lists "@burin/core gone"'),
    ]);
  });
});
