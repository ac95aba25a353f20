import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryRealPath } from "@burin/files/disk/disk-looks";
import { isFolder, makeFolders } from "@burin/files/disk/own-files";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";

/** In the session's private /tmp, so that the user's own tools never run what a command has cached. */
const PRIVATE_CACHE = "/tmp/.cache";

/** Where the user's own cache can be read. Nothing else is in /run, which is empty in the sandbox. */
const READABLE_CACHE = "/run/user-cache";

/**
 * `variables` point a program's cache to a private folder. They are not set if `kept` exists in the home folder: it
 * holds what the program reads, and moving the cache would hide that.
 */
const CACHE_VARIABLES: readonly (readonly [
  variables: string,
  folder: string,
  kept: string,
  programs: string,
])[] = [
  ["npm_config_cache", "npm", "", "npm: it fails with a cache that it cannot write"],
  ["PIP_CACHE_DIR", "pip", "", "pip: it warns and goes on without wheels"],
  ["PIPENV_CACHE_DIR", "pipenv", "", "pipenv"],
  ["UV_CACHE_DIR", "uv", "", "uv: it fails when it cannot make its cache"],
  ["POETRY_CACHE_DIR", "pypoetry", ".cache/pypoetry", "poetry, whose environments are there"],
  ["PRE_COMMIT_HOME", "pre-commit", ".cache/pre-commit", "pre-commit, whose hooks are there"],
  ["GOCACHE", "go-build", "", "go: it fails without"],
  ["GOMODCACHE", "go-mod", "go/pkg/mod", "go: modules, which are read from where they are"],
  ["GOLANGCI_LINT_CACHE", "golangci-lint", "", "golangci-lint"],
  ["STATICCHECK_CACHE", "staticcheck", "", "staticcheck"],
  ["CARGO_HOME", "cargo", ".cargo/registry", "cargo: crates, which are read from where they are"],
  ["YARN_CACHE_FOLDER", "yarn", "", "yarn 1"],
  ["BUN_INSTALL_CACHE_DIR", "bun", "", "bun"],
  ["DENO_DIR", "deno", ".cache/deno", "deno: modules, which are read from where they are"],
  ["GRADLE_USER_HOME", "gradle", "", "gradle: it locks files in its home at every start"],
  ["NUGET_HTTP_CACHE_PATH", "nuget-http", "", "nuget"],
  ["NUGET_SCRATCH", "nuget-scratch", "", "nuget: its locks"],
  ["DOTNET_CLI_HOME", "dotnet", "", "dotnet: it writes a mark at its first start"],
  ["COMPOSER_CACHE_DIR", "composer", "", "composer"],
  ["GEM_SPEC_CACHE", "gem-specs", "", "gem"],
  ["BUNDLE_USER_CACHE", "bundle", "", "bundler"],
  ["CCACHE_DIR SCCACHE_DIR", "ccache", "", "ccache and sccache"],
];

/**
 * Folders of the home folder whose paths are written into projects. A private folder takes their place under the same
 * path.
 */
const CACHE_PATHS: readonly (readonly [path: string, programs: string])[] = [
  [".local/share/pnpm/store", "pnpm, whose node_modules name their store"],
];

/** The maximum number of entries of a cache that are shown; the rest is hidden in the sandbox. */
const MAX_ENTRIES = 500;

export interface CacheOptions {
  /** The home folder as commands know it. */
  readonly userHome: string | undefined;
  /** Where the user's programs cache, if the environment says so. */
  readonly cacheHome: string | undefined;
  readonly roots: readonly string[];
  /** Folders whose content the sandbox replaces anyway. */
  readonly covered: readonly string[];
  /** What no command may see, or connect to. */
  readonly unseen: readonly string[];
  /** The folder outside that becomes /tmp inside. */
  readonly privateTemporary: string;
}

export interface ToolCaches {
  readonly env: Readonly<Record<string, string>>;
  /** Bubblewrap arguments; they must follow those of the system. */
  readonly mounts: readonly string[];
}

/** Builds the caches that programs may write: a private layer, with the user's own cache readable through it. */
export function buildToolCaches(ground: CacheOptions): ToolCaches {
  const { userHome, cacheHome, privateTemporary } = ground;
  const home = userHome === undefined ? null : tryRealPath(userHome);
  const isKept = (kept: string) => kept !== "" && home !== null && tryLstat(join(home, kept)) !== null;
  const env = CACHE_VARIABLES.flatMap(([names, folder, kept]) =>
    isKept(kept) ? [] : names.split(" ").map((name) => [name, `${PRIVATE_CACHE}/${folder}`] as const),
  );
  const asked = cacheHome || (home === null ? undefined : join(home, ".cache"));
  const cache = asked === undefined ? null : resolveCacheFolder(asked, ground);
  const layer = join(privateTemporary, ".cache");
  // A cache inside the project is writable where it is.
  const isOwn = asked !== undefined && isWithinAny(asked, ground.roots);
  const other = cache === null && !isOwn ? [["XDG_CACHE_HOME", PRIVATE_CACHE] as const] : [];
  return {
    env: Object.fromEntries([...env, ...other]),
    mounts: [
      ...(cache === null ? [] : buildCacheMounts(cache, layer, ground)),
      ...CACHE_PATHS.flatMap(([path]) => (home === null ? [] : buildPrivatePath(join(home, path), ground))),
    ],
  };
}

/** Returns null if no private folder can be mounted there. Creates a missing folder, because a mount needs one. */
function resolveCacheFolder(path: string, ground: CacheOptions): string | null {
  const above = tryRealPath(dirname(path));
  if (above === null || !isOutsideRoots(join(above, basename(path)), ground)) return null;
  if (tryLstat(path) === null) withFallback(undefined, () => mkdirSync(path, { mode: 0o700 }));
  const real = tryRealPath(path);
  return real !== null && isFolder(real) && isOutsideRoots(real, ground) ? real : null;
}

/** Inside a root the folder belongs to the project, and above a root a mount would hide it. */
function isOutsideRoots(folder: string, { roots, covered }: CacheOptions): boolean {
  return !isWithinAny(folder, [...roots, ...covered]) && !roots.some((root) => isWithin(root, folder));
}

/**
 * New entries are private. Existing entries are reached by links, so that they can be read and replaced, but not
 * changed. Nothing may be mounted at a path that a command can replace with its own link.
 */
function buildCacheMounts(cache: string, layer: string, { unseen }: CacheOptions): string[] {
  makeFolders(layer);
  if (!isFolder(dirname(READABLE_CACHE)) || unseen.some((path) => isWithin(path, cache)))
    return ["--bind", layer, cache];
  const names = withFallback([], () => readdirSync(cache)).slice(0, MAX_ENTRIES);
  const linked = new Set(withFallback([], () => readdirSync(layer)));
  for (const name of names)
    if (!linked.has(name))
      withFallback(undefined, () => symlinkSync(`${READABLE_CACHE}/${name}`, join(layer, name)));
  return ["--bind", layer, cache, "--ro-bind", cache, READABLE_CACHE];
}

function buildPrivatePath(path: string, ground: CacheOptions): string[] {
  const real = tryRealPath(path);
  if (real === null || !isFolder(real) || !isOutsideRoots(real, ground)) return [];
  const layer = join(ground.privateTemporary, ".cache", path.replaceAll("/", "_"));
  makeFolders(layer);
  return ["--bind", layer, real];
}
