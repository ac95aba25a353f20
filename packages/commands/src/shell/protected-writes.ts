import { isAbsolute, join, relative, resolve } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { lstatOf, realPlace } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { changedSettings, namedWrites, protectedFile, readGitLine } from "@burin/shell-judge";
import { isUnforeseen, limitsOfGit, settingsFileOf, writtenByGit } from "../git/git-writes.ts";
import { type EnclosingRepository, findEnclosing } from "../sandbox/enclosing-repository.ts";
import { mayStartPrograms } from "../sandbox/git-settings.ts";
import { folderOfLink, isHarmlessKey } from "../sandbox/judge-repository.ts";
import type { SandboxedCommand } from "../sandbox/sandbox.ts";
import { type Place, placeAt } from "../sandbox/sandbox-place.ts";
import { Surveyor } from "../sandbox/sandbox-survey.ts";
import type { CommandRequest, ProtectedWrite } from "./command-request.ts";

/** What the words of a command name, what is in folders that it removes, and what git would write. Runs nothing. */
export async function findProtectedWrites(
  { command, directory, exception }: Pick<CommandRequest, "command" | "directory" | "exception">,
  roots: readonly string[],
): Promise<readonly ProtectedWrite[]> {
  const [root = "/"] = roots;
  const { paths, removed, changed, git } = namedWrites(command, placeIn(directory, roots));
  const repositories = git.length === 0 || exception === "unlimited" ? [] : findEnclosing(roots);
  const own = [...roots, ...repositories.map(({ folder }) => folder)];
  const found = new Map<string, string>();
  const note = (path: string, why: string | null): void => {
    if (why !== null && isWithinAny(path, own) && !own.includes(path)) found.set(path, why);
  };
  for (const path of paths) note(join(root, path), whyOf(join(root, path), root));
  const folders = new Set(removed.map((path) => join(root, path)));
  for (const { folder, words } of git) {
    const place = join(root, folder);
    for (const { path, why } of namedByGit(place, words, root)) note(path, why);
    for (const path of removedByGit(words)) folders.add(resolve(place, path));
    for (const path of writtenElsewhere({ place, words, command }, roots, repositories))
      found.set(path, roots.some((one) => isWithin(one, path)) ? "git may change any file of it" : ELSEWHERE);
  }
  for (const folder of folders) note(folder, await whyInside(folder, roots));
  for (const folder of changed)
    for (const path of await keptIn(join(root, folder), roots)) note(path, "its mode or owner changes");
  return [...found].map(([path, why]) => ({ path, why }));
}

function namedByGit(place: string, words: readonly string[], root: string): readonly ProtectedWrite[] {
  const written = writtenByGit(place, words, (one) => whyOf(one, root) !== null);
  const settings = changedSettings(words).every(isHarmlessKey) ? null : settingsFileOf(place);
  return [
    ...written.map((path) => ({ path, why: whyOf(path, root) ?? "" })),
    ...removedByGit(words).flatMap((path) => workTreeNotes(resolve(place, path))),
    ...(settings === null ? [] : [{ path: settings, why: "git can run programs that its settings name" }]),
  ];
}

/** What git keeps of a work tree that it removes or moves. */
function workTreeNotes(path: string): readonly ProtectedWrite[] {
  const link = placeAt(join(path, ".git"), "", "git link");
  const own = link?.kind === "file" ? folderOfLink(link) : null;
  if (own === null || !/\/worktrees\/[^/]+$/.test(own)) return [];
  return [{ path: own, why: "git keeps there what belongs to the work tree" }];
}

const ELSEWHERE = "it is outside the project, in the same repository";
const MOST_NAMED = 5;

interface GitCommand {
  readonly place: string;
  readonly words: readonly string[];
  /** The whole line. */
  readonly command: string;
}

/**
 * What git would write outside the roots, in the rest of the work tree that they are a part of. Throws where it could do
 * only the part of it that is in the roots.
 */
