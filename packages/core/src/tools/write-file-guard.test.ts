import { readdirSync, renameSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { describe, expect, it } from "vitest";
import { errorType, yes } from "../../tests/read-write-session.ts";
import { file, makeFolders, root, session, text } from "../../tests/write-room.ts";
import { WriteFile } from "./write-file.ts";

makeFolders();

const signal = new AbortController().signal;
describe("the guard", () => {
  it("P2 refuses to overwrite unasked what was not read, or only in part, and says how to go on", async () => {
    const path = file("a.txt", "1\n2\n3\n");
    const call = session();
    const unread = await call.write(path, "new\n");
    expect(errorType(unread)).toBe("not_read");
    expect(unread.llmContent).toContain("read_file");
    await call.read(path, { offset: 0, limit: 2 });
    expect(errorType(await call.write(path, "new\n"))).toBe("not_read");
    await call.read(path, { offset: 2, limit: 1 });
    expect(errorType(await call.write(path, "new\n"))).toBeUndefined();
    expect(text(path)).toBe("new\n");
  });

  it("P2 lets a person approve the overwriting of a file that was never read", async () => {
    const path = file("a.txt", "old\n");
    expect((await session(yes).write(path, "new\n")).status).toBe("success");
    expect(text(path)).toBe("new\n");
  });

  it("P2 does not count an earlier always as approval of a later diff", async () => {
    const path = file("a.txt", "old\n");
    const workspace = openWorkspace(root);
    const tool = new WriteFile(workspace);
    const params = { file_path: path, content: "new\n" };
    const { run } = await tool.prepare(params);
    await expect(run(null, signal)).rejects.toMatchObject({ code: "not_read" });
  });

  it("P2 lets calls that a person wrote overwrite, but only what they were planned against", async () => {
    const path = file("a.txt", "old\n");
    const tool = new WriteFile(openWorkspace(root), { overwriteUnread: true });
    const params = { file_path: path, content: "new\n" };
    const { run } = await tool.prepare(params);
    writeFileSync(path, "other\n");
    await expect(run(null, signal)).rejects.toMatchObject({ code: "changed_on_disk" });
    await tool.execute(params, signal);
    expect(text(path)).toBe("new\n");
  });

  it("P25 refuses what changed on disk since it was read, also when a person would say yes", async () => {
    for (const confirm of [undefined, yes]) {
      const path = file("a.txt", "old\n");
      const call = session(confirm);
      await call.read(path);
      writeFileSync(path, "theirs\n");
      const answer = await call.write(path, "mine\n");
      expect(errorType(answer)).toBe("changed_on_disk");
      expect(answer.llmContent).toContain("Read it again");
      expect(text(path)).toBe("theirs\n");
      await call.read(path);
      expect((await call.write(path, "mine\n")).status).toBe("success");
    }
  });

  it.each<readonly [how: string, before: string | null, change: (path: string) => void]>([
    ["changed", "old\n", (path) => writeFileSync(path, "theirs\n")],
    ["made", null, (path) => writeFileSync(path, "theirs\n")],
    ["removed", "old\n", (path) => renameSync(path, `${path}.moved`)],
    [
      "turned into a link",
      "old\n",
      (path) => {
        renameSync(path, `${path}.moved`);
        writeFileSync(`${path}.other`, "theirs\n");
        symlinkSync(`${path}.other`, path);
      },
    ],
  ])("P25 refuses what was %s while the person was asked", async (_how, before, change) => {
    const path = join(root, "a.txt");
    if (before !== null) writeFileSync(path, before);
    const call = session(() => {
      change(path);
      return Promise.resolve({ outcome: "once" });
    });
    const answer = await call.write(path, "mine\n");
    expect(errorType(answer)).toBe("changed_on_disk");
    const contents = readdirSync(root).map((name) => text(join(root, name)));
    expect(contents).not.toContain("mine\n");
  });

  it("P25 takes a file that was only touched for the same", async () => {
    const path = file("a.txt", "old\n");
    const call = session();
    await call.read(path);
    utimesSync(path, new Date(), new Date(Date.now() + 60_000));
    expect((await call.write(path, "new\n")).status).toBe("success");
  });

  it("P25 takes its own earlier write for known", async () => {
    const path = join(root, "a.txt");
    const call = session();
    for (const content of ["one\n", "two\n", "three\n"]) {
      expect((await call.write(path, content)).status).toBe("success");
    }
    expect(text(path)).toBe("three\n");
  });

  it("P25 does calls that come together one after the other", async () => {
    const path = join(root, "a.txt");
    const call = session();
    await call.write(path, "start\n");
    const contents = Array.from({ length: 6 }, (_, index) => `${index}\n`.repeat(20_000));
    const answers = await Promise.all(contents.map((content) => call.write(path, content)));
    expect(answers.map(({ status }) => status)).toEqual(contents.map(() => "success"));
    expect(contents).toContain(text(path));
    expect(readdirSync(root)).toEqual(["a.txt"]);
  });

  it("P2 refuses a placeholder for what it would lose, before anybody is asked", async () => {
    const path = file("a.ts", "a();\nb();\nc();\n");
    let isAsked = false;
    const call = session(() => {
      isAsked = true;
      return Promise.resolve({ outcome: "once" });
    });
    for (const line of ["// ... existing code ...", "// rest of the file unchanged", "// ..."]) {
      const answer = await call.write(path, `a2();\n${line}\n`);
      expect(errorType(answer)).toBe("omission_placeholder");
      expect(answer.llmContent).toContain(line);
    }
    expect(isAsked).toBe(false);
    expect(text(path)).toBe("a();\nb();\nc();\n");
  });

  it("P2 refuses in words to replace what is too large to be compared", async () => {
    const path = file("a.txt", "old\n");
    truncateSync(path, 300 * 1024 * 1024);
    const answer = await session(yes).write(path, "new\n");
    expect(errorType(answer)).toBe("too_large");
    expect(answer.llmContent).toContain("314572800 bytes");
  });
});
