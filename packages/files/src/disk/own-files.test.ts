import { readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { appendLine } from "./own-files.ts";

it("P23 P26 a disk that is full for a while loses the lines of that while, and none before or after", () => {
  const folder = createTemporaryFolder();
  const path = join(folder, "lines.jsonl");
  const fs = process.getBuiltinModule("node:fs");
  const { appendFileSync } = fs;
  const full: typeof appendFileSync = (file, text, options) => {
    appendFileSync(file, String(text).slice(0, 5), options);
    throw new Error("ENOSPC: no space left on device, write");
  };
  const append = (write: typeof appendFileSync, value: object) => {
    fs.appendFileSync = write;
    syncBuiltinESMExports();
    try {
      appendLine(path, value);
    } finally {
      fs.appendFileSync = appendFileSync;
      syncBuiltinESMExports();
    }
  };
  expect(() => append(full, { line: 0 })).toThrow("ENOSPC");
  expect(readdirSync(folder)).toEqual([]);
  append(appendFileSync, { line: 1 });
  expect(() => append(full, { line: 2 })).toThrow("ENOSPC");
  append(appendFileSync, { line: 3 });
  expect(readFileSync(path, "utf8")).toBe('{"line":1}\n{"lin\n{"line":3}\n');
  // Another process finds room in between.
  const beside: typeof appendFileSync = (file, text, options) => {
    appendFileSync(path, '{"line":4}\n');
    full(file, text, options);
  };
  expect(() => append(beside, { line: 5 })).toThrow("ENOSPC");
  append(appendFileSync, { line: 6 });
  expect(readFileSync(path, "utf8")).toMatch(/\n\{"line":4\}\n\{"lin\n\{"line":6\}\n$/);
});
