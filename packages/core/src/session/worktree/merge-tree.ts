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
import { withFallback } from "@burin/contract/or-else";
import type { FileDiff } from "@burin/contract/tool-result";
import { resolveExisting, tryLstat } from "@burin/files/disk/disk-looks";
import { randomName } from "@burin/files/disk/random-name";
import { readBytes, readText } from "@burin/files/disk/regular-file";
import { isWithin } from "@burin/files/paths/paths";
import { findRepository } from "@burin/files/tree";
import { buildFileDiff } from "@burin/files/workspace/diff";
import { mergeTexts } from "../undo/merge-texts.ts";
import { TreeJournal } from "../undo/tree-journal.ts";
import type { WorkTree, WorkTreePlace } from "./work-trees.ts";

/** What is at a path: a file, or a link. */
interface Entry {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly isLink: boolean;
}

/** A file that the work tree has changed, and what taking it would make of it. */
export interface TreeChange {
  /** Relative to the top of both work trees. */
  readonly file: string;
  /** What the user has there now. */
  readonly present: Entry | null;
  /** What it becomes; null removes it. */
  readonly merged: Entry | null;
  /** Set where both have changed the same: then `merged` is what the work tree has, or has conflict markers. */
  readonly conflict?: "lines" | "whole";
  /** For a text, to be taken in parts. */
  readonly diff?: FileDiff;
}

/** What the user takes of a file: what it becomes. */
export interface TakenChange {
  readonly change: TreeChange;
  /** Other content than `merged`, where only parts are taken. */
  readonly text?: string;
}

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_TEXT_BYTES = 2 * 1024 * 1024;
const MERGED_FILE = "burin-merged";
const MOST_NOTE_BYTES = 4096;

/** What the work tree has changed since it began and the user's own does not have, by path. */
export function findTreeChanges(tree: WorkTree, environment: NodeJS.ProcessEnv): TreeChange[] {
  const git = openOwnGit(tree.folder, environment);
  return listChangedNames(git, tree).flatMap((file): TreeChange[] => {
    const [present, theirs] = [tree.mainTop, tree.folder].map((top) => readEntry(join(top, file), top));
    if (present === undefined || theirs === undefined || isSame(present, theirs)) return [];
    const base = readCommittedEntry(git, tree.base, file);
    if (isSame(base, theirs)) return [];
    if (isSame(base, present)) return [withDiff({ file, present, merged: theirs })];
    return [mergedChange(git, { file, present, theirs, base })];
  });
}

function listChangedNames(git: OwnGit, { base }: WorkTree): string[] {
  const changed = git.must(["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", base]);
  const added = git.must(["ls-files", "-z", "--others", "--exclude-standard"]);
  const names = `${changed.toString("utf8")}${added.toString("utf8")}`.split("\0");
  return [...new Set(names)].filter((name) => name !== "" && !name.endsWith("/")).sort();
}

/** undefined for a folder, such as a submodule, and behind a link that leads out: these are left alone. */
function readEntry(path: string, top: string): Entry | null | undefined {
  if (!isWithin(resolveExisting(dirname(path)), top)) return undefined;
  const stats = tryLstat(path);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) return { bytes: Buffer.from(readlinkSync(path)), mode: 0o777, isLink: true };
  if (!stats.isFile()) return undefined;
  const bytes = withFallback(null, () => readBytes(path, MOST_BYTES));
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

