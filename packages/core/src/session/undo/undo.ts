import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileHelpers } from "@burin/commands/file-helpers";
import { endLeftCommands, openWriteLedger } from "@burin/commands/shell/commands";
import { describeError } from "@burin/contract/text/error-message";
import { withFallback } from "@burin/contract/with-fallback";
import { lockPath } from "@burin/files/disk/path-lock";
import { isWithin } from "@burin/files/paths/paths";
import { learnPlainFiles } from "@burin/files/workspace/replace-file";
import { listSessions } from "../log/session-files.ts";
import { settleCutCalls } from "./cut-calls.ts";
import { storeGitBlobs } from "./git-blobs.ts";
import type { FileChange } from "./journal-line.ts";
import { type Operation, readOperations, type UndoUnit } from "./operations.ts";
import { type FileOutcome, type UndoLocation, undoChange } from "./take-back.ts";
import { type GitLocation, undoGitChange } from "./take-back-git.ts";
import {
  buildScope,
  CALLS_SCOPE,
  chooseOperations,
  filterWithUndos,
  isCall,
  type UndoOptions,
} from "./undo-choice.ts";
import { createChangeId, resolveUndoFolder, UndoJournal } from "./undo-journal.ts";

/** What `undo` has done, file by file. */
export interface UndoResult {
  /** true if an undo was undone, so that the calls are in effect again. */
  readonly isRedo: boolean;
  readonly files: readonly FileOutcome[];
  /** Set when nothing was chosen: the last call in effect that `only` excludes. */
  readonly elsewhere?: UndoEntry;
  /** Why this undo could not be recorded and so cannot be undone itself. Usually absent. */
  readonly unrecorded?: string;
}

/** One change of files, made by a call or by an undo. */
export interface UndoEntry {
  readonly id: string;
  readonly at: string;
  readonly kind: "call" | "undo";
  readonly writer: string;
  readonly files: readonly string[];
  /** false while the operation is undone. */
  readonly isInForce: boolean;
  /** What changed the files, in words, if it was not a file tool. */
  readonly call?: string;
  /** Who made the change: the name of a tool, `hook` or `check`. */
  readonly maker?: string;
  /** true if something else was running too, which may have made a part of the changes. */
  readonly isShared?: boolean;
  /** Set if Burin was killed while the call ran. `during`: it changed this until then. `after`: changed later. */
  readonly cut?: "during" | "after";
}

type Looked = Pick<UndoOptions, "home" | "root" | "environment">;

/** Lists the operations that can be undone, latest first. */
export async function listUndoEntries({ home, root, environment = {} }: Looked): Promise<UndoEntry[]> {
  await settleCutCalls({ home, root, environment });
  const operations = readOperations(home, root, (all) => all);
  return operations.map((operation) => buildUndoEntry(operation, root)).reverse();
}

function buildUndoEntry(operation: Operation, root: string): UndoEntry {
  const { id, at, writer, of, isInForce, changes, git, call, isShared = false, cut } = operation;
  const paths = [...changes.map(({ file }) => file), ...git.map(({ repository }) => repository.gitDir)];
  const files = paths.map((path) => relative(root, path));
  const more = {
    ...(call && { call: call.what, maker: call.maker }),
    ...(isShared && { isShared }),
    ...(cut && { cut }),
  };
  return { id, at, kind: of === null ? "call" : "undo", writer, files, isInForce, ...more };
}

/** Returns the scope for a user who names no session: the last active session, or `calls` if that was later. */
export async function resolveUndoScope(place: Looked): Promise<string | undefined> {
  const [session] = await listSessions(place.home, place.root);
  const entries = await listUndoEntries(place);
  const call = entries.find(({ kind, writer }) => kind === "call" && isCall(writer));
  if (session === undefined) return call === undefined ? undefined : CALLS_SCOPE;
  return call !== undefined && Date.parse(call.at) > session.changed ? CALLS_SCOPE : session.id;
}

