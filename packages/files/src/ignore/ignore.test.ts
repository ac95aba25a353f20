import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { IgnoreRules } from "./ignore.ts";

const made: string[] = [];
const NO_SETTINGS = { ignoreFileNames: [], ignore: [] };
const ENVIRONMENT = { ...process.env };

/** A folder with these files; those whose name ends in `/` are folders. */
function tree(files: Readonly<Record<string, string>>): string {
  const root = createTemporaryFolder();
  made.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    if (name.endsWith("/")) mkdirSync(join(root, name), { recursive: true });
    else writeFileSync(join(root, name), text);
  }
  return root;
}

beforeEach(() => {
  process.env.GIT_CONFIG_GLOBAL = "/dev/null";
  process.env.XDG_CONFIG_HOME = join(tmpdir(), "burin-no-such-folder");
});

afterEach(() => {
  process.env = { ...ENVIRONMENT };
});

afterAll(() => {
  for (const root of made) rmSync(root, { recursive: true, force: true });
});

describe("ignore rules", () => {
  it("P39 mean the same when they stand behind fifty thousand others, of every kind", () => {
    const files = {
      "a.log": "",
      "src/b.tmp": "",
      "src/keep.tmp": "",
      "Debug/x": "",
      "c.ts": "",
      "deep/gen/q.c": "",
    };
    const rules = ["*.log", "src/*.tmp", "!src/keep*", "[Dd]ebug/", "**/gen/?.c"];
    const shown = (root: string) => {
      const known = new IgnoreRules([root], NO_SETTINGS);
      return Object.keys(files).filter(
        (name) =>
          known
            .readFolderRules(join(root, dirname(name)))
            .findVisibility(name.split("/").at(-1) ?? "", false) === "shown",
      );
    };
    const others = Array.from({ length: 10_000 }, (_, at) => [
      `word${at}`,
      `made-${at}-*.txt`,
      `some/folder-${at}/**/*.o`,
      `*part${at}?`,
      `[Xx]${at}-[a-z]`,
    ]).flat();
    const long = shown(tree({ ...files, ".git/": "", ".gitignore": [...others, ...rules].join("\n") }));
    expect(long).toEqual(shown(tree({ ...files, ".git/": "", ".gitignore": rules.join("\n") })));
    expect(long).toEqual(["src/keep.tmp", "c.ts"]);
  });

  it.each([
    [
      "as many patterns without a word of their own",
      Array.from({ length: 5000 }, (_, at) => `${"?".repeat(at % 250)}*[a-z${at}]`).join("\n"),
    ],
    ["more than 4 MB", "word\n".repeat(1_000_000)],
  ])("%s are refused by name, not followed in part", (_what, text) => {
    const root = tree({ ".git/": "", ".gitignore": text });
    expect(() => new IgnoreRules([root], NO_SETTINGS).readFolderRules(root)).toThrow(
      `${root}/.gitignore is not followed`,
    );
  });

  it.each([
    ["?", "é", "shown"],
    ["??", "é", "git"],
    ["[!a]", "é", "shown"],
    ["日*", "日本", "git"],
    ["a**/*", "ab", "git"],
    ["gen/a**/b", "gen/ax/y/b", "git"],
  ])(
    "P39 with the rule %s, %s is %s, as git compares bytes and leaves out a plain beginning",
    (rule, file, seen) => {
      const root = tree({ ".git/": "", ".gitignore": rule, [file]: "" });
      expect(new IgnoreRules([root], NO_SETTINGS).judgePath(join(root, file), false)).toBe(seen);
      execFileSync("git", ["init", "-q"], { cwd: root });
      const { status } = spawnSync("git", ["check-ignore", "--no-index", file], { cwd: root });
      expect(status).toBe(seen === "git" ? 0 : 1);
    },
  );

  it.each([
    ["build/\n*.LOG\nsrc/Out.txt\n[A-C]x", "true", "git"],
    ["build/\n*.LOG\nsrc/Out.txt\n[A-C]x", "false", "shown"],
  ])("P39 with the rules %j and core.ignoreCase=%s, names in another case are %s", (rules, lax, seen) => {
    const files = ["Build/a", "b.log", "src/out.txt", "bx"];
    const root = tree({ ".gitignore": rules, ...Object.fromEntries(files.map((file) => [file, ""])) });
    execFileSync("git", ["init", "-q"], { cwd: root });
    execFileSync("git", ["config", "core.ignoreCase", lax], { cwd: root });
    const ours = new IgnoreRules([root], NO_SETTINGS);
    for (const file of files) {
      const { status } = spawnSync("git", ["check-ignore", "--no-index", file], { cwd: root });
      expect([file, ours.judgePath(join(root, file), false), status]).toEqual([
        file,
        seen,
        lax === "true" ? 0 : 1,
      ]);
    }
  });

  it("P39 say the same as git for any rules and paths", () => {
    const segment = fc.constantFrom("a", "b", "ab", "a.log", ".x", "b c", "[a]", "build", "é", "日本");
    const piece = fc.constantFrom(
      "a",
      "b",
      "*",
      "?",
      "**",
      "*.log",
      "[ab]",
      "[!a]",
      "build",
      ".x",
      "a*",
      "*b",
      "\\a",
      "b c",
      "[a",
      "[]a]",
      "***",
      "a**b",
      "a**",
      "?é",
      "日?",
      "[!é]",
    );
    const glob = fc
      .tuple(
        fc.constantFrom("", "", "!", "/", "!/", "#", "\\!", " "),
        fc.array(piece, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("", "", "/", " ", "\\ ", "/**", "\r"),
      )
      .map(([head, pieces, tail]) => head + pieces.join("/") + tail);
    const rules = fc.array(glob, { maxLength: 4 }).map((lines) => lines.join("\n"));
    const paths = fc.uniqueArray(
      fc.array(segment, { minLength: 1, maxLength: 3 }).map((path) => path.join("/")),
      {
        minLength: 4,
        maxLength: 8,
      },
    );
    const root = tree({ ".git/": "" });
    execFileSync("git", ["init", "-q"], { cwd: root });
    fc.assert(
      fc.property(rules, rules, paths, (top, nested, all) => {
        for (const name of readdirSync(root)) {
          if (name !== ".git") rmSync(join(root, name), { recursive: true });
        }
        const files = all.filter(
          (path) => !all.some((other) => other.startsWith(`${path}/`)) && path !== "a",
        );
        mkdirSync(join(root, "a"));
        for (const file of files) {
          mkdirSync(dirname(join(root, file)), { recursive: true });
          writeFileSync(join(root, file), "");
        }
        writeFileSync(join(root, ".gitignore"), top);
        writeFileSync(join(root, "a/.gitignore"), nested);
        const output = spawnSync("git", ["check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"], {
          cwd: root,
          input: `${files.join("\0")}\0`,
        }).stdout.toString();
        const fields = output.split("\0");
        const ours = new IgnoreRules([root], NO_SETTINGS);
        for (const [index, file] of files.entries()) {
          const pattern = fields[index * 4 + 2] ?? "";
          const isIgnored = pattern !== "" && !pattern.startsWith("!");
          expect([file, ours.judgePath(join(root, file), false)]).toEqual([
            file,
            isIgnored ? "git" : "shown",
          ]);
        }
      }),
      { numRuns: 400 },
    );
  });
});
