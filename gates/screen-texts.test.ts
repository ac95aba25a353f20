import { describe, expect, it } from "vitest";
import { readRepositoryFiles } from "./repository-files.ts";
import { checkScreenTexts } from "./screen-texts.ts";

const EN = 'export const en = {\n  "a.one": "One {count}",\n  "a.two": "Two",\n};\n';

describe("texts of the screen", () => {
  it("are in the locales, all of them in each", () => {
    const { looked, violations } = checkScreenTexts(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(20);
  });

  it.each([
    ['{\n  "a.one": "Eins {count}"\n}\n', "has no text for a.two"],
    ['{\n  "a.one": "Eins",\n  "a.two": "Zwei"\n}\n', "does not have the values"],
    ['{\n  "a.one": "1 {count}",\n  "a.two": "2",\n  "a.b": "3"\n}\n', "has a text for a.b"],
    ['{\n  "a.one": "1 {count}",\n  "a.two": "2",\n  "aB.c.d": "3"\n}\n', "has a text for aB.c.d"],
  ])("finds what a locale lacks", (text, found) => {
    const files = new Map([
      ["packages/cli/src/locales/en.ts", EN],
      ["packages/cli/src/locales/de.json", text],
    ]);
    expect(checkScreenTexts(files).violations).toEqual([expect.stringContaining(found)]);
  });

  it("finds a text outside of them", () => {
    const files = new Map([
      ["packages/cli/src/ui/panel.ts", '// a comment of words\nconst title = "Press any key";\n'],
    ]);
    expect(checkScreenTexts(files).violations).toHaveLength(1);
  });
});
