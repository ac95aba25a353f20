import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  resolvePossiblyMissing,
  tryLstat,
  tryReadBytes,
  tryReadEntries,
  tryRealPath,
} from "@burin/files/disk/disk-looks";
import { isWithin } from "@burin/files/paths/paths";
import { PROTECTED_IN_GIT } from "@burin/shell-judge";
import {
  findProgramSetting,
  type GitSetting,
  LIST_SETTINGS,
  parseSettings,
  runGit,
} from "../git/git-programs.ts";
import { AnswerCache } from "../git/kept-answers.ts";
import { buildHelperPath, findHelper } from "../processes/helper-program.ts";
import { isHarmlessName } from "./harmless-settings.ts";
import type { ProtectedPath } from "./sandbox-place.ts";

const MAX_LINK_BYTES = 4096;
const MAX_COMMITTED_BYTES = 10 * 1024 * 1024;

/**
 * Explains why the user's next git command might run something because of this file in a git folder; null if it would
 * not.
 */
export function explainGitFileRisk(
  { path, kind }: Pick<ProtectedPath, "path" | "kind">,
  environment: NodeJS.ProcessEnv,
): string | null {
  if (kind === "link") return "it leads git elsewhere";
  switch (basename(path)) {
    case "hooks":
      return explainHooksRisk(path);
    case "commondir":
      return explainCommonFolderRisk(path);
    case "gitdir":
      return null;
    case "attributes":
      return hasLines(path) ? "it chooses programs for files" : null;
    case "grafts":
    case "http-alternates":
      return hasLines(path) ? "it leads git elsewhere" : null;
    case "alternates":
      return explainAlternatesRisk(path);
    case "remotes":
    case "branches":
      return tryReadEntries(path).length > 0 ? "it names places that git connects to" : null;
    default:
      return explainConfigRisk(path, environment);
  }
}

/** The same for a whole git folder. */
export function explainRepositoryRisk(folder: string, environment: NodeJS.ProcessEnv): string | null {
  for (const name of PROTECTED_IN_GIT) {
    const path = join(folder, name);
    const stats = tryLstat(path);
    if (stats === null) continue;
    const reason = explainGitFileRisk({ path, kind: stats.isSymbolicLink() ? "link" : "file" }, environment);
    if (reason !== null) return reason;
  }
  return null;
}

