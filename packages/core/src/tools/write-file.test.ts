import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import type { Confirmation } from "@burin/contract/tools";
import { describe, expect, it } from "vitest";
import { errorType, yes } from "../../tests/read-write-session.ts";
import { file, makeFolders, root, session, text } from "../../tests/write-room.ts";
import { WriteFile } from "./write-file.ts";

makeFolders();

describe("write_file", () => {
  it("R65 R66 R67 R68 R69 makes a new file with its folders", async () => {
    const path = join(root, "a/b/c.txt");
    const answer = await session().write(path, "content\n");
    expect(answer.llmContent).toBe(`Successfully created and wrote to new file: ${path}`);
    expect(text(path)).toBe("content\n");
  });

  it("R67 R69 overwrites what was read", async () => {
    const path = file("a.txt", "old\n");
    const call = session();
    await call.read(path);
    expect((await call.write(path, "new\n")).llmContent).toBe(`Successfully overwrote file: ${path}`);
    expect(text(path)).toBe("new\n");
  });

  it("R66 may write nothing", async () => {
    const path = join(root, "empty");
    expect((await session().write(path, "")).status).toBe("success");
    expect(text(path)).toBe("");
  });

  it("R65 R66 X6 validates, and names the absolute path that was probably meant", () => {
    const tool = new WriteFile(openWorkspace(root));
    expect(tool.validateToolParams({ file_path: "a/b.txt", content: "" })).toContain(
      `"${join(root, "a/b.txt")}"`,
    );
    expect(tool.validateToolParams({ file_path: "file:///a.txt", content: "" })).toContain('"/a.txt"');
    expect(tool.validateToolParams({ file_path: join(root, "a"), content: "" })).toBe(null);
    const wrong = tool.validateToolParams as (params: unknown) => string | null;
    for (const params of [
      {},
      { file_path: join(root, "a") },
      { content: "" },
      { file_path: 1, content: 2 },
    ]) {
      expect(wrong.call(tool, params)).not.toBe(null);
    }
  });

  it("R70 a path that ends as a folder makes no file", async () => {
    const answer = await session().write(`${join(root, "new")}/`, "x");
    expect(errorType(answer)).toBe("is_a_directory");
    expect(readdirSync(root)).toEqual([]);
  });

  it("R70 asks with a diff, and makes nothing before the answer", async () => {
    const old = file("a.txt", "one\ntwo\nthree\n");
    const asked: Confirmation[] = [];
    const listing: string[][] = [];
    const call = session((confirmation) => {
      asked.push(confirmation);
      listing.push(readdirSync(root));
      return Promise.resolve({ outcome: "cancel", reason: "no" });
    });
    expect((await call.write(old, "one\n2\nthree\n")).status).toBe("cancelled");
    expect((await call.write(join(root, "new/folder/b.txt"), "fresh\n")).status).toBe("cancelled");
    expect(listing).toEqual([["a.txt"], ["a.txt"]]);
    expect(readdirSync(root)).toEqual(["a.txt"]);
    expect(text(old)).toBe("one\ntwo\nthree\n");
    expect(asked[0]).toMatchObject({
      kind: "edit",
      title: "Overwrite a.txt?",
      path: old,
      grants: ["edit(a.txt)", "write_file(a.txt)"],
      widths: { all: ["write_file"] },
    });
    expect(asked[0]).toMatchObject({
      diff: {
        kind: "file_diff",
        fileName: "a.txt",
        originalContent: "one\ntwo\nthree\n",
        newContent: "one\n2\nthree\n",
        addedLines: 1,
        removedLines: 1,
        fileDiff: "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
      },
    });
    expect(asked[1]).toMatchObject({
      title: "Create new/folder/b.txt?",
      diff: { originalContent: null, newContent: "fresh\n", addedLines: 1, removedLines: 0 },
    });
  });

  it("R70 R13 gives the diff as display after approval", async () => {
    const path = file("a.txt", "old\n");
    const { returnDisplay } = await session(yes).write(path, "new\n");
    expect(returnDisplay).toMatchObject({ kind: "file_diff", originalContent: "old\n", newContent: "new\n" });
  });

  it("R67 refuses a folder, a place below a file, and the root, and writes nothing", async () => {
    file("a.txt", "a");
    mkdirSync(join(root, "folder"));
    const call = session();
    expect(errorType(await call.write(join(root, "folder"), "x"))).toBe("is_a_directory");
    expect(errorType(await call.write(root, "x"))).toBe("is_a_directory");
    expect(errorType(await call.write(join(root, "a.txt/b"), "x"))).toBe("not_a_directory");
    expect(readdirSync(root)).toEqual(["a.txt", "folder"]);
    expect(text(join(root, "a.txt"))).toBe("a");
  });
});

describe("an answer that was edited", () => {
  it("R31 R70 is what the file gets, and the model is told what the person changed", async () => {
    const path = file("a.txt", "one\n");
    const call = session(() => Promise.resolve({ outcome: "edited", content: "one\ntheirs\n" }));
    const answer = await call.write(path, "one\nmine\n");
    expect(answer.status).toBe("success");
    expect(text(path)).toBe("one\ntheirs\n");
    expect(answer.llmContent).toContain(`Successfully overwrote file: ${path}\n`);
    expect(answer.llmContent).toContain("-mine\n+theirs\n");
    expect(answer.returnDisplay).toMatchObject({ originalContent: "one\n", newContent: "one\ntheirs\n" });
  });

  it("R31 counts as known afterwards", async () => {
    const path = join(root, "a.txt");
    const answers = ["edited", "cancel"] as const;
    let asked = 0;
    const call = session(() => {
      const outcome = answers[asked] ?? "cancel";
      asked += 1;
      return Promise.resolve(outcome === "edited" ? { outcome, content: "theirs\n" } : { outcome });
    });
    expect((await call.write(path, "mine\n")).status).toBe("success");
    expect(errorType(await call.write(path, "again\n"))).toBe("cancelled");
  });
});
