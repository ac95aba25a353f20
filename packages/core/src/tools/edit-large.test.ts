import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Confirmation, Decision, FileDiff } from "@burin/contract/tools";
import { createFile } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "../../tests/folder.ts";
import { createToolbox, type ToolboxOptions } from "../create-session.ts";
import { applyHunks, findHunks } from "../text/diff-hunks.ts";

/** More bytes than an edit holds in memory. */
const LARGE = 11 * 1024 * 1024;
const FILLER = "a line of the file that nobody edits\n";
const COUNT = Math.ceil(LARGE / FILLER.length / 2);
const HALF = FILLER.repeat(COUNT);

let file: string;

makeFolders();
beforeEach(() => {
  file = join(root, "big.log");
});

function around(middle: string, half = HALF): string {
  return half + middle + half;
}

function toolbox(options: Partial<ToolboxOptions> = {}) {
  return createToolbox({ root, approvalMode: "yolo", ...options });
}

function asking(decide: (diff: FileDiff) => Decision | Promise<Decision>) {
  const confirm = async (question: Confirmation): Promise<Decision> =>
    question.kind === "edit" ? decide(question.diff) : { outcome: "cancel" };
  return toolbox({ approvalMode: "default", confirm });
}

function edit([old, fresh, count = 1]: readonly [string, string, number?], box = toolbox()) {
  const asked = { file_path: file, old_string: old, new_string: fresh };
  return box.call("edit", count === 1 ? asked : { ...asked, expected_replacements: count });
}

const text = () => readFileSync(file, "utf8");

describe("edit of a file too large to be held", () => {
  it("R94 R97 changes the one place; diff and answer hold only what is around it", async () => {
    writeFileSync(file, around("one\nthe needle $& here\ntwo\n"));
    chmodSync(file, 0o640);
    symlinkSync("big.log", join(root, "link.log"));
    linkSync(file, join(root, "other.log"));
    const path = join(root, "link.log");
    const call = { file_path: path, old_string: "needle $&", new_string: "thread $1\\n" };
    const { llmContent, returnDisplay, error } = await toolbox().call("edit", call);
    expect(error).toBeUndefined();
    expect(text() === around("one\nthe thread $1\\n here\ntwo\n")).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const line = COUNT + 2;
    expect(String(llmContent).split("\n")).toEqual([
      `Successfully modified file: ${path} (1 replacements).`,
      "Note: its 1 other hard link(s) keep the old content.",
      "The changed lines now:",
      ...[`L${line - 3}: ${FILLER.trim()}`, `L${line - 2}: ${FILLER.trim()}`, `L${line - 1}: one`],
      ...[`L${line}: the thread $1\\n here`, `L${line + 1}: two`],
      ...[`L${line + 2}: ${FILLER.trim()}`, `L${line + 3}: ${FILLER.trim()}`],
    ]);
    const diff = returnDisplay as FileDiff;
    expect(diff.fileDiff).toContain("Only the lines around the change are shown");
    expect(diff.fileDiff).toContain(`@@ -${line - 3},7 +${line - 3},7 @@`);
    expect(diff.fileDiff).toContain("-the needle $& here\n+the thread $1\\n here\n");
    expect(diff.newContent.length + (diff.originalContent?.length ?? 0)).toBeLessThan(40_000);
    expect(readdirSync(root).sort()).toEqual(["big.log", "link.log", "other.log"]);
  });

  it("R92 R94 changes as many places as expected, near and far ones", async () => {
    const places = "x = old;\ny = old;\n";
    writeFileSync(file, places + around(places));
    const refused = await edit(["old;", "new;"]);
    expect(refused.error?.type).toBe("wrong_count");
    expect(refused.llmContent).toContain(
      `expected 1 occurrences but found 4 (lines 1, 2, ${COUNT + 3}, ${COUNT + 4})`,
    );
    const { llmContent, returnDisplay } = await edit(["old;", "new and longer;\n", 4]);
    const done = places.replaceAll("old;", "new and longer;\n");
    expect(text() === done + around(done)).toBe(true);
    expect(llmContent).toContain(`L${COUNT + 5}: x = new and longer;`);
    expect((returnDisplay as FileDiff).fileDiff).toContain(`@@ -${COUNT},8 +${COUNT + 2},10 @@`);
  });

  it("R94 more places than are shown", async () => {
    writeFileSync(file, HALF.repeat(2));
    const { llmContent, returnDisplay } = await edit(["nobody", "somebody", 2 * COUNT]);
    expect(text() === HALF.repeat(2).replaceAll("nobody", "somebody")).toBe(true);
    expect(llmContent).toContain(`[${2 * COUNT - 20} more places]`);
    expect((returnDisplay as FileDiff).fileDiff).toContain(
      `The file is rewritten: ${2 * COUNT} lines become`,
    );
  });

  it("R96 R98 says that only exact matches are looked for, and writes nothing", async () => {
    writeFileSync(file, around("\tneedle  here\n"));
    const { error, llmContent } = await edit(["needle here", "x"]);
    expect(error?.type).toBe("no_occurrence");
    expect(llmContent).toMatch(/^Failed to edit, 0 occurrences found/);
    expect(llmContent).toContain("only exact matches are looked for");
    const done = await edit(["\tthread here", "\tneedle  here"]);
    expect(done.llmContent).toContain("seems to be done");
    expect((await edit(["nowhere", "\ud800"])).error?.type).toBe("no_occurrence");
    const half = (await edit(["needle", "\ud800"])).error;
    expect(half).toMatchObject({ type: "unencodable" });
    expect(half?.message).toContain("write the whole character. Nothing was written.");
    expect(text() === around("\tneedle  here\n")).toBe(true);
  });

  it("R94 X7 counts all where it matters from which end one counts", async () => {
    writeFileSync(file, around("---aaa---\n"));
    expect((await edit(["aa", "b"])).llmContent).toContain("expected 1 occurrences but found 2");
    expect(text() === around("---aaa---\n")).toBe(true);
  });

  it("P25 says when the file has changed since it was read", async () => {
    writeFileSync(file, around("middle\n"));
    const box = toolbox();
    await box.call("read_file", { absolute_path: file, offset: 0, limit: 10 });
    expect((await edit(["absent", "x"], box)).llmContent).not.toContain("has changed since");
    writeFileSync(file, `new first line\n${around("middle\n")}`);
    expect((await edit(["absent", "x"], box)).llmContent).toContain("has changed since it was read");
  });

  it("does not edit what is not text", async () => {
    writeFileSync(file, Buffer.alloc(LARGE));
    expect((await edit(["a", "b"])).error?.type).toBe("not_text");
  });

  it("keeps a single line of many megabytes, and shows only a part of it", async () => {
    const half = "é".repeat(LARGE / 4);
    writeFileSync(file, `${half}needle${half}`);
    const { returnDisplay, llmContent } = await edit(["needle", "thread"]);
    expect(text() === `${half}thread${half}`).toBe(true);
    expect((returnDisplay as FileDiff).newContent).toMatch(/^é+thread[é]+$/);
    expect(String(llmContent).length).toBeLessThan(1000);
  });
});

