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
import { messageOf } from "@burin/contract/text/error-message";
import { entriesOf } from "@burin/files/disk/disk-looks";
import { lockPath } from "@burin/files/disk/path-lock";
import { openRegular, readBytes } from "@burin/files/disk/regular-file";
import { asWorkspaceError, codeOf } from "@burin/files/disk/system-error";
import { isWithin } from "@burin/files/paths/paths";
import { hashOf } from "@burin/files/workspace/read-record";
import { removeFile, workAt } from "@burin/files/workspace/remove-file";
import {
  type BeginWrite,
  type NewContent,
  type OnChange,
  replaceFile,
} from "@burin/files/workspace/replace-file";
import {
  type Content,
  chunksOf,
  contentOf,
  folderContent,
  gitIdOf,
  hashOfOpen,
  isSame,
  linkContent,
  repositoryContent,
} from "./content.ts";
import type { FileChange } from "./journal-line.ts";
import { mergeTexts } from "./merge-texts.ts";
import { MOST_MERGED_BYTES, newChangeId, REPOSITORY_ENDING } from "./undo-journal.ts";

export interface UndoPlace {
  readonly folder: string;
  readonly root: string;
  /** Where guards of commands learn what the user has changed. */
  readonly home?: string;
  readonly onChange: OnChange;
  readonly beginWrite?: BeginWrite;
  /** Notes a change of a link, a folder, or a mode alone, before it happens: a later undo sees whether it did. */
  readonly note?: (change: Pick<FileChange, "file" | "before" | "after">) => void;
  /** What an undo that was killed had removed already, to put something else there. */
  readonly removed?: ReadonlySet<string>;
  /** The name of a kept file with the bytes that git has under an id. */
  readonly blobs?: ReadonlyMap<string, string>;
}

export interface FileOutcome {
  /** Relative to the project's folder. */
  readonly file: string;
  readonly what: "restored" | "merged" | "removed" | "made again" | "unchanged" | "refused";
  readonly reason?: string;
}

interface Step {
  readonly change: FileChange;
  readonly place: UndoPlace;
  readonly now: Content | null;
}

/** Undoes one change, unless a later change of the file could not be undone. */
export async function takeBack(
  change: FileChange,
  place: UndoPlace,
  isBehindRefused: boolean,
): Promise<FileOutcome> {
  const file = isWithin(change.file, place.root) ? relative(place.root, change.file) : change.file;
  if (isBehindRefused) return { file, what: "refused", reason: "what came later could not be taken back" };
  try {
    const apply = () => applied({ change, place, now: contentNow(change.file) });
    return { file, what: await lockPath(change.file, apply) };
  } catch (thrown) {
    if (!(thrown instanceof WorkspaceError) && codeOf(thrown) === undefined) throw thrown;
    return { file, what: "refused", reason: messageOf(asWorkspaceError(thrown, change.file)) };
  }
}

async function applied(step: Step): Promise<FileOutcome["what"]> {
  const { change, now } = step;
  const { before, after } = change;
  const isNow = (content: Content | null) =>
    isSame(now, content, (like) => gitIdOf(change.file, now?.bytes ?? 0, like));
  if (isNow(before)) return (await giveBackMode(step)) ? "restored" : "unchanged";
  if (isNow(after) || (now === null && step.place.removed?.has(change.file))) return replaced(step);
  if (now === null) throw leftAlone("it was removed since");
  if (now.kind !== undefined) throw leftAlone("it is no longer a regular file");
  if (after === null) throw leftAlone("there is a file of that name again");
  if (before === null) throw leftAlone("it was changed since it was made");
  if (before.kind ?? after.kind) throw leftAlone("it is something else by now");
  const text = Buffer.from(merged(step, now), "latin1");
  await put(step, async (descriptor) => writeFileSync(descriptor, text));
  return "merged";
}

/** Nothing has changed since, so that what was there before can take its place. */
async function replaced(step: Step): Promise<FileOutcome["what"]> {
  const { change, now, place } = step;
  const { before, madeFolders } = change;
  if (before?.kind ?? now?.kind) return replaceKind(step);
  if (before === null) {
    await removeFile({ ...target(step), isOf: isOf(step), madeFolders, onChange: place.onChange });
    return "removed";
  }
  await putBack(step, keptPath(step, before));
  await giveBackMode(step);
  return now === null ? "made again" : "restored";
}

/** If the call changed the mode, and nobody else has since. Returns whether it did. */
async function giveBackMode(step: Step): Promise<boolean> {
  const { before, after } = step.change;
  if (before === null || after === null || before.kind === "link" || before.mode === after.mode) return false;
  if (step.now?.mode !== after.mode) return false;
  await setMode({ ...step, now: before }, before.mode);
  return true;
}

