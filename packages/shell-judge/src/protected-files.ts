/**
 * The one list of names that run code later, hold keys, or change what Burin itself may do. No mode but yolo
 * and no "always" covers them, and the sandbox keeps them from being written. Files that only speak to the
 * model, such as AGENTS.md, are ordinary work and not among them.
 *
 * By the last segment of a path, all in small letters.
 */
const FILES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    "a profile of the shell":
      ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .inputrc profile.ps1 microsoft.powershell_profile.ps1",
    "a file of variables that programs load": ".envrc",
    "settings that can name programs to run":
      ".gitconfig .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs .netrc .pypirc .curlrc .wgetrc .gdbinit .lldbinit .pdbrc .screenrc .tmux.conf .mise.toml .gemrc .irbrc .pryrc .rprofile .psqlrc .condarc crontab",
    "settings of an editor":
      ".exrc .vimrc .nvimrc .gvimrc .lvimrc .nvim.lua .emacs .dir-locals.el .devcontainer.json .sublime-project",
    "hooks of the repository":
      "lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml lefthook.toml .pre-commit-config.yaml",
    "settings of an agent": ".mcp.json mcp.json",
    "what no tool may see": ".burinignore",
    "code that Python runs at every start": "sitecustomize.py usercustomize.py",
  }).flatMap(([what, names]) => names.split(" ").map((name) => [name, what])),
);

const FOLDERS: Readonly<Record<string, string>> = {
  ".git": "inside the repository's own folder",
  "git~1": "inside the repository's own folder",
  ".burin": "Burin's own settings",
  ".claude": "settings of an agent",
  ".codex": "settings of an agent",
  ".cursor": "settings of an agent",
  ".gemini": "settings of an agent",
  ".qwen": "settings of an agent",
  ".vscode": "tasks and settings of an editor",
  ".idea": "tasks and settings of an editor",
  ".fleet": "tasks and settings of an editor",
  ".zed": "tasks and settings of an editor",
  ".devcontainer": "settings of an editor",
  ".husky": "hooks of the repository",
  ".githooks": "hooks of the repository",
  ".direnv": "a file of variables that programs load",
  ".ssh": "keys and settings of ssh",
  ".gnupg": "keys",
  ".aws": "keys",
  ".kube": "keys",
};

/** Two segments that stand together anywhere in a path. */
const PAIRS: readonly (readonly [string, string, string])[] = [
  [".config", "git", "settings that can name programs to run"],
  [".config", "fish", "a profile of the shell"],
  [".config", "autostart", "programs that start by themselves"],
  [".config", "systemd", "programs that start by themselves"],
  ["library", "launchagents", "programs that start by themselves"],
  [".cargo", "config.toml", "settings that can name programs to run"],
  [".cargo", "config", "settings that can name programs to run"],
  [".docker", "config.json", "keys"],
  [".hg", "hgrc", "settings that can name programs to run"],
];

const SECONDS = new Set(PAIRS.map(([, second]) => second));

const ENVIRONMENT = /^\.env(?:\..+)?$/;
const ENVIRONMENT_EXAMPLE = /^\.env(?:\..+)?\.(?:example|sample|template|dist|defaults)$/;

/**
 * What makes a file one that runs code later or holds keys, or null for any other. By name alone, whatever
 * the case of its letters: give it the name to which a path resolves, not that of a link.
 */
export function protectedFile(path: string): string | null {
  const segments = path.split(/[\\/]+/);
  const last = segments.length - 1;
  for (const [index, segment] of segments.entries()) {
    const what =
      index === last ? protectedName(segment, segments[index - 1]) : folderName(segment, segments[index - 1]);
    if (what !== null) return what;
  }
  return null;
}

/** The same for one name in a folder of that name. */
export function protectedName(name: string, folder?: string): string | null {
  const what = folderName(name, folder);
  if (what !== null) return what;
  const plain = plainName(name);
  if (plain.startsWith(".env") && ENVIRONMENT.test(plain) && !ENVIRONMENT_EXAMPLE.test(plain)) {
    return "a file of variables that programs load";
  }
  return plain.endsWith(".code-workspace") ? "settings of an editor" : own(FILES, plain);
}

function folderName(name: string, folder = ""): string | null {
  const plain = plainName(name);
  const what = own(FOLDERS, plain);
  if (what !== null || !SECONDS.has(plain)) return what;
  const above = plainName(folder);
  return PAIRS.find(([first, second]) => first === above && second === plain)?.[2] ?? null;
}

/** In small letters, without what some systems leave out of a name. */
function plainName(name: string): string {
  const small = name.toLowerCase();
  return /[. ]$|:/.test(small) ? small.replace(/(?:::?\$.*|[. ]+)$/, "") || small : small;
}

/** The whole list for a page: what they are, and their names. */
export function protectedList(): ReadonlyMap<string, readonly string[]> {
  const list = new Map<string, string[]>();
  const note = (what: string, name: string) => list.set(what, [...(list.get(what) ?? []), name]);
  for (const [name, what] of Object.entries(FOLDERS)) note(what, `${name}/`);
  for (const [first, second, what] of PAIRS) note(what, `${first}/${second}`);
  for (const [name, what] of Object.entries(FILES)) note(what, name);
  note("a file of variables that programs load", ".env");
  note("a file of variables that programs load", ".env.*");
  note("settings of an editor", "*.code-workspace");
  return list;
}

/**
 * The same names as one regular expression over whole paths, for the sandbox of macOS, which knows no other way
 * to deny what does not exist yet. The folders of git are not among them.
 */
export function protectedPaths(): { readonly denied: string; readonly allowed: string } {
  const folders = Object.keys(FOLDERS).filter((name) => name !== ".git" && name !== "git~1");
  const pairs = PAIRS.map(([first, second]) => `${first}/${second}`);
  const names = [...folders, ...pairs, ...Object.keys(FILES)].map(anyCase);
  const [env, workspace] = [anyCase(".env"), anyCase(".code-workspace")];
  const examples = ["example", "sample", "template", "dist", "defaults"].map(anyCase).join("|");
  return {
    denied: `/((${names.join("|")})(/|$)|${env}(\\.[^/]+)?$|[^/]*${workspace}$)`,
    allowed: `/${env}(\\.[^/]+)?\\.(${examples})$`,
  };
}

function anyCase(name: string): string {
  return name.replace(/[a-z]|[.~]/g, (one) =>
    /[a-z]/.test(one) ? `[${one}${one.toUpperCase()}]` : `\\${one}`,
  );
}

function own(table: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}

/** The same, by their paths, where a root is a user's home folder. */
export const PROTECTED_IN_HOME: readonly string[] = [".config", ".local/bin"];

/** Of a git folder: what git runs or obeys, or follows to more of that. Commands may write the rest of it, so that commits work. */
export const PROTECTED_IN_GIT: readonly string[] = [
  "hooks",
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
];
