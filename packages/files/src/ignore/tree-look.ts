import type { Stats } from "node:fs";
import { join } from "node:path";
import { tryLstat, tryRealPath } from "../disk/disk-looks.ts";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import { IgnoreRules, type IgnoreSettings } from "./ignore.ts";
import { TimeSlices, Walk, type WalkWatch } from "./walk.ts";

export interface TreeRequest {
  /** The real paths of the roots. */
  readonly roots: readonly string[];
  readonly settings: IgnoreSettings;
  /** A folder that is skipped wherever it is: Burin's own data changes all the time. */
  readonly except: string;
  /** Returns callbacks that collect other things while a root is walked through. */
  readonly watchIn?: (root: string) => WalkWatch;
}

/** A snapshot of the files and links that are not ignored. */
export interface TreeSnapshot {
  /** A stamp for each path that changes with every write to the file. Taken without reading any file. */
  readonly stamps: ReadonlyMap<string, string>;
  /**
   * false if the tree was too large or a folder could not be read; nothing can then be concluded from what is missing.
   */
  readonly isComplete: boolean;
  /** true if the tree was too large to be looked at completely. */
  readonly isTruncated: boolean;
}

const MAX_FILES = 300_000;
const MAX_MS = 10_000;
/** How many names to look at before the clock is read again, which costs more than a name. */
const NAMES_PER_CLOCK_CHECK = 64;

/** Programs write here at every start. If the home folder is the project, such changes say nothing about the work. */
const HOME_CACHES =
  ".bun .cache .cargo .config .deno .gradle .local .m2 .node-gyp .npm .nuget .rustup .yarn".split(" ");

function listHomeCaches({ HOME: home }: NodeJS.ProcessEnv): string[] {
  return home ? HOME_CACHES.map((name) => join(home, name)) : [];
}

/** Looks at all files of the roots that are not ignored, without reading any. */
export async function snapshotTree(request: TreeRequest, signal: AbortSignal): Promise<TreeSnapshot> {
  const { roots, settings, except, watchIn } = request;
  const slices = new TimeSlices(signal, performance.now() + MAX_MS);
  const rules = new IgnoreRules(roots, settings);
  const stamps = new Map<string, string>();
  const places = [except, ...listHomeCaches(settings.environment ?? {})].map(
    (path) => tryRealPath(path) ?? path,
  );
  let isCut = false;
  let unreadable = 0;
  let seen = 0;
  for (const root of roots) {
    // A root inside such a cache folder, like the folder of a fleet task, was chosen on purpose, so it is looked at.
    const left = places.filter((place) => root === place || !isWithin(root, place));
    const walk = new Walk({
      folder: root,
      rules: rules.readNamedFolderRules(root),
      respectGitIgnore: true,
      shouldEnter: (folder) => !isWithinAny(join(root, folder), left),
      ...(watchIn && { watch: watchIn(root) }),
    });
    for (let stretch = walk.nextBatch(); stretch !== null && !isCut; stretch = walk.nextBatch()) {
      for (const name of stretch.names) {
        const path = join(root, stretch.folder, name);
        const stats = tryLstat(path);
        if (stats !== null) stamps.set(path, formatFileStamp(stats));
        seen += 1;
        if (seen % NAMES_PER_CLOCK_CHECK === 0 && slices.isOver) isCut ||= !(await slices.yieldTurn());
      }
      isCut ||= seen > MAX_FILES;
    }
    unreadable += walk.unreadable;
  }
  return { stamps, isComplete: !isCut && unreadable === 0, isTruncated: isCut };
}

/**
 * Returns the paths that are new, removed or written since the first snapshot, in its order; null if that is uncertain.
 */
export function findChangedPaths(before: TreeSnapshot, after: TreeSnapshot): string[] | null {
  if (!before.isComplete || !after.isComplete) return null;
  const changed = [...before.stamps].flatMap(([path, stamp]) =>
    after.stamps.get(path) === stamp ? [] : path,
  );
  const added = [...after.stamps.keys()].filter((path) => !before.stamps.has(path));
  return [...changed, ...added];
}

/** Programs cannot set a file's ctime, and every write and rename changes it. */
export function formatFileStamp({ mode, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${mode} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}
