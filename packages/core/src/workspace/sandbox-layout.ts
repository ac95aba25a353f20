import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import {
  PROTECTED_EVEN_MISSING,
  PROTECTED_IN_GIT,
  PROTECTED_IN_HOME,
  protectedFile,
} from "../text/protected-files.ts";
import { isWithin } from "./paths.ts";
/** What stands where in the writable roots, as it is at this moment. */
export interface ProtectedLayout {
  /** Git folders. They are mounted onto themselves, so that they cannot be renamed out of the way. */
  readonly pinned: readonly string[];
  /** Existing files and folders that become read-only. */
  readonly readOnly: readonly string[];
  /** Missing ones, made as empty folders that git does not see and nobody can write to. */
  readonly made: readonly string[];
}

export function protectedLayout(roots: readonly string[]): ProtectedLayout {
  const layout = { pinned: [] as string[], readOnly: [] as string[], made: [] as string[] };
  for (const root of roots) {
    for (const { name, evenMissing } of protectedNames(root)) protect(join(root, name), layout, evenMissing);
    for (const place of [join(root, ".git"), ...nestedGit(root)]) protectGit(place, layout);
  }
  return layout;
}

/** What is protected in a root: what is there, and what must not be made. Its git folder is another matter. */
export function protectedNames(root: string): { readonly name: string; readonly evenMissing: boolean }[] {
  const missing = [...PROTECTED_EVEN_MISSING, ...(root === homedir() ? PROTECTED_IN_HOME : [])];
  const there = entriesIn(root).flatMap(({ name }) =>
    name === ".git" || missing.includes(name) || protectedFile(name) === null ? [] : [name],
  );
  return [
    ...missing.map((name) => ({ name, evenMissing: true })),
    ...there.map((name) => ({ name, evenMissing: false })),
  ];
}

type Layout = { pinned: string[]; readOnly: string[]; made: string[] };

function protect(path: string, layout: Layout, evenMissing: boolean): void {
  const kind = kindOf(path);
  if (kind === "missing") {
    if (!evenMissing || !makeFolder(path)) return;
    layout.made.push(path);
  }
  const real = kind === "link" ? targetOf(path) : path;
  if (real !== null) layout.readOnly.push(real);
}

function protectGit(place: string, layout: Layout): void {
  // Without content it is no repository, or a stand-in that another command holds just now.
  const isRepository = kindOf(place) === "folder" && entriesIn(place).length > 0;
  const inside = PROTECTED_IN_GIT.map((name) => join(place, name));
  // What a link points to could be protected, but the link itself could be replaced: then nothing is written.
  if (!isRepository || inside.some((path) => kindOf(path) === "link")) {
    protect(place, layout, true);
    return;
  }
  layout.pinned.push(place);
  for (const path of inside) protect(path, layout, path.endsWith("hooks"));
  for (const name of namesIn(join(place, "modules"))) protectGit(join(place, "modules", name), layout);
}

const MOST_FOLDERS = 1500;
const DEEPEST = 4;
const KEPT_MS = 20_000;
const found = new Map<string, { readonly at: number; readonly places: readonly string[] }>();

/** Git folders and links below the root's own, as far as a short look finds them. */
function nestedGit(root: string): readonly string[] {
  const known = found.get(root);
  if (known !== undefined && Date.now() - known.at < KEPT_MS) return known.places;
  const places: string[] = [];
  const folders = [{ path: root, depth: 0 }];
  for (let index = 0; index < Math.min(folders.length, MOST_FOLDERS); index += 1) {
    const { path, depth } = folders[index] ?? { path: root, depth: DEEPEST };
    const entries = entriesIn(path);
    if (depth > 0 && entries.some(({ name }) => name === ".git")) places.push(join(path, ".git"));
    for (const entry of depth < DEEPEST ? entries.filter(isLookedInto) : []) {
      folders.push({ path: join(path, entry.name), depth: depth + 1 });
    }
  }
  found.set(root, { at: Date.now(), places });
  return places;
}

function isLookedInto(entry: { readonly name: string; isDirectory(): boolean }): boolean {
  return entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith(".");
}

/**
 * Sockets that programs outside listen on. A read-only mount does not keep a command from talking to them,
 * and some of those programs do whatever they are told.
 */
export function listeningSockets(isCovered: (path: string) => boolean): string[] {
  let table: string;
  try {
    table = readFileSync("/proc/net/unix", "utf8");
  } catch {
    return [];
  }
  const paths = new Set(table.split("\n").map((line) => line.slice(line.indexOf(" /") + 1)));
  return [...paths].filter((path) => path.startsWith("/") && !isCovered(path) && kindOf(path) === "socket");
}

/** The real file that names the name servers, where that lies in a hidden folder. */
export function nameServers(hidden: readonly string[]): string | null {
  const real = targetOf("/etc/resolv.conf");
  return real !== null && hidden.some((folder) => isWithin(real, folder)) ? real : null;
}

function kindOf(path: string): "missing" | "folder" | "link" | "socket" | "file" {
  try {
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return "link";
    if (stats.isSocket()) return "socket";
    return stats.isDirectory() ? "folder" : "file";
  } catch {
    return "missing";
  }
}

function targetOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function makeFolder(path: string): boolean {
  try {
    if (kindOf(dirname(path)) === "missing") return false;
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
