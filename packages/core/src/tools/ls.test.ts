import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { createTree } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { createToolbox } from "../create-session.ts";
import { ListFiles } from "./ls.ts";

const list = (root: string, params: Record<string, unknown>) =>
  createToolbox({ root }).call("list_directory", params);

describe("list_directory", () => {
  it("R54 R55 marks folders, lists them first, all by code point, directly under the path only", async () => {
    const root = createTree({
      "subfolder1/x.txt": "",
      "file1.txt": "",
      "file2.png": "",
      "B.txt": "",
      "é.txt": "",
      ".dot": "",
    });
    writeFileSync(join(root, "\uff5e.txt"), "");
    writeFileSync(join(root, "😀.txt"), "");
    symlinkSync("subfolder1", join(root, "alias"));
    symlinkSync("nowhere", join(root, "broken"));
    const { llmContent } = await list(root, { path: root });
    expect(llmContent).toBe(
      [
        `Directory listing for ${root}:`,
        "[DIR] alias",
        "[DIR] subfolder1",
        ...[".dot", "B.txt", "broken", "file1.txt", "file2.png", "é.txt", "\uff5e.txt", "😀.txt"],
      ].join("\n"),
    );
  });

  it("R51 X6 takes a relative path and shows the absolute one", async () => {
    const root = createTree({ "src/a.ts": "" });
    expect((await list(root, { path: "src" })).llmContent).toBe(
      `Directory listing for ${join(root, "src")}:\na.ts`,
    );
    expect((await list(root, { path: "./src/../src" })).llmContent).toContain("a.ts");
  });

  it("R52 leaves out what the ignore globs name", async () => {
    const root = createTree({ "a.log": "", "b.ts": "", "logs/x": "", ".git/HEAD": "" });
    const { llmContent } = await list(root, { path: root, ignore: ["*.log", ".git", "logs"] });
    expect(llmContent).toBe(`Directory listing for ${root}:\nb.ts`);
    expect((await list(root, { path: root, ignore: ["logs/"] })).llmContent).not.toContain("logs");
  });

  it("R53 P39 leaves out what git ignores unless told otherwise, and counts it for the person", async () => {
    const root = createTree({
      ".gitignore": "*.log\nbuild/\n",
      "a.log": "",
      "build/x": "",
      "b.ts": "",
      ".burinignore": "secret*",
    });
    writeFileSync(join(root, "secret.txt"), "");
    const strict = await list(root, { path: root });
    expect(strict.llmContent).toBe(`Directory listing for ${root}:\n.burinignore\n.gitignore\nb.ts`);
    expect(strict.returnDisplay).toBe("Listed 3 items (2 ignored by git, 1 hidden by ignore rules).");
    const open = await list(root, { path: root, respect_git_ignore: false });
    expect(open.llmContent).toBe(
      `Directory listing for ${root}:\n[DIR] build\n.burinignore\n.gitignore\na.log\nb.ts`,
    );
  });

  it("R55 an empty folder, a file, a missing path and one outside each get their own answer", async () => {
    const root = createTree({ "file.txt": "" });
    mkdirSync(join(root, "empty"));
    expect((await list(root, { path: "empty" })).llmContent).toBe(
      `Directory ${join(root, "empty")} is empty.`,
    );
    expect((await list(root, { path: "file.txt" })).error?.type).toBe("not_a_directory");
    expect((await list(root, { path: "fil.txt" })).error?.type).toBe("not_found");
    expect((await list(root, { path: "/" })).error?.type).toBe("outside_root");
  });

  it("P38 P18 a link to a folder outside is refused; pipes and links to outside are only names", async () => {
    const outside = createTree({ "secret.txt": "" });
    const root = createTree({ "a.txt": "" });
    symlinkSync(outside, join(root, "out"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect((await list(root, { path: "out" })).error?.type).toBe("outside_root");
    expect((await list(root, { path: root })).llmContent).toBe(
      `Directory listing for ${root}:\n[DIR] out\na.txt\npipe`,
    );
    expect((await list(root, { path: "pipe" })).error?.type).toBe("not_a_directory");
  });

  it("P48 shows a bounded part of a very large folder and says how many there are", async () => {
    const root = createTree({});
    for (let number = 0; number < 2100; number += 1)
      writeFileSync(join(root, `f${String(number).padStart(5, "0")}`), "");
    const lines = String((await list(root, { path: root })).llmContent).split("\n");
    expect(lines).toHaveLength(2002);
    expect(lines.at(-1)).toContain("100 more of 2100");
  });

  it("R56 needs no confirmation", async () => {
    const tool = new ListFiles(openWorkspace(createTree({})));
    expect(await tool.shouldConfirmExecute({ path: "." }, new AbortController().signal)).toBe(false);
  });
});
