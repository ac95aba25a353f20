import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type OwnGit, openOwnGit } from "@burin/commands/git/git-work";
import type { FileDiff } from "@burin/contract/tool-result";
import { withFallback } from "@burin/contract/with-fallback";
import { resolvePossiblyMissing, tryLstat } from "@burin/files/disk/disk-looks";
import { randomName } from "@burin/files/disk/own-files";
import { readBytes, readText } from "@burin/files/disk/regular-file";
import { isWithin } from "@burin/files/paths/paths";
import { findRepository } from "@burin/files/tree";
import { buildFileDiff } from "@burin/files/workspace/diff";
import { mergeTexts } from "../undo/merge-texts.ts";
import { TreeJournal } from "../undo/tree-journal.ts";
import type { WorkTree, WorkTreeLocation } from "./work-trees.ts";

/** The content of a path: a file, or a link. */
interface Entry {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly isLink: boolean;
}

/** A file that the work tree has changed, and what it becomes in the user's work tree if the change is accepted. */
export interface TreeChange {
  /** The path relative to the top of both work trees. */
  readonly file: string;
  /** What the user's work tree has there now. */
  readonly present: Entry | null;
  /** What the file becomes; null removes it. */
  readonly merged: Entry | null;
  /**
   * Set where both work trees have changed the same place: `merged` is then the file of the work tree, or has conflict
   * markers.
   */
  readonly conflict?: "lines" | "whole";
  /** The diff of a text, whose parts can be accepted one by one. */
  readonly diff?: FileDiff;
}

/** A change that the user has accepted, and what the file becomes. */
export interface TakenChange {
  readonly change: TreeChange;
  /** The content to write instead of `merged`, when only parts were accepted. */
  readonly text?: string;
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_TEXT_BYTES = 2 * 1024 * 1024;
const MERGED_FILE = "burin-merged";
const MAX_NOTE_BYTES = 4096;

/** Lists, by path, what the work tree has changed since it began and the user's work tree does not have. */
export function findTreeChanges(tree: WorkTree, environment: NodeJS.ProcessEnv): TreeChange[] {
  const git = openOwnGit(tree.folder, environment);
  return listChangedNames(git, tree).flatMap((file): TreeChange[] => {
    const [present, theirs] = [tree.mainTop, tree.folder].map((top) => readEntry(join(top, file), top));
    if (present === undefined || theirs === undefined || isSameEntry(present, theirs)) return [];
    const base = readCommittedEntry(git, tree.base, file);
    if (isSameEntry(base, theirs)) return [];
    if (isSameEntry(base, present)) return [addDiff({ file, present, merged: theirs })];
    return [mergeChange(git, { file, present, theirs, base })];
  });
}

function listChangedNames(git: OwnGit, { base }: WorkTree): string[] {
  const changed = git.must(["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", base]);
  const added = git.must(["ls-files", "-z", "--others", "--exclude-standard"]);
  const names = `${changed.toString("utf8")}${added.toString("utf8")}`.split("\0");
  return [...new Set(names)].filter((name) => name !== "" && !name.endsWith("/")).sort();
}

/**
 * Returns the content of a path; undefined for a folder, such as a submodule, and behind a link that leads out: these
 * are left alone.
 */
function readEntry(path: string, top: string): Entry | null | undefined {
  if (!isWithin(resolvePossiblyMissing(dirname(path)), top)) return undefined;
  const stats = tryLstat(path);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) return { bytes: Buffer.from(readlinkSync(path)), mode: 0o777, isLink: true };
  if (!stats.isFile()) return undefined;
  const bytes = withFallback(null, () => readBytes(path, MAX_BYTES));
  return bytes === null ? undefined : { bytes, mode: stats.mode & 0o777, isLink: false };
}

function readCommittedEntry(git: OwnGit, commit: string, file: string): Entry | null {
  const listed = git.must(["ls-tree", "-z", commit, "--", file]).toString("utf8");
  const mode = /^(\d+) blob /.exec(listed)?.[1];
  if (mode === undefined) return null;
  const isLink = mode === "120000";
  const words = isLink ? ["cat-file", "blob"] : ["cat-file", "--filters"];
  const bytes = git.must([...words, `${commit}:${file}`]);
  return { bytes, mode: mode === "100755" ? 0o755 : 0o644, isLink };
}

function isSameEntry(one: Entry | null, other: Entry | null): boolean {
  if (one === null || other === null) return one === other;
  const [first, second] = [one, other].map(({ mode }) => (mode & 0o100) !== 0);
  return one.isLink === other.isLink && one.bytes.equals(other.bytes) && (one.isLink || first === second);
}

interface Sides {
  readonly file: string;
  readonly present: Entry | null;
  readonly theirs: Entry | null;
  readonly base: Entry | null;
}

function mergeChange(git: OwnGit, { file, present, theirs, base }: Sides): TreeChange {
  if (present === null || theirs === null || !isText(present) || !isText(theirs) || (base && !isText(base)))
    return addDiff({ file, present, merged: theirs, conflict: "whole" });
  const [one, other, start] = [present, theirs, base].map((entry) => entry?.bytes.toString("latin1") ?? "");
  const text = mergeTexts({ base: start ?? "", one: one ?? "", other: other ?? "" });
  const mode = base !== null && base.mode === present.mode ? theirs.mode : present.mode;
  const createEntry = (bytes: Buffer): Entry => ({ bytes, mode, isLink: false });
  if (text !== null) return addDiff({ file, present, merged: createEntry(Buffer.from(text, "latin1")) });
  const marked = createEntry(mergeWithMarkers(git, [present, base, theirs]));
  return addDiff({ file, present, merged: marked, conflict: "lines" });
}

