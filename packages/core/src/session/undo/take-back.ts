import {
  chmodSync,
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { describeError } from "@burin/contract/text/error-message";
import { tryReadEntries } from "@burin/files/disk/disk-looks";
import { lockPath } from "@burin/files/disk/path-lock";
import { hashBytes, openRegularFile, readBytes } from "@burin/files/disk/regular-file";
import { readErrorCode, toWorkspaceError } from "@burin/files/disk/system-error";
import { isWithin } from "@burin/files/paths/paths";
import { removeFile, withTargetFolder } from "@burin/files/workspace/remove-file";
import {
  type BeginWrite,
  type NewContent,
  type OnChange,
  replaceFile,
} from "@burin/files/workspace/replace-file";
import {
  type Content,
  computeGitId,
  describeFile,
  describeFolder,
  describeLink,
  describeRepository,
  hashDescriptor,
  isSameContent,
  readChunks,
} from "./content.ts";
import type { FileChange } from "./journal-line.ts";
import { mergeTexts } from "./merge-texts.ts";
import { createChangeId, MAX_MERGED_BYTES, REPOSITORY_SUFFIX } from "./undo-journal.ts";

export interface UndoLocation {
  readonly folder: string;
  readonly root: string;
  /** The folder in which guards of running commands look up what the user has allowed to change. */
  readonly home?: string;
  readonly onChange: OnChange;
  readonly beginWrite?: BeginWrite;
  /** Records a change of a link, a folder or only a mode before it happens. A later undo checks whether it did. */
  readonly note?: (change: Pick<FileChange, "file" | "before" | "after">) => void;
  /** What a killed undo had already removed in order to put something else there. */
  readonly removed?: ReadonlySet<string>;
  /** The names of stored files by git's id of their bytes. */
  readonly blobs?: ReadonlyMap<string, string>;
}

/** What became of one file when a change was taken back. */
export interface FileOutcome {
  /** The file's path relative to the project's folder. */
  readonly file: string;
  readonly what: "restored" | "merged" | "removed" | "made again" | "unchanged" | "refused";
  readonly reason?: string;
}

interface Step {
  readonly change: FileChange;
  readonly place: UndoLocation;
  readonly now: Content | null;
}

/** Undoes one change, unless a later change of the same file could not be undone. */
export async function undoChange(
  change: FileChange,
  place: UndoLocation,
  isBehindRefused: boolean,
): Promise<FileOutcome> {
  const file = isWithin(change.file, place.root) ? relative(place.root, change.file) : change.file;
  if (isBehindRefused) return { file, what: "refused", reason: "what came later could not be taken back" };
  try {
    const applyChange = () => undoStep({ change, place, now: readCurrentContent(change.file) });
    return { file, what: await lockPath(change.file, applyChange) };
  } catch (thrown) {
    if (!(thrown instanceof WorkspaceError) && readErrorCode(thrown) === undefined) throw thrown;
    return { file, what: "refused", reason: describeError(toWorkspaceError(thrown, change.file)) };
  }
}

async function undoStep(step: Step): Promise<FileOutcome["what"]> {
  const { change, now } = step;
  const { before, after } = change;
  const isPresent = (content: Content | null) =>
    isSameContent(now, content, (like) => computeGitId(change.file, now?.bytes ?? 0, like));
  if (isPresent(before)) return (await restoreMode(step)) ? "restored" : "unchanged";
  if (isPresent(after) || (now === null && step.place.removed?.has(change.file))) return replaceContent(step);
  if (now === null) throw createRefusal("it was removed since");
  if (now.kind !== undefined) throw createRefusal("it is no longer a regular file");
  if (after === null) throw createRefusal("there is a file of that name again");
  if (before === null) throw createRefusal("it was changed since it was made");
  if (before.kind ?? after.kind) throw createRefusal("it is something else by now");
  const text = Buffer.from(mergeWithCurrent(step, now), "latin1");
  await writeContent(step, async (descriptor) => writeFileSync(descriptor, text));
  return "merged";
}

/** Puts back what was there before. Called only if nothing has changed since the call. */
async function replaceContent(step: Step): Promise<FileOutcome["what"]> {
  const { change, now, place } = step;
  const { before, madeFolders } = change;
  if (before?.kind ?? now?.kind) return replaceKind(step);
  if (before === null) {
    await removeFile({
      ...buildTarget(step),
      hasContent: createContentCheck(step),
      madeFolders,
      onChange: place.onChange,
    });
    return "removed";
  }
  await restoreFile(step, resolveKeptPath(step, before));
  await restoreMode(step);
  return now === null ? "made again" : "restored";
}

/** Restores the mode if the call changed it and nobody has changed it since. Returns whether it did. */
async function restoreMode(step: Step): Promise<boolean> {
  const { before, after } = step.change;
  if (before === null || after === null || before.kind === "link" || before.mode === after.mode) return false;
  if (step.now?.mode !== after.mode) return false;
  await setMode({ ...step, now: before }, before.mode);
  return true;
}

/** Handles a link, a folder or a repository, now or before: removes what is there and recreates what was there. */
async function replaceKind(step: Step): Promise<FileOutcome["what"]> {
  const { change, now, place } = step;
  const { before } = change;
  // Undo does not cover what is in the folder, so that stays, and the folder with it.
  if (now?.kind === "folder" && before === null && tryReadEntries(change.file).length > 0) return "unchanged";
  if (now !== null && now.kind === undefined) {
    await removeFile({
      ...buildTarget(step),
      hasContent: createContentCheck(step),
      madeFolders: 0,
      onChange: place.onChange,
    });
  } else if (now !== null) {
    const kept = `${createChangeId(place.folder)}${REPOSITORY_SUFFIX}`;
    const gone = now.kind === "repository" ? { ...now, kept } : now;
    place.note?.({ file: change.file, before: gone, after: null });
    await withTargetFolder(buildTarget(step), (path) => removeSpecial(path, gone, join(place.folder, kept)));
  }
  if (before === null) return "removed";
  if (before.kind === undefined) await restoreFile({ ...step, now: null }, resolveKeptPath(step, before));
  else {
    const from = before.kind === "repository" ? join(place.folder, before.kept ?? "") : "";
    place.note?.({ file: change.file, before: null, after: before });
    await withTargetFolder(buildTarget(step), (path) =>
      from === "" ? createSpecial(path, before) : moveFolder(from, path),
    );
  }
  return now === null ? "made again" : "restored";
}

function removeSpecial(path: string, now: Content, kept: string): void {
  if (now.kind === "repository") {
    moveFolder(path, kept);
    return;
  }
  if (now.kind === "link") {
    if (describeLink(path, lstatSync(path)).target !== now.target)
      throw createRefusal("it was changed since");
    unlinkSync(path);
    return;
  }
  try {
    rmdirSync(path);
  } catch (error) {
    throw readErrorCode(error) === "ENOTEMPTY" ? createRefusal("something else is in it by now") : error;
  }
}

/** Moves a folder as a whole, or not at all. */
function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    throw readErrorCode(error) === "EXDEV"
      ? createRefusal("it is on another disk than what is kept for undo")
      : error;
  }
}