/** Removes everything that is stored for undo in this folder. No earlier change can then be undone. */
export function forgetUndo({ home, root }: Pick<UndoOptions, "home" | "root">): Promise<void> {
  const folder = resolveUndoFolder(home, root);
  return lockPath(folder, async () => rmSync(folder, { recursive: true, force: true }));
}

/** Returns what `undo` with these options would undo, latest first. */
export async function planUndo(options: UndoOptions): Promise<UndoEntry[]> {
  const { home, root, only, environment = {} } = options;
  await settleCutCalls({ home, root, environment });
  const scope = only === undefined ? null : buildScope(only, options);
  const chosen = readOperations(home, root, (all) =>
    chooseOperations(scope ? filterWithUndos(all, scope) : all, options),
  );
  return chosen.map((operation) => buildUndoEntry(operation, root));
}

/** Records that calls of the session itself took back some of its changes, so that a redo finds them. */
export async function recordTakenBack(
  { home, root, session }: Required<Pick<UndoOptions, "home" | "root" | "session">>,
  ids: readonly string[],
): Promise<void> {
  const journal = new UndoJournal(home, root, session);
  for (const id of ids) journal.appendLine({ type: "taken_back", id });
}

/**
 * Undoes what calls did to files, but keeps later changes. A file is restored if it still has the content that the call
 * wrote, merged if other lines were changed, and otherwise left alone, with the reason. The undo is itself recorded, so
 * that it can be undone in the same way. If two run at the same time, the second undoes the next operation.
 */
export async function undo(options: UndoOptions): Promise<UndoResult> {
  const { home, root, environment = {} } = options;
  // A running command would change what is restored, and a killed undo has left files half written.
  await endLeftCommands(home, environment);
  await settleCutCalls({ home, root, environment });
  return lockPath(resolveUndoFolder(home, root), () => undoChosen(options));
}

async function undoChosen(options: UndoOptions): Promise<UndoResult> {
  const { home, root } = options;
  const scope = options.only === undefined ? null : buildScope(options.only, options);
  let elsewhere: Operation | undefined;
  let unfinished: readonly Operation[] = [];
  const chosen = readOperations(home, root, (operations) => {
    unfinished = operations.filter(({ isUnfinished }) => isUnfinished);
    // A killed undo is continued, or undone itself as a partial undo.
    const counted = options.redo ? operations : operations.filter((one) => !one.isUnfinished);
    const inScope = scope === null ? counted : filterWithUndos(counted, scope);
    const known = new Set(inScope);
    elsewhere = counted.findLast((one) => one.of === null && one.isInForce && !known.has(one));
    return chooseOperations(inScope, options);
  });
  if (chosen.length === 0)
    return { isRedo: false, files: [], ...(elsewhere && { elsewhere: buildUndoEntry(elsewhere, root) }) };
  const folder = resolveUndoFolder(home, root);
  const begun = unfinished.find((one) => isBegunOf(one, chosen));
  const id = begun?.id ?? createChangeId(folder);
  const journal = new UndoJournal(home, root, `undo-${id}`);
  const at = new Date().toISOString();
  const ids = chosen.map((one) => one.id);
  if (begun === undefined)
    withFallback(undefined, () => journal.appendLine({ type: "undo_begun", id, at, of: ids }));
  const ledger = await openWriteLedger(home);
  const { beginWrite } = ledger;
  const { onChange } = journal;
  const noteChange = (change: Pick<FileChange, "file" | "before" | "after">) =>
    journal.appendLine({
      type: "change",
      id: createChangeId(folder),
      at: new Date().toISOString(),
      madeFolders: 0,
      ...change,
    });
  const noteGit: GitLocation["note"] = (change, gitId) =>
    journal.appendLine({ type: "git", id: gitId, change });
  const { environment = {} } = options;
  const removed = new Set(begun?.changes.flatMap(({ file, after }) => (after === null ? file : [])));
  const place = { folder, root, home, onChange, beginWrite, note: noteChange, noteGit, environment, removed };
  const { files, of, partOf } = await undoAll(chosen, place).finally(ledger.close);
  const result = { isRedo: (chosen[0]?.depth ?? 0) % 2 === 1, files };
  try {
    const hasChanged = files.some(({ what }) => what !== "refused" && what !== "unchanged");
    if (!hasChanged && of.length === 0 && begun === undefined) journal.remove();
    else
      journal.appendLine({
        type: "undo",
        id,
        at: new Date().toISOString(),
        of,
        ...(partOf.length > 0 && { partOf }),
      });
    return result;
  } catch (error) {
    return { ...result, unrecorded: describeError(error) };
  }
}

