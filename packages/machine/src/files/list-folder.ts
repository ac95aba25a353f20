import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DirectoryEntry, Listing, ListOptions } from "@burin/contract/machine/workspace";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { sortByCodePoints } from "@burin/contract/text/code-point-order";
import type { FolderRules } from "./ignore.ts";
import type { Opened } from "./paths.ts";
import { asWorkspaceError } from "./system-error.ts";

/** What lies directly in an opened folder, without what the rules and the options leave out. */
export function listFolder(opened: Opened, rules: FolderRules, options: ListOptions): Listing {
  const leftOut = options.ignore.map((pattern) => globMatcher(pattern, { caseSensitive: true }));
  const names = { folders: [] as string[], files: [] as string[] };
  let gitIgnored = 0;
  let ownIgnored = 0;
  for (const entry of entriesOf(opened)) {
    const { name } = entry;
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && leadsToFolder(opened, name));
    if (leftOut.some((matches) => matches(name))) continue;
    // Git takes a link for a file, wherever it leads.
    const visibility = rules.visibilityOf(name, entry.isDirectory());
    if (visibility === "own") ownIgnored += 1;
    else if (visibility === "git" && options.respectGitIgnore) gitIgnored += 1;
    else (isFolder ? names.folders : names.files).push(name);
  }
  const entries: DirectoryEntry[] = [];
  for (const name of sortByCodePoints(names.folders)) entries.push({ name, isDirectory: true });
  for (const name of sortByCodePoints(names.files)) entries.push({ name, isDirectory: false });
  return { path: opened.path, entries, gitIgnored, ownIgnored };
}

/** Read through the judged descriptor where the system allows it, so that the names are that folder's. */
function entriesOf(opened: Opened): Dirent[] {
  try {
    return readdirSync(throughDescriptor(opened), { withFileTypes: true });
  } catch (error) {
    throw asWorkspaceError(error, opened.realPath);
  }
}

function throughDescriptor({ descriptor, realPath }: Opened): string {
  return process.platform === "linux" ? `/proc/self/fd/${descriptor}` : realPath;
}

function leadsToFolder(opened: Opened, name: string): boolean {
  try {
    return statSync(join(throughDescriptor(opened), name)).isDirectory();
  } catch {
    return false;
  }
}
