import { createToolbox } from "@burin/core";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

makeFolders();

describe("a toolbox and files", () => {
  it("X13 hands tools.svgAsText to read_file", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>\n';
    const path = createFile(root, "a.svg", svg);
    const image = await createToolbox({ root }).call("read_file", { path });
    expect(image.llmContent).toEqual({
      inlineData: { mimeType: "image/svg+xml", data: Buffer.from(svg).toString("base64") },
    });
    const settings = { tools: { svgAsText: true } };
    expect((await createToolbox({ root, settings }).call("read_file", { path })).llmContent).toBe(svg);
  });

  it("R48 may use the included directories, and nothing beside them", async () => {
    const [more, other] = [createTemporaryFolder(), createTemporaryFolder()];
    const path = createFile(more, "a.txt", "more");
    const toolbox = createToolbox({ root, includeDirectories: [more], approvalMode: "yolo" });
    expect((await toolbox.call("read_file", { path })).llmContent).toBe("more");
    const fresh = { file_path: `${more}/new/b.txt`, content: "x" };
    expect((await toolbox.call("write_file", fresh)).error).toBeUndefined();
    const outside = await toolbox.call("read_file", { path: createFile(other, "a.txt", "other") });
    expect(outside.error?.type).toBe("outside_root");
    expect((await createToolbox({ root }).call("read_file", { path })).error?.type).toBe("outside_root");
  });

  it("R48 refuses an included directory that is none", () => {
    expect(() => createToolbox({ root, includeDirectories: ["missing"] })).toThrow(/does not exist/);
    createFile(root, "a.txt", "");
    expect(() => createToolbox({ root, includeDirectories: ["a.txt"] })).toThrow(/not a directory/);
  });

  it("R31 refuses an edited answer to a question that is no edit", async () => {
    const path = createFile(root, "a.txt", "text");
    const toolbox = createToolbox({
      root,
      settings: { permissions: { ask: ["read_file"] } },
      confirm: () => Promise.resolve({ outcome: "edited", content: "x" }),
    });
    const { error, llmContent } = await toolbox.call("read_file", { path });
    expect(error?.type).toBe("undecided");
    expect(llmContent).not.toContain("text");
  });

  it("P2 refuses to overwrite unread in yolo and under a rule, unless a person wrote the calls", async () => {
    const call = { file_path: createFile(root, "a.txt", "old\n"), content: "new\n" };
    const byRule = { root, settings: { permissions: { allow: ["write_file"] } } };
    for (const options of [{ root, approvalMode: "yolo" as const }, byRule]) {
      const { error } = await createToolbox(options).call("write_file", call);
      expect(error?.type).toBe("not_read");
      const typed = await createToolbox({ ...options, overwriteUnread: true }).call("write_file", call);
      expect(typed.error).toBeUndefined();
    }
  });
});
