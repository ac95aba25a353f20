import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { errorType, yes } from "../../tests/read-write-session.ts";
import { file, makeFolders, root, session, text } from "../../tests/write-room.ts";

makeFolders();

describe("what is kept", () => {
  it("P32 P3 is the encoding, the mark and the line ends", async () => {
    const path = file("a.txt", Buffer.from("\ufeffone\r\ntwo\r\n"));
    const call = session();
    expect((await call.read(path)).llmContent).toBe("one\r\ntwo\r\n");
    await call.write(path, "one\n2\n");
    expect(text(path)).toBe("\ufeffone\r\n2\r\n");
    const diff = (await call.write(path, "one\n3\n")).returnDisplay;
    expect(diff).toMatchObject({ addedLines: 1, removedLines: 1 });
  });

  it("P3 is everything when the encoding cannot hold the new text, and nobody is asked", async () => {
    const bytes = Buffer.from("d\xe9j\xe0 vu\n", "latin1");
    const path = file("a.txt", bytes);
    let isAsked = false;
    const call = session(() => {
      isAsked = true;
      return Promise.resolve({ outcome: "once" });
    });
    const answer = await call.write(path, "d\u00e9j\u00e0 vu \u4e2d\n");
    expect(errorType(answer)).toBe("unencodable");
    expect(answer.llmContent).toContain('"\u4e2d" (U+4E2D) in line 1');
    expect(isAsked).toBe(false);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("P49 is the mode, and new files obey the umask", async () => {
    const path = file("run.sh", "#!/bin/sh\n");
    const call = session(yes);
    for (const mode of [0o755, 0o600, 0o664, 0o4755]) {
      chmodSync(path, mode);
      await call.write(path, `#!/bin/sh\n# ${mode}\n`);
      expect(statSync(path).mode & 0o7777).toBe(mode);
    }
    const before = process.umask(0o027);
    try {
      await call.write(join(root, "folder/new"), "x");
    } finally {
      process.umask(before);
    }
    expect(statSync(join(root, "folder/new")).mode & 0o777).toBe(0o640);
    expect(statSync(join(root, "folder")).mode & 0o777).toBe(0o750);
  });

  it.runIf(process.getuid?.() === 0)("P49 is the owner", async () => {
    const path = file("a.txt", "old\n");
    chownSync(path, 1234, 2345);
    await session(yes).write(path, "new\n");
    expect(statSync(path)).toMatchObject({ uid: 1234, gid: 2345 });
  });

  it("P49 is a link, whose target gets the content; the question names the target", async () => {
    const path = file("real/a.txt", "old\n");
    symlinkSync("real/a.txt", join(root, "link"));
    const asked: string[] = [];
    const call = session((confirmation) => {
      asked.push(confirmation.title);
      return Promise.resolve({ outcome: "once" });
    });
    expect((await call.write(join(root, "link"), "new\n")).status).toBe("success");
    expect(lstatSync(join(root, "link")).isSymbolicLink()).toBe(true);
    expect(text(path)).toBe("new\n");
    expect(asked).toEqual(["Overwrite link, which is really real/a.txt?"]);
  });

  it("P49 is the content under other hard links, which is told", async () => {
    const path = file("a.txt", "old\n");
    linkSync(path, join(root, "other"));
    const answer = await session(yes).write(path, "new\n");
    expect(answer.llmContent).toBe(
      `Successfully overwrote file: ${path}\nNote: its 1 other hard link(s) keep the old content.`,
    );
    expect([text(path), text(join(root, "other"))]).toEqual(["new\n", "old\n"]);
    expect([statSync(path).nlink, statSync(join(root, "other")).nlink]).toEqual([1, 1]);
  });

  it.each([
    "with blank",
    "trailing ",
    "quote'd",
    "...",
    "%2e%2e",
    "emoji😀",
    "中文2024年",
    "e\u0301",
    "-rf",
    "a\nb",
    "~",
  ])("P41 R48 is an odd name: %j", async (name) => {
    const path = join(root, `in ${name}`, name);
    expect((await session().write(path, "x\n")).status).toBe("success");
    expect(readdirSync(join(root, `in ${name}`))).toEqual([name]);
  });

  it("P38 R48 is everything outside, in every spelling", async () => {
    const outside = createTemporaryFolder();
    writeFileSync(join(outside, "a"), "theirs");
    mkdirSync(`${root}-evil`);
    symlinkSync(outside, join(root, "folder"));
    symlinkSync(join(outside, "a"), join(root, "link"));
    symlinkSync(join(outside, "missing"), join(root, "dangling"));
    const call = session();
    const hostile = ["folder/a", "folder/new", "folder/new/deep", "link", "dangling", "../x", "a/../../x"];
    for (const name of hostile) {
      const answer = await call.write(`${root}/${name}`, "mine");
      expect([name, errorType(answer)]).toEqual([name, name === "dangling" ? "not_found" : "outside_root"]);
    }
    expect(errorType(await call.write(`${root}-evil/a`, "mine"))).toBe("outside_root");
    expect(errorType(await call.write(`${root}/a\0b`, "mine"))).toBe("invalid_path");
    expect(errorType(await call.write(`${root}/${"n".repeat(300)}`, "mine"))).toBe("invalid_path");
    expect(readdirSync(outside)).toEqual(["a"]);
    expect(text(join(outside, "a"))).toBe("theirs");
    expect(readdirSync(`${root}-evil`)).toEqual([]);
  });
});
