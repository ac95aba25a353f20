import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolbox } from "@burin/core";
import { expect, it } from "vitest";
import { createEditorMachine } from "./editor-machine.ts";

it("P28 an editor that does not answer about a file is named in the error, and holds up no call", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "burin-editor-")));
  const path = join(root, "a.txt");
  writeFileSync(path, "one\n");
  let has: string | null | undefined = "one, unsaved\n";
  const silent = new Promise<never>(() => {});
  const buffers = { read: async () => (has === undefined ? silent : has), write: () => silent };
  const machine = createEditorMachine(buffers, 100);
  const toolbox = createToolbox({ root, environment: { BURIN_HOME: root }, machine, approvalMode: "yolo" });
  const read = () => toolbox.call("read_file", { file_path: path });
  expect(JSON.stringify(await read())).toContain("one, unsaved");
  const written = await toolbox.call("write_file", { file_path: path, content: "two\n" });
  expect(written.error?.message).toBe(`The editor did not say within 0.1 s whether it has written ${path}.`);
  has = undefined;
  expect((await read()).error?.message).toBe(`The editor did not say within 0.1 s what it has of ${path}.`);
  await toolbox.close();
  rmSync(root, { recursive: true });
});
