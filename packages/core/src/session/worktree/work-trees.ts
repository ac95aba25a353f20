import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type OwnGit, openOwnGit } from "@burin/commands/git/git-work";
import { parseJson } from "@burin/contract/messages/untrusted-json";
import { tryReadEntries, tryRealPath } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/own-files";
import { lockPath } from "@burin/files/disk/path-lock";
import { readText } from "@burin/files/disk/regular-file";
import { findRepository } from "@burin/files/tree";
import { listSessions } from "../log/session-files.ts";
import { findLockHolder } from "../log/session-lock.ts";
import { copyIgnoredFiles } from "./bring-ignored.ts";
import { isTreeName } from "./tree-name.ts";

export interface WorkTreeLocation {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The folder of the project, in the main work tree or in another one. */
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A work tree that Burin has made for a branch `burin/NAME`. */
export interface WorkTree {
  readonly name: string;
  /** The top folder of the work tree. */
  readonly folder: string;
  /** The project's folder in it. */
  readonly root: string;
  /** The project's folder in the work tree that the user works in. */
  readonly mainRoot: string;
  readonly mainTop: string;
  /** The commit at which it began. */
  readonly base: string;
}

/** What is left of a work tree whose making or removal was cut short, or of one that somebody removed without Burin. */
export interface TreeRemains {
  readonly name: string;
  /** Where the work tree is, or would be. */
  readonly folder: string;
  /** Whether the folder has files. No session has worked in it. */
  readonly hasFiles: boolean;
  /** Whether the branch has commits that no other branch or tag has. */
  readonly hasCommits: boolean;
}

const BRANCH = "refs/heads/burin/";
const BASE_FILE = "burin-base";
const MAX_NOTE_BYTES = 4096;
const ATTEMPT_FILE = "burin-attempt";
const MAX_ATTEMPT_BYTES = 4 * 1024 * 1024;

/**
 * Returns the work tree with this name, and creates it if there is none. `copies` are globs of ignored files to copy.
 */
export async function openWorkTree(
  place: WorkTreeLocation,
  name: string,
  copies: readonly string[],
): Promise<{ readonly tree: WorkTree; readonly isNew: boolean; readonly uncommitted: number }> {
  const { git, top, inside } = openMainRepository(place);
  return lockTrees(top, async () => {
    const known = listTrees(git, { top, inside }).find((one) => one.name === name);
    const tree = known ?? createWorkTree(git, { top, inside, name });
    await copyIgnoredFiles(git, { from: top, to: tree.folder, copies, draft: resolveDraftFolder(tree) });
    mkdirSync(tree.root, { recursive: true });
    if (known === undefined) finishTree(tree);
    const changes = git.must(["status", "--porcelain", "-z", "--untracked-files=all"]).toString("utf8");
    const uncommitted = changes.split("\0").filter((line) => line !== "").length;
    return { tree, isNew: known === undefined, uncommitted };
  });
}

export function listWorkTrees(place: WorkTreeLocation): WorkTree[] {
  const { git, ...main } = openMainRepository(place);
  return listTrees(git, main);
}

/** Returns the work tree that contains a folder, if Burin created it. */
export function findWorkTree(place: WorkTreeLocation): WorkTree | null {
  const repository = findRepository(place.root);
  if (repository === null || repository.gitDir === repository.commonDir) return null;
  const top = tryRealPath(repository.top) ?? repository.top;
  return listWorkTrees(place).find(({ folder }) => folder === top) ?? null;
}

/** Whether a session works in the work tree. */
export async function isTreeInUse(home: string, { root }: WorkTree): Promise<boolean> {
  const sessions = await listSessions(home, root);
  const holders = await Promise.all(sessions.map(({ path }) => findLockHolder(path)));
  return holders.some((holder) => holder !== null);
}

/** Removes the work tree and its branch, whatever they contain. */
export function removeWorkTree(
  place: WorkTreeLocation,
  tree: Pick<WorkTree, "name" | "folder">,
): Promise<void> {
  const { git, top } = openMainRepository(place);
  return lockTrees(top, async () => {
    clearFolder(git, tree);
    if (hasBranch(git, tree.name)) git.must(["branch", "-q", "-D", `burin/${tree.name}`]);
    removeIfEmpty(dirname(tree.folder));
  });
}

/** Lists what git and the disk show of work trees that are not whole. */
export function listTreeRemains(place: WorkTreeLocation): TreeRemains[] {
  const { git, ...main } = openMainRepository(place);
  const parent = resolveTreesFolder(main.top);
  const whole = new Set(listTrees(git, main).map(({ name }) => name));
  const blocks = listGitWorkTrees(git);
  const elsewhere = blocks.filter(({ folder }) => dirname(folder) !== parent).map(({ branch }) => branch);
  const branches = git.must(["for-each-ref", "--format=%(refname)", BRANCH]).toString("utf8").split("\n");
  const names = [
    ...tryReadEntries(parent).flatMap((entry) => (entry.isDirectory() ? entry.name : [])),
    ...blocks.flatMap(({ folder }) => (dirname(folder) === parent ? basename(folder) : [])),
    ...branches.filter((ref) => !elsewhere.includes(ref)).map((ref) => ref.slice(BRANCH.length)),
  ];
  const left = [...new Set(names)].filter((name) => isTreeName(name) && !whole.has(name)).sort();
  return left.map((name) => {
    const folder = join(parent, name);
    const hasCommits = hasBranch(git, name) && hasOwnCommits(git, name);
    return { name, folder, hasFiles: hasFiles(folder), hasCommits };
  });
}

function hasFiles(folder: string): boolean {
  return tryReadEntries(folder).some(({ name }) => name !== ".git");
}

function hasOwnCommits(git: OwnGit, name: string): boolean {
  const others = [`--exclude=burin/${name}`, "--branches", "--tags", "--remotes", "HEAD"];
  return git.must(["rev-list", "-n", "1", `${BRANCH}${name}`, "--not", ...others]).length > 0;
}

/** Keeps what is known of the attempt that works in the tree; it goes with the tree. */
export function keepAttempt({ folder }: WorkTree, attempt: object): void {
  const own = findRepository(folder)?.gitDir;
  if (own === undefined) throw new Error(`${folder} is not a work tree any more.`);
  const path = join(own, ATTEMPT_FILE);
  writeFileSync(`${path}.tmp`, JSON.stringify(attempt));
  renameSync(`${path}.tmp`, path);
}

/** undefined for any other tree. */
export function readAttempt({ folder }: WorkTree): unknown {
  const text = readText(join(findRepository(folder)?.gitDir ?? "", ATTEMPT_FILE), MAX_ATTEMPT_BYTES);
  return text === null ? undefined : parseJson(text);
}

interface Main {
  readonly top: string;
  /** The path of the project's folder inside the work tree. */
  readonly inside: string;
}

function openMainRepository({ root, environment }: WorkTreeLocation): Main & { readonly git: OwnGit } {
  const real = tryRealPath(root) ?? root;
  const repository = findRepository(real);
  if (repository === null) throw new Error(`${root} is in no git repository, so it can have no work trees.`);
  const top = dirname(repository.commonDir);
  if (basename(repository.commonDir) !== ".git")
    throw new Error(`${repository.commonDir} has no work tree of its own.`);
  const inside = relative(tryRealPath(repository.top) ?? repository.top, real);
  return { top, inside, git: openOwnGit(top, environment) };
}

function lockTrees<Result>(top: string, work: () => Promise<Result>): Promise<Result> {
  return lockPath(join(top, ".git", "burin-work-trees"), work);
}

/**
 * Returns the folder of all work trees. It is beside the project: on the same disk, so that files can share blocks, and
 * where commands in the sandbox see it.
 */
function resolveTreesFolder(top: string): string {
  const parent = join(dirname(top), ".burin-worktrees", basename(top));
  return tryRealPath(parent) ?? parent;
}

/** Returns the folder in which a file or folder is made whole before it gets its name in the work tree. */
function resolveDraftFolder({ folder, name }: Pick<WorkTree, "name" | "folder">): string {
  return join(dirname(folder), `.${name}.draft`);
}

interface NewTree extends Main {
  readonly name: string;
}

function createWorkTree(git: OwnGit, { top, inside, name }: NewTree): WorkTree {
  makeFolders(resolveTreesFolder(top));
  const folder = join(resolveTreesFolder(top), name);
  if (hasFiles(folder))
    throw new Error(
      `${folder} has files, but is not a whole work tree. Look at them; burin worktrees rm ${name} --yes removes them.`,
    );
  clearFolder(git, { folder, name });
  const head = git.ask(["rev-parse", "--verify", "HEAD"]);
  if (head.fault !== null)
    throw new Error("The repository has no commit yet, so a work tree would be empty.");
  const base = head.output.toString("utf8").trim();
  const isOld = hasBranch(git, name);
  const branch = isOld ? [folder, `burin/${name}`] : ["-b", `burin/${name}`, folder, base];
  git.must(["worktree", "add", "-q", ...branch]);
  const start = isOld
    ? git
        .must(["merge-base", "HEAD", `burin/${name}`])
        .toString("utf8")
        .trim()
    : base;
  return { name, folder, root: join(folder, inside), mainRoot: join(top, inside), mainTop: top, base: start };
}

/** Writes the file that is written last: without it, the work tree counts as incomplete. */
function finishTree({ folder, base }: WorkTree): void {
  const own = findRepository(folder)?.gitDir;
  if (own === undefined) throw new Error(`${folder} did not become a work tree.`);
  writeFileSync(join(own, BASE_FILE), `${base}\n`);
}

function clearFolder(git: OwnGit, tree: Pick<WorkTree, "name" | "folder">): void {
  for (const folder of [tree.folder, resolveDraftFolder(tree)])
    rmSync(folder, { recursive: true, force: true });
  // Git prunes no tree that it was killed in making, and removes it only if the folder is whole or gone.
  git.ask(["worktree", "remove", "--force", "--force", tree.folder]);
  git.must(["worktree", "prune"]);
}

function hasBranch(git: OwnGit, name: string): boolean {
  return git.ask(["rev-parse", "--verify", "-q", `${BRANCH}${name}`]).fault === null;
}

function listGitWorkTrees(git: OwnGit) {
  const blocks = git.must(["worktree", "list", "--porcelain"]).toString("utf8").split("\n\n");
  return blocks.flatMap((block) => {
    const folder = /^worktree (.+)$/m.exec(block)?.[1];
    const branch = /^branch (.+)$/m.exec(block)?.[1];
    return folder === undefined ? [] : [{ folder, branch, isDetached: /^detached$/m.test(block) }];
  });
}

function listTrees(git: OwnGit, { top, inside }: Main): WorkTree[] {
  return listGitWorkTrees(git).flatMap(({ folder, branch, isDetached }) => {
    const own = findRepository(folder);
    if (own === null || own.top !== folder) return [];
    // A rebase detaches HEAD from the branch.
    const detached = isDetached ? basename(own.gitDir) : null;
    const name = branch?.startsWith(BRANCH) ? branch.slice(BRANCH.length) : detached;
    const base = readText(join(own.gitDir, BASE_FILE), MAX_NOTE_BYTES)?.trim();
    if (name === null || base === undefined) return [];
    return { name, folder, root: join(folder, inside), mainRoot: join(top, inside), mainTop: top, base };
  });
}

function removeIfEmpty(folder: string): void {
  if (tryReadEntries(folder).length === 0 && resolve(folder) !== "/")
    rmSync(folder, { recursive: true, force: true });
}
