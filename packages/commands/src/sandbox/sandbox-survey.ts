import type { Dirent, Stats } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { tryLstat, tryReadEntries, tryReadLink, tryRealPath } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import {
  explainProtectedName,
  isWrittenByGit,
  PROTECTED_IN_GIT,
  PROTECTED_IN_HOME,
} from "@burin/shell-judge";
import { listNamedByRepository } from "./judge-repository.ts";
import { type AllowedWrites, findProtectedPath, formatFileId, type ProtectedPath } from "./sandbox-place.ts";

export interface Survey {
  readonly places: ReadonlyMap<string, ProtectedPath>;
  /** What config files name, whether it exists or not. */
  readonly named: ReadonlySet<string>;
}

interface Folder {
  readonly stats: Pick<Stats, "dev" | "ino" | "ctimeMs">;
  readonly readAt: number;
  /** Their paths. */
  readonly folders: readonly string[];
  readonly found: readonly { readonly name: string; readonly part: "name" | "git" | "way out" }[];
  readonly isBare: boolean;
}

/** The process can do something else after so many folders. */
const FOLDERS_AT_ONCE = 500;
/** A folder that changed this shortly before it was read may change again without a new time stamp. */
const DOUBTFUL_MS = 50;

interface SurveyorOptions {
  readonly roots: readonly string[];
  readonly temporary: string;
  /** Those outside the roots that belong to the project too. */
  readonly gitFolders?: readonly string[];
  /** The user's, which says where git and its settings are. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Finds protected paths in the roots. Folders that have not changed are not read again. */
export class Surveyor {
  readonly #roots: readonly string[];
  readonly #temporary: string;
  readonly #gitFolders: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  #known = new Map<string, Folder>();

  constructor({ roots, temporary, gitFolders = [], environment }: SurveyorOptions) {
    this.#roots = roots.filter((root) => !roots.some((one) => one !== root && isWithin(root, one)));
    this.#temporary = temporary;
    this.#gitFolders = gitFolders;
    this.#environment = environment;
  }

  /** Looks at everything, however much it is. `alsoNamed`: paths that config files named before. */
  survey(alsoNamed: Iterable<string> = []): Survey {
    const steps = this.steps(alsoNamed);
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
  }

  /** The same in slices, between which the process can do something else. */
  async surveyInSlices(alsoNamed: Iterable<string> = []): Promise<Survey> {
    const steps = this.steps(alsoNamed);
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      await nextTurn();
    }
  }

