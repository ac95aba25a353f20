import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { lstatOf, realOf } from "@burin/files/disk/disk-looks";
import { isFolder, makeFolders } from "@burin/files/disk/make-folders";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";

/** In the session's private /tmp, so that nothing that a command caches is what the user's own tools run later. */
const PRIVATE = "/tmp/.cache";

/** Where the user's own cache can be read. Nothing else is in /run, which the sandbox empties. */
const READABLE = "/run/user-cache";

/**
 * `variables` lead a program's cache to a private folder; where `kept` exists in the home folder, they stay away: it holds
 * what the program reads, and moving would hide that.
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

/** Folders of the home folder whose path is written into projects: a private one lies there under the same path. */
const CACHE_PATHS: readonly (readonly [path: string, programs: string])[] = [
  [".local/share/pnpm/store", "pnpm, whose node_modules name their store"],
];

/** What is more than that in a cache is hidden in the sandbox. */
const MOST_ENTRIES = 500;

export interface CacheGround {
  /** The home folder as commands know it. */
  readonly userHome: string | undefined;
  /** Where the user's programs cache, if the environment says so. */
  readonly cacheHome: string | undefined;
  readonly roots: readonly string[];
  /** Folders that the sandbox shows with other content anyway. */
  readonly covered: readonly string[];
  /** What no command may see, or connect to. */
  readonly unseen: readonly string[];
  /** What /tmp is outside. */
  readonly privateTemporary: string;
}

export interface ToolCaches {
  readonly env: Readonly<Record<string, string>>;
  /** Arguments of bubblewrap; they belong behind the system's. */
  readonly mounts: readonly string[];
}

/** Where programs may cache: in the private layer, with what they have cached outside readable. */
export function toolCaches(ground: CacheGround): ToolCaches {
  const { userHome, cacheHome, privateTemporary } = ground;
  const home = userHome === undefined ? null : realOf(userHome);
  const isKept = (kept: string) => kept !== "" && home !== null && lstatOf(join(home, kept)) !== null;
  const env = CACHE_VARIABLES.flatMap(([names, folder, kept]) =>
    isKept(kept) ? [] : names.split(" ").map((name) => [name, `${PRIVATE}/${folder}`] as const),
  );
  const asked = cacheHome || (home === null ? undefined : join(home, ".cache"));
  const cache = asked === undefined ? null : cacheFolder(asked, ground);
  const layer = join(privateTemporary, ".cache");
  // In the project it can be written where it is.
  const isOwn = asked !== undefined && isWithinAny(asked, ground.roots);
  const other = cache === null && !isOwn ? [["XDG_CACHE_HOME", PRIVATE] as const] : [];
  return {
    env: Object.fromEntries([...env, ...other]),
    mounts: [
      ...(cache === null ? [] : mountsOver(cache, layer, ground)),
      ...CACHE_PATHS.flatMap(([path]) => (home === null ? [] : privatePath(join(home, path), ground))),
    ],
  };
}

/** null where no private folder can lie there. One that is missing is made: nothing can be mounted on nothing. */
function cacheFolder(path: string, ground: CacheGround): string | null {
  const above = realOf(dirname(path));
  if (above === null || !isFree(join(above, basename(path)), ground)) return null;
  if (lstatOf(path) === null) orElse(undefined, () => mkdirSync(path, { mode: 0o700 }));
  const real = realOf(path);
  return real !== null && isFolder(real) && isFree(real, ground) ? real : null;
}

/** In a root the folder is the project's own, and over a root it would hide that. */
function isFree(folder: string, { roots, covered }: CacheGround): boolean {
  return !isWithinAny(folder, [...roots, ...covered]) && !roots.some((root) => isWithin(root, folder));
}

/**
 * New names are private. What is there already is led to by links, so that it can be read, and replaced but not changed:
 * nothing may be mounted at a path that commands can replace by a link of theirs.
 */
function mountsOver(cache: string, layer: string, { unseen }: CacheGround): string[] {
  makeFolders(layer);
  if (!isFolder(dirname(READABLE)) || unseen.some((path) => isWithin(path, cache)))
    return ["--bind", layer, cache];
  const names = orElse([], () => readdirSync(cache)).slice(0, MOST_ENTRIES);
  for (const name of names) orElse(undefined, () => symlinkSync(`${READABLE}/${name}`, join(layer, name)));
  return ["--bind", layer, cache, "--ro-bind", cache, READABLE];
}

function privatePath(path: string, ground: CacheGround): string[] {
  const real = realOf(path);
  if (real === null || !isFolder(real) || !isFree(real, ground)) return [];
  const layer = join(ground.privateTemporary, ".cache", path.replaceAll("/", "_"));
  makeFolders(layer);
  return ["--bind", layer, real];
}
