import { closeSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { resolveDescriptorPath } from "./paths.ts";

/** What is opened, and its real path after somebody has done something to the name. */
async function realPathAfter(change: (file: string, other: string) => void, name = "a.txt") {
  const root = createTemporaryFolder();
  const [file, other] = [join(root, name), join(root, "other.txt")];
  writeFileSync(file, "one\n");
  writeFileSync(other, "two\n");
  const descriptor = openSync(file, "r");
  try {
    change(file, other);
    return { file, real: await resolveDescriptorPath(descriptor, file) };
  } finally {
    closeSync(descriptor);
  }
}

describe.runIf(process.platform === "linux")("the real path of what is open", () => {
  it("P25 is its own although another file has got its name, so that rules for the name count", async () => {
    const { file, real } = await realPathAfter((path, other) => renameSync(other, path));
    expect(real).toBe(file);
    const linked = await realPathAfter((path, other) => {
      linkSync(path, `${path}.link`);
      renameSync(other, path);
    });
    expect(linked.real).toBe(linked.file);
  });

  it("P25 is the whole name of a file that is called deleted, and of one that such a file has replaced", async () => {
    const kept = await realPathAfter(() => {}, "a (deleted)");
    expect(kept.real).toBe(kept.file);
    const gone = await realPathAfter((path) => rmSync(path), "a (deleted)");
    expect(gone.real).toBe(gone.file);
    const { file, real } = await realPathAfter((path, other) => {
      rmSync(path);
      renameSync(other, `${path} (deleted)`);
    });
    expect(real).toBe(file);
  });
});
