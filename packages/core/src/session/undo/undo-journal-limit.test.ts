import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { pruneUndo } from "./undo-journal.ts";

const DAY_MS = 24 * 3600 * 1000;
let folder: string;

beforeEach(() => {
  folder = createTemporaryFolder();
});

/** Writes a stored file with a name as in the journal. Its age is in the name, whatever the file's own time is. */
function keep(project: string, daysAgo: number, now: number): string {
  const name = `${(now - daysAgo * DAY_MS).toString(36).padStart(9, "0")}00-abc123.before`;
  mkdirSync(join(folder, project), { recursive: true });
  writeFileSync(join(folder, project, name), "x".repeat(100));
  utimesSync(join(folder, project, name), 1, 1);
  return name;
}

describe("the limit of what is kept for undo", () => {
  it("drops the oldest above it, in whatever project, and what is older than 30 days", () => {
    const now = Date.now();
    const [oldest, middle, last] = [keep("a", 29, now), keep("b", 2, now), keep("a", 1, now)];
    const old = keep("b", 31, now);
    writeFileSync(join(folder, "a", "session.jsonl"), "{}\n");
    pruneUndo(folder, 1000, now);
    expect([readdirSync(join(folder, "a")), readdirSync(join(folder, "b"))]).toEqual([
      [oldest, last, "session.jsonl"].sort(),
      [middle],
    ]);
    expect(old).not.toBe(middle);
    pruneUndo(folder, 250, now);
    expect(readdirSync(join(folder, "a"))).toEqual([last, "session.jsonl"].sort());
  });

  it("P23 keeps what was there when the clock jumps ahead by months, until there is something later", () => {
    const now = Date.now();
    const names = [keep("a", 20, now), keep("a", 0, now)].sort();
    pruneUndo(folder, 1000, now + 90 * DAY_MS);
    expect(readdirSync(join(folder, "a"))).toEqual(names);
    const later = keep("a", -90, now);
    pruneUndo(folder, 1000, now + 90 * DAY_MS);
    expect(readdirSync(join(folder, "a"))).toEqual([later]);
  });

  it("P23 is kept to where a file stands among the projects, as a file manager leaves one", () => {
    const now = Date.now();
    writeFileSync(join(folder, ".DS_Store"), "");
    const last = keep("a", 0, now);
    keep("a", 31, now);
    pruneUndo(folder, 1000, now);
    expect(readdirSync(join(folder, "a"))).toEqual([last]);
  });

  it("is quiet where nothing was ever kept", () => {
    expect(() => pruneUndo(join(folder, "none"))).not.toThrow();
  });
});
