import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readBytes } from "../disk/regular-file.ts";
import { entriesOf, idOf, lstatOf, type Place, placeAt } from "./sandbox-place.ts";
import { type TakenBack, takeBack } from "./taken-back.ts";

/** A protected file with more than one name, and what it held. */
export interface SharedFile {
  /** Of what it is or lies in. */
  readonly key: string;
  readonly path: readonly string[];
  readonly changed: number;
  readonly mode: number;
  readonly content: Buffer;
}

const MOST_BYTES = 1024 * 1024;
const MOST_FILES = 500;

/** A read-only mount covers one name of a file; another one may be writable. */
export function sharedFiles(places: Iterable<Place>): readonly SharedFile[] {
  const found: SharedFile[] = [];
  let looked = 0;
  const look = (top: Place, path: readonly string[]): void => {
    looked += 1;
    const file = join(top.path, ...path);
    const stats = looked > MOST_FILES ? null : lstatOf(file);
    if (stats === null) return;
    if (stats.isDirectory()) for (const { name } of entriesOf(file)) look(top, [...path, name]);
    if (!stats.isFile() || stats.nlink < 2) return;
    const content = contentOf(file);
    if (content !== null)
      found.push({ key: top.key, path, changed: stats.ctimeMs, mode: stats.mode, content });
  };
  for (const place of places) if (place.part !== "git folder") look(place, []);
  return found;
}

/** null where it cannot be read, or is too much to be kept. */
function contentOf(file: string): Buffer | null {
  try {
    return readBytes(file, MOST_BYTES);
  } catch {
    return null;
  }
}

interface Ground {
  readonly roots: readonly string[];
  readonly home: string;
  /** Where the protected things are by now. */
  readonly places: ReadonlyMap<string, Place>;
}

/** Gives them back what they held, where that was changed. */
export function restoreShared(files: readonly SharedFile[], ground: Ground): readonly TakenBack[] {
  return files.flatMap(({ key, path, changed, mode, content }) => {
    const top = ground.places.get(key);
    if (top === undefined) return [];
    const file = join(top.path, ...path);
    const stats = lstatOf(file);
    if (stats === null || !stats.isFile() || stats.nlink < 2 || stats.ctimeMs === changed) return [];
    if (contentOf(file)?.equals(content) === true) return [];
    const folder = lstatOf(dirname(file));
    const place = folder === null ? null : placeAt(file, idOf(folder), top.part);
    const why = "it was changed through another of its names";
    const taken = place === null ? null : takeBack(place, { ...ground, why });
    if (taken === null) return [];
    if (taken.kept !== null) writeFileSync(file, content, { flag: "wx", mode });
    return [taken];
  });
}
