import { realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { resolvePossiblyMissing } from "../disk/disk-looks.ts";
import { isWithin, isWithinAny, locatePath } from "./paths.ts";

/** The places that decide which folders outside the roots may be opened for reading. */
export interface OpenableSettings {
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Folders with secrets, such as Burin's own folder: what contains one of them stays closed. */
  readonly closed: readonly string[];
}

/**
 * Returns the folder to open before a path outside the roots can be read: the one beside the project that contains the
 * path. Returns null if no folder can be opened for it. Hidden folders and what lies outside the user's home stay closed.
 */
export async function findClosedFolder(
  path: string,
  roots: readonly string[],
  settings: OpenableSettings,
): Promise<string | null> {
  const [root = sep] = roots;
  if (isWithinAny(resolve(root, path), roots)) return null;
  // The root of the file system contains every path, so only the links are resolved here.
  const located = await locatePath(resolve(root, path), [sep]).catch(() => null);
  if (located === null || isWithinAny(located.real, roots)) return null;
  let above = dirname(root);
  while (!isWithin(located.real, above)) above = dirname(above);
  const [name = ""] = relative(above, located.real).split(sep);
  const folder = join(above, name);
  const user = resolvePossiblyMissing(settings.environment?.HOME ?? sep);
  const isBesideHome = isWithin(root, user) && !isWithin(above, user);
  if (above === dirname(above) || name.startsWith(".") || isBesideHome) return null;
  return findOpeningFault(folder, settings) === null ? folder : null;
}

/** Returns why a folder may not be opened for reading; null if it may be. */
export function findOpeningFault(folder: string, { environment, closed }: OpenableSettings): string | null {
  const isFolder = withFallback(false, () => statSync(folder).isDirectory());
  if (!isFolder) return `${folder} does not exist or is not a folder`;
  const home = environment?.HOME;
  const secret = closed.map(resolvePossiblyMissing);
  if (home !== undefined) secret.push(join(resolvePossiblyMissing(home), ".ssh"));
  const real = realpathSync(folder);
  const inside = secret.find((one) => isWithin(one, real) || isWithin(real, one));
  return inside === undefined ? null : `${folder} and ${inside} overlap, and that folder may hold secrets`;
}
