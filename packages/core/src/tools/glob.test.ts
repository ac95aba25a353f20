import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { createToolbox } from "../create-session.ts";
import { Glob } from "./glob.ts";

/** Creates a folder with these files. Each value is the file's age in seconds. */
function tree(files: Readonly<Record<string, number>>): string {
  const root = createTemporaryFolder();
  for (const [name, age] of Object.entries(files)) {
    utimesSync(createFile(root, name, name), 1_700_000_000 - age, 1_700_000_000 - age);
  }
  return root;
}

async function glob(root: string, params: Record<string, unknown>): Promise<string> {
  const result = await createToolbox({ root }).call("glob", params);
  return String(result.llmContent);
}

/** Returns the names that were found, relative to the root. */
async function found(root: string, params: Record<string, unknown>): Promise<string[]> {
  const [head = "", ...lines] = (await glob(root, params)).split("\n");
  return head.startsWith("Found ") ? lines.map((line) => line.slice(root.length + 1)) : [];
}

describe("glob", () => {
  it("R75 R78 lists absolute paths of files, strictly newest first, ties by path", async () => {
    const root = tree({
      "b.ts": 5,
      "a.ts": 5,
      "src/new.ts": 1,
      "old.ts": 9_000_000,
      "c.js": 0,
      "older.ts": 90_000_000,
    });
    mkdirSync(join(root, "folder.ts"));
    expect(await glob(root, { pattern: "*.ts" })).toBe(
      [
        `Found 5 file(s) matching "*.ts" within ${root}, sorted by modification time (newest first):`,
        ...["src/new.ts", "a.ts", "b.ts", "old.ts", "older.ts"].map((name) => join(root, name)),
      ].join("\n"),
    );
  });

  it("R75 tells times apart that differ by less than a microsecond", async () => {
    const root = tree({ "a.ts": 0, "b.ts": 0 });
    utimesSync(join(root, "a.ts"), 1_700_000_000.0001, 1_700_000_000.0001);
    utimesSync(join(root, "b.ts"), 1_700_000_000.0002, 1_700_000_000.0002);
    expect(await found(root, { pattern: "*.ts" })).toEqual(["b.ts", "a.ts"]);
  });

  it("R72 X9 searches a relative or absolute path, echoed as given", async () => {
    const root = tree({ "src/a.ts": 0, "b.ts": 0 });
    const listed = `\n${join(root, "src/a.ts")}`;
    expect(await glob(root, { pattern: "*.ts", path: "src" })).toBe(
      `Found 1 file(s) matching "*.ts" within src, sorted by modification time (newest first):${listed}`,
    );
    expect(await found(root, { pattern: "**/*.ts", path: join(root, "src") })).toEqual(["src/a.ts"]);
    expect(await glob(root, { pattern: "*.x", path: "src" })).toBe(
      'No files found matching pattern "*.x" within src.',
    );
  });

  it("R71 a pattern may be absolute, start with ./, and must not leave its folder", async () => {
    const root = tree({ "src/a.ts": 0, "src/x/b.ts": 1, "c.ts": 2 });
    expect(await found(root, { pattern: `${root}/src/**/*.ts` })).toEqual(["src/a.ts", "src/x/b.ts"]);
    expect(await found(root, { pattern: "./*.ts" })).toEqual(["c.ts"]);
    expect(await found(root, { pattern: "src/*.{ts,js}" })).toEqual(["src/a.ts"]);
    expect(await found(root, { pattern: "**" })).toHaveLength(3);
    expect(await glob(root, { pattern: "../*" })).toContain("leaves its folder");
    expect(await glob(root, { pattern: "/etc/*" })).toContain("not inside");
    expect(await glob(root, { pattern: "*", path: "/etc" })).toContain("outside the root");
    expect(await glob(root, { pattern: "*", path: "nowhere" })).toContain("does not exist");
    expect(await glob(root, { pattern: "*", path: "c.ts" })).toContain("not a directory");
  });

  it("R71 an absolute pattern may come through a link, and the root may have special characters", async () => {
    const top = tree({ "a [b] {c,d}*/src/x.ts": 1, "a [b] {c,d}*/[id]/y.ts": 1 });
    const root = join(top, "a [b] {c,d}*");
    symlinkSync(root, join(top, "link"));
    for (const place of [root, join(top, "link")]) {
      const first = (pattern: string) =>
        glob(place, { pattern: join(place, pattern) }).then((text) => text.split("\n")[1]);
      expect(await first("src/*.ts")).toBe(join(root, "src/x.ts"));
      expect(await first("[id]/*.ts")).toBe(join(root, "[id]/y.ts"));
      expect(await first("**/x.ts")).toBe(join(root, "src/x.ts"));
    }
  });

  it("R73 ignores letter case unless asked not to", async () => {
    const root = tree({ "A.TS": 0, "b.ts": 1, "Src/c.ts": 2 });
    expect(await found(root, { pattern: "*.ts" })).toEqual(["A.TS", "b.ts", "Src/c.ts"]);
    expect(await found(root, { pattern: "*.ts", case_sensitive: true })).toEqual(["b.ts", "Src/c.ts"]);
    expect(await found(root, { pattern: "src/*.ts" })).toEqual(["Src/c.ts"]);
    expect(await found(root, { pattern: "src/*.ts", case_sensitive: true })).toEqual([]);
  });

  it("R74 R76 leaves out what git ignores, and node_modules and .git always", async () => {
    const root = tree({
      "a.ts": 0,
      "build/b.ts": 1,
      "node_modules/m/c.ts": 2,
      ".git/d.ts": 3,
      ".dot/e.ts": 4,
    });
    writeFileSync(join(root, ".gitignore"), "build/\n");
    expect(await found(root, { pattern: "**/*.ts" })).toEqual(["a.ts", ".dot/e.ts"]);
    const all = { pattern: "**/*.ts", respect_git_ignore: false };
    expect(await found(root, all)).toEqual(["a.ts", "build/b.ts", ".dot/e.ts"]);
    expect(await found(root, { pattern: "*.ts", path: "node_modules/m" })).toEqual(["node_modules/m/c.ts"]);
  });

  it("R74 R76 says when git's ignoring hid all that match, and only then", async () => {
    const root = tree({ ".gitignore": 0, "src/gen/a.js": 1, "src/gen/b.js": 2, "src/c.ts": 3 });
    writeFileSync(join(root, ".gitignore"), "gen/\n");
    const hidden = '[git ignores 2 file(s) that match. Set "respect_git_ignore" to false to see them.]';
    expect(await glob(root, { pattern: "*.js" })).toBe(
      `No files found matching pattern "*.js" within ${root}.\n${hidden}`,
    );
    for (const params of [
      { pattern: "*.{ts,js}" },
      { pattern: "*.py" },
      { pattern: "*.js", respect_git_ignore: false },
    ]) {
      expect(await glob(root, params)).not.toContain("git ignores");
    }
    expect(await found(root, { pattern: "*.js", respect_git_ignore: false })).toHaveLength(2);
  });

  it("R71 names with brackets, braces and parentheses that exist are taken literally", async () => {
    const root = tree({
      "app/[id]/page.tsx": 0,
      "app/i/page.tsx": 1,
      "(group)/a{1}.ts": 2,
      "deep/x/[slug].ts": 3,
    });
    expect(await found(root, { pattern: "app/[id]/page.tsx" })).toEqual(["app/[id]/page.tsx"]);
    expect(await found(root, { pattern: "app/[id]/*" })).toEqual(["app/[id]/page.tsx"]);
    expect(await found(root, { pattern: "app/[hi]/*" })).toEqual(["app/i/page.tsx"]);
    expect(await found(root, { pattern: "(group)/a{1}.ts" })).toEqual(["(group)/a{1}.ts"]);
    expect(await found(root, { pattern: "[slug].ts" })).toEqual(["deep/x/[slug].ts"]);
  });

  it("P38 follows no link to a folder and gives no link that leads outside", async () => {
    const outside = tree({ "secret.ts": 0 });
    const root = tree({ "src/a.ts": 1 });
    symlinkSync(outside, join(root, "out"));
    symlinkSync(join(outside, "secret.ts"), join(root, "out.ts"));
    symlinkSync("..", join(root, "src/circle"));
    symlinkSync("a.ts", join(root, "src/inside.ts"));
    symlinkSync("gone.ts", join(root, "broken.ts"));
    expect(await found(root, { pattern: "**/*.ts" })).toEqual(["src/a.ts", "src/inside.ts"]);
  });

  it("P41 finds names with blanks, quotes, emoji and CJK", async () => {
    const names = ["a b.ts", "quote'\".ts", "emoji😀.ts", "文件 2.ts", "trailing /x.ts", "-dash.ts"];
    const root = tree(Object.fromEntries(names.map((name, age) => [name, age])));
    expect(await found(root, { pattern: "*.ts" })).toEqual(names);
    expect(await found(root, { pattern: "文件*" })).toEqual(["文件 2.ts"]);
  });

  it("P40 shows the newest of very many and says how many there are", async () => {
    const root = tree(Object.fromEntries(Array.from({ length: 1200 }, (_, age) => [`f${age}.txt`, age])));
    const lines = (await glob(root, { pattern: "*.txt" })).split("\n");
    expect(lines[0]).toContain("Found 1200 file(s)");
    expect(lines[1]).toBe(join(root, "f0.txt"));
    expect(lines.at(-1)).toContain("1000 newest of 1200 files are shown");
  });

  it("R77 needs no confirmation; bad patterns are validation errors", async () => {
    const root = tree({});
    const tool = new Glob(openWorkspace(root));
    expect(await tool.shouldConfirmExecute({ pattern: "*" }, new AbortController().signal)).toBe(false);
    expect(tool.validateToolParams({ pattern: "" })).toContain("pattern");
    expect(tool.validateToolParams({ pattern: "!(a)" })).toContain("{a,b}");
    expect(tool.validateToolParams({ pattern: "{1..3}" })).toContain("alternatives as {a,b}");
    expect(tool.getDescription({ pattern: "*.ts", path: "src" })).toBe("Find *.ts in src");
  });
});
