import { describe, expect, it } from "vitest";
import { isPlainName, LEFT_FILE, plainNames } from "./plain-names.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const PATH = "packages/core/src/agent/agent.ts";

describe("plain names", () => {
  it("are those of all functions, except for a list that only shrinks", () => {
    const { looked, violations } = plainNames(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(300);
  });

  it.each(["told", "shown", "chosen", "shortened", "hunksIn", "fieldsOf", "pageFrom", "roomFor"])(
    "are not: %s",
    (name) => {
      const forms = [
        `function ${name}() {}`,
        `export async function ${name}() {}`,
        `const ${name} = () => 1;`,
        `class A { ${name}() {} }`,
        `class A { #${name}() {} }`,
        `function a() { const ${name} = function () {}; }`,
      ];
      for (const form of forms) {
        const { violations } = plainNames(new Map([[PATH, `\n${form}\n`]]));
        expect(violations).toEqual([`${PATH}:2 names a function "${name}": use a verb and its object`]);
        expect(
          plainNames(
            new Map([
              [PATH, form],
              [LEFT_FILE, `core ${name}\n`],
            ]),
          ).violations,
        ).toEqual([]);
        const other = "packages/cli/src/a.ts";
        expect(
          plainNames(
            new Map([
              [other, form],
              [LEFT_FILE, `cli ${name}\n`],
            ]),
          ).violations,
        ).toEqual([]);
      }
    },
  );

  it.each([
    "readReply",
    "findHunks",
    "isWithin",
    "waitFor",
    "startsWith",
    "need",
    "read",
    "split",
    "proof",
    "Of",
  ])("are: %s", (name) => {
    expect(isPlainName(name)).toBe(true);
  });

  it("leave the list when they are gone", () => {
    const files = new Map([
      [PATH, "const told = 1;"],
      [LEFT_FILE, "core told\n"],
    ]);
    expect(plainNames(files).violations).toEqual([
      `${LEFT_FILE}:1 lists "core told", which is gone: remove the line`,
    ]);
  });
});