function writtenElsewhere(
  { place, words, command }: GitCommand,
  roots: readonly string[],
  repositories: readonly EnclosingRepository[],
): readonly string[] {
  const around = repositories.find(({ top }) => isWithin(place, top) && !isWithinAny(top, roots));
  if (around === undefined) return [];
  const limits = limitsOfGit(place, words);
  const mayReach = limits.length === 0 || !limits.every((path) => isWithinAny(path, roots));
  const found = mayReach ? writtenByGit(place, words, (path) => !isWithinAny(path, roots)) : [];
  const line = readGitLine(command);
  if (found.length === 0 && !isUnforeseen(words)) return [];
  if (line !== null && !mayStartPrograms(around.folder, line)) return found.length > 0 ? found : [around.top];
  const names = found.slice(0, MOST_NAMED).map((path) => relative(around.top, path));
  const what =
    found.length === 0 ? "may change files" : `changes ${found.length} files (${names.join(", ")})`;
  throw new WorkspaceError(
    "permission_denied",
    `Nothing was run: git ${words[0]} ${what} of the repository ${around.top} that are outside ${roots.join(", ")}, and a command can write only there. Call again with "sandbox_exception": "unlimited", or start Burin in ${around.top}.`,
  );
}

/** What an approved command may write because of the user's yes, and because of the git commands in it. */
export function allowedWrites(
  request: CommandRequest,
  roots: readonly string[],
): Pick<SandboxedCommand, "writes" | "trees" | "git" | "gitSettings"> {
  const { writes = [] } = request;
  const isAround = (path: string) => roots.some((root) => root !== path && isWithin(root, path));
  const files = writes.filter((path) => !isAround(path));
  return { writes: files, trees: writes.filter(isAround), ...gitUse(request, roots) };
}

function gitUse(
  { command, directory, reads, terminal = false, isBackground = false }: CommandRequest,
  roots: readonly string[],
): Pick<SandboxedCommand, "git" | "gitSettings"> {
  // What only reads was not asked about.
  if (reads !== undefined) return {};
  const named = namedWrites(command, placeIn(directory, roots));
  if (named.git.length === 0) {
    // Servers write nothing in git, and other commands can do more while they cannot.
    if (isBackground) return { git: "nowhere" };
    return named.startsOthers ? { git: "everywhere" } : {};
  }
  const line = terminal ? null : readGitLine(command);
  if (line === null || !line.keys.every(isHarmlessKey)) return { git: "everywhere" };
  return { git: "everywhere", gitSettings: line };
}

function placeIn(directory: string, [root = "/", ...includeDirectories]: readonly string[]) {
  return { root, directory, includeDirectories, realPaths: (path: string) => [realPlace(path)] };
}

function removedByGit(words: readonly string[]): string[] {
  const isWorkTree = words[0] === "worktree" && /^(?:remove|move)$/.test(words[1] ?? "");
  const from = isWorkTree ? 2 : /^(?:rm|mv)$/.test(words[0] ?? "") ? 1 : words.length;
  return words.slice(from).filter((word) => word !== "" && !word.startsWith("-"));
}

function whyOf(path: string, root: string): string | null {
  return protectedFile(relative(root, path));
}

/** Why a folder cannot be removed without a question: the first protected thing in it. */
async function whyInside(folder: string, roots: readonly string[]): Promise<string | null> {
  if (!isAbsolute(folder) || !isWithinAny(folder, roots)) return null;
  const stats = lstatOf(folder);
  if (stats === null) return null;
  const own = protectedFile(relative(roots.find((root) => isWithin(folder, root)) ?? "/", folder));
  if (own !== null || !stats.isDirectory()) return own;
  const [first] = (await protectedIn(folder, roots)).filter(({ part }) => part !== "way out");
  return first === undefined ? null : `it holds ${relative(folder, first.path)}`;
}

/** The files and folders in it that commands cannot change otherwise. */
async function keptIn(folder: string, roots: readonly string[]): Promise<readonly string[]> {
  const places = await protectedIn(folder, roots);
  return places.flatMap(({ path, part }) => (part === "git folder" || part === "way out" ? [] : [path]));
}

async function protectedIn(folder: string, roots: readonly string[]): Promise<readonly Place[]> {
  if (!isWithinAny(folder, roots) || lstatOf(folder)?.isDirectory() !== true) return [];
  return [...(await new Surveyor([folder], folder).lookInSlices()).places.values()];
}
