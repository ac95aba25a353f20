import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { takeBack } from "./take-back.ts";
import { contentOf, type FileChange, newChangeId, UndoJournal, undoFolder } from "./undo-journal.ts";

let home: string;
let root: string;
let folder: string;

beforeEach(() => {
  const top = temporaryFolder();
  home = join(top, "home");
  root = join(top, "project");
  folder = undoFolder(home, root);
  mkdirSync(folder, { recursive: true });
  mkdirSync(root);
});

/** A file that was removed, and had this mode. */
function removedFile(mode: number): FileChange {
  writeFileSync(join(folder, "kept"), "old\n");
  const before = { ...contentOf(join(folder, "kept"), statSync(join(folder, "kept"))), mode, kept: "kept" };
  const at = "2026-01-01T00:00:00.000Z";
  return { type: "change", id: "1", at, file: join(root, "a.sh"), before, after: null, madeFolders: 0 };
}

describe("taking back", () => {
  it("P23 changes keep their order when the clock is set back, and many within one millisecond", () => {
    const { now } = Date;
    const start = now() + 1000;
    let calls = 0;
    Date.now = () => (calls++ < 2000 ? start : start - 3_600_000);
    try {
      const ids = Array.from({ length: 2100 }, newChangeId);
      expect(ids).toEqual([...ids].sort());
    } finally {
      Date.now = now;
    }
  });

  it("P49 a file that is made again has its mode before it has its name", async () => {
    const modes: number[] = [];
    const onChange = ({ coming }: { coming: string | null }) => {
      modes.push(statSync(coming ?? "").mode & 0o777);
      return { note: null, forget() {} };
    };
    const { what } = await takeBack(removedFile(0o711), { folder, root, onChange }, false);
    expect([what, modes]).toEqual(["made again", [0o711]]);
  });

  it("P23 what the system refuses for one file leaves that one alone, with the reason", async () => {
    const onChange = () => {
      throw Object.assign(new Error("ESTALE: stale file handle, link '/a' -> '/b'"), { code: "ESTALE" });
    };
    expect(await takeBack(removedFile(0o644), { folder, root, onChange }, false)).toEqual({
      file: "a.sh",
      what: "refused",
      reason: "stale file handle (ESTALE)",
    });
    expect(readdirSync(root)).toEqual([]);
  });

  it("P38 a file that is swapped for a link while it is kept for undo: nothing from outside is kept", () => {
    writeFileSync(join(home, "secret"), "OUTSIDE");
    linkSync(join(home, "secret"), join(home, "other name"));
    symlinkSync(join(home, "secret"), join(root, "a.txt"));
    const journal = new UndoJournal(home, root, "session");
    const real = join(root, "a.txt");
    const { note } = journal.onChange({ real, present: real, coming: null, madeFolders: 0 });
    expect(note).toContain("cannot be taken back");
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(kept.join()).not.toContain("OUTSIDE");
  });
});
