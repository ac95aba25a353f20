import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { GitWork, type RefChange } from "@burin/commands/git/git-work";
import { findProcess } from "@burin/commands/processes/process-table";
import { describeError } from "@burin/contract/text/error-message";
import { tryLstat, tryReadBytes, tryReadEntries } from "@burin/files/disk/disk-looks";
import { randomName } from "@burin/files/disk/own-files";
import { readBytes } from "@burin/files/disk/regular-file";
import { readErrorCode } from "@burin/files/disk/system-error";
import { parseIndex, RepositoryReader, type RepositorySnapshot } from "@burin/files/tree";
import { type Content, isSameContent } from "./content.ts";
import { isSameIndex, packDroppedCommits } from "./git-changes.ts";
import type { FileChange, GitChange } from "./journal-line.ts";
import { createRefusal, type FileOutcome, readCurrentContent } from "./take-back.ts";
import { createChangeId } from "./undo-journal.ts";

export interface GitLocation {
  /** The folder in which contents are stored. */
  readonly folder: string;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Called before a change and after it with the same id; with null if the change did not happen. */
  readonly note: (change: GitChange | null, id: string) => void;
}

const MAX_INDEX_BYTES = 256 * 1024 * 1024;
/** Files that git writes for itself. It does not matter whether they have changed since. */
const UNIMPORTANT = /(?:^|\/)(?:COMMIT_EDITMSG|ORIG_HEAD|AUTO_MERGE|MERGE_RR)$/;
/** Folders whose mere presence, even empty, tells git that work is unfinished. */
const WORK_FOLDERS = /(?:^|\/)(?:rebase-merge|rebase-apply|sequencer)$/;

/** Restores a repository to its state before a call: completely, or not at all if something has changed since. */
export function undoGitChange(change: GitChange, place: GitLocation): FileOutcome {
  const file = relative(place.root, change.repository.gitDir) || change.repository.gitDir;
  try {
    return { file, what: restoreGitState(change, place) };
  } catch (error) {
    return { file, what: "refused", reason: describeError(error) };
  }
}

function restoreGitState(change: GitChange, place: GitLocation): FileOutcome["what"] {
  const { repository } = change;
  if (tryLstat(join(repository.gitDir, "HEAD")) === null) throw createRefusal("the repository is gone");
  const reader = new RepositoryReader(repository);
  const earlier = reader.readSnapshot();
  const refs = change.refs.filter((ref) => canUndoRef(ref, earlier));
  const files = change.files.filter((one) => canUndoFile(one, earlier, { change, place }));
  if (refs.length === 0 && files.length === 0) return "unchanged";
  for (const { before } of files) if (before !== null) resolveKeptPath(before, place);
  // Without this folder, git sees no repository.
  mkdirSync(join(repository.commonDir, "refs"), { recursive: true });
  const git = new GitWork(repository, {
    roots: [place.root],
    environment: place.environment,
    passEnvironment: [],
  });
  const fault = change.pack === undefined ? null : git.unpack(join(place.folder, change.pack));
  if (fault !== null) throw createRefusal(fault);
  const lock = lockIndex(files, change, place);
  const done = { repository, files: files.map(invertFileChange), refs: refs.map(invertRefChange) };
  const id = createChangeId(place.folder);
  place.note(done, id);
  try {
    const failed = git.updateRefs(refs.map(invertRefChange));
    if (failed !== null) {
      place.note(null, id);
      throw createRefusal(failed);
    }
    for (const one of files) if (one.file !== resolveIndexPath(change)) writeState(one, place);
    lock.settle();
  } finally {
    lock.release();
  }
  const pack = `${id}.pack`;
  const isPacked = packDroppedCommits(
    git,
    { earlier, now: reader.readSnapshot(), change: done },
    join(place.folder, pack),
  );
  if (isPacked) place.note({ ...done, pack }, id);
  return "restored";
}

function canUndoRef({ name, before, after }: RefChange, { refs }: RepositorySnapshot): boolean {
  const now = refs?.get(name) ?? null;
  if (now === before) return false;
  if (now !== after) throw createRefusal(`${name} has moved on since`);
  return true;
}

