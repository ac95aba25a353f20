import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { describeFile } from "./content.ts";
import type { FileChange } from "./journal-line.ts";
import { undoChange } from "./take-back.ts";
import { createChangeId, resolveUndoFolder, UndoJournal } from "./undo-journal.ts";

let home: string;
let root: string;
let folder: string;

beforeEach(() => {
  const top = createTemporaryFolder();
  home = join(top, "home");
  root = join(top, "project");
  folder = resolveUndoFolder(home, root);
  mkdirSync(folder, { recursive: true });
  mkdirSync(root);
});

/** The change of a file that had this mode and was removed. */
function removedFile(mode: number): FileChange {
  writeFileSync(join(folder, "kept"), "old\n");
  const before = {
    ...describeFile(join(folder, "kept"), statSync(join(folder, "kept"))),
    mode,
    kept: "kept",
  };
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
      const ids = Array.from({ length: 2100 }, () => createChangeId(folder));
      expect(ids).toEqual([...ids].sort());
    } finally {
      Date.now = now;
    }
  });

  it("P23 a change comes after what another process has kept, whatever the clock shows now", () => {
    const later = `${(Date.now() + 3_600_000).toString(36).padStart(9, "0")}00-ffffff`;
    for (const name of [`${later}.before`, "session.jsonl"]) writeFileSync(join(folder, name), "");
    expect(createChangeId(folder) > later).toBe(true);
  });

  it("P49 a file that is made again has its mode before it has its name", async () => {
    const modes: number[] = [];
    const onChange = ({ coming }: { coming: string | null }) => {
      modes.push(statSync(coming ?? "").mode & 0o777);
      return { note: null, forget() {} };
    };
    const { what } = await undoChange(removedFile(0o711), { folder, root, onChange }, false);
    expect([what, modes]).toEqual(["made again", [0o711]]);
  });

  it("P23 what the system refuses for one file leaves that one alone, with the reason", async () => {
    const onChange = () => {
      throw Object.assign(new Error("ESTALE: stale file handle, link '/a' -> '/b'"), { code: "ESTALE" });
    };
    expect(await undoChange(removedFile(0o644), { folder, root, onChange }, false)).toEqual({
      file: "a.sh",
      what: "refused",
      reason: "stale file handle (ESTALE)",
    });
    expect(readdirSync(root)).toEqual([]);
  });

  it("P23 P25 a file that another program changes while its lines are to be merged is left alone", async () => {
    const file = join(root, "a.txt");
    const before = { kept: "before", text: "one\ntwo\nthree\nfour\n" };
    const after = { kept: "after", text: "ONE\ntwo\nthree\nfour\n" };
    const [old, made] = [before, after].map(({ kept, text }) => {
      const path = join(folder, kept);
      writeFileSync(path, text);
      return { ...describeFile(path, statSync(path)), kept };
    });
    const change = { ...removedFile(0o644), before: old ?? null, after: made ?? null };
    writeFileSync(file, `${after.text}five\n`);
    const fs = process.getBuiltinModule("node:fs");
    const { closeSync } = fs;
    let closed = 0;
    // The first file that is closed is the one that was hashed.
    fs.closeSync = (descriptor) => {
      closeSync(descriptor);
      closed += 1;
      if (closed === 1) writeFileSync(file, `${after.text}written by another\n`);
    };
    syncBuiltinESMExports();
    try {
      const place = { folder, root, onChange: () => ({ note: null, forget() {} }) };
      const outcome = await undoChange({ ...change, file }, place, false);
      expect(outcome).toMatchObject({ what: "refused", reason: "the same lines were changed since" });
    } finally {
      fs.closeSync = closeSync;
      syncBuiltinESMExports();
    }
    expect(readFileSync(file, "utf8")).toBe(`${after.text}written by another\n`);
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
