import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import { listProcesses, readCommandLine } from "@burin/commands/processes/process-table";
import { afterAll, describe, expect, it } from "vitest";
import {
  createTree,
  ENGINES,
  flattenHits,
  REQUEST,
  removeTrees,
  searchTree,
} from "../../tests/searched-tree.ts";
import { Access } from "../ignore/access.ts";
import { NO_ACCESS_SETTINGS } from "../ignore/access-settings.ts";
import { type CreateEngine, createGitGrep, listNamesFromProgram } from "./engine.ts";
import { createRipgrep } from "./ripgrep.ts";
import { searchFiles } from "./search-files.ts";

describe("search engines in odd places", () => {
  afterAll(removeTrees);

  it.each(ENGINES)("P40 %s says that hits were left out only when they were", async (_name, engines) => {
    const many = createTree({ "a.txt": "hit\n".repeat(12), "b.txt": "hit\n".repeat(8), "c.txt": "none\n" });
    execFileSync("git", ["init", "-q"], { cwd: many });
    const exact = await searchTree(many, { pattern: "hit", max: 20 }, engines);
    expect([exact.hits, exact.hasMore]).toEqual([20, false]);
    const cut = await searchTree(many, { pattern: "hit", max: 19 }, engines);
    expect([cut.hits, cut.hasMore]).toEqual([19, true]);
    expect(flattenHits(cut)).toEqual(flattenHits(exact).slice(0, 19));
  });

  it.each(ENGINES)("%s leaves it to us what an editor has not saved", async (_name, engines) => {
    const place = createTree({
      "a/b.txt": "old",
      "c.txt": "old",
      "e.txt": "new",
      ".burinignore": "d.txt",
      "d.txt": "",
    });
    const names = ["a/b.txt", "d.txt", "e.txt"];
    const texts = ["one\nnew\n", "new\n", "typed over\n"];
    const unsaved = new Map(names.map((name, at) => [join(place, name), texts[at] ?? ""]));
    expect(flattenHits(await searchTree(place, { pattern: "new", unsaved }, engines))).toEqual([
      "a/b.txt:2:new",
    ]);
    expect(flattenHits(await searchTree(place, { pattern: "old", unsaved }, engines))).toEqual([
      "c.txt:1:old",
    ]);
  });

  it.each(ENGINES)("P40 %s bounds 100,000 hits and a line of 5 MB", async (_name, engines) => {
    const huge = createTree({
      "a.txt": "needle\n".repeat(100_000),
      "z.txt": `${"x".repeat(3_000_000)}needle${"y".repeat(2_000_000)}\nend needle\n`,
    });
    execFileSync("git", ["init", "-q"], { cwd: huge });
    const all = await searchTree(huge, { pattern: "needle" }, engines);
    expect([all.hits, all.hasMore]).toEqual([100, true]);
    const long = flattenHits(await searchTree(huge, { pattern: "x(needle)y", include: ["z.txt"] }, engines));
    expect(long).toHaveLength(1);
    expect(long[0]?.length).toBeLessThan(2100);
    expect(long[0]).toContain("xneedley");
    expect(long[0]).toContain("[line cut]");
  });

  it.each(ENGINES)(
    "P18 P38 %s survives circles of links, unreadable folders and pipes, and stays inside",
    async (_name, engines) => {
      const odd = createTree({ "in/a.txt": "needle\n", "closed/b.txt": "needle\n" });
      const outside = createTree({ "secret.txt": "needle\n" });
      execFileSync("git", ["init", "-q"], { cwd: odd });
      symlinkSync("..", join(odd, "in/circle"));
      symlinkSync(outside, join(odd, "in/out"));
      symlinkSync(join(outside, "secret.txt"), join(odd, "in/out.txt"));
      execFileSync("mkfifo", [join(odd, "in/pipe.txt")]);
      chmodSync(join(odd, "closed"), 0o000);
      const result = await searchTree(odd, { pattern: "needle" }, engines);
      chmodSync(join(odd, "closed"), 0o700);
      const isPrivileged = process.getuid?.() === 0;
      expect(flattenHits(result)).toEqual(
        isPrivileged ? ["closed/b.txt:1:needle", "in/a.txt:1:needle"] : ["in/a.txt:1:needle"],
      );
      expect(result.gaps.length).toBe(isPrivileged ? 0 : 1);
    },
  );

  it.each(ENGINES)(
    "R84 %s: one order, with more names than a program can be given",
    async (_name, engines) => {
      const long = "n".repeat(200);
      const files = Array.from({ length: 4500 }, (_, number) => {
        const folder = number % 3 === 0 ? "" : number % 3 === 1 ? "m/" : "m/inner/";
        return [`${folder}${1000 + number}-${long}.txt`, number % 500 < 3 ? "needle\n" : "none\n"] as const;
      });
      const deep = createTree(
        Object.fromEntries([...files, ["m/left.out", "needle\n"], ["z/last.txt", "needle\n"]]),
      );
      execFileSync("git", ["init", "-q"], { cwd: deep });
      const hits = files.filter(([, text]) => text === "needle\n").map(([path]) => path);
      const { files: found } = await searchTree(deep, { pattern: "needle", include: ["*.txt"] }, engines);
      expect(found.map(({ path }) => path)).toEqual([...hits, "z/last.txt"].sort());
    },
  );

  it.each(ENGINES)(
    "P40 %s searches a large file to its end, also behind a broken character that is cut in two",
    async (_name, engines) => {
      const place = createTree({});
      // "One hundred years of solitude" in Chinese, and a character that only GB18030 has.
      const line = Buffer.from("b0d9c4eab9c2b6c08139ef390a", "hex");
      const broken = Buffer.from("d131c6e29a37dec2", "hex");
      const needle = Buffer.from("needle\n");
      const before = Buffer.alloc(1024 * 1024 - needle.length - broken.length + 1, line);
      writeFileSync(join(place, "a.txt"), Buffer.concat([before, needle, broken]));
      const found = await searchTree(place, { pattern: "needle" }, engines);
      expect(flattenHits(found)).toEqual([expect.stringMatching(/^a\.txt:\d+:.*needle$/)]);
    },
  );

  it.runIf(process.platform === "linux").each(ENGINES)(
    "P40 %s says that a file whose name is not valid UTF-8 was skipped",
    async (_name, engines) => {
      const place = createTree({ "a.txt": "needle\n", "\ufffd.txt": "needle\n" });
      expect((await searchTree(place, { pattern: "needle" }, engines)).gaps).toEqual([]);
      writeFileSync(Buffer.from(`${place}/caf\u00e9.txt`, "latin1"), "needle\n");
      const { hits, gaps } = await searchTree(place, { pattern: "needle" }, engines);
      expect([hits, gaps]).toEqual([2, ["Files whose names are not valid UTF-8 were skipped."]]);
    },
  );

  it("P18 an ignored file is not read, however large it is", async () => {
    const names = ["a.txt", "b.txt", "c.txt", "d.txt"];
    const folder = createTree({
      ...Object.fromEntries(names.map((name) => [name, "none\n"])),
      ".gitignore": "*.log",
    });
    writeFileSync(join(folder, "huge.log"), "");
    truncateSync(join(folder, "huge.log"), 2 ** 37);
    const access = new Access([folder], { ...NO_ACCESS_SETTINGS, helpers: fileHelpers });
    const means = { signal: new AbortController().signal, engines: [createRipgrep] };
    const request = { ...REQUEST, ...means, pattern: "needle", stopAt: performance.now() + 60_000 };
    const { gaps } = await searchFiles(access, { realPath: folder, isFolder: true }, request);
    expect(gaps).toEqual([]);
  });

  it.each(ENGINES)("R86 %s gives the lines around hits, each once", async (_name, engines) => {
    const near = createTree({ "a.txt": "1\n2\nhit 3\n4\nhit 5\n6\n7\n8\n9\nhit 10" });
    execFileSync("git", ["init", "-q"], { cwd: near });
    const { files } = await searchTree(near, { pattern: "hit", context: 1 }, engines);
    expect(files[0]?.lines.map(({ number, text, isHit }) => [number, text, isHit])).toEqual([
      [2, "2", false],
      [3, "hit 3", true],
      [4, "4", false],
      [5, "hit 5", true],
      [6, "6", false],
      [9, "9", false],
      [10, "hit 10", true],
    ]);
  });

  it("P18 runs no program that the repository names", async () => {
    const hostile = createTree({ "a.txt": "needle\n", ".gitattributes": "* diff=evil\n" });
    execFileSync("git", ["init", "-q"], { cwd: hostile });
    for (const [key, value] of [
      ["core.fsmonitor", "touch canary; false"],
      ["core.pager", "touch canary"],
      ["diff.evil.textconv", "touch canary"],
    ] as const) {
      execFileSync("git", ["config", key, value], { cwd: hostile });
    }
    const result = await searchTree(hostile, { pattern: "needle" }, [createGitGrep]);
    expect(flattenHits(result)).toEqual(["a.txt:1:needle"]);
    expect(
      (await searchTree(hostile, { pattern: ".", namesOnly: true }, [])).files.map((file) => file.path),
    ).not.toContain("canary");
  });

  it("P18 says so when the time is over, and gives what was found until then", async () => {
    const files = Array.from({ length: 300 }, (_, index) => [`${1000 + index}.txt`, "needle\n"] as const);
    const folder = createTree(Object.fromEntries(files));
    const access = new Access([folder], { ...NO_ACCESS_SETTINGS, helpers: fileHelpers });
    const means = { signal: new AbortController().signal, max: 1000 };
    for (const engines of [{}, { engines: [createRipgrep] }]) {
      const request = { ...REQUEST, ...means, ...engines, stopAt: performance.now() };
      const { gaps, hits } = await searchFiles(access, { realPath: folder, isFolder: true }, request);
      expect(gaps.join()).toContain("was stopped");
      expect(hits).toBeLessThan(300);
    }
  });

  it("P18 a cancelled search rejects and leaves no child", async () => {
    const folder = createTree({ "a.txt": "text\n" });
    const controller = new AbortController();
    const endless: CreateEngine = (_pattern, place) => ({
      name: "grep",
      canReadUtf16: true,
      canTakeFolders: false,
      proposeFiles: (_stretches, signal) => {
        setTimeout(() => controller.abort(), 100);
        return listNamesFromProgram(
          ["sh", "-c", "trap '' TERM; sleep 31.4159 & sleep 31.4159"],
          place,
          signal,
        );
      },
    });
    const access = new Access([folder], { ...NO_ACCESS_SETTINGS, helpers: fileHelpers });
    const means = { signal: controller.signal, engines: [endless] };
    const request = { ...REQUEST, ...means, stopAt: performance.now() + 60_000 };
    const running = searchFiles(access, { realPath: folder, isFolder: true }, request);
    await expect(running).rejects.toThrow();
    expect(sleepers()).toBe(0);
  });
});

function sleepers(): number {
  return listProcesses().filter((entry) => readCommandLine(entry).startsWith("sleep 31.4159")).length;
}
