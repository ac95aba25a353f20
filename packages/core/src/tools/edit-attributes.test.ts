import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createFile } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { makeFolders, root } from "../../tests/folder.ts";
import { createToolbox } from "../create-session.ts";

makeFolders();

const run = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: "utf8" });
const listOf = (path: string) => run("getfacl", "-cpE", path);
const attributesOf = (path: string) => run("getfattr", "-d", "-m", "^user", "--absolute-names", path);

function toolbox() {
  return createToolbox({ root, approvalMode: "yolo" });
}

async function edit(path: string, from: string, to: string): Promise<void> {
  const answer = await toolbox().run("edit", { file_path: path, old_string: from, new_string: to });
  expect(answer.status, String(answer.llmContent)).toBe("success");
}

function dressed(name: string): string {
  const path = createFile(root, name, "one\n");
  chmodSync(path, 0o640);
  if (process.getuid?.() === 0) chownSync(path, 4321, 4322);
  run("setfacl", "-m", "u:12345:rw,g:54321:r", path);
  run("setfattr", "-n", "user.origin", "-v", "https://example.com/\n a", path);
  return path;
}

/** Returns what the system knows about a file apart from its content. */
function dressOf(path: string) {
  const { mode, uid, gid } = statSync(path);
  return [mode, uid, gid, listOf(path), attributesOf(path)];
}

if (process.platform === "linux") {
  describe("attributes of a replaced file", requirePrograms("setfacl", "setfattr"), () => {
    it.each(["a.txt", "-n", "two\nlines", " 'q' $(x)*"])(
      "P49 an edit and a write keep them: %j",
      async (name) => {
        const path = dressed(name);
        const before = dressOf(path);
        await edit(path, "one", "two");
        expect(dressOf(path)).toEqual(before);
        const box = toolbox();
        await box.run("read_file", { path });
        await box.run("write_file", { file_path: path, content: "three\n" });
        expect(readFileSync(path, "utf8")).toBe("three\n");
        expect(dressOf(path)).toEqual(before);
      },
    );

    it("P49 they are kept when they came between two edits, and in a file of 5 MB", async () => {
      const path = createFile(root, "a.txt", `one\n${"x".repeat(99)}\n`.repeat(1).padEnd(5_000_000, "y\n"));
      await edit(path, "one", "two");
      for (const [from, to] of [
        ["two", "three"],
        ["three", "four"],
      ] as const) {
        run("setfattr", "-n", `user.${from}`, "-v", "here", path);
        run("setfacl", "-m", "u:12345:r", path);
        const before = dressOf(path);
        await edit(path, from, to);
        expect(dressOf(path)).toEqual(before);
      }
    });

    it("P49 a file without a list gets none of its folder's, also when that came later; a new file does", async () => {
      const path = createFile(root, "sub/a.txt", "one\n");
      chmodSync(path, 0o640);
      const before = dressOf(path);
      await edit(path, "one", "two");
      run("setfacl", "-d", "-m", "u:12345:rwx", dirname(path));
      await edit(path, "two", "three");
      expect(dressOf(path)).toEqual(before);
      const [fresh, expected] = [join(root, "sub/new"), join(root, "sub/expected")];
      writeFileSync(expected, "x");
      await toolbox().run("write_file", { file_path: fresh, content: "x" });
      expect(listOf(fresh)).toBe(listOf(expected));
      expect(listOf(fresh)).toContain("user:12345:");
    });
  });
}
