import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { NO_ACCESS_SETTINGS } from "../ignore/access-settings.ts";

const RANGE = { offset: 0, limit: 10, maxLineCharacters: 100 };
const { signal } = new AbortController();

it("R48 a folder that may be read besides the root stays the same one when a link takes its place", async () => {
  const base = createTemporaryFolder();
  const [root, folder, link] = [join(base, "root"), join(base, "skills"), join(base, "link")];
  for (const each of [root, folder]) mkdirSync(each);
  symlinkSync(folder, link);
  const secret = createFile(base, "private/key", "secret");
  const workspace = openWorkspace(root, [], { ...NO_ACCESS_SETTINGS, readable: [link, join(base, "late")] });
  const skill = createFile(folder, "SKILL.md", "skill");
  expect(await workspace.read(skill, RANGE, signal)).toMatchObject({ text: "skill" });
  const output = createFile(base, "late/output.txt", "output");
  expect(await workspace.read(output, RANGE, signal)).toMatchObject({ text: "output" });
  for (const each of [folder, join(base, "late")]) {
    renameSync(each, `${each}-moved`);
    symlinkSync(join(base, "private"), each);
    await expect(workspace.read(secret, RANGE, signal)).rejects.toMatchObject({ code: "outside_root" });
  }
});
