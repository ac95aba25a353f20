import { chmod, readdir, readFile, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { content, edit, file, makeFolders, root, toolbox } from "../../tests/edit-room.ts";

makeFolders();

describe("edit: what it does", () => {
  it("R89 R90 R91 R94 R97 replaces the one place, and shows it with its surroundings", async () => {
    await writeFile(file, "one\ntwo\nthree\nfour\nfive\nsix\n");
    const { llmContent, returnDisplay, error } = await edit({ old: "four", new: "FOUR" });
    expect(error).toBeUndefined();
    expect(await content()).toBe("one\ntwo\nthree\nFOUR\nfive\nsix\n");
    expect(llmContent).toBe(
      `Successfully modified file: ${file} (1 replacements).\nThe changed lines now:\nL1: one\nL2: two\nL3: three\nL4: FOUR\nL5: five\nL6: six`,
    );
    expect(returnDisplay).toMatchObject({
      kind: "file_diff",
      fileName: "a.txt",
      addedLines: 1,
      removedLines: 1,
    });
  });

  it("R92 R94 X7 replaces exactly as many places as expected, and never silently the first", async () => {
    await writeFile(file, "x\ny\nx\n");
    const refused = await edit({ old: "x", new: "z" });
    expect(refused.error?.type).toBe("wrong_count");
    expect(refused.llmContent).toMatch(/^Failed to edit, expected 1 occurrences but found 2 \(lines 1, 3\)/);
    expect(await content()).toBe("x\ny\nx\n");
    const done = await edit({ old: "x", new: "z", count: 2 });
    expect(done.llmContent).toContain("(2 replacements)");
    expect(await content()).toBe("z\ny\nz\n");
    expect((await edit({ old: "z", new: "w", count: 3 })).llmContent).toMatch(
      /^Failed to edit, expected 3 occurrences but found 2/,
    );
  });

  it("P17 an escape that the language has not there is refused with what to send, and written if it is literal", async () => {
    const path = join(root, "a.ts");
    await writeFile(path, "one();\nfour();\n");
    const call = { file_path: path, old_string: "one();", new_string: "one();\\ntwo();" };
    const refused = await toolbox().call("edit", call);
    expect(refused.error?.type).toBe("stray_escape");
    expect(refused.llmContent).toContain("new_string has \\n as two characters");
    expect(refused.llmContent).toContain('"literal": true');
    expect(await readFile(path, "utf8")).toBe("one();\nfour();\n");
    const edits = [
      { old_string: "one();", new_string: "one();\\ntwo();", literal: true },
      { old_string: "four();", new_string: "five();" },
    ];
    expect((await toolbox().call("edit", { file_path: path, edits })).error).toBeUndefined();
    expect(await readFile(path, "utf8")).toBe("one();\\ntwo();\nfive();\n");
  });

  it("X6 a path that is not absolute, or names a folder, is answered with what to give instead", async () => {
    const meant = await edit({ old: "a", new: "b", path: `file://${file}` });
    expect(meant.llmContent).toContain(`probably means "${file}"`);
    expect((await edit({ old: "", new: "b", path: `${join(root, "new")}/` })).error?.type).toBe(
      "is_a_directory",
    );
    expect(await readdir(root)).toEqual([]);
  });

  it("R93 R97 an empty old_string makes a new file, with its folders", async () => {
    const path = join(root, "deep/er/new.txt");
    const { llmContent } = await edit({ old: "", new: "fresh\n", path });
    expect(llmContent).toBe(`Created new file: ${path} with provided content.`);
    expect(await readFile(path, "utf8")).toBe("fresh\n");
  });

  it("keeps mode and links, and the rest of a large file", async () => {
    const big = `${"line of a file that is long\n".repeat(40_000)}needle here\n${"tail of the file\n".repeat(40_000)}`;
    await writeFile(file, big);
    await chmod(file, 0o751);
    await symlink("a.txt", join(root, "link.txt"));
    await edit({ old: "needle here", new: "thread", path: join(root, "link.txt") });
    expect(await content()).toBe(big.replace("needle here", "thread"));
    expect((await stat(file)).mode & 0o777).toBe(0o751);
    expect(await realpath(join(root, "link.txt"))).toBe(file);
  });

  it("P1 says which stage found the place when it was not exact", async () => {
    await writeFile(file, "function f() {\n\treturn 1;\n}\n");
    const { llmContent } = await edit({ old: "    return 1;", new: "    return 2;" });
    expect(await content()).toBe("function f() {\n\treturn 2;\n}\n");
    expect(llmContent).toContain("old_string did not match exactly");
  });

  it("P32 keeps CRLF, the byte order mark and a missing last newline", async () => {
    await writeFile(file, "\uFEFFone\r\ntwo\r\nthree");
    await edit({ old: "two\nthree", new: "2\n3" });
    expect(await content()).toBe("\uFEFFone\r\n2\r\n3");
  });

  it("P3 keeps every other byte of a file that is not UTF-8", async () => {
    const bytes = Buffer.from("caf\xe9 one\nna\xefve two\n", "latin1");
    await writeFile(file, bytes);
    await edit({ old: "two", new: "2" });
    expect((await readFile(file)).toString("latin1")).toBe("caf\xe9 one\nna\xefve 2\n");
  });

  it("P17 for exact matches the bytes written are the bytes given", async () => {
    const hostile = fc.string({
      unit: fc.constantFrom(
        "a",
        " ",
        "\\",
        "\\n",
        "$&",
        "$'",
        "$1",
        "$$",
        "\u2018",
        "\u201d",
        "\u00e9",
        "e\u0301",
        "😀",
        "\t",
        "\u0001",
        "{",
        "`",
      ),
      minLength: 1,
      maxLength: 12,
    });
    const box = toolbox();
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (old, fresh) => {
        fc.pre(old !== fresh && old.trim() !== "");
        await writeFile(file, `before|\n<${old}>\n|after\n`);
        await edit({ old: `<${old}>`, new: `<${fresh}>` }, box);
        expect(await content()).toBe(`before|\n<${fresh}>\n|after\n`);
      }),
      { numRuns: 150 },
    );
  });
});