/** Whether the operation is the beginning of undoing exactly these. */
function isBegunOf({ partOf = [] }: Operation, chosen: readonly Operation[]): boolean {
  return partOf.length === chosen.length && chosen.every(({ id, isPart }) => !isPart && partOf.includes(id));
}

interface FullUndoLocation extends UndoLocation {
  /** Absent if git's own state is not to be changed. */
  readonly noteGit?: GitLocation["note"];
  readonly environment: NodeJS.ProcessEnv;
}

/** Undoes the operations. `of` has the ids of operations that were undone completely, `partOf` those of the others. */
async function undoAll(operations: readonly UndoUnit[], place: FullUndoLocation) {
  const files: FileOutcome[] = [];
  const refused = new Set<string>();
  const [of, partOf]: [string[], string[]] = [[], []];
  for (const operation of operations) {
    const { id, changes } = operation;
    const before = refused.size;
    const git = place.noteGit ? await undoAllGit(operation, { ...place, note: place.noteGit }) : [];
    files.push(...git);
    // Skip the files too: files of one commit on another commit's branch would be worse than nothing.
    if (git.some(({ what }) => what === "refused")) continue;
    const blobs = await storeNeededBlobs(changes, place);
    if (changes.length > 1)
      await learnPlainFiles(
        changes.map(({ file }) => file),
        fileHelpers,
      );
    for (const change of sortForUndo(operation)) {
      const outcome = await undoChange(change, { ...place, blobs }, refused.has(change.file));
      if (outcome.what === "refused") refused.add(change.file);
      files.push(outcome);
    }
    if (refused.size === before && !operation.isPart) of.push(id);
    else partOf.push(id);
  }
  return { files, of, partOf };
}

async function undoAllGit({ git }: UndoUnit, place: GitLocation): Promise<FileOutcome[]> {
  if (git.length === 0) return [];
  return [...git].reverse().map((change) => undoGitChange(change, place));
}

/** Returns a call's changes in undo order: created paths first, and the content of a folder before the folder. */
function sortForUndo({ changes, isSorted }: UndoUnit): FileChange[] {
  const backwards = [...changes].reverse();
  if (!isSorted) return backwards;
  const isMade = ({ before }: FileChange) => before === null;
  return [...backwards.filter(isMade), ...changes.filter((change) => !isMade(change))];
}

/** Reads contents that only git stores. */
async function storeNeededBlobs(
  changes: readonly FileChange[],
  place: FullUndoLocation,
): Promise<ReadonlyMap<string, string>> {
  const needed = changes.filter((change) =>
    [change.before, change.after].some((one) => one?.git !== undefined),
  );
  if (needed.length === 0) return new Map();
  return storeGitBlobs(needed, place);
}

/** Undoes a session's changes in a copy of the project's folder. Returns the files that could not be restored. */
export async function runUndoInCopy(
  options: Required<Pick<UndoOptions, "home" | "root" | "session">> & Pick<UndoOptions, "environment">,
  copy: string,
): Promise<FileOutcome[]> {
  const { home, root, environment = {} } = options;
  const chosen = readOperations(home, root, (operations) => chooseOperations(operations, options));
  const onChange = () => ({ note: null, forget() {} });
  const place = { folder: resolveUndoFolder(home, root), root: copy, onChange, environment };
  const inCopy = chosen.map((operation) => {
    const inside = operation.changes.filter(({ file }) => isWithin(file, root));
    const changes = inside.map((one) => ({ ...one, file: join(copy, relative(root, one.file)) }));
    return { ...operation, changes, git: [] };
  });
  const { files } = await undoAll(inCopy, place);
  return files.filter(({ what }) => what === "refused");
}
