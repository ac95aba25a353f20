import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { Access } from "../ignore/access.ts";
import { findFiles } from "./find-files.ts";

const FILES = 500;

let root: string;

beforeEach(() => {
  root = createTemporaryFolder();
  for (let number = 0; number < FILES; number += 1) {
    const folder = join(root, `part${number % 10}`);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${number}.txt`);
    writeFileSync(file, "");
    utimesSync(file, 1_600_000_000, 1_600_000_000 + ((number * 7919) % FILES));
  }
  symlinkSync("..", join(root, "part0/circle"));
  if (process.platform !== "win32") execFileSync("mkfifo", [join(root, "pipe.txt")]);
});
function find(max: number, timeLimitMs = 60_000) {
  const signal = new AbortController().signal;
  const access = new Access([root], { ignoreFileNames: [], ignore: [], denied: [], helpers: fileHelpers });
  const request = { pattern: "*.txt", caseSensitive: false, respectGitIgnore: true, max, signal };
  return findFiles(access, root, { ...request, stopAt: performance.now() + timeLimitMs });
}

describe("findFiles", () => {
  it("R75 P40 gives the newest of many, however few are asked for, and counts all", async () => {
    const byAge = Array.from({ length: FILES }, (_, number) => number).sort(
      (a, b) => ((b * 7919) % FILES) - ((a * 7919) % FILES),
    );
    for (const max of [1, 7, 100, 1000]) {
      const { files, total, isPartial } = await find(max);
      expect(files.map((file) => basename(file, ".txt"))).toEqual(byAge.slice(0, max).map(String));
      expect([total, isPartial]).toEqual([FILES, false]);
    }
  });

  it("P18 says so when the time is over, and gives what was found until then", async () => {
    const { isPartial, total, files } = await find(1000, 0);
    expect(isPartial).toBe(true);
    expect(total).toBeLessThan(FILES);
    expect(files).toHaveLength(total);
  });

  it("P21 a folder that is another one for a moment shows no names of places outside", async () => {
    const outside = createTemporaryFolder();
    writeFileSync(join(outside, "outside.txt"), "");
    const [place, away] = [join(root, "part5"), join(root, "away")];
    const moves: Record<string, () => void> = {
      part5: () => {
        renameSync(place, away);
        symlinkSync(outside, place);
      },
      part6: () => {
        rmSync(place);
        renameSync(away, place);
      },
    };
    const access = new Access([root], { ignoreFileNames: [], ignore: [], denied: [], helpers: fileHelpers });
    const named = access.readNamedFolderRules.bind(access);
    // The rules are asked about each folder right before it is opened.
    access.readNamedFolderRules = (...given) => {
      const rules = named(...given);
      const visibilityOf = rules.findVisibility.bind(rules);
      return Object.assign(rules, {
        visibilityOf: (name: string, isFolder: boolean) => {
          moves[name]?.();
          delete moves[name];
          return visibilityOf(name, isFolder);
        },
      });
    };
    const signal = new AbortController().signal;
    const request = { pattern: "**/*.txt", caseSensitive: false, respectGitIgnore: true, max: 1000, signal };
    const { files } = await findFiles(access, root, { ...request, stopAt: performance.now() + 60_000 });
    expect(existsSync(join(place, "5.txt"))).toBe(true);
    expect(files).toContain(join(root, "part7/7.txt"));
    expect(files.filter((file) => file.includes("outside"))).toEqual([]);
  });

  it("P18 ends when it is cancelled", async () => {
    const controller = new AbortController();
    const access = new Access([root], { ignoreFileNames: [], ignore: [], denied: [], helpers: fileHelpers });
    const request = { pattern: "*", caseSensitive: false, respectGitIgnore: true, max: 9 };
    controller.abort();
    const means = { signal: controller.signal, stopAt: performance.now() + 60_000 };
    await expect(findFiles(access, root, { ...request, ...means })).rejects.toThrow();
  });
});
