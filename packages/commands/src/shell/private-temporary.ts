import { dirname, join, relative, resolve } from "node:path";
import { tryLstat, tryReadEntries, tryRealPath } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";

/**
 * The temporary folders. The sandbox has its own, so that a root in one of them is visible there without its neighbors.
 */
const PRIVATE_FOLDERS = ["/tmp", "/var/tmp"];
const NAMED_PATH = /(?<![\w/.@:-])(?:\.\.\/|\.\/|\/)[^\s'"`:,;()<>|&$*?]+/g;
const MOST_PATHS = 200;
/** File systems have coarse time stamps. */
const TIME_STEP_MS = 20;

/** Returns the paths in a text that exist beside a root in a temporary folder, where commands cannot see them. */
export function findHiddenPaths(
  text: string,
  directory: string,
  roots: readonly string[],
): readonly string[] {
  const around = PRIVATE_FOLDERS.filter((folder) =>
    roots.some((root) => root !== folder && isWithin(root, folder)),
  );
  if (around.length === 0) return [];
  const found = listNamedPaths(text, directory).flatMap((path) => tryRealPath(path) ?? []);
  const isHidden = (path: string) =>
    isWithinAny(path, around) && !isWithinAny(path, roots) && !roots.some((root) => isWithin(root, path));
  return [...new Set(found)].filter(isHidden);
}

interface PrivatePlace {
  readonly cwd: string;
  readonly roots: readonly string[];
  /** What the command sees as the temporary folder. */
  readonly temporary: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** The paths beside a root in a temporary folder that a command has written, and that exist only for commands. */
export function findStrayPaths(
  command: string,
  { cwd, roots, temporary, since }: PrivatePlace,
): readonly string[] {
  const found = PRIVATE_FOLDERS.flatMap((folder) => {
    const inside = (path: string) => join(temporary, relative(folder, path));
    const near = roots.flatMap((root) => listFoldersBetween(root, folder));
    const beside = [...new Set(near)].flatMap((one) =>
      tryReadEntries(inside(one)).map(({ name }) => join(one, name)),
    );
    const named = listNamedPaths(command, cwd, "../").filter((path) => dirname(path) === folder);
    return [...beside, ...named].filter((path) => {
      const stats = tryLstat(inside(path));
      return stats !== null && stats.ctimeMs >= since - TIME_STEP_MS && tryLstat(path) === null;
    });
  });
  return [...new Set(found)];
}

/** The folders that contain a root, below a temporary folder. */
function listFoldersBetween(root: string, folder: string): string[] {
  const above = dirname(root);
  return isWithin(above, folder) && above !== folder ? [above, ...listFoldersBetween(above, folder)] : [];
}

function listNamedPaths(text: string, directory: string, start = ""): string[] {
  const named = [...new Set(text.match(NAMED_PATH) ?? [])].filter((path) => path.startsWith(start));
  return named.slice(0, MOST_PATHS).map((path) => resolve(directory, path.replace(/\.+$/, "")));
}
