import { join } from "node:path";
import { PROTECTED_IN_GIT } from "@burin/shell-judge";
import { entriesOf, idOf, lstatOf, type Place, placeAt } from "./sandbox-place.ts";

/** Names of submodules may have slashes. */
const DEEPEST_MODULE = 8;

/** Whether a folder with these names in it is a git folder, whatever its own name is. */
export function hasGitForm(names: readonly string[]): boolean {
  if (!names.includes("HEAD")) return false;
  return names.includes("commondir") || (names.includes("objects") && names.includes("refs"));
}

/** The folder itself and what git obeys in it, with those of its submodules and work trees. */
export function gitFolderPlaces(folder: string): Place[] {
  const stats = lstatOf(folder);
  if (stats === null) return [];
  const id = idOf(stats);
  const self: Place = { path: folder, key: `${id}/.`, id, kind: "folder", part: "git folder" };
  const files = PROTECTED_IN_GIT.map((name) => placeAt(join(folder, name), id, "git file"));
  return [
    self,
    ...files.filter((place) => place !== null),
    ...worktreesIn(folder, id),
    ...modulesIn(folder, id),
  ];
}

function worktreesIn(folder: string, id: string): Place[] {
  return inside(placeAt(join(folder, "worktrees"), id, "git file"), gitFolderPlaces);
}

function modulesIn(folder: string, id: string): Place[] {
  const look = (path: string, depth: number): Place[] => {
    if (hasGitForm(entriesOf(path).map(({ name }) => name))) return gitFolderPlaces(path);
    const stats = lstatOf(path);
    if (stats === null || depth > DEEPEST_MODULE) return [];
    return below(path, idOf(stats), (one) => look(one, depth + 1));
  };
  return inside(placeAt(join(folder, "modules"), id, "git file"), (path) => look(path, 0));
}

/** A link in the place of a folder leads git elsewhere, and is a place of its own. */
function inside(place: Place | null, look: (path: string) => Place[]): Place[] {
  if (place === null) return [];
  const stats = lstatOf(place.path);
  if (place.kind !== "folder" || stats === null) return place.kind === "link" ? [place] : [];
  return below(place.path, idOf(stats), look);
}

function below(folder: string, id: string, look: (path: string) => Place[]): Place[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return look(path);
    const place = entry.isSymbolicLink() ? placeAt(path, id, "git file") : null;
    return place === null ? [] : [place];
  });
}
