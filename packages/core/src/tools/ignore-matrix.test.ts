import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { joinText } from "@burin/contract/messages/message";
import { createTree } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolbox, type ToolboxOptions } from "../create-session.ts";

const ENVIRONMENT = { ...process.env };

beforeEach(() => {
  process.env.GIT_CONFIG_GLOBAL = "/dev/null";
  process.env.XDG_CONFIG_HOME = join(tmpdir(), "burin-no-such-folder");
});
afterEach(() => {
  process.env = { ...ENVIRONMENT };
});

/** Returns which of the files each tool shows when the call does not name them. */
async function shownBy(options: ToolboxOptions, files: readonly string[]): Promise<Record<string, string[]>> {
  const box = createToolbox(options);
  const text = async (name: string, args: Record<string, unknown>) =>
    joinText((await box.call(name, args)).llmContent);
  const [glob, grep, many] = await Promise.all([
    text("glob", { pattern: "**" }),
    text("search_file_content", { pattern: "content", names_only: true, maxResults: 100 }),
    text("read_many_files", { paths: ["."] }),
  ]);
  const listed = new Set<string>();
  const waiting = ["."];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const [, ...names] = (await text("list_directory", { path: folder })).split("\n");
    for (const name of names) {
      if (name.startsWith("[DIR] ")) waiting.push(join(folder, name.slice(6)));
      else listed.add(join(folder, name));
    }
  }
  const root = realpathSync(options.root);
  return {
    list: files.filter((file) => listed.has(file)),
    glob: files.filter((file) => glob.split("\n").includes(join(root, file))),
    grep: files.filter((file) => grep.split("\n").includes(file)),
    many: files.filter((file) => many.includes(`--- ${join(root, file)} ---`)),
  };
}

const FILES = [
  "a.log",
  "keep.log",
  "src/b.log",
  "src/b.ts",
  "build/c.ts",
  "src/build/d.ts",
  "src/gen/e.ts",
  "e.ts",
];

interface Case {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  readonly settings?: { readonly ignore?: readonly string[]; readonly ignoreFileNames?: readonly string[] };
  readonly hidden: readonly string[];
}

const CASES: readonly Case[] = [
  { what: "no rules", files: {}, hidden: [] },
  { what: ".gitignore", files: { ".gitignore": "*.log\n" }, hidden: ["a.log", "keep.log", "src/b.log"] },
  { what: "negated", files: { ".gitignore": "*.log\n!keep.log\n" }, hidden: ["a.log", "src/b.log"] },
  { what: "anchored folder", files: { ".gitignore": "/build/\n" }, hidden: ["build/c.ts"] },
  { what: "folder anywhere", files: { ".gitignore": "build/\n" }, hidden: ["build/c.ts", "src/build/d.ts"] },
  {
    what: "kept inside an ignored folder",
    files: { ".gitignore": "build\n!build/c.ts\n" },
    hidden: ["build/c.ts", "src/build/d.ts"],
  },
  { what: "nested", files: { "src/.gitignore": "*.log\n/gen\n" }, hidden: ["src/b.log", "src/gen/e.ts"] },
  {
    what: "nested negation",
    files: { ".gitignore": "*.log\n", "src/.gitignore": "!b.log\n" },
    hidden: ["a.log", "keep.log"],
  },
  { what: "info/exclude", files: { ".git/info/exclude": "e.ts\n" }, hidden: ["src/gen/e.ts", "e.ts"] },
  {
    what: ".gitignore over info/exclude",
    files: { ".git/info/exclude": "*.log\n", ".gitignore": "!a.log\n" },
    hidden: ["keep.log", "src/b.log"],
  },
  { what: ".burinignore", files: { ".burinignore": "*.log\n!keep.log\n" }, hidden: ["a.log", "src/b.log"] },
  { what: "nested .burinignore", files: { "src/.burinignore": "gen/\n" }, hidden: ["src/gen/e.ts"] },
  {
    what: "nested .burinignore negation",
    files: { ".burinignore": "*.log\n", "src/.burinignore": "!b.log\n" },
    hidden: ["a.log", "keep.log"],
  },
  {
    what: ".burinignore keeps what git ignores",
    files: { ".gitignore": "*.log\n", ".burinignore": "!a.log\n" },
    hidden: ["keep.log", "src/b.log"],
  },
  {
    what: "settings",
    files: {},
    settings: { ignore: ["*.log", "/build/"] },
    hidden: ["a.log", "keep.log", "src/b.log", "build/c.ts"],
  },
  {
    what: "settings over a project's negation",
    files: { ".burinignore": "!a.log\n" },
    settings: { ignore: ["a.log"] },
    hidden: ["a.log"],
  },
  {
    what: "another ignore file",
    files: { ".aiignore": "e.ts\n" },
    settings: { ignoreFileNames: [".aiignore"] },
    hidden: ["src/gen/e.ts", "e.ts"],
  },
];

