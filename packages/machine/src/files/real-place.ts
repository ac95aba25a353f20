import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** Where a path leads, or would lead if the rest of it were made. */
export function realPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return dirname(path) === path ? path : join(realPlace(dirname(path)), basename(path));
  }
}

/** Whether a path, as it is spelled or where it leads, lies in one of the folders. */
export function isPlaceIn(path: string, folders: readonly string[]): boolean {
  const places = [path, realPlace(path)].map((place) => place + sep);
  return folders.some((folder) => places.some((place) => place.startsWith(folder.replace(/\/$/, "") + sep)));
}
