import type { Stats } from "node:fs";
import { join } from "node:path";
import { lstatOf, realOf } from "../disk/disk-looks.ts";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import { IgnoreRules, type IgnoreSettings } from "./ignore.ts";
import { Slices, Walk, type WalkWatch } from "./walk.ts";

export interface TreeRequest {
  /** Their real paths. */
  readonly roots: readonly string[];
  readonly settings: IgnoreSettings;
  /** A folder that is left out wherever it is: what Burin stores changes all the time. */
  readonly except: string;
  /** What else to collect while a root is walked through. */
  readonly watchIn?: (root: string) => WalkWatch;
}

/** The files and links that are not ignored, at one moment. */
export interface TreeLook {
  /** By its path, what differs whenever a file was written; nothing is read for it. */
  readonly stamps: ReadonlyMap<string, string>;
  /** false when there was too much to look at, or a folder could not be read: then nothing is certain. */
  readonly isWhole: boolean;
  /** There was too much to look at. */
  readonly isCut: boolean;
}

const MOST_FILES = 300_000;
const MOST_MS = 10_000;
/** Reading the clock costs more than looking at one name. */
const NAMES_PER_LOOK = 64;

/** Programs write there at every start; where the home folder is the project, that says nothing about the work. */
const HOME_CACHES =
  ".bun .cache .cargo .config .deno .gradle .local .m2 .node-gyp .npm .nuget .rustup .yarn".split(" ");

function cachesOf({ HOME: home }: NodeJS.ProcessEnv): string[] {
  return home ? HOME_CACHES.map((name) => join(home, name)) : [];
}

/** Looks at all files of the roots that are not ignored, without reading any. */
export async function lookAtTree(request: TreeRequest, signal: AbortSignal): Promise<TreeLook> {
  const { roots, settings, except, watchIn } = request;
  const slices = new Slices(signal, performance.now() + MOST_MS);
  const rules = new IgnoreRules(roots, settings);
  const stamps = new Map<string, string>();
  const places = [except, ...cachesOf(settings.environment ?? {})].map((path) => realOf(path) ?? path);
  let isCut = false;
  let unreadable = 0;
  let seen = 0;
  for (const root of roots) {
    // A root inside of such a folder, like the folder of a fleet's task, was named: it is looked at.
    const left = places.filter((place) => root === place || !isWithin(root, place));
    const walk = new Walk({
      folder: root,
      rules: rules.namedFolder(root),
      respectGitIgnore: true,
      enters: (folder) => !isWithinAny(join(root, folder), left),
      ...(watchIn && { watch: watchIn(root) }),
    });
    for (let stretch = walk.nextStretch(); stretch !== null && !isCut; stretch = walk.nextStretch()) {
      for (const name of stretch.names) {
        const path = join(root, stretch.folder, name);
        const stats = lstatOf(path);
        if (stats !== null) stamps.set(path, stampOf(stats));
        seen += 1;
        if (seen % NAMES_PER_LOOK === 0 && slices.isOver) isCut ||= !(await slices.goOn());
      }
      isCut ||= seen > MOST_FILES;
    }
    unreadable += walk.unreadable;
  }
  return { stamps, isWhole: !isCut && unreadable === 0, isCut };
}

/** The paths that are new, gone or written since, in the order of the first look; null when that is not certain. */
export function changedPaths(before: TreeLook, after: TreeLook): string[] | null {
  if (!before.isWhole || !after.isWhole) return null;
  const changed = [...before.stamps].flatMap(([path, stamp]) =>
    after.stamps.get(path) === stamp ? [] : path,
  );
  const added = [...after.stamps.keys()].filter((path) => !before.stamps.has(path));
  return [...changed, ...added];
}

/** No program can set the ctime of a file, and every write and every rename changes it. */
export function stampOf({ mode, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${mode} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}