describe("edit: when it fails", () => {
  it.each([
    ["R96 X6 a relative path", () => ({ old: "a", new: "b", path: "a.txt" }), "invalid_arguments", "a.txt"],
    ["R96 a path outside", () => ({ old: "a", new: "b", path: "/etc/hosts" }), "outside_root", "outside"],
    [
      "R96 a missing file",
      () => ({ old: "a", new: "b", path: join(root, "A.TXT2") }),
      "not_found",
      "Did you mean",
    ],
    [
      "R96 a missing file with nothing like it",
      () => ({ old: "a", new: "b", path: join(root, "quite-another.md") }),
      "not_found",
      "To create it, give an empty old_string.",
    ],
    [
      "R96 an existing file and empty old text",
      () => ({ old: "", new: "b" }),
      "file_exists",
      "already exists",
    ],
    [
      "R96 R98 absent text",
      () => ({ old: "nowhere to be seen", new: "b" }),
      "no_occurrence",
      "Failed to edit, 0 occurrences found",
    ],
    ["equal texts", () => ({ old: "alpha", new: "alpha" }), "invalid_arguments", "nothing would change"],
  ])("%s: nothing is written, the cause is said", async (_title, asked, ...[type, words]) => {
    await writeFile(file, "alpha\nbeta\n");
    const { error, llmContent } = await edit(asked());
    expect(error?.type).toBe(type);
    expect(llmContent).toContain(words);
    expect(await content()).toBe("alpha\nbeta\n");
  });

  it("R98 an empty file is answered with how to fill it", async () => {
    await writeFile(file, "");
    const { error, llmContent } = await edit({ old: "alpha", new: "beta" });
    expect(error?.type).toBe("no_occurrence");
    expect(llmContent).toContain("the file is empty. Give an empty old_string");
    expect(await content()).toBe("");
  });

  it("P1 shows the closest region, its line numbers and what differs", async () => {
    await writeFile(file, "const alpha = 1;\nconst beta = compute(alpha, 2);\nconst gamma = 3;\n");
    const { llmContent } = await edit({
      old: "const alpha = 1;\nconst beta = calculate(alpha, delta, 2);\nconst gamma = 3;",
      new: "x",
    });
    expect(llmContent).toContain("lines 1-3");
    expect(llmContent).toContain("compute(alpha, 2)");
  });

  it("says when the change is already there", async () => {
    await writeFile(file, "const renamedValue = 1;\nexport default renamedValue;\n");
    const { llmContent, error } = await edit({
      old: "const oldValue = 1;\nexport default oldValue;",
      new: "const renamedValue = 1;\nexport default renamedValue;",
    });
    expect(error).toBeDefined();
    expect(llmContent).toContain("seems to be done");
  });

  it("P1 says which line would be there twice, and writes nothing", async () => {
    const text = "one(1);\ntwo(2);\nend();\n";
    await writeFile(file, text);
    const { error } = await edit({ old: "two(2);", new: "one(1);\ntwo(22);" });
    expect(error?.type).toBe("doubled_line");
    expect(error?.message).toContain('there twice: "one(1);"');
    expect((await edit({ old: "two(2);", new: "two(2);\nend();" })).error?.type).toBe("no_change");
    expect(await content()).toBe(text);
  });

  it("P25 takes what differs for a slip only in a file that nobody has changed since it was read", async () => {
    const slip = { old: "alpha(1);\nbeta(2);\nomgea(3);", new: "alpha(1);\nbeta(22);\nomgea(3);" };
    const box = toolbox();
    for (const isChanged of [true, false]) {
      await writeFile(file, "alpha(1);\nbeta(2);\nold(3);\n");
      await box.call("read_file", { absolute_path: file });
      await writeFile(file, "alpha(1);\nbeta(2);\nomega(3);\n");
      if (!isChanged) await box.call("read_file", { absolute_path: file });
      const { error } = await edit(slip, box);
      expect(error?.type).toBe(isChanged ? "no_occurrence" : undefined);
    }
    expect(await content()).toBe("alpha(1);\nbeta(22);\nomega(3);\n");
  });

  it("says when the file has changed since it was read", async () => {
    await writeFile(file, "alpha\nbeta\n");
    const box = toolbox();
    await box.call("read_file", { absolute_path: file });
    await writeFile(file, "other content\nentirely\n");
    expect((await edit({ old: "alpha", new: "b" }, box)).llmContent).toContain(
      "has changed since it was read",
    );
  });

  it("P1 P31 a fence around new_string alone is left out of code, and asked about in Markdown", async () => {
    for (const [name, written] of [
      ["a.c", "## b\n"],
      ["a.md", "## a\n"],
    ] as const) {
      const path = join(root, name);
      await writeFile(path, "## a\n");
      const { error } = await edit({ old: "## a", new: "```\n## b\n```", path });
      expect(await readFile(path, "utf8")).toBe(written);
      expect(error?.message ?? "").toMatch(name === "a.c" ? /^$/ : /Leave the fence out, or put a line/);
    }
  });

  it("does not edit what is not text", async () => {
    await writeFile(file, Buffer.from([0, 1, 2, 0, 255, 254, 0]));
    expect((await edit({ old: "a", new: "b" })).error?.type).toBe("not_text");
  });

  it("P41 names in every script and with blanks", async () => {
    for (const name of ["two words.txt", "名前.md", 'it\'s "q".txt', "emoji 😀.txt", "a[1].txt"]) {
      const path = join(root, name);
      await writeFile(path, "old\n");
      expect((await edit({ old: "old", new: "new", path })).error).toBeUndefined();
      expect(await readFile(path, "utf8")).toBe("new\n");
    }
  });
});