function isSame(one: Entry | null, other: Entry | null): boolean {
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

function mergedChange(git: OwnGit, { file, present, theirs, base }: Sides): TreeChange {
  if (present === null || theirs === null || !isText(present) || !isText(theirs) || (base && !isText(base)))
    return withDiff({ file, present, merged: theirs, conflict: "whole" });
  const [one, other, start] = [present, theirs, base].map((entry) => entry?.bytes.toString("latin1") ?? "");
  const text = mergeTexts({ base: start ?? "", one: one ?? "", other: other ?? "" });
  const mode = base !== null && base.mode === present.mode ? theirs.mode : present.mode;
  const createEntry = (bytes: Buffer): Entry => ({ bytes, mode, isLink: false });
  if (text !== null) return withDiff({ file, present, merged: createEntry(Buffer.from(text, "latin1")) });
  const marked = createEntry(mergeWithMarkers(git, [present, base, theirs]));
  return withDiff({ file, present, merged: marked, conflict: "lines" });
}

/** Git's own markers, which editors know. */
function mergeWithMarkers(git: OwnGit, sides: readonly (Entry | null)[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "burin-merge-"));
  try {
    const names = ["yours", "base", "work tree"];
    sides.forEach((entry, index) => {
      writeFileSync(join(folder, String(index)), entry?.bytes ?? "");
    });
    const labels = names.flatMap((name) => ["-L", name]);
    // Its exit code is the number of conflicts.
    return git.ask(["merge-file", "-p", ...labels, "0", "1", "2"], folder).output;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isText({ bytes, isLink }: Entry): boolean {
  return !isLink && bytes.length <= MOST_TEXT_BYTES && !bytes.includes(0) && isUtf8(bytes);
}

function isUtf8(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString("utf8"), "utf8").equals(bytes);
}

/** Only where both are texts; a file that is new, gone or only has another mode is taken as a whole. */
function withDiff(change: Omit<TreeChange, "diff">): TreeChange {
  const { file, present, merged } = change;
  if (merged === null || !isText(merged) || (present !== null && !isText(present))) return change;
  const before = present?.bytes.toString("utf8") ?? null;
  const diff = buildFileDiff({ fileName: file, before, after: merged.bytes.toString("utf8") });
  return diff.fileDiff === "" ? change : { ...change, diff };
}

/** The same change with exactly what the work tree has. */
export function chooseTreeVersion(tree: WorkTree, { file, present }: TreeChange): TreeChange {
  return withDiff({ file, present, merged: readEntry(join(tree.folder, file), tree.folder) ?? null });
}

/** Writes what was taken to the user's work tree, as one call that undo takes back. Throws when a file has changed since. */
export async function takeTreeChanges(
  { home, environment }: WorkTreePlace,
  tree: WorkTree,
  taken: readonly TakenChange[],
): Promise<void> {
  const { mainTop, mainRoot, name } = tree;
  for (const { change } of taken) {
    const now = readEntry(join(mainTop, change.file), mainTop);
    if (now === undefined || !isSame(now, change.present))
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

/** Whole, or not at all. */
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

/** As git does it. */
function removeEmpty(folder: string): void {
  withFallback(undefined, () => {
    rmdirSync(folder);
    removeEmpty(dirname(folder));
  });
}

/** Notes that the user has taken all that they want: as long as nothing changes in it, the work tree can go. */
export function noteMerged(tree: WorkTree, environment: NodeJS.ProcessEnv): void {
  const own = findRepository(tree.folder)?.gitDir;
  if (own !== undefined) writeFileSync(join(own, MERGED_FILE), hashTree(tree, environment));
}

/** Whether nothing would be lost with it: it has changed nothing, or what it has was merged. */
export function canRemoveTree(tree: WorkTree, environment: NodeJS.ProcessEnv): boolean {
  const git = openOwnGit(tree.folder, environment);
  const head = git.must(["rev-parse", "HEAD"]).toString("utf8").trim();
  if (head === tree.base && listChangedNames(git, tree).length === 0) return true;
  const own = findRepository(tree.folder)?.gitDir ?? "";
  return readText(join(own, MERGED_FILE), MOST_NOTE_BYTES) === hashTree(tree, environment);
}

/** What differs when anything in it has changed. */
function hashTree(tree: WorkTree, environment: NodeJS.ProcessEnv): string {
  const git = openOwnGit(tree.folder, environment);
  const hash = createHash("sha256").update(git.must(["rev-parse", "HEAD"]));
  for (const file of listChangedNames(git, tree)) {
    const entry = readEntry(join(tree.folder, file), tree.folder);
    hash.update(`${file}\0${entry?.mode} ${entry?.isLink}\0`).update(entry?.bytes ?? "");
  }
  return hash.digest("hex");
}
