import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import { parseSearchPattern } from "@burin/contract/patterns/search-dialect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTree, ENGINES, flattenHits, removeTrees, searchTree } from "../../tests/searched-tree.ts";
import { createGitGrep, createSystemGrep } from "./engine.ts";
import { createRipgrep } from "./ripgrep.ts";

const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);

/** Lines that tell the dialects of the engines apart. */
const LINES = [
  "function myFunction(a, b) {",
  "  return a + b; // sum of 12 and 345",
  "const re = /^\\d+$/;",
  "foo.bar foo-bar foo_bar fooXbar",
  "tab\there and\ttwo",
  "a|b (c) [d] {e} ^f $g *h ?i +j \\k",
  "ALL CAPS and MixedCase",
  "naïve café ÉTÉ straße",
  "中文字符 and 日本語 한국어",
  "emoji 😀 done",
  "",
  "   ",
  "trailing blanks   ",
  "x".repeat(3000),
  "quote \" and ' and `",
  "email: someone@example.org, 2024-01-31T10:20:30Z",
  "aaa aaaa aaaaa",
  "if (x == 1 && y != 2) { z <= 3; }",
  '<div class="a b">text</div>',
  "C:\\path\\to\\file and /usr/local/bin",
  "#hash -dash --double =equals",
  "non\u00a0breaking and\u3000wide space",
];

const FILES: Record<string, string | Buffer> = {
  "a.txt": `${LINES.join("\n")}\n`,
  "b/windows.txt": LINES.join("\r\n"),
  "b/mark.txt": `\ufeff${LINES.join("\n")}`,
  "b/wide.txt": utf16(`${LINES.join("\n")}\n`),
  "b/binary.bin": Buffer.from(`\0${LINES.join("\n")}`),
  "b/late.txt": `${"word word\n".repeat(2000)}${LINES.join("\n")}\0${LINES.join("\n")}`,
  "c/gbk.txt": Buffer.from([0xd6, 0xd0, 0xce, 0xc4, 0xd7, 0xd6, 0xb7, 0xfb, 0x20, 0x61, 0x31, 0x0a]),
  "c/latin.txt": Buffer.from("un caf\xe9 \xe0 la carte\nfoo.bar\n", "latin1"),
  "c/empty.txt": "",
  "c/one-line": "foo.bar without end",
  "d e/odd 'name'.txt": "foo.bar 12\n",
  "-dash.txt": "foo.bar 12\n",
  "日本.txt": "foo.bar 日本語\n",
  ".hidden/x.txt": "foo.bar hidden\n",
  "node_modules/m.txt": "foo.bar module\n",
  "skip.log": "foo.bar ignored\n",
  ".gitignore": "*.log\n",
};

/** Separated by three blanks or a line end. */
const PATTERNS = String.raw`
foo   foo.bar   foo\.bar   ^foo   bar$   ^foo.bar$   ^$   ^\s*$   ^\s+$   \d   \d+   \d{3}   \d{2,}
[0-9]+   \bfoo\b   \Bbar   \w+\s*\(   \w+@\w+\.org   \s\s   \S+$   \t   a|b   cat|caf.
(foo|sum).(bar|of)   (?:foo)+   (foo)(?:\.|-)bar   a{3}   a{4,}   a{2,3}b?   a+?   x{100}   x+$
[^a-z]+$   [A-Z]{3}   [\w.]+@[\w.]+   [\]\[]   [^\s\w]   [-a]b   [a\-z]ash   [.]bar   \|b   \(c\)
\[d\]   \{e\}   \^f   \$g   \*h   \?i   \+j   \\k   \\path\\   /usr/(local|bin)   caf\u00e9   été
ÉTÉ   STRASSE   straße   中文   日本語   [一-龥]+   😀   moji .   ^.{3}$   "   '   \x60   <div[^>]*>   &&
!=   <=   --double   -dash   =equals   2024-\d\d-\d\dT   (?i)all caps   MIXEDcase   k   word word
non.breaking   and\swide   nosuchword   function|return|const   .*   e.*d   \x41ll   [[:upper:]]{3}
`
  .trim()
  .split(/ {3}|\n/);
const links = new Set<string>();