describe("what is kept of a file too large to be held", () => {
  const crlf = HALF.replaceAll("\n", "\r\n");

  it("P32 its CRLF, also in new lines, and its mark", async () => {
    writeFileSync(file, `\ufeff${around("one\r\ntwo\r\n", crlf)}`);
    expect((await edit(["one\ntwo", "1\n2\n3"])).llmContent).toContain(
      "matched after ignoring: line endings",
    );
    await edit(["2", "2\nand a half"]);
    expect(text() === `\ufeff${around("1\r\n2\r\nand a half\r\n3\r\n", crlf)}`).toBe(true);
  });

  it("P3 its UTF-16", async () => {
    const bytes = (middle: string) =>
      Buffer.from(`\ufeff${around(middle, HALF.slice(0, HALF.length / 2))}`, "utf16le");
    writeFileSync(file, bytes("naïve Ā\u0100 needle\n"));
    expect((await edit(["Ā needle", "ok"])).error).toBeUndefined();
    expect(readFileSync(file).equals(bytes("naïve Āok\n"))).toBe(true);
  });

  it.each([
    ["from the beginning", "caf\xe9\n"],
    ["only in the middle", ""],
  ])("P3 its bytes that are not UTF-8, %s", async (_title, first) => {
    const bytes = (middle: string) => Buffer.from(first + around(middle), "latin1");
    writeFileSync(file, bytes("na\xefve needle \xfc\n"));
    expect((await edit(["needle", "thread"])).error).toBeUndefined();
    expect(readFileSync(file).equals(bytes("na\xefve thread \xfc\n"))).toBe(true);
    expect((await edit(["thread \u00fc", "\u00fc"])).error).toBeUndefined();
    expect(readFileSync(file).equals(bytes("na\xefve \xfc\n"))).toBe(true);
  });

  it("P3 all of one whose characters take two bytes, found by whole characters alone", async () => {
    const line = Buffer.from("c4e3bac3a3acd5e2cac7d2bbd0d0cec4d7d6a1a30a", "hex");
    const half = Buffer.concat(new Array<Buffer>(Math.ceil(LARGE / line.length / 2)).fill(line));
    const bytes = (middle: string) => Buffer.concat([half, Buffer.from(middle, "hex"), half]);
    writeFileSync(file, bytes("cee50a"));
    // These two bytes are the second byte of one character and the first of the next.
    const { error } = await edit(["\u612b", "x"]);
    expect([error?.type, readFileSync(file).equals(bytes("cee50a"))]).toEqual(["no_occurrence", true]);
    expect((await edit(["\u4e94", "\u516d"])).error).toBeUndefined();
    expect(readFileSync(file).equals(bytes("c1f90a"))).toBe(true);
  });
});

