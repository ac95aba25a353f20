import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { resolvePossiblyMissing, tryLstat, tryReadBytes } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import {
  explainProtectedFile,
  type FoundWrite,
  findCommandWrites,
  listChangedSettings,
  readGitLine,
} from "@burin/shell-judge";
import {
  changesSettings,
  findSettingsFile,
  type GitWriteLocation,
  hasUnpredictableWrites,
  listFilesGitWrites,
  listPathLimits,
} from "../git/git-writes.ts";
import { type EnclosingRepository, findEnclosingRepositories } from "../sandbox/enclosing-repository.ts";
import { explainShutSettings, mayStartPrograms } from "../sandbox/git-settings.ts";
import { isHarmlessKey, readLinkedFolder } from "../sandbox/judge-repository.ts";
import type { Sandbox, SandboxedCommand } from "../sandbox/sandbox.ts";
import { findProtectedPath, type ProtectedPath } from "../sandbox/sandbox-place.ts";
import { Surveyor } from "../sandbox/sandbox-survey.ts";
import type { CommandRequest, ProtectedWrite } from "./command-request.ts";
import { findNames } from "./found-names.ts";
import { findNeighbors } from "./private-temporary.ts";

/** The folders that are looked at, and the environment of the user whose git works there. */
interface Surveyed {
  readonly roots: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

interface ProtectedContext extends Surveyed {
  readonly sandbox: Pick<Sandbox, "canConfineHook">;
}

/**
 * Finds the protected files that a command would write: those that its words name, those in folders that it removes,
 * and those that git would write. Runs nothing.
 */
export async function findProtectedWrites(
  request: Pick<CommandRequest, "command" | "directory" | "exception" | "terminal">,
  { roots, environment, sandbox }: ProtectedContext,
): Promise<readonly ProtectedWrite[]> {
  const { command, directory, exception } = request;
  const [root = "/"] = roots;
  const surveyed = { roots, environment };
  const {
    paths,
    removed,
    changed,
    git,
    scripts,
    found: onDisk,
  } = findCommandWrites(command, createLocation(directory, roots));
  const repositories =
    git.length + scripts.length === 0 || exception === "unlimited" ? [] : findEnclosingRepositories(roots);
  const own = [...roots, ...repositories.map(({ folder }) => folder)];
  const found = new Map<string, string>();
  const noteProtected = (path: string, why: string | null): void => {
    if (why !== null && isWithinAny(path, own) && !own.includes(path)) found.set(path, why);
  };
  for (const path of paths) noteProtected(join(root, path), explainProtected(join(root, path), root));
  const folders = new Set(removed.map((path) => join(root, path)));
  for (const { folder, words } of git) {
    const place = { folder: join(root, folder), environment };
    if (exception !== "unlimited") await assertSettingsOpen({ place, words, own }, request, sandbox);
    for (const { path, why } of findGitWrites(place, words, root)) noteProtected(path, why);
    for (const path of listRemovedByGit(words)) folders.add(resolve(place.folder, path));
    for (const path of findWritesElsewhere({ ...place, words, command }, roots, repositories))
      found.set(
        path,
        roots.some((one) => isWithin(one, path)) ? "git may change any file of it" : OUTSIDE_PROJECT,
      );
  }
  for (const folder of folders) noteProtected(folder, await explainProtectedInside(folder, surveyed));
  const changedFolders = changed.map((folder) => listChangedPaths(join(root, folder), surveyed));
  const listed = [
    ...scripts.flatMap((script) => findScriptSettings(script, surveyed)),
    ...(await findNamedOnDisk(onDisk, surveyed)),
    ...(await Promise.all(changedFolders)).flat(),
  ];
  for (const { path, why } of listed) noteProtected(path, why);
  return [...found].map(([path, why]) => ({ path, why }));
}

const MAX_SCRIPT_BYTES = 64 * 1024;
const SHELL_SCRIPT = /^#!\s*(?:\/usr\/bin\/env\s+)?\S*\b(?:sh|bash|dash)\b/;

/**
 * Finds the settings of git with which the words of a shell script in the roots name programs. Other files that it
 * creates are asked about when it has ended; these it could not write, and would stop in the middle.
 */
function findScriptSettings(
  script: ReturnType<typeof findCommandWrites>["scripts"][number],
  { roots, environment }: Surveyed,
): readonly ProtectedWrite[] {
  const [root = "/"] = roots;
  const path = resolvePossiblyMissing(join(root, script.path));
  const text = isWithinAny(path, roots) ? tryReadBytes(path, MAX_SCRIPT_BYTES)?.toString() : undefined;
  if (text === undefined || (text.startsWith("#!") && !SHELL_SCRIPT.test(text))) return [];
  const { git } = findCommandWrites(text, createLocation(join(root, script.folder), roots));
  return git.flatMap(({ folder, words }) =>
    findSettingsWrites({ folder: join(root, folder), environment }, words),
  );
}

/** Throws if git could do all but note in its configuration what belongs to it. */
async function assertSettingsOpen(
  { place, words, own }: { place: GitWriteLocation; words: readonly string[]; own: readonly string[] },
  { command, terminal = false }: Pick<CommandRequest, "command" | "terminal">,
  sandbox: Pick<Sandbox, "canConfineHook">,
): Promise<void> {
  const settings = changesSettings(place, words) ? findSettingsFile(place) : null;
  if (settings === null || !isWithinAny(settings, own)) return;
  const line = terminal ? null : readGitLine(command);
  const canConfine = line !== null && line.lastHook !== null && (await sandbox.canConfineHook?.()) === true;
  const why =
    line === null
      ? "other programs run in the same command"
      : explainShutSettings({ ...place, folder: dirname(settings) }, line, canConfine);
  if (why === null) return;
  const [subcommand] = words;
  const exception = 'call again with "sandbox_exception": "unlimited": the user is asked';
  const advice =
    line === null ? `call git ${subcommand} as a command of its own, or ${exception}` : exception;
  throw new WorkspaceError(
    "permission_denied",
    `Nothing was run: git ${subcommand} changes ${settings}, but cannot write it here: ${why}. Instead, ${advice}.`,
  );
}

/** Finds the protected files under names that a pattern matches, or that find or another command gives. */
async function findNamedOnDisk(
  found: readonly FoundWrite[],
  surveyed: Surveyed,
): Promise<readonly ProtectedWrite[]> {
  const { environment } = surveyed;
  const [root = "/"] = surveyed.roots;
  const named = new Map<string, string>();
  for (const { folder, source, isWhole } of found) {
    // Sorts a folder before its content, and drops the content: the folder stands for it.
    for (const path of [...findNames(source, { folder: join(root, folder), environment })].sort()) {
      if (isWithinAny(path, [...named.keys()])) continue;
      const why = isWhole ? await explainProtectedInside(path, surveyed) : explainProtected(path, root);
      if (why !== null) named.set(path, why);
    }
  }
  return [...named].map(([path, why]) => ({ path, why }));
}

function findGitWrites(
  place: GitWriteLocation,
  words: readonly string[],
  root: string,
): readonly ProtectedWrite[] {
  const { folder } = place;
  const written = listFilesGitWrites(place, words, (one) => explainProtected(one, root) !== null);
  return [
    ...written.map((path) => ({ path, why: explainProtected(path, root) ?? "" })),
    ...listRemovedByGit(words).flatMap((path) => findWorkTreeWrites(resolve(folder, path))),
    ...findSettingsWrites(place, words),
  ];
}

function findSettingsWrites(place: GitWriteLocation, words: readonly string[]): readonly ProtectedWrite[] {
  const settings = listChangedSettings(words).every(isHarmlessKey) ? null : findSettingsFile(place);
  return settings === null ? [] : [{ path: settings, why: "git can run programs that its settings name" }];
}

/** Returns git's own records of a work tree that the command removes or moves. */
function findWorkTreeWrites(path: string): readonly ProtectedWrite[] {
  const link = findProtectedPath(join(path, ".git"), "", "git link");
  const own = link?.kind === "file" ? readLinkedFolder(link) : null;
  if (own === null || !/\/worktrees\/[^/]+$/.test(own)) return [];
  return [{ path: own, why: "git keeps there what belongs to the work tree" }];
}

const OUTSIDE_PROJECT = "it is outside the project, in the same repository";
const MAX_NAMED = 5;

interface GitCommand extends GitWriteLocation {
  readonly words: readonly string[];
  /** The whole command line. */
  readonly command: string;
}

/**
 * Lists what git would write outside the roots, in the rest of their work tree. Throws if git could do only the part
 * inside the roots.
 */
function findWritesElsewhere(
  git: GitCommand,
  roots: readonly string[],
  repositories: readonly EnclosingRepository[],
): readonly string[] {
  const { folder, environment, words, command } = git;
  const around = repositories.find(({ top }) => isWithin(folder, top) && !isWithinAny(top, roots));
  if (around === undefined) return [];
  const limits = listPathLimits(git, words);
  const mayReach = limits.length === 0 || !limits.every((path) => isWithinAny(path, roots));
  const found = mayReach ? listFilesGitWrites(git, words, (path) => !isWithinAny(path, roots)) : [];
  const line = readGitLine(command);
  if (found.length === 0 && !hasUnpredictableWrites(words)) return [];
  if (line !== null && !mayStartPrograms({ folder: around.folder, environment }, line))
    return found.length > 0 ? found : [around.top];
  const names = found.slice(0, MAX_NAMED).map((path) => relative(around.top, path));
  const what =
    found.length === 0 ? "may change files" : `changes ${found.length} files (${names.join(", ")})`;
  throw new WorkspaceError(
    "permission_denied",
    [
      `Nothing was run: git ${words[0]} ${what} of the repository ${around.top}`,
      `that are outside ${roots.join(", ")}, and a command can write only there.`,
      `Call again with "sandbox_exception": "unlimited", or start Burin in ${around.top}.`,
    ].join(" "),
  );
}

/**
 * Finds what an approved command may write, because of the user's yes and because of its git commands, and what these
 * may read beside the roots.
 */
export function findAllowedAccess(
  request: CommandRequest,
  { roots, environment }: Surveyed,
): Pick<SandboxedCommand, "writes" | "trees" | "neighbors" | "git" | "gitSettings"> {
  const { writes = [] } = request;
  const containsRoot = (path: string) => roots.some((root) => root !== path && isWithin(root, path));
  const files = writes.filter((path) => !containsRoot(path));
  return {
    writes: files,
    trees: writes.filter(containsRoot),
    ...findGitUse(request, { roots, environment }),
  };
}

function findGitUse(
  { command, directory, reads, terminal = false, isBackground = false }: CommandRequest,
  { roots, environment }: Surveyed,
): Pick<SandboxedCommand, "git" | "gitSettings" | "neighbors"> {
  // A command that only reads was not asked about, so nothing was approved.
  if (reads !== undefined) return {};
  const [root = "/"] = roots;
  const named = findCommandWrites(command, createLocation(directory, roots));
  const isGit = named.git.length > 0;
  // Servers do not write to git, and while one could, other commands would be more restricted.
  if (!isGit && isBackground) return { git: "nowhere" };
  if (!isGit && !named.startsOthers) return {};
  const folders = named.git.map(({ folder }) => join(root, folder));
  const neighbors = findNeighbors({ command, directory, roots, environment }, folders);
  const line = isGit && !terminal ? readGitLine(command) : null;
  const isHarmless = line?.keys.every(isHarmlessKey);
  return { git: "everywhere", neighbors, ...(line !== null && isHarmless && { gitSettings: line }) };
}

function createLocation(directory: string, [root = "/", ...includeDirectories]: readonly string[]) {
  return { root, directory, includeDirectories, realPaths: (path: string) => [resolvePossiblyMissing(path)] };
}

function listRemovedByGit(words: readonly string[]): string[] {
  const isWorkTree = words[0] === "worktree" && /^(?:remove|move)$/.test(words[1] ?? "");
  const from = isWorkTree ? 2 : /^(?:rm|mv)$/.test(words[0] ?? "") ? 1 : words.length;
  return words.slice(from).filter((word) => word !== "" && !word.startsWith("-"));
}

function explainProtected(path: string, root: string): string | null {
  return explainProtectedFile(relative(root, path));
}

/** Returns why a folder cannot be removed without a question: the first protected thing in it. */
async function explainProtectedInside(folder: string, surveyed: Surveyed): Promise<string | null> {
  const { roots } = surveyed;
  if (!isAbsolute(folder) || !isWithinAny(folder, roots)) return null;
  const stats = tryLstat(folder);
  if (stats === null) return null;
  const own = explainProtectedFile(relative(roots.find((root) => isWithin(folder, root)) ?? "/", folder));
  if (own !== null || !stats.isDirectory()) return own;
  const [first] = (await surveyFolder(folder, surveyed)).filter(({ part }) => part !== "way out");
  return first === undefined ? null : `it holds ${relative(folder, first.path)}`;
}

/** Returns the files and folders in it that commands cannot change otherwise, for a change of all modes or owners. */
async function listChangedPaths(folder: string, surveyed: Surveyed): Promise<readonly ProtectedWrite[]> {
  const places = await surveyFolder(folder, surveyed);
  return places.flatMap(({ path, part }) =>
    part === "git folder" || part === "way out" ? [] : [{ path, why: "its mode or owner changes" }],
  );
}

async function surveyFolder(
  folder: string,
  { roots, environment }: Surveyed,
): Promise<readonly ProtectedPath[]> {
  if (!isWithinAny(folder, roots) || tryLstat(folder)?.isDirectory() !== true) return [];
  const surveyor = new Surveyor({ roots: [folder], temporary: folder, environment });
  return [...(await surveyor.surveyInSlices()).places.values()];
}