function createSpecial(path: string, { kind, target: leadsTo, mode }: Content): void {
  if (kind === "link") symlinkSync(leadsTo ?? "", path);
  else {
    mkdirSync(path);
    chmodSync(path, mode);
  }
}

async function setMode(step: Step, mode: number): Promise<void> {
  const { change, place, now } = step;
  if (now !== null && change.after !== null)
    place.note?.({ file: change.file, before: { ...now, mode: change.after.mode }, after: { ...now, mode } });
  await withTargetFolder(buildTarget(step), (path) => chmodSync(path, mode));
}

/** Creates the refusal that undo shows to the user. Its code is not used. */
export function createRefusal(reason: string): WorkspaceError {
  return new WorkspaceError("changed_on_disk", reason);
}

export function readCurrentContent(path: string): Content | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.isDirectory())
    return basename(path) === ".git" ? describeRepository(path, stats.mode) : describeFolder(stats.mode);
  if (stats.isSymbolicLink()) return describeLink(path, stats);
  if (!stats.isFile()) throw createRefusal("it is no longer a regular file");
  return { ...describeFile(path, stats), inode: stats.ino, modified: stats.mtimeMs };
}

function resolveKeptPath({ place }: Step, content: Content): string {
  const kept = content.kept ?? place.blobs?.get(content.git ?? "");
  const path = kept === undefined ? null : join(place.folder, kept);
  if (path !== null && lstatSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  throw createRefusal("its old content is no longer kept");
}

/** Returns the file and the root that links must not leave: the project or, outside it, the folder around the file. */
function buildTarget({ change, place }: Step) {
  const { file, madeFolders } = change;
  const around = join(file, "../".repeat(madeFolders + 1));
  return { file, real: file, roots: [isWithin(file, place.root) ? place.root : resolve(around)] };
}

function createContentCheck({ now }: Step): NewContent["isOf"] {
  return async (descriptor) => {
    const { size, ino, mtimeMs } = fstatSync(descriptor);
    if (now === null || size !== now.bytes) return false;
    if (now.hash !== undefined) return hashDescriptor(descriptor) === now.hash;
    return ino === now.inode && mtimeMs === now.modified;
  };
}

async function restoreFile(step: Step, source: string): Promise<void> {
  await writeContent(step, async (descriptor) => {
    const from = openRegularFile(source);
    try {
      for (const bytes of readChunks(from)) writeFileSync(descriptor, bytes);
    } finally {
      closeSync(from);
    }
  });
}

async function writeContent(step: Step, writeTo: NewContent["writeTo"]): Promise<void> {
  const { change, place, now } = step;
  const stats = now === null ? null : lstatSync(change.file, { bigint: true });
  const content = { writeTo, isOf: createContentCheck(step) };
  const { onChange, beginWrite, home } = place;
  const mode = change.before?.mode;
  await replaceFile({
    ...buildTarget(step),
    stats,
    content,
    onChange,
    beginWrite,
    home,
    mode,
    helpers: fileHelpers,
  });
}

/** Reads a file for merging. Files too large to be merged were not stored, so this is called only for small ones. */
function readMergeText(path: string): string {
  return readBytes(path, MAX_MERGED_BYTES)?.toString("latin1") ?? "";
}

/** Merges the user's later changes with the old content, byte by byte, for any encoding with one-byte newlines. */
function mergeWithCurrent(step: Step, now: Content): string {
  const { before, after, file } = step.change;
  const [base, other] = [after, before].map((content) => {
    const isKept =
      content !== null && (content.kept ?? step.place.blobs?.get(content.git ?? "")) !== undefined;
    if (!isKept) throw createRefusal("it was changed since, and is too large to be merged");
    return readMergeText(resolveKeptPath(step, content));
  });
  const one = readMergeText(file);
  // The file may have been replaced since it was compared.
  const isOne = hashBytes(Buffer.from(one, "latin1")) === now.hash;
  if (base === undefined || other === undefined || !isOne) throw createRefusal(CHANGED);
  if ([base, other, one].some((text) => text.includes("\0")))
    throw createRefusal("it was changed since, and is not text");
  const text = mergeTexts({ base, one, other });
  if (text === null) throw createRefusal(CHANGED);
  return text;
}

const CHANGED = "the same lines were changed since";
