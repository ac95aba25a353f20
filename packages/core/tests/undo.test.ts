import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createToolbox } from "@burin/core";
import { runUndoInCopy } from "@burin/core/internal";
import { listUndoEntries, undo } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { beforeEach, describe, expect, it } from "vitest";

let top: string;
let root: string;
let home: string;
const at = (name: string) => join(root, name);
const textOf = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : null);

beforeEach(() => {
  top = createTemporaryFolder();
  root = join(top, "project");
  home = join(top, "home");
  mkdirSync(root);
});

async function write(name: string, content: string): Promise<void> {
  const environment = { BURIN_HOME: home, PATH: process.env.PATH };
  const options = { root, environment, approvalMode: "yolo", overwriteUnread: true, record: true } as const;
  const toolbox = createToolbox(options);
  const { error } = await toolbox.call("write_file", { file_path: at(name), content });
  await toolbox.close();
  expect(error).toBeUndefined();
}

const back = (more: { count?: number; session?: string } = {}) => undo({ home, root, ...more });
const LINES = "one\ntwo\nthree\nfour\nfive\nsix\n";

describe("undo", () => {
  it("P23 a journal that cannot be read does not stop the undo of what others have", async () => {
    await write("a.txt", "new\n");
    const [project = ""] = readdirSync(join(home, "undo"));
    symlinkSync("round.jsonl", join(home, "undo", project, "round.jsonl"));
    mkdirSync(join(home, "undo", project, "folder.jsonl"));
    expect((await listUndoEntries({ home, root })).map(({ files }) => files)).toEqual([["a.txt"]]);
    expect((await back()).files).toEqual([{ file: "a.txt", what: "removed" }]);
  });

  it("P23 where nothing can be read it says what, and not that there is nothing to undo", async () => {
    await write("a.txt", "new\n");
    const [project = ""] = readdirSync(join(home, "undo"));
    const folder = join(home, "undo", project);
    const [journal = ""] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    await rm(join(folder, journal));
    execFileSync("mkfifo", [join(folder, journal)]);
    const fault = `Nothing can be undone: ${join(folder, journal)} cannot be read: it is not a regular file.`;
    await expect(back()).rejects.toThrow(fault);
    await expect(listUndoEntries({ home, root })).rejects.toThrow(fault);
    await rm(folder, { recursive: true });
    writeFileSync(folder, "");
    await expect(back()).rejects.toThrow(`${folder} cannot be read: not a directory (ENOTDIR).`);
    await rm(folder);
    expect((await back()).files).toEqual([]);
  });

  it("P23 takes back the last change, and again burin undo takes back the undo", async () => {
    writeFileSync(at("a.txt"), "old\n");
    chmodSync(at("a.txt"), 0o750);
    await write("a.txt", "new\n");
    for (const [text, isRedo] of [
      ["old\n", false],
      ["new\n", true],
      ["old\n", false],
    ] as const) {
      expect(await back()).toEqual({ isRedo, files: [{ file: "a.txt", what: "restored" }] });
      expect(textOf("a.txt")).toBe(text);
    }
    expect(statSync(at("a.txt")).mode & 0o777).toBe(0o750);
  });

  it(
    "P49 keeps the attributes of a file that it takes back",
    requirePrograms("setfacl", "setfattr"),
    async () => {
      await write("a.txt", "old\n");
      await write("a.txt", "new\n");
      execFileSync("setfattr", ["-n", "user.origin", "-v", "here", at("a.txt")]);
      execFileSync("setfacl", ["-m", "u:12345:r", at("a.txt")]);
      const words = ["-d", "-m", "-", "--absolute-names", at("a.txt")];
      const before = execFileSync("getfattr", words, { encoding: "utf8" });
      expect(before).toContain("posix_acl_access");
      await back();
      expect(textOf("a.txt")).toBe("old\n");
      expect(execFileSync("getfattr", words, { encoding: "utf8" })).toBe(before);
    },
  );

  it("P23 takes back in a copy of the folder what a session did, also to a file whose name starts with two dots", async () => {
    await write("..notes", "new\n");
    const copy = join(top, "copy");
    cpSync(root, copy, { recursive: true });
    const [entry] = await listUndoEntries({ home, root });
    expect(await runUndoInCopy({ home, root, session: entry?.writer ?? "" }, copy)).toEqual([]);
    expect([existsSync(join(copy, "..notes")), textOf("..notes")]).toEqual([false, "new\n"]);
  });

  it("P23 takes back as many calls as are named, each step back in turn", async () => {
    for (const text of ["1\n", "2\n", "3\n", "4\n"]) await write("a.txt", text);
    await back({ count: 1 });
    expect(textOf("a.txt")).toBe("3\n");
    await back({ count: 2 });
    expect(textOf("a.txt")).toBe("1\n");
    expect(await back()).toMatchObject({ isRedo: true });
    expect(textOf("a.txt")).toBe("3\n");
    await back({ count: 9 });
    expect(textOf("a.txt")).toBe(null);
    expect(await back({ count: 1 })).toEqual({ isRedo: false, files: [] });
  });

  it("P23 removes what a call made, with its folders, and makes it again; the person's files stay", async () => {
    await write("new/deep/a.txt", "a\n");
    writeFileSync(at("mine.txt"), "mine");
    writeFileSync(at("new/mine.txt"), "mine");
    expect(await back()).toMatchObject({ files: [{ file: "new/deep/a.txt", what: "removed" }] });
    expect([existsSync(at("new/deep")), textOf("new/mine.txt"), textOf("mine.txt")]).toEqual([
      false,
      "mine",
      "mine",
    ]);
    expect(await back()).toMatchObject({ isRedo: true, files: [{ what: "made again" }] });
    expect(textOf("new/deep/a.txt")).toBe("a\n");
  });

  it("P23 keeps what the person changed since in other lines", async () => {
    writeFileSync(at("a.txt"), LINES);
    await write("a.txt", LINES.replace("two", "TWO"));
    writeFileSync(at("a.txt"), LINES.replace("two", "TWO").replace("five", "mine"));
    expect(await back()).toMatchObject({ files: [{ what: "merged" }] });
    expect(textOf("a.txt")).toBe(LINES.replace("five", "mine"));
    await back();
    expect(textOf("a.txt")).toBe(LINES.replace("two", "TWO").replace("five", "mine"));
  });

  it.each([
    [
      "the same lines were changed",
      () => writeFileSync(at("a.txt"), LINES.replace("two", "mine")),
      "same lines",
    ],
    ["it was removed", () => rm(at("a.txt")), "removed since"],
    [
      "it is a folder now",
      () => rm(at("a.txt")).then(() => mkdirSync(at("a.txt"))),
      "no longer a regular file",
    ],
    ["it is no text now", () => writeFileSync(at("a.txt"), "\0"), "not text"],
  ])("P23 leaves a file alone and says why when %s", async (_why, change, reason) => {
    writeFileSync(at("a.txt"), LINES);
    await write("a.txt", LINES.replace("two", "TWO"));
    await change();
    const outcome = { file: "a.txt", what: "refused", reason: expect.stringContaining(reason) };
    expect((await back()).files).toEqual([outcome]);
    expect(await listUndoEntries({ home, root })).toMatchObject([{ kind: "call", isInForce: true }]);
  });

  it("P23 a file that a call made and the person changed stays, and what came before it is not touched", async () => {
    await write("a.txt", "a\n");
    await write("a.txt", "b\n");
    writeFileSync(at("a.txt"), "mine\n");
    const { files } = await back({ count: 2 });
    expect(files.map(({ what }) => what)).toEqual(["refused", "refused"]);
    expect(textOf("a.txt")).toBe("mine\n");
  });

  it("keeps bytes that are no text, and a file with more than one name", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0, 0x80, 10, 13]);
    writeFileSync(at("a.txt"), "x\u00ff\r\n", "latin1");
    linkSync(at("a.txt"), at("b.txt"));
    await write("a.txt", "new\n");
    writeFileSync(at("b.txt"), bytes);
    await back();
    expect(readFileSync(at("a.txt"), "latin1")).toBe("x\u00ff\r\n");
    expect(readFileSync(at("b.txt"))).toEqual(bytes);
  });

  it("only its owner can read what is kept; a change that did not happen is not listed", async () => {
    writeFileSync(at("a.txt"), "old\n");
    await write("a.txt", "new\n");
    await write("a.txt", "new\n");
    expect(await listUndoEntries({ home, root })).toHaveLength(1);
    expect(statSync(join(home, "undo")).mode & 0o777).toBe(0o700);
  });
});
