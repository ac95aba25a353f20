import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import type { SearchRequest, SearchResult } from "@burin/contract/machine/workspace";
import { Access } from "../src/ignore/access.ts";
import { NO_ACCESS_SETTINGS } from "../src/ignore/access-settings.ts";
import { type CreateEngine, createGitGrep, createSystemGrep } from "../src/search/engine.ts";
import { createRipgrep } from "../src/search/ripgrep.ts";
import { searchFiles } from "../src/search/search-files.ts";

/** Every way to search by itself; without an engine the files are read here. */
export const ENGINES: readonly (readonly [string, readonly CreateEngine[]])[] = [
  ["ripgrep", [createRipgrep]],
  ["git grep", [createGitGrep]],
  ["system grep", [createSystemGrep]],
  ["JavaScript", []],
];

export const REQUEST: SearchRequest = {
  pattern: "x",
  caseSensitive: false,
  fixed: false,
  include: [],
  exclude: [],
  respectGitIgnore: true,
  max: 100,
  context: 0,
  namesOnly: false,
};

const createdFolders: string[] = [];

/** A temporary folder with these files, by its real path. */
export function createTree(files: Readonly<Record<string, string | Buffer>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "burin-search-")));
  createdFolders.push(root);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}

export function removeTrees(): void {
  for (const folder of createdFolders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function searchTree(
  root: string,
  request: Partial<SearchRequest>,
  engines: readonly CreateEngine[],
): Promise<SearchResult> {
  const access = new Access([root], { ...NO_ACCESS_SETTINGS, helpers: fileHelpers });
  const { signal } = new AbortController();
  const all = { ...REQUEST, ...request, signal, engines, stopAt: performance.now() + 60_000 };
  return searchFiles(access, { realPath: root, isFolder: true }, all);
}

export function flattenHits({ files }: SearchResult): string[] {
  return files.flatMap((file) => file.lines.map(({ number, text }) => `${file.path}:${number}:${text}`));
}
