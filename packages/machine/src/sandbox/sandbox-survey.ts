import type { Dirent, Stats } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { PROTECTED_IN_GIT, PROTECTED_IN_HOME, protectedName } from "@burin/shell-judge";
import { entriesOf, linkTarget, lstatOf, realOf } from "../disk/disk-looks.ts";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import { namedByRepository } from "./judge-repository.ts";
import { idOf, type Place, placeAt } from "./sandbox-place.ts";

export interface Survey {
  readonly places: ReadonlyMap<string, Place>;
  /** What config files name, whether it exists or not. */
  readonly named: ReadonlySet<string>;
  /** False when there were more folders than are checked. */
  readonly isWhole: boolean;
}

interface Folder {
  readonly stats: Stats;
  readonly readAt: number;
  /** Their paths. */
  readonly folders: readonly string[];
  readonly found: readonly { readonly name: string; readonly part: "name" | "git" | "way out" }[];
  readonly isBare: boolean;
}

/** Breadth first: folders near the root are checked before deep ones. */
const MOST_FOLDERS = 20_000;
/** A folder that was changed this shortly before it was read may change again with the same time stamp. */
const DOUBTFUL_MS = 50;

/** Finds protected paths in the roots. Folders that have not changed are not read again. */
export class Surveyor {
  readonly #roots: readonly string[];
  readonly #temporary: string;
  #known = new Map<string, Folder>();

  constructor(roots: readonly string[], temporary: string) {
    this.#roots = roots.filter((root) => !roots.some((one) => one !== root && isWithin(root, one)));
    this.#temporary = temporary;
  }

  /** `alsoNamed`: paths that config files named before, which are checked once more. */
  look(alsoNamed: Iterable<string> = []): Survey {
    const notes = { places: new Map<string, Place>(), named: new Set<string>(alsoNamed) };
    const folders = new Map<string, Folder>();
    const isWhole = this.#roots.map((root) => this.#walk(root, folders, notes)).every(Boolean);
    this.#known = folders;
    const { places, named } = notes;
    for (const path of named) if (isWithinAny(path, this.#roots)) noteNamed(path, places);
    return { places, named, isWhole };
  }

  /** Returns false when there were too many folders. */
  #walk(root: string, folders: Map<string, Folder>, notes: Notes): boolean {
    if (root === homedir()) for (const name of PROTECTED_IN_HOME) notes.named.add(join(root, name));
    const queue = [root];
    for (let index = 0; index < queue.length; index += 1) {
      if (folders.size >= MOST_FOLDERS) return false;
      const path = queue[index] ?? root;
      const folder = this.#folder(path, root);
      if (folder === null) continue;
      folders.set(path, folder);
      const isExempt = path.includes("/node_modules", root.length);
      for (const one of isExempt ? wayToPackages(path, folder.folders) : folder.folders) queue.push(one);
      // Packages have files with protected names that no program reads there.
      const found = folder.found.filter(({ part }) => !isExempt || part === "git");
      if (folder.isBare || found.length > 0) notePlaces(path, { ...folder, found }, notes);
    }
    return true;
  }

  /** Returns null when it is not a folder any more. */
  #folder(path: string, root: string): Folder | null {
    const stats = lstatOf(path);
    if (stats === null || !stats.isDirectory()) return null;
    const before = this.#known.get(path);
    if (before !== undefined && isUnchanged(before, stats)) return before;
    const readAt = Date.now();
    const entries = entriesOf(path);
    const parent = path === root ? "" : join(basename(dirname(path)), basename(path));
    const folders: string[] = [];
    const found: Folder["found"][number][] = [];
    for (const entry of entries) {
      const part = this.#partOf(path, parent, entry);
      if (part !== null) found.push({ name: entry.name, part });
      else if (entry.isDirectory()) folders.push(join(path, entry.name));
    }
    return { stats, readAt, folders, found, isBare: isGitFolder(entries) };
  }

  #partOf(path: string, parent: string, entry: Dirent): "name" | "git" | "way out" | null {
    if (/^(?:\.git|git~1)$/i.test(entry.name)) return "git";
    if (protectedName(entry.name, parent) !== null) return "name";
    return entry.isSymbolicLink() && this.#leadsToTemporary(path, entry.name) ? "way out" : null;
  }

  /** Commands created what is in there; it is not checked. */
  #leadsToTemporary(folder: string, name: string): boolean {
    const target = linkTarget(join(folder, name));
    return target !== undefined && isWithin(resolve(folder, target), this.#temporary);
  }
}

function isUnchanged({ stats, readAt }: Folder, now: Stats): boolean {
  if (stats.ino !== now.ino || stats.dev !== now.dev || stats.ctimeMs !== now.ctimeMs) return false;
  return readAt - now.ctimeMs > DOUBTFUL_MS;
}

