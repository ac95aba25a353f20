import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { bytesOf, linkTarget, lstatOf } from "@burin/files/disk/disk-looks";
import { findHelper, helperPath } from "../processes/helper-program.ts";
import { askGit, gitLooking } from "./git-programs.ts";

/** They change files of the work tree: to those of what they name, or back to those of the last commit. */
const CHANGES =
  /^(?:checkout|switch|restore|reset|merge|pull|rebase|cherry-pick|revert|stash|bisect|am|apply|read-tree|checkout-index|sparse-checkout|clean|rm|mv|submodule|worktree)$/;
/** They go to a commit that they need not name. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = {
  pull: ["@{upstream}"],
  merge: ["@{upstream}"],
  rebase: ["@{upstream}"],
  bisect: ["refs/bisect/bad", "BISECT_HEAD"],
};
const STASHED = ["stash@{0}", "stash@{0}^3"];
/** They write over what is not committed. */
const RESETS = /^(?:stash|reset|restore|read-tree|checkout-index|sparse-checkout)$/;
const PATCHES = /^(?:am|apply)$/;
const REMOVES = /^(?:clean|stash)$/;
const GOES_ON = /^--(?:continue|skip|abort|quit)$/;
const GOES_ON_WITH = ["ORIG_HEAD", "MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
/** Of `git ls-files --debug`: a name, and what was noted about the file. */
const LINES_OF_ENTRY = 6;
const MOST_BYTES = 10 * 1024 * 1024;

/** The files that a git command would write, as git itself says, of those that are meant; absolute. Runs nothing of the repository. */
export function writtenByGit(
  folder: string,
  words: readonly string[],
  isMeant: (path: string) => boolean,
): string[] {
  const [subcommand = "", ...rest] = words;
  if (!CHANGES.test(subcommand)) return [];
  if (subcommand === "reset" && !rest.some((word) => /^--(?:hard|merge|keep)$/.test(word))) return [];
  const top = ask(folder, ["rev-parse", "--show-toplevel"]).trim();
  if (top === "") return [];
  const isWanted = (name: string) => name !== "" && isMeant(join(top, name));
  const listed = [
    ...namedCommits(folder, subcommand, rest).flatMap((id) => changedByCommit(top, subcommand, id)),
    ...(PATCHES.test(subcommand) ? operands(rest).map((file) => changedByPatch(folder, file)) : []),
    ...(isOverwriting(subcommand, rest) ? [changedInWorkTree(top, isWanted)] : []),
    ...(isForced(subcommand, rest) ? [touched(top, isWanted)] : []),
    ...(REMOVES.test(subcommand) ? [untracked(top, rest)] : []),
  ];
  const names = new Set(listed.flatMap((text) => text.split("\0")));
  return [...names].filter(isWanted).map((name) => join(top, name));
}

/** The folders and files that its words limit it to, where they do; absolute. */
export function limitsOfGit(
  folder: string,
  [subcommand = "", ...rest]: readonly string[],
): readonly string[] {
  const paths = pathWords(folder, subcommand, rest);
  // With these it is about a pattern, which may begin at the top.
  return paths.some((path) => /^:|[*?[\\]/.test(path)) ? [] : paths.map((path) => resolve(folder, path));
}

const ONLY_HERE = /^(?:clean|rm|mv|apply)$/;

function pathWords(folder: string, subcommand: string, rest: readonly string[]): readonly string[] {
  const mark = rest.indexOf("--");
  if (mark !== -1) return rest.slice(mark + 1);
  if (ONLY_HERE.test(subcommand)) return ["."];
  if (subcommand === "restore")
    return operands(rest).filter((_, at, all) => at > 0 || isNoCommit(folder, all[0]));
  const isCheckout =
    subcommand === "checkout" && !rest.some((word) => /^-[bBt]|^--(?:orphan|track|detach)/.test(word));
  if (!isCheckout) return [];
  return operands(rest).filter((word, at) => at > 0 || isNoCommit(folder, word));
}

function isNoCommit(folder: string, word = ""): boolean {
  return word !== "-" && namedCommits(folder, "checkout", [word]).length === 0;
}

/** Whether git alone knows what it would write there, as it first has to get it, or to work it out. */
export function isUnforeseen([subcommand = "", ...rest]: readonly string[]): boolean {
  return subcommand === "pull" || (subcommand === "sparse-checkout" && rest[0] !== "list");
}

/** Where the repository of a folder keeps its configuration; null outside a repository. */
export function settingsFileOf(folder: string): string | null {
  const found = ask(folder, ["rev-parse", "--path-format=absolute", "--git-common-dir"]).trim();
  return found === "" ? null : join(found, "config");
}

function operands(rest: readonly string[]): string[] {
  return rest.filter((word) => !word.startsWith("-"));
}

function isOverwriting(subcommand: string, rest: readonly string[]): boolean {
  if (RESETS.test(subcommand) || rest.some((word) => GOES_ON.test(word))) return true;
  return subcommand === "checkout" && rest.some((word) => /^(?:--|-f|--force|-p|.*[./*].*)$/.test(word));
}

function isForced(subcommand: string, rest: readonly string[]): boolean {
  const isWhole = /^(?:reset|read-tree|checkout-index)$/.test(subcommand);
  return isWhole || rest.some((word) => /^(?:-f|--force)$/.test(word));
}

function changedByCommit(top: string, subcommand: string, id: string): string[] {
  const words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
  const between = ask(top, [...words, "HEAD", id]);
  const isItsOwn = /^(?:cherry-pick|revert|stash|am)$/.test(subcommand);
  return isItsOwn ? [between, ask(top, [...words, "--root", "--no-commit-id", "-m", id])] : [between];
}

function ask(cwd: string, words: readonly string[]): string {
  const { PATH, HOME = "/" } = process.env;
  const env = { ...gitLooking({ isSandboxed: false }), PATH: helperPath(PATH), HOME };
  const { output, fault } = askGit(words, { git: findHelper("git", PATH), cwd, env });
  return fault === null ? output.toString() : "";
}

function namedCommits(folder: string, subcommand: string, rest: readonly string[]): string[] {
  const isGoingOn = rest.some((word) => GOES_ON.test(word));
  const isFromStash = subcommand === "stash" && /^(?:pop|apply|branch)$/.test(rest[0] ?? "");
  const implied = [
    ...(IMPLIED[subcommand] ?? []),
    ...(isFromStash ? STASHED : []),
    ...(isGoingOn ? GOES_ON_WITH : []),
  ];
  const said = rest.flatMap((word) => (word === "-" ? ["@{-1}"] : word.split(/\.{2,3}/)));
  const asked = [...said, ...implied].filter((word) => word !== "" && !word.startsWith("-"));
  // `git checkout topic` makes the branch of the only remote that has one.
  const guessed = /^(?:checkout|switch)$/.test(subcommand) ? said.map((word) => `origin/${word}`) : [];
  const found = [...asked, ...guessed].map((word) =>
    ask(folder, ["rev-parse", "--verify", "-q", "--end-of-options", `${word}^{commit}`]).trim(),
  );
  return [...new Set(found.filter((id) => id !== ""))];
}

function changedByPatch(folder: string, file: string): string {
  const listed = ask(folder, ["apply", "--numstat", "-z", "--", file]);
  return listed
    .split("\0")
    .map((line) => line.replace(/^[\d-]+\t[\d-]+\t/, ""))
    .join("\0");
}

/** Tracked files whose content is not that of the last commit. Compares hashes, so that no filter runs. */
function changedInWorkTree(top: string, isWanted: (name: string) => boolean): string {
  const entries = ask(top, ["ls-tree", "-r", "-z", "HEAD"]).split("\0");
  const changed = entries.flatMap((entry) => {
    const [, id = "", name = ""] = /^\d+ blob ([0-9a-f]+)\t(.+)$/s.exec(entry) ?? [];
    return name !== "" && isWanted(name) && !isSame(join(top, name), id) ? [name] : [];
  });
  const staged = ask(top, ["diff-index", "--cached", "-z", "--name-only", "--no-renames", "HEAD"]);
  return [...changed, staged].join("\0");
}

/** Git also writes what has other time stamps than it noted, as after a copy. */
function touched(top: string, isWanted: (name: string) => boolean): string {
  const lines = ask(top, ["-c", "core.quotePath=false", "ls-files", "--debug"]).split("\n");
  const found = lines.flatMap((name, index) => {
    if (index % LINES_OF_ENTRY !== 0 || name === "" || !isWanted(name)) return [];
    const stats = lstatOf(join(top, name));
    const noted = lines.slice(index + 1, index + LINES_OF_ENTRY).join(" ");
    const [, changed = "", modified = ""] = /ctime: (\d+):\d+ +mtime: (\d+):/.exec(noted) ?? [];
    const isNoted = (seconds: string, now?: number) => Math.floor((now ?? 0) / 1000) === Number(seconds);
    return isNoted(changed, stats?.ctimeMs) && isNoted(modified, stats?.mtimeMs) ? [] : [name];
  });
  return found.join("\0");
}

function isSame(path: string, id: string): boolean {
  const stats = lstatOf(path);
  const target = stats?.isSymbolicLink() ? linkTarget(path) : undefined;
  const bytes = target === undefined ? bytesOf(path, MOST_BYTES) : Buffer.from(target);
  if (bytes === null) return false;
  const hash = createHash(id.length === 40 ? "sha1" : "sha256");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
}

function untracked(top: string, rest: readonly string[]): string {
  const hasIgnored = rest.some((word) => /^(?:--all|-[a-z]*[axX][a-z]*)$/.test(word));
  return ask(top, ["ls-files", "-o", "-z", ...(hasIgnored ? [] : ["--exclude-standard"])]);
}