describe("approval of an edit of a file too large to be held", () => {
  const middle =
    "start\nalpha\nmiddle 1\nmiddle 2\nmiddle 3\nmiddle 4\nmiddle 5\nmiddle 6\nmiddle 7\nomega\n";

  it("R99 P25 a change by somebody else meanwhile: merged when it does not touch, refused when it does", async () => {
    writeFileSync(file, around("alpha\nomega\n"));
    const apart = asking(() => {
      expect(text().includes("ALPHA")).toBe(false);
      writeFileSync(file, `more\n${around("alpha\nOMEGA\n")}`);
      return { outcome: "once" };
    });
    const { llmContent } = await edit(["alpha", "ALPHA"], apart);
    expect(llmContent).toContain(`L${COUNT + 2}: ALPHA\nL${COUNT + 3}: OMEGA`);
    expect(text() === `more\n${around("ALPHA\nOMEGA\n")}`).toBe(true);
    const touching = asking(() => {
      writeFileSync(file, around("changed\n"));
      return { outcome: "once" };
    });
    expect((await edit(["ALPHA", "beta"], touching)).error?.type).toBe("changed_on_disk");
    expect(text() === around("changed\n")).toBe(true);
    expect(readdirSync(root)).toEqual(["big.log"]);
  });

  it("writes the person's version of what is shown, and tells the model", async () => {
    writeFileSync(file, around(middle));
    const box = asking(({ newContent }) => ({
      outcome: "edited",
      content: newContent.replace("beta", "gamma"),
    }));
    const { llmContent, returnDisplay } = await edit(["alpha", "beta"], box);
    expect(text() === around(middle.replace("alpha", "gamma"))).toBe(true);
    expect(llmContent).toContain("-beta\n+gamma");
    expect((returnDisplay as FileDiff).fileDiff).toContain("-alpha\n+gamma");
    const late = asking(({ newContent }) => {
      writeFileSync(file, `more\n${text()}`);
      return { outcome: "edited", content: newContent.replace("BETA", "delta") };
    });
    expect((await edit(["gamma", "BETA"], late)).error?.type).toBe("changed_on_disk");
  });

  it("takes some hunks and not others", async () => {
    writeFileSync(file, around(middle));
    const box = asking((diff) => {
      expect(findHunks(diff).length).toBe(2);
      return { outcome: "edited", content: applyHunks(diff, new Set([1])) };
    });
    await edit([middle, middle.replace("start", "begin").replace("omega", "end")], box);
    expect(text() === around(middle.replace("omega", "end"))).toBe(true);
  });

  it("writes the person's version of several places", async () => {
    writeFileSync(file, `alpha\n${around("alpha\n")}`);
    const box = asking(({ newContent }) => ({
      outcome: "edited",
      content: newContent.replace("beta", "gamma"),
    }));
    expect((await edit(["alpha", "beta", 2], box)).error).toBeUndefined();
    expect(text() === `gamma\n${around("beta\n")}`).toBe(true);
  });

  it("P25 parallel edits all land", async () => {
    writeFileSync(file, around("one\ntwo\nthree\n"));
    const box = toolbox();
    const changes = ["one", "two", "three"].map((word) =>
      edit([`${word}\n`, `${word.toUpperCase()}\n`], box),
    );
    expect((await Promise.all(changes)).filter(({ error }) => error)).toEqual([]);
    expect(text() === around("ONE\nTWO\nTHREE\n")).toBe(true);
  });

  it("P2 overwrites it as a whole, read or answered", async () => {
    const path = createFile(root, "big.log", around("", HALF.replaceAll("\n", "\r\n")));
    const content = `${HALF}short\n`;
    expect((await toolbox().call("write_file", { file_path: path, content })).error?.type).toBe("not_read");
    const box = asking(() => ({ outcome: "once" }));
    expect((await box.call("write_file", { file_path: path, content })).error).toBeUndefined();
    expect(text() === content.replaceAll("\n", "\r\n")).toBe(true);
  });

  it("P2 P3 overwrites it with long texts one after the other, each of which counts as known", async () => {
    const path = createFile(root, "big.log", around("old\n"));
    const box = toolbox({ overwriteUnread: true });
    for (const content of [around("d\u00e9j\u00e0 \u{1f600}\n"), around("\u4e2d\n"), around("short\n")]) {
      const { error, returnDisplay } = await box.call("write_file", { file_path: path, content });
      expect(error).toBeUndefined();
      expect((returnDisplay as FileDiff).newContent === content).toBe(true);
      expect(text() === content).toBe(true);
    }
  });
});
