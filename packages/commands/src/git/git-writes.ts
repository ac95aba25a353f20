import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { createWordSet } from "@burin/contract/text/words";
import { tryLstat, tryReadBytes, tryReadLink } from "@burin/files/disk/disk-looks";
import { buildHelperPath, findHelper } from "../processes/helper-program.ts";
import { buildReadOnlyEnvironment, runGit } from "./git-programs.ts";

/** Subcommands that change files of the work tree, either to the version that they name or back to the last commit. */
const CHANGES_FILES = createWordSet(`
  checkout switch restore reset merge pull rebase cherry-pick revert stash bisect am apply read-tree
  checkout-index sparse-checkout clean rm mv submodule worktree`);
/** The commits that these subcommands use when none is named. */
const IMPLIED_COMMITS: Readonly<Record<string, readonly string[]>> = {
  pull: ["@{upstream}"],
  merge: ["@{upstream}"],
  rebase: ["@{upstream}"],
  bisect: ["refs/bisect/bad", "BISECT_HEAD"],
};
const STASH_COMMITS = ["stash@{0}", "stash@{0}^3"];
/** Subcommands that overwrite uncommitted changes. */
const OVERWRITES_CHANGES = /^(?:stash|reset|restore|read-tree|checkout-index|sparse-checkout)$/;
const APPLIES_PATCH = /^(?:am|apply)$/;
const REMOVES_UNTRACKED = /^(?:clean|stash)$/;
const CONTINUES = /^--(?:continue|skip|abort|quit)$/;
const CONTINUED_COMMITS = ["ORIG_HEAD", "MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
/** Lines per entry of `git ls-files --debug`: the name, then the stats that git noted for the file. */
const LINES_PER_ENTRY = 6;
const MAX_BYTES = 10 * 1024 * 1024;

/** Where a git command runs, and the environment of the user who runs it. */
export interface GitWriteLocation {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Lists the files that a git command would write, according to git itself, limited to those that `isMeant` accepts.
 * Paths are absolute. Runs nothing from the repository.
 */
export function listFilesGitWrites(
  place: GitWriteLocation,
  words: readonly string[],
  isMeant: (path: string) => boolean,
): string[] {
  const [subcommand = "", ...rest] = words;
  if (!CHANGES_FILES.has(subcommand)) return [];
  if (subcommand === "reset" && !rest.some((word) => /^--(?:hard|merge|keep)$/.test(word))) return [];
  const folder = runReadOnlyGit(place, ["rev-parse", "--show-toplevel"]).trim();
  if (folder === "") return [];
  const top = { ...place, folder };
  const isWanted = (name: string) => name !== "" && isMeant(join(folder, name));
  const listed = [
    ...listNamedCommits(place, subcommand, rest).flatMap((id) => listChangedByCommit(top, subcommand, id)),
    ...(APPLIES_PATCH.test(subcommand)
      ? listOperands(rest).map((file) => listChangedByPatch(place, file))
      : []),
    ...(isOverwriting(subcommand, rest) ? [listModified(top, isWanted)] : []),
    ...(overwritesChanges(subcommand, rest) ? [listTouched(top, isWanted)] : []),
    ...(REMOVES_UNTRACKED.test(subcommand) ? [listUntracked(top, rest)] : []),
  ];
  const names = new Set(listed.flatMap((text) => text.split("\0")));
  return [...names].filter(isWanted).map((name) => join(folder, name));
}

/** Lists the files and folders that the command's words limit it to, if they do. Paths are absolute. */
export function listPathLimits(
  place: GitWriteLocation,
  [subcommand = "", ...rest]: readonly string[],
): readonly string[] {
  const paths = findPathWords(place, subcommand, rest);
  // With such characters it is a pattern, which git may match from the top.
  return paths.some((path) => /^:|[*?[\\]/.test(path))
    ? []
    : paths.map((path) => resolve(place.folder, path));
}

const ONLY_HERE = /^(?:clean|rm|mv|apply)$/;

function findPathWords(
  place: GitWriteLocation,
  subcommand: string,
  rest: readonly string[],
): readonly string[] {
  const mark = rest.indexOf("--");
  if (mark !== -1) return rest.slice(mark + 1);
  if (ONLY_HERE.test(subcommand)) return ["."];
  if (subcommand === "restore")
    return listOperands(rest).filter((_, at, all) => at > 0 || namesNoCommit(place, all[0]));
  const isCheckout =
    subcommand === "checkout" && !rest.some((word) => /^-[bBt]|^--(?:orphan|track|detach)/.test(word));
  if (!isCheckout) return [];
  return listOperands(rest).filter((word, at) => at > 0 || namesNoCommit(place, word));
}

function namesNoCommit(place: GitWriteLocation, word = ""): boolean {
  return word !== "-" && listNamedCommits(place, "checkout", [word]).length === 0;
}

/** Whether only git can know what it would write, because it must first fetch or compute it. */
export function hasUnpredictableWrites([subcommand = "", ...rest]: readonly string[]): boolean {
  return subcommand === "pull" || (subcommand === "sparse-checkout" && rest[0] !== "list");
}

const CHANGES_SETTINGS: Readonly<Record<string, RegExp>> = {
  branch:
    /^(?:-[a-zA-Z]*[dDmMcCut]|--(?:delete|move|copy|set-upstream|unset-upstream|edit-description|track).*)$/,
  push: /^(?:-[a-z]*u|--set-up.*)$/,
  remote: /^(?:add|rename|remove|rm|set-url|set-branches)$/,
  submodule: /^(?:add|init|--init|deinit|sync|set-url|set-branch)$/,
  "sparse-checkout": /^(?:init|set|add|disable|reapply)$/,
};
const NEW_BRANCH = /^(?:-[a-z]*[bBcC]|--create|--force-create)$/;

/** Whether git would note something in the configuration of the repository: what a branch follows, a remote, a submodule. */
export function changesSettings(
  place: GitWriteLocation,
  [subcommand = "", ...rest]: readonly string[],
): boolean {
  if (rest.some((word) => CHANGES_SETTINGS[subcommand]?.test(word))) return true;
  const isTracking = /^(?:checkout|switch|worktree|branch)$/.test(subcommand) && !rest.includes("--");
  if (!isTracking || rest.some((word) => /^(?:--no-track|--detach|-d|--orphan|-l|--list)$/.test(word)))
    return false;
  if (rest.some((word) => /^(?:-t|--track.*)$/.test(word))) return true;
  const operands = listOperands(rest);
  const isNew = subcommand === "branch" || rest.some((word) => NEW_BRANCH.test(word));
  if (isNew) return operands.length > 1 && isRemoteBranch(place, operands.at(-1) ?? "");
  return (
    subcommand !== "worktree" && operands.length === 1 && createsTrackingBranch(place, operands[0] ?? "")
  );
}

function isRemoteBranch(place: GitWriteLocation, name: string): boolean {
  return runReadOnlyGit(place, ["rev-parse", "--symbolic-full-name", "--end-of-options", name])
    .trim()
    .split("\n")
    .some((line) => line.startsWith("refs/remotes/"));
}

/** Git creates a branch with the name of a remote one. */
function createsTrackingBranch(place: GitWriteLocation, name: string): boolean {
  if (runReadOnlyGit(place, ["rev-parse", "--verify", "-q", "--end-of-options", name]) !== "") return false;
  return runReadOnlyGit(place, ["for-each-ref", "--format=%(refname)", `refs/remotes/*/${name}`]) !== "";
}

/** Where the repository of a folder keeps its configuration; null outside a repository. */
export function findSettingsFile(place: GitWriteLocation): string | null {
  const found = runReadOnlyGit(place, ["rev-parse", "--path-format=absolute", "--git-common-dir"]).trim();
  return found === "" ? null : join(found, "config");
}

function listOperands(rest: readonly string[]): string[] {
  return rest.filter((word) => !word.startsWith("-"));
}

function isOverwriting(subcommand: string, rest: readonly string[]): boolean {
  if (OVERWRITES_CHANGES.test(subcommand) || rest.some((word) => CONTINUES.test(word))) return true;
  return subcommand === "checkout" && rest.some((word) => /^(?:--|-f|--force|-p|.*[./*].*)$/.test(word));
}

function overwritesChanges(subcommand: string, rest: readonly string[]): boolean {
  const isWhole = /^(?:reset|read-tree|checkout-index)$/.test(subcommand);
  return isWhole || rest.some((word) => /^(?:-f|--force)$/.test(word));
}

function listChangedByCommit(top: GitWriteLocation, subcommand: string, id: string): string[] {
  const words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
  const between = runReadOnlyGit(top, [...words, "HEAD", id]);
  const isItsOwn = /^(?:cherry-pick|revert|stash|am)$/.test(subcommand);
  return isItsOwn
    ? [between, runReadOnlyGit(top, [...words, "--root", "--no-commit-id", "-m", id])]
    : [between];
}

function runReadOnlyGit({ folder: cwd, environment }: GitWriteLocation, words: readonly string[]): string {
  const { PATH, HOME = "/" } = environment;
  const env = { ...buildReadOnlyEnvironment({ isSandboxed: false }), PATH: buildHelperPath(PATH), HOME };
  const { output, fault } = runGit(words, { git: findHelper("git", PATH), cwd, env });
  return fault === null ? output.toString() : "";
}

function listNamedCommits(place: GitWriteLocation, subcommand: string, rest: readonly string[]): string[] {
  const isGoingOn = rest.some((word) => CONTINUES.test(word));
  const isFromStash = subcommand === "stash" && /^(?:pop|apply|branch)$/.test(rest[0] ?? "");
  const implied = [
    ...(IMPLIED_COMMITS[subcommand] ?? []),
    ...(isFromStash ? STASH_COMMITS : []),
    ...(isGoingOn ? CONTINUED_COMMITS : []),
  ];
  const said = rest.flatMap((word) => (word === "-" ? ["@{-1}"] : word.split(/\.{2,3}/)));
  const asked = [...said, ...implied].filter((word) => word !== "" && !word.startsWith("-"));
  // `git checkout topic` creates the branch if exactly one remote has it.
  const guessed = /^(?:checkout|switch)$/.test(subcommand) ? said.map((word) => `origin/${word}`) : [];
  const found = [...asked, ...guessed].map((word) =>
    runReadOnlyGit(place, ["rev-parse", "--verify", "-q", "--end-of-options", `${word}^{commit}`]).trim(),
  );
  return [...new Set(found.filter((id) => id !== ""))];
}

function listChangedByPatch(place: GitWriteLocation, file: string): string {
  const listed = runReadOnlyGit(place, ["apply", "--numstat", "-z", "--", file]);
  return listed
    .split("\0")
    .map((line) => line.replace(/^[\d-]+\t[\d-]+\t/, ""))
    .join("\0");
}

/** Lists tracked files whose content differs from the last commit. Compares hashes, so that no filter runs. */
function listModified(top: GitWriteLocation, isWanted: (name: string) => boolean): string {
  const entries = runReadOnlyGit(top, ["ls-tree", "-r", "-z", "HEAD"]).split("\0");
  const changed = entries.flatMap((entry) => {
    const [, id = "", name = ""] = /^\d+ blob ([0-9a-f]+)\t(.+)$/s.exec(entry) ?? [];
    return name !== "" && isWanted(name) && !hasSameContent(join(top.folder, name), id) ? [name] : [];
  });
  const staged = runReadOnlyGit(top, ["diff-index", "--cached", "-z", "--name-only", "--no-renames", "HEAD"]);
  return [...changed, staged].join("\0");
}

/** Git also rewrites files whose time stamps differ from its index, for example after a copy. */
function listTouched(top: GitWriteLocation, isWanted: (name: string) => boolean): string {
  const lines = runReadOnlyGit(top, ["-c", "core.quotePath=false", "ls-files", "--debug"]).split("\n");
  const found = lines.flatMap((name, index) => {
    if (index % LINES_PER_ENTRY !== 0 || name === "" || !isWanted(name)) return [];
    const stats = tryLstat(join(top.folder, name));
    const noted = lines.slice(index + 1, index + LINES_PER_ENTRY).join(" ");
    const [, changed = "", modified = ""] = /ctime: (\d+):\d+ +mtime: (\d+):/.exec(noted) ?? [];
    const isSameSecond = (seconds: string, now?: number) => Math.floor((now ?? 0) / 1000) === Number(seconds);
    return isSameSecond(changed, stats?.ctimeMs) && isSameSecond(modified, stats?.mtimeMs) ? [] : [name];
  });
  return found.join("\0");
}

function hasSameContent(path: string, id: string): boolean {
  const stats = tryLstat(path);
  const target = stats?.isSymbolicLink() ? tryReadLink(path) : undefined;
  const bytes = target === undefined ? tryReadBytes(path, MAX_BYTES) : Buffer.from(target);
  if (bytes === null) return false;
  const hash = createHash(id.length === 40 ? "sha1" : "sha256");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
}

function listUntracked(top: GitWriteLocation, rest: readonly string[]): string {
  const hasIgnored = rest.some((word) => /^(?:--all|-[a-z]*[axX][a-z]*)$/.test(word));
  return runReadOnlyGit(top, ["ls-files", "-o", "-z", ...(hasIgnored ? [] : ["--exclude-standard"])]);
}
