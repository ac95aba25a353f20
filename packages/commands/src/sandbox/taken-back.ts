import {
  closeSync,
  constants,
  cpSync,
  fstatSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat } from "@burin/files/disk/disk-looks";
import { makeFolders, randomName } from "@burin/files/disk/own-files";
import { readErrorCode } from "@burin/files/disk/system-error";
import { FOLDER_FLAGS, HAS_DESCRIPTOR_PATHS, isWithinAny } from "@burin/files/paths/paths";
import type { TakenBack } from "../processes/limited-program.ts";
import { formatFileId, type ProtectedPath } from "./sandbox-place.ts";

/**
 * Moves a file or folder out of the project. Its parent folder is held open and checked, so that swapping a name in
 * between cannot move anything outside the roots. Returns null if it no longer exists.
 */
export function takeBack(
  place: ProtectedPath,
  { roots, home, why }: { readonly roots: readonly string[]; readonly home: string; readonly why: string },
): TakenBack | null {
  const [folder, name] = [dirname(place.path), basename(place.path)];
  const descriptor = withFallback(null, () => openSync(folder, FOLDER_FLAGS | constants.O_NOFOLLOW));
  if (descriptor === null) return null;
  try {
    const held = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${descriptor}` : folder;
    if (readKey(descriptor, join(held, name), place) !== place.key) return null;
    if (HAS_DESCRIPTOR_PATHS && !isWithinAny(readlinkSync(held), roots)) return null;
    const kept = moveAway(join(held, name), name, home);
    return { path: place.path, why, kept };
  } catch (error) {
    return readErrorCode(error) === "ENOENT" ? null : { path: place.path, why, kept: null };
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the key of what is there now. */
function readKey(descriptor: number, path: string, { part }: ProtectedPath): string | null {
  if (part !== "git folder") return `${formatFileId(fstatSync(descriptor))}/${basename(path)}`;
  const stats = tryLstat(path);
  return stats === null ? null : `${formatFileId(stats)}/.`;
}

/** Restores the link, unless another program has created something there. */
export function restoreLink(path: string, target: string): void {
  withFallback(undefined, () => symlinkSync(target, path));
}

function moveAway(path: string, name: string, home: string): string {
  const day = new Date().toISOString().replace(/[:.]/g, "-");
  const folder = join(home, "taken-back", `${day}-${randomName(3)}`);
  makeFolders(folder);
  const kept = join(folder, name);
  try {
    renameSync(path, kept);
  } catch (error) {
    if (readErrorCode(error) !== "EXDEV") throw error;
    // On another disk: rename it in place to an unused name first, then move it over.
    const aside = join(dirname(path), `.burin-${randomName()}.tmp`);
    renameSync(path, aside);
    cpSync(aside, kept, { recursive: true, verbatimSymlinks: true });
    rmSync(aside, { recursive: true, force: true });
  }
  return kept;
}

/** Moves it to a path where nothing exists. */
export function moveBack(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (readErrorCode(error) !== "EXDEV") throw error;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    rmSync(from, { recursive: true, force: true });
  }
}
