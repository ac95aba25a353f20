import { describe, expect, it } from "vitest";
import { readRepositoryFiles } from "./repository-files.ts";
import { checkThirdPartyRooms } from "./third-party-rooms.ts";

const TABLE = { diff: "packages/files/src/workspace/", "@scope/yaml": "packages/core/src/settings/read.ts" };
const TEXT = "packages/files/src/workspace/diff.ts";
const SETTINGS = "packages/core/src/settings/read.ts";
const FINE = { [TEXT]: 'import { diffLines } from "diff";', [SETTINGS]: 'import "@scope/yaml/parse";' };

function faultsOf(planted: Record<string, string>): readonly string[] {
  return checkThirdPartyRooms(new Map(Object.entries({ ...FINE, ...planted })), TABLE).violations;
}

describe("rooms of third-party packages", () => {
  it("are kept in the repository", () => {
    const { looked, violations } = checkThirdPartyRooms(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it("let a package be imported in its room, and anything in tests", () => {
    const free = 'import { it } from "vitest";';
    const tests = {
      "packages/core/src/text/a.test.ts": free,
      "packages/core/tests/b.ts": free,
      "gates/c.ts": free,
    };
    expect(faultsOf(tests)).toEqual([]);
    expect(faultsOf({ "vitest.config.ts": free })).toEqual([]);
  });

  it("let every file import the house and node: modules", () => {
    expect(
      faultsOf({
        "packages/cli/src/main.ts":
          'import "@burin/core";\nimport "@burin/files/workspace/diff";\nimport "node:fs";',
      }),
    ).toEqual([]);
  });

  it.each([
    ["import", 'import { diffLines } from "diff";'],
    ["type import", 'import type { Change } from "diff";'],
    ["dynamic import", 'export const late = () => import("diff");'],
    ["deep path", 'export * from "diff/lib/index.js";'],
  ])("find a package outside its folder: %s", (_form, line) => {
    const found = faultsOf({ "packages/cli/src/ui/draw.ts": line });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^packages\/cli\/src\/ui\/draw\.ts:1 imports diff\S*: diff belongs in packages\/files\/src\/workspace\/$/,
    );
  });

  it("find a package outside its file", () => {
    expect(faultsOf({ "packages/core/src/settings/write.ts": '\nimport "@scope/yaml";' })).toEqual([
      "packages/core/src/settings/write.ts:2 imports @scope/yaml: @scope/yaml belongs in packages/core/src/settings/read.ts",
    ]);
  });

  it.each(["bench/start.mjs", "examples/embed.ts", "build.mjs"])(
    "find a package without a room in %s",
    (path) => {
      expect(faultsOf({ [path]: 'import chalk from "chalk";' })).toEqual([
        `${path}:1 imports chalk: chalk has no room, give it one in gates/third-party-rooms.ts`,
      ]);
    },
  );

  it("find a row that nothing uses", () => {
    expect(faultsOf({ [TEXT]: "export {};" })).toEqual([
      "gates/third-party-rooms.ts:1 diff has the room packages/files/src/workspace/, but nothing imports it",
    ]);
  });

  it("find a built-in module without node:", () => {
    expect(faultsOf({ "bench/start.mjs": 'import "fs/promises";' })).toEqual([
      "bench/start.mjs:1 imports fs/promises: write node:fs/promises",
    ]);
  });

  it("let processes be started in their rooms and in what is not shipped", () => {
    const start = 'import { spawn } from "node:child_process";';
    expect(faultsOf({ "packages/commands/src/processes/run-process.ts": start })).toEqual([]);
    expect(faultsOf({ "packages/files/src/search/git-grep.ts": start })).toEqual([]);
    expect(faultsOf({ "bench/start.mjs": start, "packages/cli/src/main.test.ts": start })).toEqual([]);
  });

  it.each(["packages/core/src/tools/shell.ts", "packages/cli/src/main.ts"])(
    "find a process started in %s",
    (path) => {
      const rooms =
        "packages/commands/src/processes/run-process.ts or packages/files/src/search/ or packages/cli/src/modes/interactive/edit-outside.ts or packages/cli/src/modes/interactive/images.ts or packages/testing/src/made-files.ts or packages/testing/src/programs.mjs or packages/fleet/src/open-worker.ts or packages/fleet/src/run-command.ts";
      expect(faultsOf({ [path]: 'import type { ChildProcess } from "node:child_process";' })).toEqual([
        `${path}:1 imports node:child_process: processes are started in ${rooms} only`,
      ]);
    },
  );
});
