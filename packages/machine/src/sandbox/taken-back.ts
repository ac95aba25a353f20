import {
  closeSync,
  constants,
  cpSync,
  fstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { randomName } from "../disk/random-name.ts";
import { lstatOf } from "../files/disk-looks.ts";
import { isWithinAny } from "../files/paths.ts";
import { codeOf } from "../files/system-error.ts";
import { idOf, type Place } from "./sandbox-place.ts";

/** What a command made under a protected name, or for git to run, and where it lies now. */
export interface TakenBack {
  readonly path: string;
  readonly why: string;
  /** null when it could not be moved there. */
  readonly kept: string | null;
  /** The last commit of its repository holds the same: something of git brought it, which now misses it. */
  readonly isCommitted?: boolean;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Moves what stands at a place out of the project. The folder is held open and judged, so that a name that is
 * swapped meanwhile moves nothing outside the roots. null when there is nothing any more.
 */
export function takeBack(
  place: Place,
  { roots, home, why }: { readonly roots: readonly string[]; readonly home: string; readonly why: string },
): TakenBack | null {
  const [folder, name] = [dirname(place.path), basename(place.path)];
  let descriptor: number;
  try {
    descriptor = openSync(folder, FOLDER);
  } catch {
    return null;
  }
  try {
    const held = process.platform === "linux" ? `/proc/self/fd/${descriptor}` : folder;
    if (keyIn(descriptor, join(held, name), place) !== place.key) return null;
    if (process.platform === "linux" && !isWithinAny(readlinkSync(held), roots)) return null;
    const kept = moveAway(join(held, name), name, home);
    return { path: place.path, why, kept };
  } catch (error) {
    return codeOf(error) === "ENOENT" ? null : { path: place.path, why, kept: null };
  } finally {
    closeSync(descriptor);
  }
}

/** What stands at the place by now. */
function keyIn(descriptor: number, path: string, { part }: Place): string | null {
  if (part !== "git folder") return `${idOf(fstatSync(descriptor))}/${basename(path)}`;
  const stats = lstatOf(path);
  return stats === null ? null : `${idOf(stats)}/.`;
}

/** A link that was there before, put back where it stood. */
export function putLinkBack(path: string, target: string): void {
  try {
    symlinkSync(target, path);
  } catch {
    // Somebody else has made something there.
  }
}

function moveAway(path: string, name: string, home: string): string {
  const day = new Date().toISOString().replace(/[:.]/g, "-");
  const folder = join(home, "taken-back", `${day}-${randomName(3)}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = join(folder, name);
  try {
    renameSync(path, kept);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    // At once under a name that nobody reads, and then at leisure to the other disk.
    const aside = join(dirname(path), `.burin-${randomName()}.tmp`);
    renameSync(path, aside);
    cpSync(aside, kept, { recursive: true, verbatimSymlinks: true });
    rmSync(aside, { recursive: true, force: true });
  }
  return kept;
}
