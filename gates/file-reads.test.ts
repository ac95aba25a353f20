import { describe, expect, it } from "vitest";
import { checkFileReads } from "./file-reads.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const OPENER = "packages/files/src/disk/regular-file.ts";
const READER = "packages/core/src/settings/read.ts";
const FINE = { [OPENER]: 'import { openSync } from "node:fs";' };

function faultsOf(text: string): readonly string[] {
  return checkFileReads(new Map(Object.entries({ ...FINE, [READER]: text })), { [OPENER]: "opens" })
    .violations;
}

describe("files that Burin reads by itself", () => {
  it("are opened in one way in the whole repository", () => {
    const { looked, violations } = checkFileReads(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it("may be looked at and written by anybody", () => {
    expect(faultsOf('import { statSync, writeFileSync, type ReadStream } from "node:fs";')).toEqual([]);
  });

  it.each([
    ["readFile", 'import { readFile } from "node:fs/promises";'],
    ["readFileSync by another name", 'import { readFileSync as look } from "fs";'],
    ["createReadStream", 'import { createReadStream } from "node:fs";'],
    ["promises", 'import { promises } from "node:fs";'],
    ["everything", 'import * as fs from "node:fs";'],
    ["the default", 'import fs from "node:fs";'],
    ["a late import", 'export const late = () => import("node:fs/promises");'],
    ["a builtin", 'export const fs = process.getBuiltinModule("node:fs");'],
    ["an export", 'export { readFile } from "node:fs/promises";'],
  ])("finds %s", (_what, text) => {
    const violations = faultsOf(text);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(`${READER}:1 takes`);
  });

  it("finds a room that is not used", () => {
    const { violations } = checkFileReads(new Map([[READER, ""]]), { [OPENER]: "opens" });
    expect(violations).toEqual([`gates/file-reads.ts:1 ${OPENER} may read files, but does not`]);
  });
});
