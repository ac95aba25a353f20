import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

const made: string[] = [];

afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own, by its real path; it and what is made beside it are removed after the file's tests. */
export function temporaryFolder(): string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-files-")));
  made.push(top);
  const folder = join(top, "root");
  mkdirSync(folder);
  return folder;
}

/** Writes a file with the folders above it and gives its path. */
export function madeFile(root: string, name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}
