import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { killDuringWrite } from "./kill-during-write.mjs";
import { killSessions } from "./kill-session.mjs";
import { swapRace } from "./swap-race.mjs";

const WRITE_ONCE = fileURLToPath(new URL("./write-once.mjs", import.meta.url));
const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65534;

let place: string;
let mounted: string[] = [];

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "burin-fault-")));
});

afterEach(() => {
  for (const point of mounted.reverse()) execFileSync("umount", [point]);
  mounted = [];
  rmSync(place, { recursive: true, force: true });
});

/** As root a mount must work: a silent pass would prove nothing. */
function mount(point: string, args: readonly string[]): void {
  mkdirSync(point, { recursive: true });
  execFileSync("mount", [...args, point]);
  mounted.push(point);
}

interface Outcome {
  readonly llmContent: string;
  readonly error?: { readonly type: string };
}

function writeOnce(path: string, bytes: number, user?: number): Outcome {
  const identity = user === undefined ? {} : { uid: user, gid: user };
  const args = [WRITE_ONCE, place, path, "n", String(bytes)];
  return JSON.parse(execFileSync(process.execPath, args, { ...identity, encoding: "utf8" }));
}

describe("a write that is killed", () => {
  it("P2 leaves the old or the new content of 50 MB, never a mix", { timeout: 120_000 }, async () => {
    const found = await killDuringWrite({ times: 15, bytes: 50_000_000 });
    expect(found.mixed).toBe(0);
    expect(found.old + found.fresh).toBe(15);
    expect(found.old).toBeGreaterThan(0);
  });
});

describe("a session that is killed", () => {
  it("P11 P13 is gone on with: every effect is known, none happens twice", { timeout: 120_000 }, async () => {
    const { inTheMiddle } = await killSessions(12);
    expect(inTheMiddle).toBeGreaterThan(0);
  });
});

describe("a folder swapped for a link", () => {
  it("P38 R48 never lets a read or a write out", { timeout: 120_000 }, async () => {
    const found = await swapRace({ tries: 2000 });
    expect([found.readOutside, found.filesOutside]).toEqual([0, 0]);
    expect(found.readInside).toBeGreaterThan(0);
    expect(found.writtenInside).toBeGreaterThan(0);
    expect(found.refused).toBeGreaterThan(0);
  });
});

describe.runIf(IS_ROOT)("a file system that fails", () => {
  it("P2 full: the old content stays, no file is left beside it, and the error says so", () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
    const path = join(disk, "a.txt");
    writeFileSync(path, "old\n");
    expect(writeOnce(path, 4_000_000).error?.type).toBe("no_space");
    expect(readFileSync(path, "utf8")).toBe("old\n");
    expect(writeOnce(join(disk, "new/folder/b.txt"), 4_000_000).error?.type).toBe("no_space");
    expect(readdirSync(disk)).toEqual(["a.txt"]);
  });

  it("P2 read-only: the old content stays, and the error says so", () => {
    const disk = join(place, "disk");
    mount(disk, ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
    const path = join(disk, "a.txt");
    writeFileSync(path, "old\n");
    execFileSync("mount", ["-o", "remount,ro", disk]);
    expect(writeOnce(path, 80).error?.type).toBe("read_only");
    expect(writeOnce(join(disk, "new/b.txt"), 80).error?.type).toBe("read_only");
    expect(readFileSync(path, "utf8")).toBe("old\n");
    expect(readdirSync(disk)).toEqual(["a.txt"]);
  });
});

describe("a file that may not be written", () => {
  it.each([
    ["the file is read-only", 0o444, 0o777],
    ["the folder is read-only", 0o666, 0o555],
  ])("P2 P49 keeps its content: %s", (_why, fileMode, folderMode) => {
    const folder = join(place, "folder");
    mkdirSync(folder);
    const path = join(folder, "a.txt");
    writeFileSync(path, "old\n");
    if (IS_ROOT) for (const owned of [place, folder, path]) chownSync(owned, NOBODY, NOBODY);
    chmodSync(path, fileMode);
    chmodSync(folder, folderMode);
    const { error, llmContent } = writeOnce(path, 80, IS_ROOT ? NOBODY : undefined);
    chmodSync(folder, 0o777);
    expect([error?.type, llmContent]).toEqual(["permission_denied", `No permission for ${path}.`]);
    expect(readFileSync(path, "utf8")).toBe("old\n");
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });
});