describe("one answer of all tools", () => {
  for (const isRepository of [true, false]) {
    const place = isRepository ? "in a git work tree" : "outside git";
    for (const { what, files, settings, hidden } of CASES) {
      if (!isRepository && files[".git/info/exclude"] !== undefined) continue;
      it(`P39 R53 R74 ${what}, ${place}`, async () => {
        const root = createTree(Object.fromEntries(FILES.map((file) => [file, "content\n"])));
        if (isRepository) execFileSync("git", ["init", "-q"], { cwd: root });
        for (const [name, text] of Object.entries(files)) {
          mkdirSync(dirname(join(root, name)), { recursive: true });
          writeFileSync(join(root, name), text);
        }
        const shown = FILES.filter((file) => !hidden.includes(file));
        const options = { root, ...(settings ? { settings: { files: settings } } : {}) };
        expect(await shownBy(options, FILES)).toEqual({ list: shown, glob: shown, grep: shown, many: shown });
        await expectNamed(options, hidden, files[".gitignore"] !== undefined || isGitCase(files));
      });
    }
  }

  it("P39 the rules of the folders above the root count up to the top of the work tree", async () => {
    const top = createTree({
      ".gitignore": "*.log\n/inner/gen/\n",
      "inner/a.log": "content",
      "inner/b.ts": "content",
      "inner/gen/c.ts": "content",
    });
    execFileSync("git", ["init", "-q"], { cwd: top });
    const files = ["a.log", "b.ts", "gen/c.ts"];
    const shown = ["b.ts"];
    expect(await shownBy({ root: join(top, "inner") }, files)).toEqual({
      list: shown,
      glob: shown,
      grep: shown,
      many: shown,
    });
  });

  it("P39 a root or a named folder that git ignores is not empty: only the rules inside count", async () => {
    const top = createTree({
      ".gitignore": "out/\n*.log\n",
      "out/a.ts": "content",
      "out/b.log": "content",
      "out/.gitignore": "c.ts",
      "out/c.ts": "content",
    });
    execFileSync("git", ["init", "-q"], { cwd: top });
    const shown = ["a.ts", "b.log"];
    expect(await shownBy({ root: join(top, "out") }, ["a.ts", "b.log", "c.ts"])).toEqual({
      list: shown,
      glob: shown,
      grep: shown,
      many: shown,
    });
    const box = createToolbox({ root: top });
    const found = await box.call("search_file_content", {
      pattern: "content",
      path: "out",
      names_only: true,
    });
    expect(String(found.llmContent).split("\n").slice(1)).toEqual(shown);
  });

  it("P39 the person's own excludes count, wherever git's settings put them", async () => {
    const home = createTree({
      config: "[core]\n\texcludesFile = IGNORE\n",
      excludes: "*.log\n",
      "xdg/git/ignore": "*.tmp\n",
    });
    const root = createTree({ "a.log": "content", "b.tmp": "content", "c.ts": "content" });
    execFileSync("git", ["init", "-q"], { cwd: root });
    const files = ["a.log", "b.tmp", "c.ts"];
    writeFileSync(
      join(home, "config"),
      `[user]\n\tname = x\n[core]\n\texcludesFile = "${join(home, "excludes")}"\n`,
    );
    process.env.GIT_CONFIG_GLOBAL = join(home, "config");
    expect((await shownBy({ root }, files)).glob).toEqual(["b.tmp", "c.ts"]);
    writeFileSync(join(home, "config"), `[core]\n\texcludesFile = ${join(home, "excludes")} # mine\n`);
    expect((await shownBy({ root }, files)).glob).toEqual(["b.tmp", "c.ts"]);
    process.env.GIT_CONFIG_GLOBAL = "/dev/null";
    process.env.XDG_CONFIG_HOME = join(home, "xdg");
    expect((await shownBy({ root }, files)).grep).toEqual(["a.log", "c.ts"]);
  });

  it("P38 P39 the excludes that a repository names count inside it, and are not read anywhere else", async () => {
    const outside = createTree({ secret: "*.log\n" });
    const root = createTree({
      "a.log": "content",
      "b.tmp": "content",
      "c.ts": "content",
      ignored: "*.tmp\n",
    });
    execFileSync("git", ["init", "-q"], { cwd: root });
    symlinkSync(join(outside, "secret"), join(root, "link"));
    const files = ["a.log", "b.tmp", "c.ts"];
    for (const [named, shown] of [
      [join(root, "ignored"), ["a.log", "c.ts"]],
      [join(outside, "secret"), files],
      [join(root, "link"), files],
    ] as const) {
      execFileSync("git", ["config", "core.excludesFile", named], { cwd: root });
      expect((await shownBy({ root }, files)).glob, named).toEqual(shown);
    }
  });

  it("P19 P39 a deny rule for a path closes it to every tool that shows content, names may be seen", async () => {
    const root = createTree({
      ".env": "content CANARY",
      "src/.env.local": "content CANARY",
      "a.ts": "content",
      "keys/id": "content CANARY",
    });
    const options = { root, settings: { permissions: { deny: ["read_file(.env*)", "read_file(keys/**)"] } } };
    const files = [".env", "src/.env.local", "a.ts", "keys/id"];
    expect(await shownBy(options, files)).toEqual({
      list: files,
      glob: files,
      grep: ["a.ts"],
      many: ["a.ts"],
    });
    const box = createToolbox({ ...options, approvalMode: "yolo" });
    for (const file of files.filter((name) => name !== "a.ts")) {
      const path = join(root, file);
      for (const [tool, args] of [
        ["read_file", { absolute_path: path }],
        ["read_many_files", { paths: [file] }],
        ["search_file_content", { pattern: "CANARY", path }],
        ["write_file", { file_path: path, content: "new" }],
      ] as const) {
        const result = await box.call(tool, args);
        expect([tool, result.error === undefined]).toEqual([tool, false]);
        expect(JSON.stringify(result)).not.toContain("content CANARY");
      }
    }
  });
});

function isGitCase(files: Readonly<Record<string, string>>): boolean {
  return Object.keys(files).some((name) => name.endsWith(".gitignore") || name.startsWith(".git/"));
}

/** Expects that a file ignored by git can be read if it is named, and that a file hidden by our own rules cannot. */
async function expectNamed(
  options: ToolboxOptions,
  hidden: readonly string[],
  isGit: boolean,
): Promise<void> {
  const box = createToolbox({ ...options, approvalMode: "yolo" });
  for (const file of hidden) {
    const path = join(options.root, file);
    const read = await box.call("read_file", { absolute_path: path });
    const many = await box.call("read_many_files", { paths: [file] });
    const grep = await box.call("search_file_content", { pattern: "content", path: file });
    expect([file, read.error?.type, many.error?.type, grep.error?.type]).toEqual(
      isGit ? [file, undefined, undefined, undefined] : [file, "ignored", "nothing_read", "ignored"],
    );
    if (isGit) continue;
    const write = await box.call("write_file", { file_path: path, content: "new" });
    expect([file, write.error?.type]).toEqual([file, "ignored"]);
  }
}