/** In `node_modules` only the package folders themselves, because repositories may be there too. */
function wayToPackages(path: string, folders: readonly string[]): readonly string[] {
  const name = basename(path);
  return name === "node_modules" || name.startsWith("@")
    ? folders
    : folders.filter((one) => one.endsWith("/node_modules"));
}

interface Notes {
  readonly places: Map<string, Place>;
  readonly named: Set<string>;
}

function notePlaces(path: string, { stats, found, isBare }: Folder, notes: Notes): void {
  const { places, named } = notes;
  const id = idOf(stats);
  for (const { name, part } of found) {
    const place = placeAt(join(path, name), id, part === "way out" ? part : "name");
    if (place === null) continue;
    if (part !== "git") {
      places.set(place.key, place);
    } else if (place.kind === "folder") {
      noteRepository(place.path, notes);
    } else {
      places.set(place.key, { ...place, part: "git link" });
      for (const one of namedByRepository(path, place.path)) named.add(one);
    }
  }
  if (isBare) noteRepository(path, notes);
}

function noteRepository(folder: string, { places, named }: Notes): void {
  for (const place of gitFolderPlaces(folder)) places.set(place.key, place);
  for (const one of namedByRepository(dirname(folder), folder)) named.add(one);
}

function noteNamed(path: string, places: Map<string, Place>): void {
  const parent = lstatOf(dirname(path));
  if (parent === null) return;
  const place = placeAt(path, idOf(parent), "named");
  if (place !== null && !places.has(place.key)) places.set(place.key, place);
}

/** Names of submodules may contain slashes. */
const DEEPEST_MODULE = 8;

/** Whether a folder with these entries is one of git's, whatever its own name is. */
function isGitFolder(entries: readonly Dirent[]): boolean {
  const names = entries.map(({ name }) => name);
  if (!names.includes("HEAD")) return false;
  return names.includes("commondir") || (names.includes("objects") && names.includes("refs"));
}

/** The folder itself and the files in it that git follows, with those of its submodules and work trees. */
function gitFolderPlaces(folder: string): Place[] {
  const stats = lstatOf(folder);
  if (stats === null) return [];
  const id = idOf(stats);
  const self: Place = { path: folder, key: `${id}/.`, id, kind: "folder", part: "git folder" };
  const files = PROTECTED_IN_GIT.map((name) => placeAt(join(folder, name), id, "git file"));
  return [
    self,
    ...files.filter((place) => place !== null),
    ...["worktrees", "modules"].flatMap((name) => placesInside(join(folder, name), id)),
  ];
}

/** They hold much in a repository, and no other repository; a submodule may have such a name too. */
const GITS_OWN = /^(?:branches|hooks|info|lfs|logs|modules|objects|refs|worktrees)$/;

/**
 * Of the folders of work trees and submodules. A link in their place leads git elsewhere, and is protected itself.
 * What only looks like a repository hides none below it.
 */
function placesInside(path: string, folderId: string, depth = 0): Place[] {
  const place = placeAt(path, folderId, "git file");
  if (place?.kind === "link") return [place];
  if (place?.kind !== "folder") return [];
  const entries = entriesOf(path);
  const isRepository = isGitFolder(entries) || basename(dirname(path)) === "worktrees";
  const mayHoldOne = (one: Dirent) =>
    one.isDirectory() && (!GITS_OWN.test(one.name) || isGitFolder(entriesOf(join(path, one.name))));
  const others = isRepository ? entries.filter(mayHoldOne) : entries;
  const inside = others.flatMap(({ name }) =>
    depth > DEEPEST_MODULE ? [] : placesInside(join(path, name), place.id, depth + 1),
  );
  return isRepository ? [...gitFolderPlaces(path), ...inside] : inside;
}

interface ProtectedLayout {
  /** Git folders. They are mounted onto themselves, so that they cannot be renamed. */
  readonly pinned: readonly string[];
  readonly readOnly: readonly string[];
}

export function protectedLayout({ places }: Survey, roots: readonly string[]): ProtectedLayout {
  const all = [...places.values()];
  // A link's target could be protected, but the link itself could be replaced: then nothing may be written.
  const frozen = new Set(
    all.flatMap((one) => (one.part === "git file" && one.kind === "link" ? [dirname(one.path)] : [])),
  );
  const pinned: string[] = [];
  const readOnly: string[] = [];
  for (const { path, part, kind } of all) {
    if (part === "git folder") {
      if (frozen.has(path)) readOnly.push(path);
      else if (basename(path).toLowerCase() === ".git") pinned.push(path);
    } else if (kind !== "link") {
      readOnly.push(path);
    } else {
      const target = realOf(path);
      if (target !== null && isWithinAny(target, roots) && !roots.includes(target)) readOnly.push(target);
    }
  }
  return { pinned, readOnly: [...new Set(readOnly)].sort() };
}
