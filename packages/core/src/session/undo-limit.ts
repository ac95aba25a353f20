import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** What is kept for undo may take so much together, in all projects. */
const MOST_BYTES = 512 * 1024 * 1024;
const LONGEST_MS = 30 * 24 * 3600 * 1000;

/** Drops what was kept longest ago, as far as it is too much or too old. Never throws. */
export function pruneUndo(folder: string, most = MOST_BYTES, now = Date.now()): void {
  try {
    const files = filesBelow(folder).sort((one, other) => (one.name < other.name ? 1 : -1));
    let total = 0;
    for (const { path, name, bytes, modified } of files) {
      const isJournal = name.endsWith(".jsonl");
      if (!isJournal) total += bytes;
      const time = isJournal ? modified : Number.parseInt(name.slice(0, 9), 36);
      if (now - time > LONGEST_MS || (!isJournal && total > most)) rmSync(path, { force: true });
    }
  } catch {
    // Somebody else tidies at the same time, or nothing was ever kept.
  }
}

function filesBelow(folder: string) {
  return readdirSync(folder).flatMap((project) =>
    readdirSync(join(folder, project)).map((name) => {
      const path = join(folder, project, name);
      const { size, mtimeMs } = statSync(path);
      return { path, name, bytes: size, modified: mtimeMs };
    }),
  );
}
