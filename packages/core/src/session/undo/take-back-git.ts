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
import { messageOf } from "@burin/contract/text/error-message";
import { bytesOf, entriesOf, lstatOf } from "@burin/files/disk/disk-looks";
import { randomName } from "@burin/files/disk/random-name";
import { readBytes } from "@burin/files/disk/regular-file";
import { codeOf } from "@burin/files/disk/system-error";
import { parseIndex, type RepositoryLook, RepositoryReader } from "@burin/files/tree";
import { type Content, isSame } from "./content.ts";
import { isSameIndex, packDropped } from "./git-changes.ts";
import type { FileChange, GitChange } from "./journal-line.ts";
import { contentNow, type FileOutcome, leftAlone } from "./take-back.ts";
import { newChangeId } from "./undo-journal.ts";

export interface GitPlace {
  /** Where contents are kept. */
  readonly folder: string;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Called before and after it happens with the same id; null when it did not. */
  readonly note: (change: GitChange | null, id: string) => void;
}

const MOST_INDEX_BYTES = 256 * 1024 * 1024;
/** Git writes them for itself; whether they have changed since does not matter. */
const UNIMPORTANT = /(?:^|\/)(?:COMMIT_EDITMSG|ORIG_HEAD|AUTO_MERGE|MERGE_RR)$/;
/** Git takes an empty folder of such a name for work that is not finished. */
const WORK_FOLDERS = /(?:^|\/)(?:rebase-merge|rebase-apply|sequencer)$/;

/** Puts a repository back to before a call: all of it or, when something has moved on since, nothing. */
export function takeBackGit(change: GitChange, place: GitPlace): FileOutcome {
  const file = relative(place.root, change.repository.gitDir) || change.repository.gitDir;
  try {
    return { file, what: putBack(change, place) };
  } catch (error) {
    return { file, what: "refused", reason: messageOf(error) };
  }
}

function putBack(change: GitChange, place: GitPlace): FileOutcome["what"] {
  const { repository } = change;
  if (lstatOf(join(repository.gitDir, "HEAD")) === null) throw leftAlone("the repository is gone");
  const reader = new RepositoryReader(repository);
  const earlier = reader.look();
  const refs = change.refs.filter((ref) => isToDo(ref, earlier));
  const files = change.files.filter((one) => isFileToDo(one, earlier, { change, place }));
  if (refs.length === 0 && files.length === 0) return "unchanged";
  for (const { before } of files) if (before !== null) keptPath(before, place);
  const git = new GitWork(repository, {
    roots: [place.root],
    environment: place.environment,
    passEnvironment: [],
  });
  const fault = change.pack === undefined ? null : git.unpack(join(place.folder, change.pack));
  if (fault !== null) throw leftAlone(fault);
  const lock = lockIndex(files, change, place);
  const done = { repository, files: files.map(inverseFile), refs: refs.map(inverse) };
  const id = newChangeId(place.folder);
  place.note(done, id);
  try {
    const failed = git.updateRefs(refs.map(inverse));
    if (failed !== null) {
      place.note(null, id);
      throw leftAlone(failed);
    }
    for (const one of files) if (one.file !== indexOf(change)) writeState(one, place);
    lock.settle();
  } finally {
    lock.release();
  }
  const pack = `${id}.pack`;
  const isPacked = packDropped(git, { earlier, now: reader.look(), change: done }, join(place.folder, pack));
  if (isPacked) place.note({ ...done, pack }, id);
  return "restored";
}

function isToDo({ name, before, after }: RefChange, { refs }: RepositoryLook): boolean {
  const now = refs?.get(name) ?? null;
  if (now === before) return false;
  if (now !== after) throw leftAlone(`${name} has moved on since`);
  return true;
}

interface Ground {
  readonly change: GitChange;
  readonly place: GitPlace;
}

function isFileToDo(
  { file, before, after }: FileChange,
  look: RepositoryLook,
  { change, place }: Ground,
): boolean {
  if (file === indexOf(change)) {
    if (isSameIndex(look.index, keptIndex(before, { change, place }))) return false;
    if (isSameIndex(look.index, keptIndex(after, { change, place }))) return true;
    throw leftAlone("what is staged has changed since");
  }
  const now = contentNow(file);
  if (isSame(now, before)) return now?.mode !== before?.mode;
  if (isSame(now, after)) return true;
  if (UNIMPORTANT.test(file)) return false;
  throw leftAlone(`${file} has changed since`);
}

function indexOf({ repository }: GitChange): string {
  return join(repository.gitDir, "index");
}

function keptIndex(content: Content | null, { change, place }: Ground): RepositoryLook["index"] {
  if (content === null) return new Map();
  const bytes = bytesOf(keptPath(content, place), MOST_INDEX_BYTES);
  return bytes && parseIndex(bytes, change.repository.idBytes);
}

function keptPath({ kept }: Content, { folder }: GitPlace): string {
  const path = kept === undefined ? null : join(folder, kept);
  if (path !== null && lstatSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  throw leftAlone("its old state is no longer kept");
}

/** As git itself does it: who has this file may replace the index. */
function lockIndex(files: readonly FileChange[], change: GitChange, place: GitPlace) {
  const index = indexOf(change);
  const own = files.find(({ file }) => file === index);
  if (own === undefined) return { settle: () => {}, release: () => {} };
  const lock = `${index}.lock`;
  const draft = `${index}.burin-${process.pid}.lock`;
  removeLeftLocks(index);
  const bytes =
    own.before === null ? Buffer.alloc(0) : readBytes(keptPath(own.before, place), MOST_INDEX_BYTES);
  const release = () => {
    if (isSameFile(draft, lock)) rmSync(lock, { force: true });
    rmSync(draft, { force: true });
  };
  try {
    writeFileSync(draft, bytes ?? "", { mode: own.before?.mode ?? 0o644 });
    // Whose the lock is can be seen from its other name, also after a kill.
    linkSync(draft, lock);
  } catch (error) {
    rmSync(draft, { force: true });
    throw codeOf(error) === "EEXIST" ? leftAlone(`git is at work there: ${lock} exists`) : error;
  }
  const settle = () => (own.before === null ? rmSync(index, { force: true }) : renameSync(lock, index));
  return { settle, release };
}

/** Of an undo that was killed. */
function removeLeftLocks(index: string): void {
  for (const { name } of entriesOf(dirname(index))) {
    const pid = /^index\.burin-(\d+)\.lock$/.exec(name)?.[1];
    if (pid === undefined || findProcess(Number(pid)) !== null) continue;
    const draft = join(dirname(index), name);
    if (isSameFile(draft, `${index}.lock`)) rmSync(`${index}.lock`, { force: true });
    rmSync(draft, { force: true });
  }
}

function isSameFile(one: string, other: string): boolean {
  const [first, second] = [lstatOf(one), lstatOf(other)];
  return first !== null && first.ino === second?.ino && first.dev === second.dev;
}

function writeState({ file, before }: FileChange, place: GitPlace): void {
  if (before === null) {
    rmSync(file, { force: true });
    if (WORK_FOLDERS.test(dirname(file))) removeEmpty(dirname(file));
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${randomName(4)}.lock`;
  copyFileSync(keptPath(before, place), temporary);
  chmodSync(temporary, before.mode);
  renameSync(temporary, file);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it, which is not of the call.
  }
}

function inverse({ name, before, after }: RefChange): RefChange {
  return { name, before: after, after: before };
}

function inverseFile(change: FileChange): FileChange {
  return { ...change, before: change.after, after: change.before };
}
