import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildQuestionView, createToolbox, type QuestionView } from "@burin/core";
import { beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

let seen: QuestionView[];

makeFolders();
beforeEach(() => {
  seen = [];
});

async function approved(tool: string, args: Record<string, unknown>) {
  const toolbox = createToolbox({
    root,
    overwriteUnread: true,
    environment: { ...process.env, BURIN_HOME: join(root, ".home") },
    confirm: (question) => {
      seen.push(buildQuestionView(question));
      return Promise.resolve({ outcome: "once" });
    },
  });
  const result = await toolbox.call(tool, args);
  await toolbox.close();
  return result;
}

const RIGHT_TO_LEFT = String.fromCodePoint(0x202e);

describe("what the person sees and what is done", () => {
  it("P21 the question shows hidden characters, and the bytes that run are the real ones", async () => {
    await approved("run_shell_command", { command: `printf %s 'a${RIGHT_TO_LEFT}b' | tee made` });
    expect(seen[0]?.lines).toEqual(["printf %s 'a\\u{202e}b' | tee made"]);
    expect(seen[0]?.parts).toEqual(["printf %s 'a\\u{202e}b'", "tee made"]);
    expect(seen[0]?.target).toEqual([root]);
    expect(readFileSync(join(root, "made"), "utf8")).toBe(`a${RIGHT_TO_LEFT}b`);
    await approved("write_file", { file_path: join(root, "text"), content: `x${RIGHT_TO_LEFT}y` });
    expect(seen[1]?.lines.join("\n")).toContain("+x\\u{202e}y");
    expect(readFileSync(join(root, "text"), "utf8")).toBe(`x${RIGHT_TO_LEFT}y`);
  });

  it("P21 the target is the file that a link leads to", async () => {
    writeFileSync(join(root, ".env"), "A=1\n");
    symlinkSync(join(root, ".env"), join(root, "notes.txt"));
    await approved("write_file", { file_path: join(root, "notes.txt"), content: "B=1\n" });
    expect(seen[0]?.target).toEqual([join(root, ".env")]);
    expect(seen[0]?.title).toContain(".env");
    expect(seen[0]?.grants).toEqual([]);
    expect(existsSync(join(root, "notes.txt"))).toBe(true);
  });
});