interface GitUndoOptions {
  readonly change: GitChange;
  readonly place: GitLocation;
}

function canUndoFile(
  { file, before, after }: FileChange,
  look: RepositorySnapshot,
  { change, place }: GitUndoOptions,
): boolean {
  if (file === resolveIndexPath(change)) {
    if (isSameIndex(look.index, readKeptIndex(before, { change, place }))) return false;
    if (isSameIndex(look.index, readKeptIndex(after, { change, place }))) return true;
    throw createRefusal("what is staged has changed since");
  }
  const now = readCurrentContent(file);
  if (isSameContent(now, before)) return now?.mode !== before?.mode;
  if (isSameContent(now, after)) return true;
  if (UNIMPORTANT.test(file)) return false;
  throw createRefusal(`${file} has changed since`);
}

function resolveIndexPath({ repository }: GitChange): string {
  return join(repository.gitDir, "index");
}

function readKeptIndex(
  content: Content | null,
  { change, place }: GitUndoOptions,
): RepositorySnapshot["index"] {
  if (content === null) return new Map();
  const bytes = tryReadBytes(resolveKeptPath(content, place), MAX_INDEX_BYTES);
  return bytes && parseIndex(bytes, change.repository.idBytes);
}

function resolveKeptPath({ kept }: Content, { folder }: GitLocation): string {
  const path = kept === undefined ? null : join(folder, kept);
  if (path !== null && lstatSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  throw createRefusal("its old state is no longer kept");
}

/** Locks the index as git itself does: the process that creates this file may replace the index. */
function lockIndex(files: readonly FileChange[], change: GitChange, place: GitLocation) {
  const index = resolveIndexPath(change);
  const own = files.find(({ file }) => file === index);
  if (own === undefined) return { settle: () => {}, release: () => {} };
  const lock = `${index}.lock`;
  const draft = `${index}.burin-${process.pid}.lock`;
  removeLeftLocks(index);
  const bytes =
    own.before === null ? Buffer.alloc(0) : readBytes(resolveKeptPath(own.before, place), MAX_INDEX_BYTES);
  const release = () => {
    if (isSameFile(draft, lock)) rmSync(lock, { force: true });
    rmSync(draft, { force: true });
  };
  try {
    writeFileSync(draft, bytes ?? "", { mode: own.before?.mode ?? 0o644 });
    // The lock's second name shows which process holds it, even after a kill.
    linkSync(draft, lock);
  } catch (error) {
    rmSync(draft, { force: true });
    throw readErrorCode(error) === "EEXIST" ? createRefusal(`git is at work there: ${lock} exists`) : error;
  }
  const replaceIndex = () => (own.before === null ? rmSync(index, { force: true }) : renameSync(lock, index));
  return { settle: replaceIndex, release };
}

/** Removes locks of an undo that was killed. */
function removeLeftLocks(index: string): void {
  for (const { name } of tryReadEntries(dirname(index))) {
    const pid = /^index\.burin-(\d+)\.lock$/.exec(name)?.[1];
    if (pid === undefined || findProcess(Number(pid)) !== null) continue;
    const draft = join(dirname(index), name);
    if (isSameFile(draft, `${index}.lock`)) rmSync(`${index}.lock`, { force: true });
    rmSync(draft, { force: true });
  }
}

function isSameFile(one: string, other: string): boolean {
  const [first, second] = [tryLstat(one), tryLstat(other)];
  return first !== null && first.ino === second?.ino && first.dev === second.dev;
}

function writeState({ file, before }: FileChange, place: GitLocation): void {
  if (before === null) {
    rmSync(file, { force: true });
    if (WORK_FOLDERS.test(dirname(file))) removeEmpty(dirname(file));
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${randomName(4)}.lock`;
  copyFileSync(resolveKeptPath(before, place), temporary);
  chmodSync(temporary, before.mode);
  renameSync(temporary, file);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder contains something else, which the call did not create.
  }
}

function invertRefChange({ name, before, after }: RefChange): RefChange {
  return { name, before: after, after: before };
}

function invertFileChange(change: FileChange): FileChange {
  return { ...change, before: change.after, after: change.before };
}
