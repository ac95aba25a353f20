import {
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openWorkspace } from "@burin/commands/node-machine";
import { createTemporaryFolder } from "@burin/testing/made-files";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openTargetFolder } from "../paths/target-folder.ts";

const never = new AbortController().signal;

/** Opens a workspace with one file, and returns what changes it as a whole. */
function opened(text: string) {
  const root = createTemporaryFolder();
  const file = join(root, "a.txt");
  writeFileSync(file, text);
  const workspace = openWorkspace(root);
  const write = async (content: string) => {
    const { before } = await workspace.preview(file, content);
    const change = { file, content, basis: before.version, isBasisAgreed: true, isWholeKnown: true };
    await workspace.write(change, never);
  };
  const textNow = async () => (await workspace.snapshot(file)).text;
  return { file, workspace, write, textNow };
}

describe("a snapshot", () => {
  it("P25 is what a change is made to while somebody has it, though the file has changed and memory was needed", async () => {
    setFlagsFromString("--expose-gc");
    const freeMemory: () => void = runInNewContext("gc");
    const { file, workspace } = opened("one\n");
    const before = await workspace.snapshot(file);
    writeFileSync(file, "six\n");
    // What is only held weakly lives until the end of this turn.
    await new Promise(setImmediate);
    freeMemory();
    const { after } = await workspace.preview(file, "two\n", before.version);
    expect([before.text, after]).toEqual(["one\n", "two\n"]);
  });
});

describe("a file that was just written", () => {
  it("P25 is read again when another program has written to it, also with its old size and time", async () => {
    const { file, write, textNow } = opened("one\n");
    await write("two\n");
    expect(await textNow()).toBe("two\n");
    const { atime, mtime } = statSync(file);
    writeFileSync(file, "six\n");
    utimesSync(file, atime, mtime);
    expect(await textNow()).toBe("six\n");
  });

  it("P25 is read again when another file has its name, and not at all outside the root", async () => {
    const { file, write, textNow } = opened("one\n");
    await write("two\n");
    writeFileSync(`${file}.new`, "six\n");
    renameSync(`${file}.new`, file);
    expect(await textNow()).toBe("six\n");
    await write("ten\n");
    const outside = join(dirname(dirname(file)), "outside.txt");
    renameSync(file, outside);
    symlinkSync(outside, file);
    await expect(textNow()).rejects.toMatchObject({ code: "outside_root" });
    rmSync(file);
    expect(await textNow()).toBeNull();
  });

  it("P21 P25 is not made where a link has come since it was looked at, also when no user was asked", async () => {
    const { file, workspace } = opened("one\n");
    const [root, hooks] = [dirname(file), join(dirname(file), ".git/hooks")];
    for (const folder of [hooks, join(root, "src")]) mkdirSync(folder, { recursive: true });
    const made = join(root, "src/pre-commit");
    const { before } = await workspace.preview(made, "canary\n");
    renameSync(join(root, "src"), join(root, "before"));
    symlinkSync(hooks, join(root, "src"));
    const change = { file: made, content: "canary\n", basis: before.version, isWholeKnown: true };
    const writing = workspace.write({ ...change, isBasisAgreed: false }, never);
    await expect(writing).rejects.toMatchObject({ code: "changed_on_disk" });
    await expect(openTargetFolder(made, [root])).rejects.toMatchObject({ code: "changed_on_disk" });
    expect(readdirSync(hooks)).toEqual([]);
  });

  it("P25 is made in a folder whose name the disk spells otherwise", async () => {
    const root = dirname(opened("one\n").file);
    const [given, spelled] = ["Éa".normalize("NFC"), "éa".normalize("NFD")];
    mkdirSync(join(root, spelled));
    // As a disk does that knows both names.
    if (!existsSync(join(root, given))) symlinkSync(spelled, join(root, given));
    const { descriptor, name } = await openTargetFolder(join(root, given, "a.txt"), [root]);
    closeSync(descriptor);
    expect(name).toBe("a.txt");
  });

  it("P21 P25 is not made at a path in which the judged one ends", async () => {
    const { file, workspace } = opened("one\n");
    const inner = join(dirname(file), "x ", file);
    mkdirSync(dirname(inner), { recursive: true });
    writeFileSync(inner, "one\n");
    const { before } = await workspace.preview(inner, "two\n");
    const change = { file, content: "two\n", basis: before.version, isWholeKnown: true };
    await workspace.read(file, { offset: 0, limit: 10, maxLineCharacters: 2000 }, never);
    const writing = workspace.write({ ...change, isBasisAgreed: false }, never);
    await expect(writing).rejects.toMatchObject({ code: "changed_on_disk" });
  });

  it("P3 is what its bytes are, not what was given", async () => {
    const { write, textNow } = opened("one\n");
    for (const [given, text] of [
      ["a\0b\0\0", null],
      ["\ufeffone\n", "one\n"],
      ["", ""],
    ] as const) {
      await write("two\n");
      await write(given);
      expect(await textNow()).toBe(text);
    }
  });
});

describe("a large plain text", () => {
  it("P3 has exactly the bytes of its new text, wherever it changes", async () => {
    const line = "const value = compute(alpha, beta); // a line that stays\n";
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(200), fc.oneof(fc.string(), fc.constant("ü€\n"))), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        let text = line.repeat(1300);
        const { file, write, textNow } = opened(text);
        for (const [at, length, fresh] of changes) {
          const start = at % text.length;
          text = text.slice(0, start) + fresh + text.slice(start + length);
          await write(text);
          expect(readFileSync(file).equals(Buffer.from(text))).toBe(true);
          expect(await textNow()).toBe(text);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("P3 gets no half of a character, and the line is named", async () => {
    const text = "line\n".repeat(20_000);
    const { file, write } = opened(text);
    const faulty = `${text.slice(0, 50_000)}\ud800${text.slice(50_000)}`;
    await expect(write(faulty)).rejects.toThrow("(U+D800) in line 10001 cannot be written");
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});
