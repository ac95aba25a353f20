import { describe, expect, it } from "vitest";
import { readRepositoryFiles } from "./repository-files.ts";
import { checkEnvironmentReads, checkSharedState } from "./shared-state.ts";

const PATH = "packages/core/src/agent/agent.ts";

function namesIn(text: string): readonly string[] {
  return checkSharedState(new Map([[PATH, text]]), 1).violations.filter((one) => one.startsWith(PATH));
}

describe("state of modules", () => {
  it("is little, and says why sessions may share it", () => {
    const { looked, violations } = checkSharedState(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(300);
  });

  it.each([
    "let count = 0;",
    "export let count = 0;",
    "const known = new Map<string, number>();",
    "const seen: string[] = [];\nexport const see = (one: string) => seen.push(one);",
    "const named = new KeptAnswers<readonly string[]>();",
    'const known = new Map([["a", 1]]);\nexport const add = () => known.set("b", 2);',
    "export const look = { isSpoken: false };\nexport const speak = () => {\n  look.isSpoken = true;\n};",
  ])("is found: %s", (text) => {
    expect(namesIn(text)).toHaveLength(1);
    expect(namesIn(`/** Shared by sessions: it is the same for all of them. */\n${text}`)).toEqual([]);
  });

  it.each([
    'const NAMES = new Set(["a", "b"]);',
    "const sizes = new WeakMap<object, number>();",
    "const EMPTY = { a: 1 };\nexport const isA = (one: number) => EMPTY.a === one;",
    "export function count() {\n  let at = 0;\n  return at++;\n}",
    "const widthOf = cachedBy((text: string) => text.length);",
  ])("is not: %s", (text) => {
    expect(namesIn(text)).toEqual([]);
  });

  it("only becomes less", () => {
    const files = new Map([[PATH, "// Shared by sessions: it counts the process's own clock.\nlet a = 0;"]]);
    expect(checkSharedState(files, 1).violations).toEqual([]);
    expect(checkSharedState(files, 0).violations).toHaveLength(1);
    expect(checkSharedState(files, 4).violations).toEqual(["gates/shared-state.ts:1 lower the 4 to 1"]);
  });
});

describe("the environment", () => {
  it("is read at the doors alone", () => {
    const { looked, violations } = checkEnvironmentReads(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(200);
  });

  it.each(["const { PATH } = process.env;", "const path = process.env.PATH;", "const { env } = process;"])(
    "is found below: %s",
    (text) => {
      const { violations } = checkEnvironmentReads(new Map([[PATH, text]]));
      expect(violations).toEqual([`${PATH}:1 reads process.env: take the environment from the caller`]);
    },
  );

  it("is no matter of faces and doors", () => {
    const text = "const { PATH } = process.env;";
    const files = ["packages/cli/src/main.ts", "packages/core/src/assembly/home.ts"].map(
      (path) => [path, text] as const,
    );
    expect(checkEnvironmentReads(new Map(files)).violations).toEqual([]);
  });
});
