import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Confirmation } from "@burin/contract/tools";
import { beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "../../tests/folder.ts";
import { createToolbox } from "../create-session.ts";

const TEXT = "one();\ntwo();\nthree();\ntwo();\n";

let file: string;

makeFolders();
beforeEach(async () => {
  file = join(root, "notes.txt");
  await writeFile(file, TEXT);
});

interface One {
  readonly old_string: string;
  readonly new_string: string;
  readonly expected_replacements?: number;
}

function edit(edits: readonly One[], more: object = {}) {
  return createToolbox({ root, approvalMode: "yolo" }).call("edit", { file_path: file, edits, ...more });
}

const content = () => readFile(file, "utf8");

describe("several edits in one call", () => {
  it("R94 R97 are all made, each in the file as it was", async () => {
    const { llmContent, error } = await edit([
      { old_string: "three();", new_string: "one();\nthree(3);" },
      { old_string: "one();", new_string: "three();" },
      { old_string: "two();", new_string: "2();", expected_replacements: 2 },
    ]);
    expect(error).toBeUndefined();
    expect(await content()).toBe("three();\n2();\none();\nthree(3);\n2();\n");
    expect(llmContent).toContain(`Successfully modified file: ${file} (4 replacements).`);
  });

  it("R96 R98 are none of them made when one cannot be, and that one is named", async () => {
    const { llmContent, error } = await edit([
      { old_string: "one();", new_string: "1();" },
      { old_string: "two();", new_string: "2();" },
    ]);
    expect(error?.type).toBe("wrong_count");
    expect(llmContent).toMatch(/^Failed to edit, expected 1 occurrences but found 2/);
    expect(llmContent).toContain("about edits[1]; none of the 2 edits was made");
    expect(await content()).toBe(TEXT);
  });

  it("X7 are refused where they overlap", async () => {
    const { error, llmContent } = await edit([
      { old_string: "one();\ntwo();", new_string: "a();" },
      { old_string: "two();\nthree();", new_string: "b();" },
    ]);
    expect(error?.type).toBe("overlap");
    expect(llmContent).toContain("edits[0] and edits[1] overlap at line 2");
    expect(await content()).toBe(TEXT);
  });

  it("R95 each says how it was matched when that was not exactly", async () => {
    const { llmContent } = await edit([
      { old_string: "one();", new_string: "1();" },
      { old_string: "\tthree();\n\ttwo();", new_string: "\tthree();\n\t2();" },
    ]);
    expect(await content()).toBe("1();\ntwo();\nthree();\n2();\n");
    expect(llmContent).toContain("matched after ignoring: indentation (edits[1])");
  });

  it("R50 R99 are asked about once, with one diff", async () => {
    const asked: Confirmation[] = [];
    const confirm = async (confirmation: Confirmation) => {
      asked.push(confirmation);
      return { outcome: "once" as const };
    };
    await createToolbox({ root, confirm }).call("edit", {
      file_path: file,
      edits: [
        { old_string: "one();", new_string: "1();" },
        { old_string: "three();", new_string: "3();" },
      ],
    });
    expect(asked).toHaveLength(1);
    const diff = expect.stringMatching(/-one\(\);\n\+1\(\);[\s\S]*-three\(\);\n\+3\(\);/);
    expect(asked).toMatchObject([{ kind: "edit", diff: { fileDiff: diff } }]);
  });

  it("R90 R91 both forms, or half of one, are answered with how to do it right", async () => {
    const both = await edit([{ old_string: "one();", new_string: "1();" }], {
      old_string: "two();",
      new_string: "2();",
    });
    expect(both.error?.message).toContain("as one more item");
    const half = await createToolbox({ root, approvalMode: "yolo" }).call("edit", {
      file_path: file,
      old_string: "one();",
    });
    expect(half.error?.message).toContain('"new_string" is missing');
    expect(await content()).toBe(TEXT);
  });
});

describe("an empty file", () => {
  it("R93 R97 takes new_string when old_string is empty as well", async () => {
    await writeFile(file, "");
    const box = createToolbox({ root, approvalMode: "yolo" });
    const { error } = await box.call("edit", { file_path: file, old_string: "", new_string: "first\n" });
    expect(error).toBeUndefined();
    expect(await content()).toBe("first\n");
  });
});
