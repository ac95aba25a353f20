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
import { orElse } from "@burin/contract/or-else";
import { lstatOf } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/make-folders";
import { randomName } from "@burin/files/disk/random-name";
import { codeOf } from "@burin/files/disk/system-error";
import { FOLDER, isWithinAny, NAMES_DESCRIPTORS } from "@burin/files/paths/paths";
import type { TakenBack } from "../processes/limited-program.ts";
import { idOf, type Place } from "./sandbox-place.ts";

/**
 * Moves a file or folder out of the project. Its folder is held open and checked, so that replacing a name in
 * between moves nothing outside the roots. Returns null when there is nothing any more.
 */
export function takeBack(
  place: Place,
  { roots, home, why }: { readonly roots: readonly string[]; readonly home: string; readonly why: string },
): TakenBack | null {
  const [folder, name] = [dirname(place.path), basename(place.path)];
  const descriptor = orElse(null, () => openSync(folder, FOLDER | constants.O_NOFOLLOW));
  if (descriptor === null) return null;
  try {
    const held = NAMES_DESCRIPTORS ? `/proc/self/fd/${descriptor}` : folder;
    if (keyIn(descriptor, join(held, name), place) !== place.key) return null;
    if (NAMES_DESCRIPTORS && !isWithinAny(readlinkSync(held), roots)) return null;
    const kept = moveAway(join(held, name), name, home);
    return { path: place.path, why, kept };
  } catch (error) {
    return codeOf(error) === "ENOENT" ? null : { path: place.path, why, kept: null };
  } finally {
    closeSync(descriptor);
  }
}

/** The key of what is there by now. */
function keyIn(descriptor: number, path: string, { part }: Place): string | null {
  if (part !== "git folder") return `${idOf(fstatSync(descriptor))}/${basename(path)}`;
  const stats = lstatOf(path);
  return stats === null ? null : `${idOf(stats)}/.`;
}

/** Unless another program has created something there. */
export function putLinkBack(path: string, target: string): void {
  orElse(undefined, () => symlinkSync(target, path));
}

function moveAway(path: string, name: string, home: string): string {
  const day = new Date().toISOString().replace(/[:.]/g, "-");
  const folder = join(home, "taken-back", `${day}-${randomName(3)}`);
  makeFolders(folder);
  const kept = join(folder, name);
  try {
    renameSync(path, kept);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    // First renamed in place to an unused name, then moved to the other disk.
    const aside = join(dirname(path), `.burin-${randomName()}.tmp`);
    renameSync(path, aside);
    cpSync(aside, kept, { recursive: true, verbatimSymlinks: true });
    rmSync(aside, { recursive: true, force: true });
  }
  return kept;
}

/** To a place where nothing is. */
export function moveBack(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    rmSync(from, { recursive: true, force: true });
  }
}
