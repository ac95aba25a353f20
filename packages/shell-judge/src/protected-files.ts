import { createWordSet, splitWords } from "@burin/contract/text/words";

/**
 * The one list of names of files that run code merely by being there, contain keys, or change what Burin itself may do.
 * No mode except yolo and no "always" covers them, and the sandbox keeps commands from writing them. Files that only
 * address the model, such as AGENTS.md, or that run when a user builds or tests, such as a Makefile, are not listed.
 * All names are in lower case: the last segment of a path, `x/` for a folder with everything in it, `x/y` for
 * consecutive segments, `*.x` for an ending.
 */
export const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  "inside the repository's own folder": splitWords(".git/ git~1/"),
  "Burin's own settings": splitWords(".burin/"),
  "settings of an agent": splitWords(`
    .claude/ .codex/ .cursor/ .gemini/ .qwen/ .opencode/ .windsurf/ .roo/ .kiro/ .continue/ .mcp.json
    mcp.json opencode.json opencode.jsonc crush.json .crush.json .aider.conf.yml .amazonq/ .factory/
    .junie/ .kilocode/ .kilo/ kilo.jsonc .pi/ .trae/ .amp/ .augment/ .codebuddy/ .iflow/ .openhands/
    .qoder/ .tabnine/ mcp_config.json .agents/plugins .clinerules/hooks .github/agents .github/copilot
    .github/extensions .github/hooks .github/hooks.json .antigravity/ .cline/ .copilot/ .crush/ .goose/
    .grok/ .kimi/ .vibe/ mcp_settings.json cline_mcp_settings.json claude_desktop_config.json gptme.toml`),
  "tasks and settings of an editor": splitWords(`
    .vscode/ .idea/ .fleet/ .zed/ .helix/ .devcontainer/ .devcontainer.json .exrc .vimrc .nvimrc .gvimrc
    .lvimrc .nvim.lua .emacs .dir-locals.el .dir-locals-2.el .lite_project.lua .kateproject
    rust-analyzer.toml .rust-analyzer.toml *.sublime-project *.code-workspace .vs/ .nova/
    .externaltoolbuilders/`),
  "hooks of the repository": splitWords(`
    .husky/ .githooks/ lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml lefthook.toml
    lefthook-local.yml .lefthook-local.yml lefthook-local.yaml .lefthook-local.yaml lefthook-local.toml
    .pre-commit-config.yaml .git-hooks/ .lefthook/ .lefthook-local/ .overcommit.yml captainhook.json
    hk.pkl prek.toml .rusty-hook.toml .config/lefthook.yml .config/lefthook.yaml .config/lefthook.toml
    .config/lefthook.json .config/lefthook.jsonc .config/lefthook-local.yml .config/lefthook-local.yaml
    .config/lefthook-local.toml .config/lefthook-local.json .config/lefthook-local.jsonc lefthook.json
    lefthook.jsonc lefthook-local.json lefthook-local.jsonc .lefthook.toml .lefthook.json
    .lefthook.jsonc .lefthook-local.toml .lefthook-local.json .lefthook-local.jsonc .simple-git-hooks.js
    .simple-git-hooks.cjs .simple-git-hooks.mjs .simple-git-hooks.json simple-git-hooks.js
    simple-git-hooks.cjs simple-git-hooks.mjs simple-git-hooks.json .huskyrc .huskyrc.json .huskyrc.js`),
  "a file of variables that programs load": splitWords(`
    .direnv/ .envrc .env .env.* .autoenv .autoenv.zsh .corepack.env .renviron .flaskenv .dev.vars .powrc
    .powenv .shadowenv.d/`),
  "keys and settings of ssh": splitWords(".ssh/"),
  keys: splitWords(`
    .gnupg/ .aws/ .kube/ .docker/config.json .azure/ .git-credentials .pgpass .vault-token`),
  "settings that can name programs to run": splitWords(`
    .config/git .cargo/config.toml .cargo/config .hg/hgrc .gitconfig .npmrc .yarnrc .yarnrc.yml
    .pnpmfile.cjs .pnpmfile.mjs .netrc .pypirc .curlrc .wgetrc .screenrc .tmux.conf .mise.toml mise.toml
    .mise.local.toml mise.local.toml bunfig.toml .gemrc .psqlrc .condarc crontab .config/mise
    .config/mise.toml .mise/ .tool-versions rust-toolchain rust-toolchain.toml .hg/hgrc-not-shared
    .hg/sharedpath .jj/repo/config.toml .jj/workspace-config.toml .mvn/ .sbtopts .jvmopts .bazelrc
    .bazeliskrc tools/bazel .yarn/releases .yarn/plugins .yarn/sdks .sl/config .pijul/config
    _darcs/prefs`),
  "a profile of the shell": splitWords(`
    .config/fish .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv
    .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .inputrc profile.ps1
    microsoft.powershell_profile.ps1 .xinitrc .xsession .xsessionrc .xprofile .pam_environment`),
  "programs that start by themselves": splitWords(`
    .config/autostart .config/systemd library/launchagents .forward .procmailrc`),
  "what no tool may see": splitWords(".burinignore"),
  "code that an interpreter or a debugger runs at every start": splitWords(`
    sitecustomize.py usercustomize.py .pdbrc .irbrc .pryrc .rprofile .gdbinit .lldbinit .rdata .iex.exs
    .erlang .ocamlinit .ghci .octaverc .perldb .byebugrc .rdbgrc .rdbgrc.rb .psysh.php .pdbrc.py
    .gdbearlyinit .sbclrc .guile .tclshrc .wishrc .radare2rc`),
};

