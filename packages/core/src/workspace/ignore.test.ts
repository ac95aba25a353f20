import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { IgnoreRules } from "./ignore.ts";

const made: string[] = [];
const NO_SETTINGS = { ignoreFileNames: [], ignore: [] };
const ENVIRONMENT = { ...process.env };

/** A folder with these files; those whose name ends in `/` are folders. */
function tree(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "burin-ignore-")));
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
  it("P39 say the same as git for any rules and paths", () => {
    const segment = fc.constantFrom("a", "b", "ab", "a.log", ".x", "b c", "[a]", "build");
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
          expect([file, ours.visibility(join(root, file), false)]).toEqual([
            file,
            isIgnored ? "git" : "shown",
          ]);
        }
      }),
      { numRuns: 400 },
    );
  });
});
