import { syncBuiltinESMExports } from "node:module";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { openRegularFile } from "./regular-file.ts";

it("P25 a file whose server has gone between opening it and looking at it is closed again", () => {
  const fs = process.getBuiltinModule("node:fs");
  const { fstatSync } = fs;
  const path = createFile(createTemporaryFolder(), "file", "text");
  const opened: number[] = [];
  fs.fstatSync = ((descriptor: number) => {
    opened.push(descriptor);
    throw Object.assign(new Error("stale"), { code: "ESTALE" });
  }) as typeof fstatSync;
  syncBuiltinESMExports();
  try {
    expect(() => openRegularFile(path)).toThrow("stale");
  } finally {
    fs.fstatSync = fstatSync;
    syncBuiltinESMExports();
  }
  expect(opened).toHaveLength(1);
  expect(() => fstatSync(opened[0] ?? -1)).toThrow("EBADF");
});