describe("search engines", () => {
  let root = "";
  beforeAll(() => {
    root = createTree(FILES);
    execFileSync("git", ["init", "-q"], { cwd: root });
  });
  afterAll(removeTrees);

  it("R83 each program is there, takes the pattern, and proposes no more than it must", async () => {
    const pattern = parseSearchPattern("wide[.]bar|foo\\.bar", { caseSensitive: true, fixed: false });
    const { signal } = new AbortController();
    const inC = ["empty.txt", "gbk.txt", "latin.txt", "one-line"];
    const files = ["-dash.txt", "a.txt", ...inC.map((name) => `c/${name}`), "d e/odd 'name'.txt"];
    const stretches = (isWhole: boolean) => [
      { folder: "", names: files.slice(0, 2), links, isWhole },
      { folder: "c/", names: inC, links, isWhole },
      { folder: "d e/", names: ["odd 'name'.txt"], links, isWhole },
    ];
    for (const make of [createRipgrep, createGitGrep, createSystemGrep]) {
      const engine = make(pattern, { folder: root, environment: process.env, helpers: fileHelpers });
      for (const isWhole of [true, false]) {
        const names = await engine?.proposeFiles(stretches(isWhole), signal);
        expect([engine?.name, files.filter((file) => names?.has(file))]).toEqual([
          engine?.name,
          ["-dash.txt", "a.txt", "c/latin.txt", "c/one-line", "d e/odd 'name'.txt"],
        ]);
      }
    }
  });

  it("P19 P21 git searches files, and reads no settings of a repository, which may never end", async () => {
    const place = createTree({ "a.txt": "hello\n" });
    execFileSync("git", ["init", "-q"], { cwd: place });
    rmSync(join(place, ".git/config"));
    execFileSync("mkfifo", [join(place, ".git/config")]);
    const pattern = parseSearchPattern("hello", { caseSensitive: true, fixed: false });
    const engine = createGitGrep(pattern, { folder: place, environment: process.env, helpers: fileHelpers });
    const stretches = [{ folder: "", names: ["a.txt"], links, isWhole: true }];
    const { signal } = new AbortController();
    expect([...((await engine?.proposeFiles(stretches, signal)) ?? [])]).toEqual(["a.txt"]);
  });

  it.each(PATTERNS)("R83 all four give the same hits in the same order for %s", async (pattern) => {
    for (const caseSensitive of [false, true]) {
      const [first, ...others] = await Promise.all(
        ENGINES.map(async ([name, engines]) => [
          name,
          flattenHits(await searchTree(root, { pattern, caseSensitive }, engines)),
        ]),
      );
      for (const other of others) expect([other[0], other[1]]).toEqual([other[0], first?.[1]]);
    }
  });

  it.each(ENGINES)("R83 %s takes fixed text literally", async (_name, engines) => {
    const found = flattenHits(
      await searchTree(root, { pattern: "a|b (c) [d]", fixed: true, include: ["a.txt"] }, engines),
    );
    expect(found).toEqual(["a.txt:6:a|b (c) [d] {e} ^f $g *h ?i +j \\k"]);
  });

  it.each(ENGINES)(
    "R84 R85 %s: files by path, lines ascending and verbatim; binaries, links, ignored left out",
    async (_name, engines) => {
      const found = flattenHits(await searchTree(root, { pattern: "foo\\.bar" }, engines));
      const line = "foo.bar foo-bar foo_bar fooXbar";
      expect(found).toEqual([
        "-dash.txt:1:foo.bar 12",
        ".hidden/x.txt:1:foo.bar hidden",
        `a.txt:4:${line}`,
        `b/late.txt:2004:${line}`,
        `b/late.txt:2025:${line}`,
        `b/mark.txt:4:${line}`,
        `b/wide.txt:4:${line}`,
        `b/windows.txt:4:${line}`,
        "c/latin.txt:2:foo.bar",
        "c/one-line:1:foo.bar without end",
        "d e/odd 'name'.txt:1:foo.bar 12",
        "日本.txt:1:foo.bar 日本語",
      ]);
    },
  );

  it.each(ENGINES)("R83 %s finds text of other encodings", async (_name, engines) => {
    expect(flattenHits(await searchTree(root, { pattern: "中文字符", include: ["c/*"] }, engines))).toEqual([
      "c/gbk.txt:1:中文字符 a1",
    ]);
    expect(flattenHits(await searchTree(root, { pattern: "caf.\\b", include: ["c/*"] }, engines))).toEqual(
      [],
    );
    expect(flattenHits(await searchTree(root, { pattern: "CAFÉ", include: ["c/*"] }, engines))).toEqual([
      "c/latin.txt:1:un café à la carte",
    ]);
  });
});