const REASONS_BY_NAME = new Map(
  Object.entries(PROTECTED).flatMap(([what, names]) => names.map((name) => [name, what] as const)),
);
/** The last segments of names with several segments; the earlier ones are checked only for these. */
const LAST_SEGMENTS = new Set([...REASONS_BY_NAME.keys()].map((name) => name.split("/").slice(1).at(-1)));

const ENDINGS = [...REASONS_BY_NAME.keys()]
  .filter((name) => name.startsWith("*"))
  .map((name) => name.slice(1));

/** Environment files that programs load; example files are excluded. */
const ENVIRONMENT = /^(?!\.env(?:\..+)?\.(?:example|sample|template|dist|defaults)$)\.env(?:\..+)?$/;

/**
 * Explains why a file runs code later or contains keys; or null. Judges the name alone, so pass the resolved target of
 * a link.
 */
export function explainProtectedFile(path: string): string | null {
  const segments = path.split(/[\\/]+/);
  const last = segments.length - 1;
  for (const [index, segment] of segments.entries()) {
    const above = segments.slice(Math.max(index - 2, 0), index).join("/");
    const what =
      index === last ? explainProtectedName(segment, above) : explainProtectedFolder(segment, above);
    if (what !== null) return what;
  }
  return null;
}

/** Explains why a file is protected by its name in a folder, of whose path the last two segments count; or null. */
export function explainProtectedName(name: string, folder?: string): string | null {
  const what = explainProtectedFolder(name, folder);
  if (what !== null) return what;
  const plain = normalizeName(name);
  if (ENVIRONMENT.test(plain)) return "a file of variables that programs load";
  const ending = ENDINGS.find((one) => plain.endsWith(one));
  return REASONS_BY_NAME.get(ending === undefined ? plain : `*${ending}`) ?? null;
}

function explainProtectedFolder(name: string, folder = ""): string | null {
  const plain = normalizeName(name);
  const above = LAST_SEGMENTS.has(plain) ? folder.split("/").slice(-2).map(normalizeName) : [];
  const ending = above.map((_, index) => REASONS_BY_NAME.get([...above.slice(index), plain].join("/")));
  return REASONS_BY_NAME.get(`${plain}/`) ?? ending.find((what) => what !== undefined) ?? null;
}

/** Normalizes a name: lower case, because some disks ignore case, and without characters that some systems ignore. */
function normalizeName(name: string): string {
  const small = name.toLowerCase();
  // Most names have none of what is left aside.
  if (!/[^!-9;-~]|\.$/.test(small)) return small;
  const folded = name
    .replace(/\p{Cf}/gu, "")
    .toUpperCase()
    .toLowerCase();
  return folded.replace(/(?:::?\$.*|(?<![. ])[. ]+)$/, "") || folded;
}

/**
 * Returns the protected names as patterns, without git folders, for the macOS sandbox, which can deny paths that do not
 * exist yet.
 */
export function buildProtectedPatterns(): { readonly denied: string; readonly allowed: string } {
  const names = [...REASONS_BY_NAME.keys()]
    .filter((name) => !/^(?:\.git\/|git~1\/|\.env|\.env\.\*)$|^\*/.test(name))
    .map((name) => toAnyCasePattern(name.replace(/\/$/, "")));
  const env = toAnyCasePattern(".env");
  const endings = ENDINGS.map(toAnyCasePattern).join("|");
  const examples = ["example", "sample", "template", "dist", "defaults"].map(toAnyCasePattern).join("|");
  return {
    denied: `/((${names.join("|")})(/|$)|${env}(\\.[^/]+)?$|[^/]*(${endings})$)`,
    allowed: `/${env}(\\.[^/]+)?\\.(${examples})$`,
  };
}

function toAnyCasePattern(name: string): string {
  return name.replace(/[a-z]|[.~]/g, (one) =>
    /[a-z]/.test(one) ? `[${one}${one.toUpperCase()}]` : `\\${one}`,
  );
}

/** Paths of the same, for a root that is a user's home folder. */
export const PROTECTED_IN_HOME: readonly string[] = [".config", ".local/bin"];

/** The files in a git folder that make git run or follow something. */
export const PROTECTED_IN_GIT: readonly string[] = [
  "hooks",
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "info/attributes",
  "info/grafts",
  "objects/info/alternates",
  "objects/info/http-alternates",
  "remotes",
  "branches",
];

/** What git writes in its folder at work, so that commands may; all other names there are protected. */
const WRITTEN_BY_GIT = createWordSet(`
  index packed-refs packed-refs.new shallow description gc.log gc.pid objects refs reftable logs info
  rebase-merge rebase-apply sequencer modules worktrees rr-cache lfs annex svn lost-found subtree-cache
  filter-repo locked gitk.cache`);
/** The same by the forms of names, each with an example. */
export const FORMS_WRITTEN_BY_GIT: readonly (readonly [form: RegExp, example: string])[] = [
  [/^[A-Z][A-Z_]*$/, "FETCH_HEAD"],
  [/^index\.[^.]+$/, "index.lock"],
  [/^(?:shared|next-)?index[.-].*$/, "next-index-4711.lock"],
  [/^fsmonitor--daemon.*$/, "fsmonitor--daemon.ipc"],
  [/^(?:tmp[_-]|\.tmp-).*$/, "tmp_obj_a1b2c3"],
  [/^.*\.(?:lock|patch|diff|tmp)$/, "HEAD.lock"],
];

export function isWrittenByGit(name: string): boolean {
  return WRITTEN_BY_GIT.has(name) || FORMS_WRITTEN_BY_GIT.some(([form]) => form.test(name));
}