/** For a link or a folder, now or before: removes what is there, and makes what was there. */
async function replaceKind(step: Step): Promise<FileOutcome["what"]> {
  const { change, now, place } = step;
  const { before } = change;
  // What is not covered stays, and its folder with it.
  if (now?.kind === "folder" && before === null && entriesOf(change.file).length > 0) return "unchanged";
  if (now !== null && now.kind === undefined) {
    await removeFile({ ...target(step), isOf: isOf(step), madeFolders: 0, onChange: place.onChange });
  } else if (now !== null) {
    const kept = `${newChangeId(place.folder)}${REPOSITORY_ENDING}`;
    const gone = now.kind === "repository" ? { ...now, kept } : now;
    place.note?.({ file: change.file, before: gone, after: null });
    await workAt(target(step), (path) => removeNoFile(path, gone, join(place.folder, kept)));
  }
  if (before === null) return "removed";
  if (before.kind === undefined) await putBack({ ...step, now: null }, keptPath(step, before));
  else {
    const from = before.kind === "repository" ? join(place.folder, before.kept ?? "") : "";
    place.note?.({ file: change.file, before: null, after: before });
    await workAt(target(step), (path) => (from === "" ? makeNoFile(path, before) : moveFolder(from, path)));
  }
  return now === null ? "made again" : "restored";
}

function removeNoFile(path: string, now: Content, kept: string): void {
  if (now.kind === "repository") {
    moveFolder(path, kept);
    return;
  }
  if (now.kind === "link") {
    if (linkContent(path, lstatSync(path)).target !== now.target) throw leftAlone("it was changed since");
    unlinkSync(path);
    return;
  }
  try {
    rmdirSync(path);
  } catch (error) {
    throw codeOf(error) === "ENOTEMPTY" ? leftAlone("something else is in it by now") : error;
  }
}

/** Whole, or not at all. */
function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    throw codeOf(error) === "EXDEV" ? leftAlone("it is on another disk than what is kept for undo") : error;
  }
}

function makeNoFile(path: string, { kind, target: leadsTo, mode }: Content): void {
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
  await workAt(target(step), (path) => chmodSync(path, mode));
}

/** Undo shows its refusals to the user; the code is not used. */
export function leftAlone(reason: string): WorkspaceError {
  return new WorkspaceError("changed_on_disk", reason);
}

export function contentNow(path: string): Content | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.isDirectory())
    return basename(path) === ".git" ? repositoryContent(path, stats.mode) : folderContent(stats.mode);
  if (stats.isSymbolicLink()) return linkContent(path, stats);
  if (!stats.isFile()) throw leftAlone("it is no longer a regular file");
  return contentOf(path, stats);
}

function keptPath({ place }: Step, content: Content): string {
  const kept = content.kept ?? place.blobs?.get(content.git ?? "");
  const path = kept === undefined ? null : join(place.folder, kept);
  if (path !== null && lstatSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  throw leftAlone("its old content is no longer kept");
}

/** A call outside the project's folder wrote to an additional folder; links there are not followed out of it. */
function target({ change, place }: Step) {
  const { file, madeFolders } = change;
  const around = join(file, "../".repeat(madeFolders + 1));
  return { file, real: file, roots: [isWithin(file, place.root) ? place.root : resolve(around)] };
}

function isOf({ now }: Step): NewContent["isOf"] {
  return async (descriptor) => {
    const { size, ino, mtimeMs } = fstatSync(descriptor);
    if (now === null || size !== now.bytes) return false;
    if (now.hash !== undefined) return hashOfOpen(descriptor) === now.hash;
    return ino === now.inode && mtimeMs === now.modified;
  };
}

async function putBack(step: Step, source: string): Promise<void> {
  await put(step, async (descriptor) => {
    const from = openRegular(source);
    try {
      for (const bytes of chunksOf(from)) writeFileSync(descriptor, bytes);
    } finally {
      closeSync(from);
    }
  });
}

async function put(step: Step, writeTo: NewContent["writeTo"]): Promise<void> {
  const { change, place, now } = step;
  const stats = now === null ? null : lstatSync(change.file, { bigint: true });
  const content = { writeTo, isOf: isOf(step) };
  const { onChange, beginWrite, home } = place;
  const mode = change.before?.mode;
  await replaceFile({
    ...target(step),
    stats,
    content,
    onChange,
    beginWrite,
    home,
    mode,
    helpers: fileHelpers,
  });
}

/** For files that are, or were when kept, small enough to be merged. */
function textOf(path: string): string {
  return readBytes(path, MOST_MERGED_BYTES)?.toString("latin1") ?? "";
}

/** Byte by byte, in any encoding with newlines of one byte. */
function merged(step: Step, now: Content): string {
  const { before, after, file } = step.change;
  const [base, other] = [after, before].map((content) => {
    const isKept =
      content !== null && (content.kept ?? step.place.blobs?.get(content.git ?? "")) !== undefined;
    if (!isKept) throw leftAlone("it was changed since, and is too large to be merged");
    return textOf(keptPath(step, content));
  });
  const one = textOf(file);
  // By now the name may lead elsewhere.
  const isOne = hashOf(Buffer.from(one, "latin1")) === now.hash;
  if (base === undefined || other === undefined || !isOne) throw leftAlone(CHANGED);
  if ([base, other, one].some((text) => text.includes("\0")))
    throw leftAlone("it was changed since, and is not text");
  const text = mergeTexts({ base, one, other });
  if (text === null) throw leftAlone(CHANGED);
  return text;
}

const CHANGED = "the same lines were changed since";