function hasLines(file: string): boolean {
  const bytes = tryLstat(file)?.isFile() ? tryReadBytes(file, MAX_BYTES) : null;
  return (
    bytes === null ||
    bytes
      .toString()
      .split("\n")
      .some((line) => /^\s*[^#\s]/.test(line))
  );
}

/** As `git clone --shared` writes it: the objects of another repository. */
function explainAlternatesRisk(file: string): string | null {
  const lines = tryReadBytes(file, MAX_LINK_BYTES)?.toString().split("\n") ?? ["?"];
  const isOfOne = (line: string) =>
    line === "" || line.startsWith("#") || tryLstat(join(resolve(dirname(dirname(file)), line), "../HEAD"));
  return lines.every(isOfOne) ? null : "it leads git elsewhere";
}

function explainHooksRisk(folder: string): string | null {
  const hook = tryReadEntries(folder).find(({ name }) => !name.endsWith(".sample"));
  return hook === undefined ? null : `it has the hook ${hook.name}`;
}

/** A work tree shares the folder two levels above its own; nothing else is followed. */
function explainCommonFolderRisk(file: string): string | null {
  const folder = dirname(file);
  const shared = readFileLine(file);
  if (shared === "") return null;
  const isItsOwn = /\/worktrees\/[^/]+$/.test(folder) && shared !== null;
  const isMeant = isItsOwn && tryRealPath(resolve(folder, shared)) === tryRealPath(dirname(dirname(folder)));
  return isMeant ? null : "it leads git elsewhere";
}

/** Returns where a `.git` file or link points, whether that exists or not; null when it points nowhere. */
export function readLinkedFolder({ path, kind, target = "" }: ProtectedPath): string | null {
  const line = kind === "link" ? `gitdir: ${target}` : readFileLine(path);
  const named = line === null ? undefined : /^gitdir: (.+)$/.exec(line)?.[1];
  return named === undefined ? null : resolvePossiblyMissing(resolve(dirname(path), named));
}

/** Returns the single line that git keeps in a file, or null. */
export function readFileLine(file: string): string | null {
  const bytes = tryLstat(file)?.isFile() ? tryReadBytes(file, MAX_LINK_BYTES) : null;
  return bytes?.toString().replace(/[\r\n]+$/, "") ?? null;
}

interface CommittedIn {
  readonly folder: string;
  readonly workTree: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Whether a file, or everything in a folder, is the same as in the last commit of its repository; `now` is where it is. */
export function isCommitted(
  path: string,
  { folder, workTree, environment }: CommittedIn,
  now = path,
): boolean {
  const name = relative(workTree, path);
  if (name.startsWith("..") || isAbsolute(name)) return false;
  const words = ["--git-dir", folder, "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", name];
  const listed = runReadOnlyGit(words, "/", ownFilesOnly(environment)).output.toString().split("\0");
  const blobs = new Map(listed.map((line) => [line.slice(line.indexOf("\t") + 1), line]));
  const files = listFiles(now);
  return files.length > 0 && files.every((file) => isBlob(file, blobs.get(join(name, relative(now, file)))));
}

function listFiles(path: string): string[] {
  if (tryLstat(path)?.isDirectory() !== true) return [path];
  return tryReadEntries(path).flatMap(({ name }) => listFiles(join(path, name)));
}

function isBlob(file: string, line = ""): boolean {
  const wanted = /^100\d+ blob ([0-9a-f]+)\t/.exec(line)?.[1];
  const bytes = tryLstat(file)?.isFile() ? tryReadBytes(file, MAX_COMMITTED_BYTES) : null;
  if (wanted === undefined || bytes === null) return false;
  const hash = createHash(wanted.length === 40 ? "sha1" : "sha256");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === wanted;
}

const MAX_BYTES = 256 * 1024;

const HARMLESS_UPDATE = /^submodule\..*\.update\n(?:checkout|rebase|merge|none)$/;

const INCLUDE_KEY = /^include(?:if\..*)?\.path$/;

/** Returns why git might run something because of this config file, or null. */
function explainConfigRisk(file: string, environment: NodeJS.ProcessEnv): string | null {
  const stats = tryLstat(file);
  if (stats === null) return null;
  if (!stats.isFile() || stats.size > MAX_BYTES) return "its configuration is not an ordinary file";
  const { output, fault } = listConfig(file, environment);
  if (fault !== null) return "git cannot read its configuration";
  const entry = output
    .toString()
    .split("\0")
    .find((one) => one !== "" && !isHarmless(one));
  return entry === undefined ? null : `its configuration sets ${readKey(entry)}`;
}

/** Returns the entries of a config file that may make git run something, sorted; null if git cannot read the file. */
export function listNamedPrograms(file: string, environment: NodeJS.ProcessEnv): readonly string[] | null {
  return known.programs.answer(file, () => {
    const answer = readNamedPrograms(file, environment);
    return { answer, sources: answer === null ? null : [file] };
  });
}

function readNamedPrograms(file: string, environment: NodeJS.ProcessEnv): readonly string[] | null {
  const stats = tryLstat(file);
  if (stats === null || !stats.isFile() || stats.size > MAX_BYTES) return null;
  const { output, fault } = listConfig(file, environment);
  const entries = output.toString().split("\0").filter(Boolean);
  return fault === null ? entries.filter((one) => !isHarmless(one)) : null;
}

function listConfig(file: string, environment: NodeJS.ProcessEnv) {
  const words = ["config", "--file", file, "--no-includes", "--list", "-z"];
  return runReadOnlyGit(words, "/", ownFilesOnly(environment));
}

/** Whether git runs nothing because of a setting with this name, whatever its value. */
export function isHarmlessKey(key: string): boolean {
  return isHarmlessName(key.toLowerCase());
}

function isHarmless(entry: string): boolean {
  return isHarmlessName(readKey(entry)) || HARMLESS_UPDATE.test(entry);
}

function readKey(entry: string): string {
  return entry.replace(/\n.*/s, "");
}

/** Shared by sessions: answers of git as long as the files that it read are the same. */
const known = {
  named: new AnswerCache<readonly string[]>(),
  settings: new AnswerCache<readonly GitSetting[] | null>(),
  programs: new AnswerCache<readonly string[] | null>(),
};

/**
 * The files and folders that the config of a repository, with all its includes, makes git run or read. `link` is its
 * git folder, or the file or link that leads there.
 */
export function listNamedByRepository(
  workTree: string,
  link: string,
  environment: NodeJS.ProcessEnv,
): readonly string[] {
  const user = withUserSettings(environment);
  const question = [link, ...Object.values(user)].join("\0");
  return known.named.answer(question, () => findNamed(workTree, link, user));
}

function findNamed(workTree: string, link: string, user: UserEnvironment) {
  const { HOME, XDG_CONFIG_HOME } = user;
  const usual = [link, join(link, "config"), join(link, "config.worktree"), join(HOME, ".gitconfig")];
  const sources = [...usual, join(XDG_CONFIG_HOME, "git/config")];
  const env = { ...user, GIT_DIR: link };
  const settings =
    parseSettings(runReadOnlyGit([...LIST_SETTINGS, "--includes"], workTree, env).output) ?? [];
  const answer = settings.flatMap((setting) => {
    const origin = resolve(workTree, setting.origin.replace(/^file:/, ""));
    if (!sources.includes(origin)) sources.push(origin);
    const value = expandHome(setting.value ?? "", HOME);
    return listNamedBy({ ...setting, value, origin }, workTree);
  });
  return { answer, sources };
}

function expandHome(path: string, home: string): string {
  return path.replace(/^~(?=\/)/, home);
}

function listNamedBy(setting: GitSetting & { readonly value: string }, workTree: string): string[] {
  const { key, value, origin } = setting;
  if (value === "") return [];
  const hooks = resolve(workTree, value);
  if (key === "core.hookspath") return isWithin(workTree, hooks) ? [] : [hooks];
  if (INCLUDE_KEY.test(key)) return [resolve(dirname(origin), value)];
  if (findProgramSetting([setting], { changes: true, subcommand: "" }) === null) return [];
  const words = value.split(/[\s"'`;|&()<>=]+/).map((word) => resolve(workTree, word));
  return words.filter((path) => tryLstat(path)?.isFile() === true);
}

/** All settings that git would use in this repository, with the user's own; null when it cannot be asked. */
export function readFolderSettings(
  folder: string,
  environment: NodeJS.ProcessEnv,
): readonly GitSetting[] | null {
  const user = withUserSettings(environment);
  const { HOME, XDG_CONFIG_HOME } = user;
  return known.settings.answer([folder, ...Object.values(user)].join("\0"), () => {
    const env = { ...user, GIT_DIR: folder };
    const { output, fault } = runReadOnlyGit([...LIST_SETTINGS, "--includes"], "/", env);
    const answer = fault === null ? parseSettings(output) : null;
    // What an include depends on may be the branch.
    const own = ["", "HEAD", "commondir", "config", "config.worktree"].map((name) => join(folder, name));
    const users = [join(HOME, ".gitconfig"), join(XDG_CONFIG_HOME, "git/config"), "/etc/gitconfig"];
    const read = (answer ?? []).flatMap(({ key, value = "", origin }) => {
      const file = resolve("/", origin.replace(/^file:/, ""));
      return INCLUDE_KEY.test(key) ? [file, resolve(dirname(file), expandHome(value, HOME))] : [file];
    });
    return { answer, sources: answer === null ? null : [...new Set([...own, ...users, ...read])] };
  });
}

/** What git gets of an environment to find programs and the user's settings. */
type UserEnvironment = Readonly<Record<"PATH" | "HOME" | "XDG_CONFIG_HOME", string>>;

function withUserSettings({
  PATH = "",
  HOME = homedir(),
  XDG_CONFIG_HOME,
}: NodeJS.ProcessEnv): UserEnvironment {
  return { PATH, HOME, XDG_CONFIG_HOME: XDG_CONFIG_HOME ?? join(HOME, ".config") };
}

function ownFilesOnly({ PATH = "" }: NodeJS.ProcessEnv) {
  return { PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
}

function runReadOnlyGit(
  words: readonly string[],
  cwd: string,
  { PATH, ...env }: Readonly<Record<string, string>> & { readonly PATH: string },
) {
  return runGit(words, { git: findHelper("git", PATH), cwd, env: { PATH: buildHelperPath(PATH), ...env } });
}