  /** Yields after each slice. */
  *steps(alsoNamed: Iterable<string>): Generator<void, Survey> {
    const notes = {
      places: new Map<string, ProtectedPath>(),
      named: new Set<string>(alsoNamed),
      environment: this.#environment,
    };
    const folders = new Map<string, Folder>();
    for (const root of this.#roots) yield* this.#walk(root, folders, notes);
    for (const folder of this.#gitFolders) noteRepository(folder, notes);
    this.#known = folders;
    const { places, named } = notes;
    for (const path of named) if (isWithinAny(path, this.#roots)) noteNamed(path, places);
    return { places, named };
  }

  *#walk(root: string, folders: Map<string, Folder>, notes: Notes): Generator<void, void> {
    if (root === homedir()) for (const name of PROTECTED_IN_HOME) notes.named.add(join(root, name));
    const queue = [root];
    for (let index = 0; index < queue.length; index += 1) {
      if (index % FOLDERS_AT_ONCE === FOLDERS_AT_ONCE - 1) yield;
      const path = queue[index] ?? root;
      const folder = this.#folder(path, root);
      if (folder === null) continue;
      folders.set(path, folder);
      const isExempt = path.includes("/node_modules", root.length);
      for (const one of isExempt ? listPackageFolders(path, folder.folders) : folder.folders) queue.push(one);
      // Packages have files with protected names that no program reads there.
      const found = folder.found.filter(({ part }) => !isExempt || part === "git");
      if (folder.isBare || found.length > 0) noteProtectedPaths(path, { ...folder, found }, notes);
    }
  }

  /** Returns null when it is not a folder any more. */
  #folder(path: string, root: string): Folder | null {
    const stats = tryLstat(path);
    if (stats === null || !stats.isDirectory()) return null;
    const before = this.#known.get(path);
    if (before !== undefined && isUnchanged(before, stats)) return before;
    const readAt = Date.now();
    const entries = tryReadEntries(path);
    const parent = path === root ? "" : join(basename(dirname(path)), basename(path));
    const folders: string[] = [];
    const found: Folder["found"][number][] = [];
    for (const entry of entries) {
      const part = this.#partOf(path, parent, entry);
      if (part !== null) found.push({ name: entry.name, part });
      else if (entry.isDirectory()) folders.push(join(path, entry.name));
    }
    const { dev, ino, ctimeMs } = stats;
    return { stats: { dev, ino, ctimeMs }, readAt, folders, found, isBare: isGitFolder(entries) };
  }

  #partOf(path: string, parent: string, entry: Dirent): "name" | "git" | "way out" | null {
    if (/^(?:\.git|git~1)$/i.test(entry.name)) return "git";
    if (explainProtectedName(entry.name, parent) !== null) return "name";
    return entry.isSymbolicLink() && this.#leadsToTemporary(path, entry.name) ? "way out" : null;
  }

  /** Links to there are skipped: commands created what is in it, and it is not checked. */
  #leadsToTemporary(folder: string, name: string): boolean {
    const target = tryReadLink(join(folder, name));
    return target !== undefined && isWithin(resolve(folder, target), this.#temporary);
  }
}

function isUnchanged({ stats, readAt }: Folder, now: Stats): boolean {
  if (stats.ino !== now.ino || stats.dev !== now.dev || stats.ctimeMs !== now.ctimeMs) return false;
  return readAt - now.ctimeMs > DOUBTFUL_MS;
}

/** In `node_modules` only the package folders themselves, because repositories may be there too. */
function listPackageFolders(path: string, folders: readonly string[]): readonly string[] {
  const name = basename(path);
  return name === "node_modules" || name.startsWith("@")
    ? folders
    : folders.filter((one) => one.endsWith("/node_modules"));
}

interface Notes {
  readonly places: Map<string, ProtectedPath>;
  readonly named: Set<string>;
  readonly environment: NodeJS.ProcessEnv;
}

function noteProtectedPaths(path: string, { stats, found, isBare }: Folder, notes: Notes): void {
  const { places, named, environment } = notes;
  const id = formatFileId(stats);
  for (const { name, part } of found) {
    const place = findProtectedPath(join(path, name), id, part === "way out" ? part : "name");
    if (place === null) continue;
    if (part !== "git") {
      places.set(place.key, place);
    } else if (place.kind === "folder") {
      noteRepository(place.path, notes);
    } else {
      places.set(place.key, { ...place, part: "git link" });
      for (const one of listNamedByRepository(path, place.path, environment)) named.add(one);
    }
  }
  if (isBare) noteRepository(path, notes);
}

function noteRepository(folder: string, { places, named, environment }: Notes): void {
  for (const place of findGitFolderPaths(folder)) places.set(place.key, place);
  for (const one of listNamedByRepository(dirname(folder), folder, environment)) named.add(one);
}

function noteNamed(path: string, places: Map<string, ProtectedPath>): void {
  const parent = tryLstat(dirname(path));
  if (parent === null) return;
  const place = findProtectedPath(path, formatFileId(parent), "named");
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
function findGitFolderPaths(folder: string): ProtectedPath[] {
  const stats = tryLstat(folder);
  if (stats === null) return [];
  const id = formatFileId(stats);
  const self: ProtectedPath = { path: folder, key: `${id}/.`, id, kind: "folder", part: "git folder" };
  const files = PROTECTED_IN_GIT.map((name) => findPathInGit(folder, name, id));
  return [
    self,
    ...files.filter((place) => place !== null),
    ...(isPureGitFolder(folder) ? findUnknownInGit(folder, id) : []),
    ...["worktrees", "modules"].flatMap((name) => findInnerRepositories(join(folder, name), id)),
  ];
}

function findPathInGit(folder: string, name: string, folderId: string): ProtectedPath | null {
  const above = dirname(name) === "." ? null : tryLstat(join(folder, dirname(name)));
  if (dirname(name) !== "." && above === null) return null;
  return findProtectedPath(join(folder, name), above === null ? folderId : formatFileId(above), "git file");
}

/** A folder that only looks like a git folder may hold the user's own work. */
export function isPureGitFolder(folder: string): boolean {
  return basename(folder).toLowerCase() === ".git" || /\/\.git\/(?:worktrees|modules)\//i.test(folder);
}

/** Files that git itself does not write there may be run by some program. */
function findUnknownInGit(folder: string, folderId: string): ProtectedPath[] {
  const names = tryReadEntries(folder).map(({ name }) => name);
  const unknown = names.filter((name) => {
    if (PROTECTED_IN_GIT.includes(name)) return false;
    // Disks that leave case aside find it by the protected name too.
    return PROTECTED_IN_GIT.includes(name.toLowerCase()) || !isWrittenByGit(name);
  });
  return unknown.flatMap((name) => findProtectedPath(join(folder, name), folderId, "in git") ?? []);
}

/** Folders that hold much data in a repository and no nested repository. A submodule may have such a name too. */
const GIT_FOLDERS = /^(?:branches|hooks|info|lfs|logs|modules|objects|refs|worktrees)$/;

/**
 * Finds the git folders of linked work trees and submodules. A link in place of one leads git elsewhere and is
 * protected itself. A folder that only looks like a repository does not hide the ones below it.
 */
function findInnerRepositories(path: string, folderId: string, depth = 0): ProtectedPath[] {
  const place = findProtectedPath(path, folderId, "git file");
  if (place?.kind === "link") return [place];
  if (place?.kind !== "folder") return [];
  const entries = tryReadEntries(path);
  const isRepository = isGitFolder(entries) || basename(dirname(path)) === "worktrees";
  const mayHoldOne = (one: Dirent) =>
    one.isDirectory() && (!GIT_FOLDERS.test(one.name) || isGitFolder(tryReadEntries(join(path, one.name))));
  const others = isRepository ? entries.filter(mayHoldOne) : entries;
  const inside = others.flatMap(({ name }) =>
    depth > DEEPEST_MODULE ? [] : findInnerRepositories(join(path, name), place.id, depth + 1),
  );
  return isRepository ? [...findGitFolderPaths(path), ...inside] : inside;
}

interface ProtectedLayout {
  /** Git folders. They are mounted onto themselves, so that they cannot be renamed. */
  readonly pinned: readonly string[];
  readonly readOnly: readonly string[];
}

/** `writes`: what the command may write although it is protected, and all below it. */
export function buildProtectedLayout(
  { places }: Pick<Survey, "places">,
  { roots, writes = [], git = "in the roots" }: { readonly roots: readonly string[] } & AllowedWrites,
): ProtectedLayout {
  const all = [...places.values()].filter(({ path }) => !isWithinAny(path, writes));
  // The target of a link could be protected, but the link itself could be replaced, so then nothing may be written.
  const frozen = new Set(
    all.flatMap((one) => (one.part === "git file" && one.kind === "link" ? [dirname(one.path)] : [])),
  );
  const pinned: string[] = [];
  const readOnly: string[] = [];
  for (const { path, part, kind } of all) {
    if (part === "git folder") {
      if (frozen.has(path) || git === "nowhere") readOnly.push(path);
      else if (basename(path).toLowerCase() === ".git") pinned.push(path);
    } else if (kind === "folder" && writes.some((one) => isWithin(one, path))) {
      const others = listFiles(path).filter((file) => !isWithinAny(file, writes));
      readOnly.push(...others);
      if (others.length > 0) pinned.push(path);
    } else readOnly.push(...(kind === "link" ? resolveTarget(path, roots, writes) : [path]));
  }
  return { pinned, readOnly: [...new Set(readOnly)].sort() };
}

function resolveTarget(link: string, roots: readonly string[], writes: readonly string[]): string[] {
  const target = tryRealPath(link);
  if (target === null || isWithinAny(target, writes) || roots.includes(target)) return [];
  return isWithinAny(target, roots) ? [target] : [];
}

export function listFiles(folder: string): string[] {
  return tryReadEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}
