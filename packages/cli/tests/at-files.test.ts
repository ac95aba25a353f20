import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

let env: Record<string, string>;

beforeEach(async () => {
  env = await modelEnv({ text: "ok" });
});

/** What the model is sent for the prompt. */
async function sent(prompt: string, ...args: string[]): Promise<string> {
  const { code, stderr } = await burin(["-p", prompt, ...args], { cwd: root, env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { messages } = JSON.parse(JSON.stringify(server.requests[0])).body;
  return messages.at(-1).content;
}

describe("@ mentions", () => {
  it("R40 P41 files are read and joined, whatever their names", async () => {
    put("a.txt", "alpha\n");
    put("sub/b c.txt", "beta\n");
    put("数据 1.md", "gamma\n");
    const text = await sent('compare @a.txt, @"sub/b c.txt" and @数据\\ 1.md.');
    expect(text).toMatch(/^compare @a\.txt/);
    for (const content of ["alpha", "beta", "gamma"]) expect(text).toContain(content);
    expect(text).toContain(`--- ${join(root, "a.txt")} ---`);
  });

  it("P48 a folder gives its list, never its files", async () => {
    for (let index = 0; index < 300; index += 1) put(`many/f${index}.txt`, "content\n");
    const text = await sent("what is in @many?");
    expect(text).toContain(`Directory listing for ${join(root, "many")}:`);
    expect(text).toContain("f299.txt");
    expect(text).not.toContain("content");
  });

  it("R40 images and PDF go as what they are, behind the words", async () => {
    const image =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    const pdf = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
    await writeFile(join(root, "image.png"), Buffer.from(image, "base64"));
    await writeFile(join(root, "doc.pdf"), pdf);
    const content = (await sent("look at @image.png and @doc.pdf")) as unknown;
    expect(content).toEqual([
      // Chat completions has no form for a PDF; where a protocol has one it goes as what it is.
      {
        type: "text",
        text: expect.stringMatching(
          /^look at @image\.png[\s\S]*image\.png ---[\s\S]*application\/pdf of \d+ bytes/,
        ),
      },
      { type: "image_url", image_url: expect.objectContaining({ url: `data:image/png;base64,${image}` }) },
    ]);
  });

  it("R40 a glob reads what it matches", async () => {
    put("src/a.ts", "const a = 1;\n");
    put("src/b.js", "const b = 2;\n");
    const text = await sent("look at @src/*.ts");
    expect(text).toContain("const a");
    expect(text).not.toContain("const b");
  });

  it.each(["mail me@a.txt about it", "@nobody said so", "a @ b", "see @../outside", "@@a.txt"])(
    "%j mentions no file and is sent as it is",
    async (prompt) => {
      put("a.txt", "alpha\n");
      expect(await sent(prompt)).toBe(prompt);
    },
  );

  it("P39 a file that git ignores can be mentioned, one of .burinignore cannot", async () => {
    put(".gitignore", "built.txt\n");
    put(".burinignore", "hidden.txt\n");
    put("built.txt", "built content\n");
    put("hidden.txt", "hidden content\n");
    const text = await sent("@built.txt @hidden.txt");
    expect(text).toContain("built content");
    expect(text).not.toContain("hidden content");
    expect(text).toContain("hidden.txt");
  });

  it("P19 P38 a denied file and one outside are named, not shown", async () => {
    put(".env", "KEY=canary\n");
    const other = createTemporaryFolder();
    await writeFile(join(other, "secret.txt"), "outside\n");
    await symlink(join(other, "secret.txt"), join(root, "link.txt"));
    const text = await sent(`@.env @link.txt @${join(other, "secret.txt")}`, "--deny", "read_file(.env*)");
    expect(text).not.toMatch(/canary|outside\n/);
  });

  it("P41 a mention that names nothing, or lies outside, is told to the user at once", async () => {
    put("README.md", "alpha\n");
    const args = ["-p", "see @REDAME.md, @sub/nothing and @/etc/hostname"];
    const { stderr } = await burin(args, { cwd: root, env });
    expect(stderr).toContain("@REDAME.md names no file or folder");
    expect(stderr).toContain("did you mean @README.md?");
    expect(stderr).toContain("@sub/nothing names no file or folder");
    expect(stderr).toContain("@/etc/hostname is outside the project folder");
    expect(JSON.stringify(server.requests[0])).not.toContain("--- /etc/hostname");
  });
});

describe("words with an @ that mean no file", () => {
  it("P44 of a text from a pipe are neither looked up nor told, and the text goes behind the prompt", async () => {
    put("a.txt", "canary\n");
    const diff = "@@ -1,2 +1,2 @@\n+ see @a.txt and @b.txt\n";
    const { stderr } = await burin(["-p", "review"], { cwd: root, env, stdin: diff });
    expect(stderr).not.toContain("@");
    const messages = server.requests[0]?.body.messages as { content: string }[];
    expect(messages.at(-1)?.content).toBe(`review\n\n${diff}`);
  });

  it("P44 are told only where they look like a path", async () => {
    const args = ["-p", "/** @param one\n * @returns {@link two} */ @Get() @@ @notes:file:///a.md @a/b.ts"];
    const { stderr } = await burin(args, { cwd: root, env });
    expect(stderr.match(/@\S+ names no file/g)).toEqual(["@a/b.ts names no file"]);
  });
});

describe("/commands", () => {
  it("P44 an unknown one is an error that names the near one, and no model is asked", async () => {
    put(".home/commands/review.md", "Review it.\n");
    const near = await burin(["-p", "/reveiw now"], { cwd: root, env });
    expect(near).toMatchObject({ code: 2, stdout: "" });
    expect(near.stderr).toContain("there is no command /reveiw; did you mean /review?");
    const far = await burin(["-p", "/nosuch", "--output-format", "json"], { cwd: root, env });
    expect(JSON.parse(far.stdout).error.message).toContain("known: /review");
    expect(server.requests).toHaveLength(0);
  });

  it.each(["/tmp is full, why?", "/etc/hosts: what is it?", " /nosuch as text"])(
    "%j is a prompt",
    async (prompt) => {
      expect(await sent(prompt)).toContain(prompt.trim());
    },
  );
});
