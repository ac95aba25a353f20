import { describe, expect, it } from "vitest";
import { Automaton } from "./automaton.ts";
import { createGlobExcluder, createGlobMatcher, parseGlob } from "./glob-pattern.ts";
import { PatternError } from "./pattern.ts";

const MATCHES: readonly [string, string][] = [
  ["*.ts", "a.ts"],
  ["*.ts", "src/deep/a.ts"],
  ["*.ts", ".hidden.ts"],
  ["src/*.ts", "src/a.ts"],
  ["src/**", "src"],
  ["src/**", "src/a/b"],
  ["**", "a/b/c"],
  ["**/*.ts", "a.ts"],
  ["**/*.ts", "x/y/a.ts"],
  ["src/**/*.{ts,tsx}", "src/a.tsx"],
  ["src/**/*.{ts,tsx}", "src/x/a.ts"],
  ["src/**/test/**/*.js", "src/test/a.js"],
  ["a/**/**/b", "a/b"],
  ["file?.txt", "file1.txt"],
  ["[ab].txt", "b.txt"],
  ["[!ab].txt", "c.txt"],
  ["[^ab].txt", "c.txt"],
  ["[[:digit:]].txt", "7.txt"],
  ["{a,b/**}/c.js", "b/x/c.js"],
  ["{a,{b,c}}.md", "c.md"],
  ["\\[a\\].md", "[a].md"],
  ["[a.md", "[a.md"],
  ["a{b.md", "a{b.md"],
  ["{a}.md", "{a}.md"],
  ["./src/*.ts", "src/a.ts"],
  ["mcp__*", "mcp__x"],
  ["日本*.txt", "日本語.txt"],
  ["!*.ts", "a.js"],
  ["src/", "src/a/b"],
  ["src/", "src"],
  ["[a-c].txt", "b.txt"],
  ["[a-].txt", "-.txt"],
  ["[]a].txt", "].txt"],
  ["[\\]a].txt", "].txt"],
  ["[a\\-c].txt", "-.txt"],
  ["[a-\\c].txt", "b.txt"],
  ["{a,b\\}}.md", "b}.md"],
  ["a\\", "a\\"],
];

const REFUSES: readonly [string, string][] = [
  ["*.ts", "a.tsx"],
  ["src/*.ts", "src/x/a.ts"],
  ["src/**/*.ts", "srcs/a.ts"],
  ["file?.txt", "file.txt"],
  ["a/*", "a/b/c"],
  ["[ab].txt", "c.txt"],
  ["[!/]x", "/x"],
  ["*.TS", "a.ts"],
  ["a/**", "b/a"],
  ["src/", "x/src/a"],
  ["src/", "srcs/a"],
  ["!*.ts", "a.ts"],
  ["[a-c].txt", "d.txt"],
  ["[c-a].txt", "b.txt"],
  ["[a\\-c].txt", "b.txt"],
  ["[[:none:]].txt", "n.txt"],
];

describe("globs", () => {
  it.each(MATCHES)("R81 %s matches %s", (pattern, path) => {
    expect(createGlobMatcher(pattern, { caseSensitive: true })(path)).toBe(true);
  });

  it.each(REFUSES)("R81 %s does not match %s", (pattern, path) => {
    expect(createGlobMatcher(pattern, { caseSensitive: true })(path)).toBe(false);
  });

  it("R73 ignores letter case when asked to", () => {
    expect(createGlobMatcher("*.TS", { caseSensitive: false })("a.ts")).toBe(true);
  });

  it("P18 a glob that explodes in a backtracking engine answers at once", () => {
    const matches = createGlobMatcher(`${"*a".repeat(50)}b`, { caseSensitive: true });
    expect(matches("a".repeat(250))).toBe(false);
  });

  it("P18 brackets that nothing closes are looked at once, in a glob and in a line of an ignore file", () => {
    const brackets = "[".repeat(4096);
    for (let time = 0; time < 20; time += 1) {
      expect(createGlobMatcher(brackets, { caseSensitive: true })(brackets)).toBe(true);
      const line = parseGlob(`${brackets.slice(2)}\\]`, { caseSensitive: true, groups: false });
      expect(new Automaton(line, { whole: true }).matches(brackets)).toBe(false);
    }
  });

  it.each([
    ["build", "a/build/b", true],
    ["build", "/build/b", true],
    ["build", "a/builds/b", false],
    ["a/b", "a/b/c/d", true],
    ["a/b", "a/bc", false],
    ["*.d/*", "x.d/y/z", true],
    ["!a", "a/b", true],
    ["!a", "b/a", false],
  ])("R73 P18 %s covers %s with all folders above it: %s", (pattern, path, isCovered) => {
    const covers = createGlobExcluder(pattern, { caseSensitive: true });
    expect(covers(path)).toBe(isCovered);
    // Guards against a slow version that matched each folder of a long path again from its start.
    expect(covers(`${"x/".repeat(100_000)}${path}`)).toBe(isCovered && !/^(?:a|\*\.d)\//.test(pattern));
  });

  it("P18 a brace bomb is refused", () => {
    const bomb = `${"{a,b,c,d,e,f,g,h,i,j}".repeat(120)}`;
    expect(() => createGlobMatcher(bomb, { caseSensitive: true })).toThrow(PatternError);
    expect(() => createGlobMatcher("a".repeat(5000), { caseSensitive: true })).toThrow("longer than 4096");
    const nest = `${"{a,".repeat(21)}a${"}".repeat(21)}`;
    expect(() => createGlobMatcher(nest, { caseSensitive: true })).toThrow("nested too deeply");
  });

  it.each(["@(a|b).md", "+(a|b).md", "?(a|b)", "*(a|b)c", "!(a)", "x{1..3}.txt", "{a..c}"])(
    "R81 %s, which only some shells know, is refused with what to write instead",
    (pattern) => {
      expect(() => createGlobMatcher(pattern, { caseSensitive: true })).toThrow(
        "write alternatives as {a,b}",
      );
    },
  );

  it.each([
    ["+page@(app).svelte", "src/+page@(app).svelte"],
    ["*(1).txt", "copy (1).txt"],
    ["\\@(a|b)", "@(a|b)"],
    ["a\\{1..3}", "a{1..3}"],
    ["{a..foo}", "{a..foo}"],
  ])("R81 %s, which names a file, matches %s", (pattern, path) => {
    expect(createGlobMatcher(pattern, { caseSensitive: true })(path)).toBe(true);
  });

  it.each([
    ["dist", "dist/a/b.js", true],
    ["dist", "x/dist/b.js", true],
    ["a/dist/", "a/dist/b.js", true],
    ["*.js", "src/a.js", true],
    ["dist", "src/dist.js", false],
    ["!*.js", "src/a.js", false],
    ["!*.js", "src/a.ts", true],
  ])("R81 leaving out %s takes along %s: %j", (pattern, path, isCovered) => {
    expect(createGlobExcluder(pattern, { caseSensitive: true })(path)).toBe(isCovered);
  });
});
