import { execFileSync } from "node:child_process";
import { closeSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { expect, it } from "vitest";
import { openTargetFolder } from "../paths/target-folder.ts";
import { PreservedAttributes } from "./file-attributes.ts";

if (process.platform === "linux") {
  it("P49 attributes that cannot be copied are a refusal", requirePrograms("setfattr"), async () => {
    const path = createFile(createTemporaryFolder(), "a.txt", "one\n");
    execFileSync("setfattr", ["-n", "user.origin", "-v", "here", path]);
    const folder = await openTargetFolder(path, [dirname(path)]);
    try {
      const attributes = new PreservedAttributes({
        folder,
        file: "a.txt",
        stats: lstatSync(path, { bigint: true }),
        helpers: fileHelpers,
      });
      await expect(attributes.copyAttributes("no-folder/new")).rejects.toThrow(
        /a\.txt has an access .* could not be kept/,
      );
    } finally {
      closeSync(folder.descriptor);
    }
    expect(readdirSync(dirname(path))).toEqual(["a.txt"]);
    expect(readFileSync(path, "utf8")).toBe("one\n");
  });

  it("P49 other work goes on while they are asked for", async () => {
    const path = createFile(createTemporaryFolder(), "a.txt", "one\n");
    const folder = await openTargetFolder(path, [dirname(path)]);
    let isGoingOn = false;
    setImmediate(() => {
      isGoingOn = true;
    });
    const stats = lstatSync(path, { bigint: true });
    const hasSome = await new PreservedAttributes({
      folder,
      file: "a.txt",
      stats,
      helpers: fileHelpers,
    }).copyAttributes("b.txt");
    closeSync(folder.descriptor);
    expect([hasSome, isGoingOn]).toEqual([false, true]);
  });
}
