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

export interface WorkTreePlace {
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

const BRANCH = "refs/heads/burin/";
const BASE_FILE = "burin-base";
const MOST_NOTE_BYTES = 4096;
const ATTEMPT_FILE = "burin-attempt";
const MOST_ATTEMPT_BYTES = 4 * 1024 * 1024;

/**
 * Returns the work tree with this name, and creates it if there is none. `copies` are globs of ignored files to copy.
 */
export async function openWorkTree(
  place: WorkTreePlace,
  name: string,
  copies: readonly string[],
): Promise<{ readonly tree: WorkTree; readonly isNew: boolean; readonly uncommitted: number }> {
  const { git, top, inside } = openMain(place);
  return lockPath(join(top, ".git", "burin-work-trees"), async () => {
    const known = listTrees(git, { top, inside }).find((one) => one.name === name);
    const tree = known ?? makeTree(git, { top, inside, name });
    await copyIgnoredFiles(git, { from: top, to: tree.folder, copies });
    mkdirSync(tree.root, { recursive: true });
    const changes = git.must(["status", "--porcelain", "-z", "--untracked-files=all"]).toString("utf8");
    const uncommitted = changes.split("\0").filter((line) => line !== "").length;
    return { tree, isNew: known === undefined, uncommitted };
  });
}

export function listWorkTrees(place: WorkTreePlace): WorkTree[] {
  const { git, ...main } = openMain(place);
  return listTrees(git, main);
}

/** Returns the work tree that contains a folder, if Burin created it. */
export function findWorkTree(place: WorkTreePlace): WorkTree | null {
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
export function removeWorkTree(place: WorkTreePlace, { folder, name }: WorkTree): void {
  const { git } = openMain(place);
  git.ask(["worktree", "remove", "--force", "--force", folder]);
  rmSync(folder, { recursive: true, force: true });
  git.must(["worktree", "prune"]);
  git.must(["branch", "-q", "-D", `burin/${name}`]);
  removeIfEmpty(dirname(folder));
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
  const text = readText(join(findRepository(folder)?.gitDir ?? "", ATTEMPT_FILE), MOST_ATTEMPT_BYTES);
  return text === null ? undefined : parseJson(text);
}

interface Main {
  readonly top: string;
  /** The path of the project's folder inside the work tree. */
  readonly inside: string;
}

function openMain({ root, environment }: WorkTreePlace): Main & { readonly git: OwnGit } {
  const real = tryRealPath(root) ?? root;
  const repository = findRepository(real);
  if (repository === null) throw new Error(`${root} is in no git repository, so it can have no work trees.`);
  const top = dirname(repository.commonDir);
  if (basename(repository.commonDir) !== ".git")
    throw new Error(`${repository.commonDir} has no work tree of its own.`);
  const inside = relative(tryRealPath(repository.top) ?? repository.top, real);
  return { top, inside, git: openOwnGit(top, environment) };
}

/**
 * Returns a folder beside the project: on the same disk, so that files can share blocks, and where commands in the
 * sandbox see it.
 */
function chooseFolder(top: string): string {
  return join(dirname(top), ".burin-worktrees", basename(top));
}

interface NewTree extends Main {
  readonly name: string;
}

function makeTree(git: OwnGit, { top, inside, name }: NewTree): WorkTree {
  const parent = chooseFolder(top);
  makeFolders(parent);
  const folder = join(tryRealPath(parent) ?? parent, name);
  // Removes what a killed Burin had begun to create.
  git.ask(["worktree", "remove", "--force", "--force", folder]);
  rmSync(folder, { recursive: true, force: true });
  git.must(["worktree", "prune"]);
  const head = git.ask(["rev-parse", "--verify", "HEAD"]);
  if (head.fault !== null)
    throw new Error("The repository has no commit yet, so a work tree would be empty.");
  const base = head.output.toString("utf8").trim();
  const hasBranch = git.ask(["rev-parse", "--verify", "-q", `${BRANCH}${name}`]).fault === null;
  const branch = hasBranch ? [folder, `burin/${name}`] : ["-b", `burin/${name}`, folder, base];
  git.must(["worktree", "add", "-q", ...branch]);
  const own = findRepository(folder)?.gitDir;
  if (own === undefined) throw new Error(`${folder} did not become a work tree.`);
  const start = hasBranch
    ? git
        .must(["merge-base", "HEAD", `burin/${name}`])
        .toString("utf8")
        .trim()
    : base;
  // Write this file last: without it, the work tree counts as incomplete.
  writeFileSync(join(own, BASE_FILE), `${start}\n`);
  return { name, folder, root: join(folder, inside), mainRoot: join(top, inside), mainTop: top, base: start };
}

function listTrees(git: OwnGit, { top, inside }: Main): WorkTree[] {
  const blocks = git.must(["worktree", "list", "--porcelain"]).toString("utf8").split("\n\n");
  return blocks.flatMap((block) => {
    const folder = /^worktree (.+)$/m.exec(block)?.[1];
    const own = folder === undefined ? null : findRepository(folder);
    if (folder === undefined || own === null || own.top !== folder) return [];
    const name = parseTreeName(block, own.gitDir);
    const base = readText(join(own.gitDir, BASE_FILE), MOST_NOTE_BYTES)?.trim();
    if (name === null || base === undefined) return [];
    return { name, folder, root: join(folder, inside), mainRoot: join(top, inside), mainTop: top, base };
  });
}

/** Returns the branch, even while a rebase has detached HEAD from it. */
function parseTreeName(block: string, gitDir: string): string | null {
  const branch = /^branch refs\/heads\/burin\/(.+)$/m.exec(block)?.[1];
  return branch ?? (/^detached$/m.test(block) ? basename(gitDir) : null);
}

function removeIfEmpty(folder: string): void {
  if (tryReadEntries(folder).length === 0 && resolve(folder) !== "/")
    rmSync(folder, { recursive: true, force: true });
}
