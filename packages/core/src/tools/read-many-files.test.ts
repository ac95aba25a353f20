import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { toParts } from "@burin/contract/messages/message";
import { createTree } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { createToolbox } from "../create-session.ts";
import { ReadManyFiles } from "./read-many-files.ts";

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function read(root: string, params: Record<string, unknown>) {
  const result = await createToolbox({ root }).call("read_many_files", params);
  const parts = toParts(result.llmContent);
  const text = parts.map((part) => part.text ?? `<${part.inlineData?.mimeType}>`).join("");
  const files = [...text.matchAll(/^--- (?!End)(.*) ---$/gm)].map((found) =>
    found[1]?.slice(root.length + 1),
  );
  return { result, parts, text, files };
}

describe("read_many_files", () => {
  it("R40 joins files, folders and globs in the order of their paths, each under its name", async () => {
    const root = createTree({ "b.txt": "two\n", "a.md": "one\n", "src/x.ts": "x\n", "src/y.js": "y\n" });
    const { text } = await read(root, { paths: ["b.txt", join(root, "a.md"), "src"] });
    const [a, b, x, y] = ["a.md", "b.txt", "src/x.ts", "src/y.js"].map((name) => join(root, name));
    expect(text).toBe(
      `--- ${a} ---\n\none\n\n\n--- ${b} ---\n\ntwo\n\n\n--- ${x} ---\n\nx\n\n\n--- ${y} ---\n\ny\n\n\n\n--- End of content ---`,
    );
  });

  it("R40 include adds, exclude takes away, each file comes once", async () => {
    const root = createTree({
      "src/a.ts": "",
      "src/a.test.ts": "",
      "src/deep/b.ts": "",
      "README.md": "",
      ".idea/x.xml": "",
    });
    expect(
      (await read(root, { paths: ["src/**/*.ts"], include: ["*.md"], exclude: ["*.test.ts"] })).files,
    ).toEqual(["README.md", "src/a.ts", "src/deep/b.ts"]);
    for (const exclude of ["deep", "src/deep/", join(root, "src/deep")]) {
      const { files } = await read(root, { paths: ["src"], exclude: [exclude] });
      expect(files).toEqual(["src/a.test.ts", "src/a.ts"]);
    }
    expect((await read(root, { paths: ["src/*.ts", "src/a.ts"] })).files).toEqual([
      "src/a.test.ts",
      "src/a.ts",
    ]);
    expect((await read(root, { paths: ["."] })).files).not.toContain(".idea/x.xml");
    expect((await read(root, { paths: ["."], useDefaultExcludes: false })).files).toContain(".idea/x.xml");
    expect((await read(root, { paths: [".idea/x.xml"] })).files).toEqual([".idea/x.xml"]);
  });

  it("R40 media come in their place, only when named or asked for by their ending", async () => {
    const root = createTree({ "a.txt": "a", "img/p.png": PIXEL, "z.txt": "z" });
    expect(
      (await read(root, { paths: ["a.txt", "img/p.png", "z.txt"] })).parts.map(
        (part) => Object.keys(part)[0],
      ),
    ).toEqual(["text", "text", "inlineData", "text", "text"]);
    expect((await read(root, { paths: ["**/*.png"] })).text).toContain("<image/png>");
    const quiet = await read(root, { paths: ["**"] });
    expect(quiet.text).not.toContain("<image/png>");
    expect(quiet.text).toContain(`${join(root, "img/p.png")}: media`);
  });

  it("P12 P48 of a folder full of images only so many are shown as a request may hold", async () => {
    const names = Array.from({ length: 25 }, (_, number) => `p${String(number).padStart(2, "0")}.png`);
    const root = createTree(Object.fromEntries(names.map((name) => [name, PIXEL])));
    const { parts, text } = await read(root, { paths: ["*.png"] });
    expect(parts.filter(({ inlineData }) => inlineData)).toHaveLength(20);
    expect(text).toContain(`${join(root, "p20.png")}: 20 images and PDFs are shown already; read it with`);
  });

  it("P48 binaries are skipped with a reason, long files cut with a way on, the whole bounded", async () => {
    const big = "0123456789 line of text\n".repeat(3000);
    const files = Object.fromEntries(Array.from({ length: 6 }, (_, number) => [`f${number}.txt`, big]));
    const root = createTree({ ...files, "bin.dat": Buffer.from([0, 1, 2, 3, 0, 255]) });
    const { text, result } = await read(root, { paths: ["."] });
    expect(text.length).toBeLessThan(100_000);
    expect(text).toContain(
      "[WARNING: This file was truncated: lines 1-2000 of 3000 are shown, read on with read_file",
    );
    expect(text).toContain(`${join(root, "bin.dat")}: binary`);
    expect(text).toContain(`${join(root, "f5.txt")}: the limit for all files together was reached`);
    expect(String(result.returnDisplay)).toMatch(/^Read 2 files, skipped 5\.$/);
  });

  it("P39 git-ignored files come only when named, hidden ones never", async () => {
    const root = createTree({
      ".gitignore": "*.log\n",
      ".burinignore": "secret*\n",
      "a.log": "log",
      "secret.txt": "s",
      "b.txt": "b",
    });
    expect((await read(root, { paths: ["*.log", "b.txt"] })).files).toEqual(["b.txt"]);
    expect((await read(root, { paths: ["a.log"] })).files).toEqual(["a.log"]);
    expect((await read(root, { paths: ["*.log"], respect_git_ignore: false })).files).toEqual(["a.log"]);
    const hidden = await read(root, { paths: ["secret.txt"] });
    expect(hidden.result.error?.type).toBe("nothing_read");
    expect(hidden.text).toContain(".burinignore");
  });

  it("P38 P41 a path outside or missing is named with its reason and harms no other", async () => {
    const root = createTree({ "a b.txt": "text" });
    const { text, files } = await read(root, {
      paths: ["/etc/passwd", "a  b.txt", "a b.txt", "../*", "*.none"],
    });
    expect(files).toEqual(["a b.txt"]);
    expect(text).toContain("/etc/passwd is outside the root");
    expect(text).toContain(`Did you mean ${join(root, "a b.txt")}?`);
    expect(text).toContain("*.none: no file matches");
    expect(text).not.toContain("root:x:");
  });

  it("P41 a folder whose name is slightly wrong is named", async () => {
    const root = createTree({ "目录 1/deep/文件.txt": "text" });
    const { text } = await read(root, { paths: ["目录1/deep/文件.txt", "nothing/like/it.txt"] });
    expect(text).toContain(`neither does its folder ${join(root, "目录1/deep")}`);
    expect(text).toContain(`Did you mean ${join(root, "目录 1")}?`);
    expect(text.split("Did you mean")).toHaveLength(2);
  });

  it("P41 a name that looks like a group of some shells is read, by name and by glob", async () => {
    const root = createTree({ "routes/+page@(app).svelte": "app\n" });
    for (const path of ["routes/+page@(app).svelte", "**/+page@(app).*"]) {
      expect((await read(root, { paths: [path] })).files).toEqual(["routes/+page@(app).svelte"]);
    }
  });

  it("R40 a glob may be absolute in a root with special characters", async () => {
    const root = join(createTree({ "a [b]*/src/x.ts": "text" }), "a [b]*");
    expect((await read(root, { paths: [join(root, "src/*.ts")] })).files).toEqual(["src/x.ts"]);
  });

  it("R40 needs no confirmation and says what it will read", async () => {
    const tool = new ReadManyFiles(openWorkspace(createTree({})));
    expect(await tool.shouldConfirmExecute({ paths: ["a"] }, new AbortController().signal)).toBe(false);
    expect(tool.getDescription({ paths: ["a", "b/*.ts"] })).toBe("Read a, b/*.ts");
    expect(tool.validateToolParams({ paths: [] })).toContain("paths");
  });
});
