import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyChanges, type Change, readWholeFolder, WatchedFolder } from "./folder-changes.ts";

let top: string;
let base: string;
let work: string;
let again: string;
const at = (path: string) => join(work, path);

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), "burin-changes-"));
  [base, work, again] = ["base", "work", "again"].map((name) => join(top, name)) as [string, string, string];
  await mkdir(join(base, "a/b"), { recursive: true });
  await writeFile(join(base, "a/b/c.txt"), "one\ntwo\nthree\n".repeat(1000));
  await writeFile(join(base, "run.sh"), "echo\n", { mode: 0o755 });
  await symlink("run.sh", join(base, "link"));
  await mkdir(join(base, "empty"));
  for (const copy of [work, again]) await cp(base, copy, { recursive: true, verbatimSymlinks: true });
});

afterEach(async () => {
  await rm(top, { recursive: true });
});

/** Lists types, modes, link targets and contents, using the system's own programs. */
function stateOf(folder: string): string {
  const list =
    'find . -printf "%P %y %m %l\\0" | sort -z; find . -type f -print0 | sort -z | xargs -0 sha256sum';
  return execFileSync("sh", ["-c", list], { cwd: folder, encoding: "utf8" });
}

async function follow(...rounds: (() => Promise<void>)[]): Promise<Change[]> {
  const watched = new WatchedFolder(work, base);
  await watched.beginComparison();
  const all: Change[] = [];
  for (const round of rounds) {
    await round();
    const { changes, left } = await watched.readChanges();
    expect(left).toEqual([]);
    await applyChanges(again, JSON.parse(JSON.stringify(changes)));
    expect(stateOf(again)).toBe(stateOf(work));
    all.push(...changes);
  }
  return all;
}

describe("changes of a folder", () => {
  it("make the same folder of the same base, whatever became of its files, folders and links", async () => {
    await follow(
      async () => {
        await writeFile(at("a/b/c.txt"), "one\ntwo\n");
        await writeFile(at("new name\n.bin"), randomBytes(5000));
        await mkdir(at("deep/er"), { recursive: true });
        await writeFile(at("deep/er/x"), "");
        await chmod(at("run.sh"), 0o600);
        await rm(at("empty"), { recursive: true });
      },
      async () => {
        await rm(at("link"));
        await mkdir(at("link"));
        await writeFile(at("link/inside"), "a folder now");
        await rm(at("a"), { recursive: true });
        await writeFile(at("a"), "a file now");
        await rename(at("deep"), at("moved"));
      },
      async () => {
        await rm(at("a"));
        await mkdir(at("a/b"), { recursive: true });
        await writeFile(at("a/b/c.txt"), "one\ntwo\nthree\nand again\n");
        await rm(at("link"), { recursive: true });
        await symlink("/nowhere", at("link"));
      },
      async () => {},
    );
  });

  it("take little room where a few bytes of a large file change, each time", async () => {
    const text = randomBytes(300_000).toString("hex");
    const changes = await follow(
      () => writeFile(at("large"), text),
      () => writeFile(at("large"), `${text.slice(0, 200_000)}-${text.slice(200_001)}`),
      () =>
        writeFile(
          at("a/b/c.txt"),
          `${"one\ntwo\nthree\n".repeat(500)}here\n${"one\ntwo\nthree\n".repeat(500)}`,
        ),
    );
    expect(changes.slice(1).map((change) => JSON.stringify(change).length < 200)).toEqual([true, true]);
  });

  it("name a file that is too large, instead of keeping it", async () => {
    const watched = new WatchedFolder(work, base);
    await watched.beginComparison();
    await writeFile(at("huge"), "");
    await truncate(at("huge"), 33 * 1024 * 1024);
    expect(await watched.readChanges()).toEqual({ changes: [], left: ["huge"] });
    expect(await readFile(at("run.sh"), "utf8")).toBe("echo\n");
  });

  it("hold all of a folder, as changes of an empty one", async () => {
    const { changes } = await readWholeFolder(base);
    const fresh = join(top, "fresh");
    await mkdir(fresh, { mode: 0o755 });
    await applyChanges(fresh, changes);
    expect(stateOf(fresh)).toBe(stateOf(base));
  });

  it("P18 are found in time where thousands of files are gone", async () => {
    execFileSync("sh", ["-c", "seq 20000 | xargs touch"], { cwd: work });
    const folder = new WatchedFolder(work, null);
    await folder.beginComparison();
    execFileSync("sh", ["-c", "seq 20000 | xargs rm"], { cwd: work });
    const began = performance.now();
    const { changes } = await folder.readChanges();
    expect(changes).toHaveLength(20_000);
    expect(performance.now() - began).toBeLessThan(3000);
  });
});
