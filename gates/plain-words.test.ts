import { describe, expect, it } from "vitest";
import { checkPlainWords, STRANGE_WORDS } from "./plain-words.ts";
import { readRepositoryFiles } from "./repository-files.ts";

describe("plain words", () => {
  it("are all that users and models read", () => {
    const { looked, violations } = checkPlainWords(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(300);
  });

  it.each(STRANGE_WORDS.map(({ found }) => found))("finds: %s", (found) => {
    const code = new Map([["packages/core/src/a.ts", `/** x\n * ${found} */\nconst text = "${found}";\n`]]);
    expect([...checkPlainWords(code).violations].sort()).toEqual([
      expect.stringContaining("packages/core/src/a.ts:1"),
      expect.stringContaining("packages/core/src/a.ts:3"),
    ]);
    const page = new Map([["docs/a.md", `# A\n\n${found}\n`]]);
    expect(checkPlainWords(page).violations).toEqual([expect.stringContaining("docs/a.md:3")]);
  });
});
