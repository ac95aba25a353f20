import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { expect, it } from "vitest";
import { openTargetFolder } from "../paths/target-folder.ts";
import { learnPlainFiles, PreservedAttributes } from "./file-attributes.ts";

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

  /** Counts the programs that are run, and says which files have attributes. */
  async function askEach(paths: readonly string[], count: { programs: number }) {
    const found: boolean[] = [];
    const helpers = {
      ...fileHelpers,
      runProgram: (request: Parameters<typeof fileHelpers.runProgram>[0]) => {
        count.programs += 1;
        return fileHelpers.runProgram(request);
      },
    };
    for (const path of paths) {
      const folder = await openTargetFolder(path, [dirname(path)]);
      const stats = lstatSync(path, { bigint: true });
      const attributes = new PreservedAttributes({ folder, file: path, stats, helpers });
      found.push(await attributes.copyAttributes(basename(path)).catch(() => true));
      closeSync(folder.descriptor);
    }
    return found;
  }

  it("P49 many files without attributes are asked about at once, and one that was changed since again", async () => {
    const folder = createTemporaryFolder();
    const paths = ["a", "b", "c"].map((name) => createFile(folder, name, `${name}\n`));
    await learnPlainFiles(paths, fileHelpers);
    const count = { programs: 0 };
    expect(await askEach(paths, count)).toEqual([false, false, false]);
    expect(count.programs).toBe(0);
    chmodSync(paths[1] ?? "", 0o755);
    await askEach(paths, count);
    expect(count.programs).toBe(1);
  });

  it("P49 attributes of one of many files are found", requirePrograms("setfattr"), async () => {
    const folder = createTemporaryFolder();
    const paths = ["a", "b"].map((name) => createFile(folder, name, `${name}\n`));
    execFileSync("setfattr", ["-n", "user.origin", "-v", "here", paths[1] ?? ""]);
    await learnPlainFiles(paths, fileHelpers);
    expect(await askEach(paths, { programs: 0 })).toEqual([false, true]);
  });
}
