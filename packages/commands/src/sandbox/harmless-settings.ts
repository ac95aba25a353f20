/** Settings of git with which it runs nothing, whatever their values. */
export interface HarmlessSettings {
  readonly section: string;
  /** Whether a name stands between section and setting, as in `branch.main.merge`. */
  readonly named: "never" | "always" | "either";
  /** Separated by spaces; `deny*` is each longer name that begins so, and `*` is every one. */
  readonly settings: string;
  readonly example: string;
}

/** Any other setting may name a program, or a file that does. */
export const HARMLESS_SETTINGS: readonly HarmlessSettings[] = [
  {
    section: "core",
    named: "never",
    settings:
      "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks worktree " +
      "sparsecheckout sparsecheckoutcone autocrlf eol safecrlf abbrev compression quotepath longpaths " +
      "sharedrepository untrackedcache preloadindex bigfilethreshold",
    example: "core.filemode",
  },
  {
    section: "remote",
    named: "always",
    settings: "url pushurl fetch push mirror prune prunetags tagopt promisor partialclonefilter",
    example: "remote.origin.url",
  },
  { section: "remote", named: "never", settings: "pushdefault", example: "remote.pushdefault" },
  {
    section: "branch",
    named: "always",
    settings: "remote merge rebase pushremote description vscode-merge-base gh-merge-base",
    example: "branch.feature/1.2.merge",
  },
  { section: "branch", named: "never", settings: "autosetup* sort", example: "branch.autosetuprebase" },
  {
    section: "submodule",
    named: "either",
    settings:
      "url active branch fetchrecursesubmodules ignore recurse alternatelocation alternateerrorstrategy shallow",
    example: "submodule.recurse",
  },
  {
    section: "extensions",
    named: "never",
    settings: "partialclone worktreeconfig objectformat refstorage noop relativeworktrees",
    example: "extensions.worktreeconfig",
  },
  { section: "user", named: "never", settings: "name email", example: "user.email" },
  { section: "init", named: "never", settings: "defaultbranch", example: "init.defaultbranch" },
  { section: "pull", named: "never", settings: "rebase ff", example: "pull.rebase" },
  {
    section: "push",
    named: "never",
    settings: "default autosetupremote followtags",
    example: "push.autosetupremote",
  },
  { section: "merge", named: "never", settings: "conflictstyle ff", example: "merge.conflictstyle" },
  {
    section: "rebase",
    named: "never",
    settings: "autosquash autostash updaterefs",
    example: "rebase.autosquash",
  },
  {
    section: "fetch",
    named: "never",
    settings: "prune prunetags recursesubmodules parallel",
    example: "fetch.prune",
  },
  { section: "gc", named: "never", settings: "auto autodetach pruneexpire", example: "gc.auto" },
  { section: "receive", named: "never", settings: "deny*", example: "receive.denycurrentbranch" },
  { section: "index", named: "either", settings: "*", example: "index.version" },
  { section: "status", named: "either", settings: "*", example: "status.showuntrackedfiles" },
  { section: "advice", named: "either", settings: "*", example: "advice.detachedhead" },
  { section: "color", named: "either", settings: "*", example: "color.diff.meta" },
  { section: "column", named: "either", settings: "*", example: "column.ui" },
  { section: "commit", named: "never", settings: "verbose cleanup status", example: "commit.verbose" },
  {
    section: "lfs",
    named: "never",
    settings: "repositoryformatversion",
    example: "lfs.repositoryformatversion",
  },
];

/** Whether git runs nothing because of a setting with this name, in lower case but for what stands in the middle. */
export function isHarmlessName(key: string): boolean {
  const first = key.indexOf(".");
  // Git itself has none with a line end.
  if (first === -1 || /[\n\r\u2028\u2029]/.test(key)) return false;
  const last = key.lastIndexOf(".");
  const section = key.slice(0, first);
  const setting = key.slice(last + 1);
  const named = last > first ? "always" : "never";
  return HARMLESS_SETTINGS.some(
    (row) =>
      row.section === section &&
      (row.named === "either" || row.named === named) &&
      row.settings.split(" ").some((one) => matchesSetting(one, setting)),
  );
}

function matchesSetting(pattern: string, setting: string): boolean {
  if (pattern === "*") return true;
  if (!pattern.endsWith("*")) return pattern === setting;
  const start = pattern.slice(0, -1);
  return setting.startsWith(start) && /^\w+$/.test(setting.slice(start.length));
}