/** Merges with git's own conflict markers, which editors know. */
function mergeWithMarkers(git: OwnGit, sides: readonly (Entry | null)[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "burin-merge-"));
  try {
    const names = ["yours", "base", "work tree"];
    sides.forEach((entry, index) => {
      writeFileSync(join(folder, String(index)), entry?.bytes ?? "");
    });
    const labels = names.flatMap((name) => ["-L", name]);
    // The exit code of `git merge-file` is the number of conflicts.
    return git.ask(["merge-file", "-p", ...labels, "0", "1", "2"], folder).output;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isText({ bytes, isLink }: Entry): boolean {
  return !isLink && bytes.length <= MAX_TEXT_BYTES && !bytes.includes(0) && isUtf8(bytes);
}

function isUtf8(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString("utf8"), "utf8").equals(bytes);
}

/**
 * Adds the diff where both contents are texts. A file that is new, deleted or differs only in its mode is accepted as a
 * whole.
 */
function addDiff(change: Omit<TreeChange, "diff">): TreeChange {
  const { file, present, merged } = change;
  if (merged === null || !isText(merged) || (present !== null && !isText(present))) return change;
  const before = present?.bytes.toString("utf8") ?? null;
  const diff = buildFileDiff({ fileName: file, before, after: merged.bytes.toString("utf8") });
  return diff.fileDiff === "" ? change : { ...change, diff };
}

/** Returns the change with exactly the content of the work tree. */
export function chooseTreeVersion(tree: WorkTree, { file, present }: TreeChange): TreeChange {
  return addDiff({ file, present, merged: readEntry(join(tree.folder, file), tree.folder) ?? null });
}

/**
 * Writes the accepted changes to the user's work tree, as one call that undo can take back. Throws when a file has
 * changed since.
 */
export async function takeTreeChanges(
  { home, environment }: WorkTreeLocation,
  tree: WorkTree,
  taken: readonly TakenChange[],
): Promise<void> {
  const { mainTop, mainRoot, name } = tree;
  for (const { change } of taken) {
    const now = readEntry(join(mainTop, change.file), mainTop);
    if (now === undefined || !isSameEntry(now, change.present))
      throw new Error(`${change.file} has changed since it was looked at; nothing was merged.`);
  }
  const closed = new AbortController();
  const notes: string[] = [];
  const journal = new TreeJournal({
    home,
    root: mainRoot,
    writer: `call-merge-${randomName(6)}`,
    request: { roots: [mainTop], settings: { ignoreFileNames: [], ignore: [], environment }, except: home },
    environment,
    signal: closed.signal,
    report: (message) => notes.push(message),
  });
  await journal.runRecorded({ maker: "merge", what: `merge of the work tree ${name}` }, async () => {
    for (const one of taken) writeEntry(join(mainTop, one.change.file), buildEntry(one));
  });
  closed.abort();
}

function buildEntry({ change, text }: TakenChange): Entry | null {
  if (text === undefined || change.merged === null) return change.merged;
  return { ...change.merged, bytes: Buffer.from(text, "utf8") };
}

/** Writes the file completely, or not at all. */
function writeEntry(path: string, entry: Entry | null): void {
  if (entry === null) {
    rmSync(path, { force: true });
    removeEmpty(dirname(path));
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const beside = `${path}.${randomName(6)}.tmp`;
  try {
    if (entry.isLink) symlinkSync(entry.bytes.toString("utf8"), beside);
    else {
      writeFileSync(beside, entry.bytes, { flag: "wx" });
      const usual = lstatSync(beside).mode & 0o777;
      chmodSync(beside, (entry.mode & 0o111) === 0 ? usual : usual | ((usual & 0o444) >> 2));
    }
    renameSync(beside, path);
  } catch (error) {
    withFallback(undefined, () => unlinkSync(beside));
    throw error;
  }
}

/** Computes the file's mode as git does. */
function removeEmpty(folder: string): void {
  withFallback(undefined, () => {
    rmdirSync(folder);
    removeEmpty(dirname(folder));
  });
}

/**
 * Notes that the user has accepted everything that they want. As long as nothing changes in the work tree, it can be
 * removed.
 */
export function noteMerged(tree: WorkTree, environment: NodeJS.ProcessEnv): void {
  const own = findRepository(tree.folder)?.gitDir;
  if (own !== undefined) writeFileSync(join(own, MERGED_FILE), hashTree(tree, environment));
}

/** Whether nothing would be lost if the work tree were removed: it has changed nothing, or its changes were merged. */
export function canRemoveTree(tree: WorkTree, environment: NodeJS.ProcessEnv): boolean {
  const git = openOwnGit(tree.folder, environment);
  const head = git.must(["rev-parse", "HEAD"]).toString("utf8").trim();
  if (head === tree.base && listChangedNames(git, tree).length === 0) return true;
  const own = findRepository(tree.folder)?.gitDir ?? "";
  return readText(join(own, MERGED_FILE), MAX_NOTE_BYTES) === hashTree(tree, environment);
}

/** Returns a mark that differs when anything in the work tree has changed. */
function hashTree(tree: WorkTree, environment: NodeJS.ProcessEnv): string {
  const git = openOwnGit(tree.folder, environment);
  const hash = createHash("sha256").update(git.must(["rev-parse", "HEAD"]));
  for (const file of listChangedNames(git, tree)) {
    const entry = readEntry(join(tree.folder, file), tree.folder);
    hash.update(`${file}\0${entry?.mode} ${entry?.isLink}\0`).update(entry?.bytes ?? "");
  }
  return hash.digest("hex");
}
