import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { orElse } from "@burin/contract/or-else";

/** Returns where a path leads, or would lead if its missing parts were created. */
export function realPlace(path: string): string {
  return (
    orElse(null, () => realpathSync.native(path)) ??
    (dirname(path) === path ? path : join(realPlace(dirname(path)), basename(path)))
  );
}

/** Returns whether a path, as spelled or resolved, is in one of the folders. */
export function isPlaceIn(path: string, folders: readonly string[]): boolean {
  const places = [path, realPlace(path)].map((place) => place + sep);
  return folders.some((folder) => places.some((place) => place.startsWith(folder.replace(/\/$/, "") + sep)));
}
