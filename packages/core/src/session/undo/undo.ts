import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import { endLeftCommands, openWriteLedger } from "@burin/commands/shell/commands";
import { orElse } from "@burin/contract/or-else";
import { messageOf } from "@burin/contract/text/error-message";
import { lockPath } from "@burin/files/disk/path-lock";
import { isWithin } from "@burin/files/paths/paths";
import { listSessions } from "../log/session-files.ts";
import { settleCutCalls } from "./cut-calls.ts";
import type { FileChange } from "./journal-line.ts";
import { type Operation, readOperations, type Undoing } from "./operations.ts";
import { type FileOutcome, takeBack, type UndoPlace } from "./take-back.ts";
import type { GitPlace } from "./take-back-git.ts";
import { CALLS, chosenFrom, isCall, scopeOf, type UndoOptions, within } from "./undo-choice.ts";
import { newChangeId, UndoJournal, undoFolder } from "./undo-journal.ts";

export interface UndoResult {
  /** An undo was undone: the calls are in effect again. */
  readonly isRedo: boolean;
  readonly files: readonly FileOutcome[];
  /** When nothing was chosen: the last call in effect that `only` leaves out. */
  readonly elsewhere?: UndoEntry;
  /** Why it cannot be undone itself; usually absent. */
  readonly unrecorded?: string;
}

export interface UndoEntry {
  readonly id: string;
  readonly at: string;
  readonly kind: "call" | "undo";
  readonly writer: string;
  readonly files: readonly string[];
  /** false while it is undone. */
  readonly isInForce: boolean;
  /** In words what changed them, if it was no file tool. */
  readonly call?: string;
  /** Who that was: the name of a tool, `hook` or `check`. */
  readonly maker?: string;
  /** Something else was at work too, so that a part may be its work. */
  readonly isShared?: boolean;
  /** Burin was killed while it ran: it changed this until then, or somebody changed it after that. */
  readonly cut?: "during" | "after";
}

/** The operations that can be undone, latest first. */
export async function undoEntries({ home, root }: Pick<UndoOptions, "home" | "root">): Promise<UndoEntry[]> {
  await settleCutCalls({ home, root, environment: process.env });
  const operations = readOperations(home, root, (all) => all);
  return operations.map((operation) => entryOf(operation, root)).reverse();
}

function entryOf(operation: Operation, root: string): UndoEntry {
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

/** Whose changes a user means who names no session: those of the session or the call that was last at work here. */
export async function undoScope({
  home,
  root,
}: Pick<UndoOptions, "home" | "root">): Promise<string | undefined> {
  const [session] = await listSessions(home, root);
  const entries = await undoEntries({ home, root });
  const call = entries.find(({ kind, writer }) => kind === "call" && isCall(writer));
  if (session === undefined) return call === undefined ? undefined : CALLS;
  return call !== undefined && Date.parse(call.at) > session.changed ? CALLS : session.id;
}

/** Removes everything that is kept for undo in this folder: nothing before this moment can be taken back. */
export function forgetUndo({ home, root }: Pick<UndoOptions, "home" | "root">): Promise<void> {
  const folder = undoFolder(home, root);
  return lockPath(folder, async () => rmSync(folder, { recursive: true, force: true }));
}

/** What `undo` with these options would take back, latest first. */
export async function undoPlan(options: UndoOptions): Promise<UndoEntry[]> {
  const { home, root, only, environment = process.env } = options;
  await settleCutCalls({ home, root, environment });
  const scope = only === undefined ? null : scopeOf(only, options);
  const chosen = readOperations(home, root, (all) => chosenFrom(scope ? within(all, scope) : all, options));
  return chosen.map((operation) => entryOf(operation, root));
}

/** Says that changes of a session were taken back by calls of its own, so that a redo finds them. */
export async function noteTakenBack(
  { home, root, session }: Required<Pick<UndoOptions, "home" | "root" | "session">>,
  ids: readonly string[],
): Promise<void> {
  const journal = new UndoJournal(home, root, session);
  for (const id of ids) journal.append({ type: "taken_back", id });
}

/**
 * Undoes what calls did to files, but keeps later changes: a file is restored if it still holds what the call
 * wrote, merged if other lines were changed, and otherwise left alone, with the reason. The undo is itself
 * recorded, so that it can be undone the same way. Of two at the same time, the second undoes the operation
 * before.
 */
export async function undo(options: UndoOptions): Promise<UndoResult> {
  const { home, root, environment = process.env } = options;
  // What still runs would change what is given back, and an undo that was killed has left files half written.
  await endLeftCommands(home);
  await settleCutCalls({ home, root, environment });
  return lockPath(undoFolder(home, root), () => takeBackChosen(options));
}

async function takeBackChosen(options: UndoOptions): Promise<UndoResult> {
  const { home, root } = options;
  const scope = options.only === undefined ? null : scopeOf(options.only, options);
  let elsewhere: Operation | undefined;
  let unfinished: readonly Operation[] = [];
  const chosen = readOperations(home, root, (operations) => {
    unfinished = operations.filter(({ isUnfinished }) => isUnfinished);
    // One that was killed is gone on with, or taken back as the part of an undo that it is.
    const counted = options.redo ? operations : operations.filter((one) => !one.isUnfinished);
    const inScope = scope === null ? counted : within(counted, scope);
    const known = new Set(inScope);
    elsewhere = counted.findLast((one) => one.of === null && one.isInForce && !known.has(one));
    return chosenFrom(inScope, options);
  });
  if (chosen.length === 0)
    return { isRedo: false, files: [], ...(elsewhere && { elsewhere: entryOf(elsewhere, root) }) };
  const folder = undoFolder(home, root);
  const begun = unfinished.find((one) => isBegunOf(one, chosen));
  const id = begun?.id ?? newChangeId(folder);
  const journal = new UndoJournal(home, root, `undo-${id}`);
  const at = new Date().toISOString();
  const ids = chosen.map((one) => one.id);
  if (begun === undefined) orElse(undefined, () => journal.append({ type: "undo_begun", id, at, of: ids }));
  const ledger = await openWriteLedger(home);
  const { beginWrite } = ledger;
  const { onChange } = journal;
  const note = (change: Pick<FileChange, "file" | "before" | "after">) =>
    journal.append({
      type: "change",
      id: newChangeId(folder),
      at: new Date().toISOString(),
      madeFolders: 0,
      ...change,
    });
  const noteGit: GitPlace["note"] = (change, gitId) => journal.append({ type: "git", id: gitId, change });
  const environment = options.environment ?? process.env;
  const removed = new Set(begun?.changes.flatMap(({ file, after }) => (after === null ? file : [])));
  const place = { folder, root, home, onChange, beginWrite, note, noteGit, environment, removed };
  const { files, of, partOf } = await takeBackAll(chosen, place).finally(ledger.close);
  const result = { isRedo: (chosen[0]?.depth ?? 0) % 2 === 1, files };
  try {
    const hasChanged = files.some(({ what }) => what !== "refused" && what !== "unchanged");
    if (!hasChanged && of.length === 0 && begun === undefined) journal.remove();
    else
      journal.append({
        type: "undo",
        id,
        at: new Date().toISOString(),
        of,
        ...(partOf.length > 0 && { partOf }),
      });
    return result;
  } catch (error) {
    return { ...result, unrecorded: messageOf(error) };
  }
}

/** Whether it is the beginning of taking back exactly these. */
function isBegunOf({ partOf = [] }: Operation, chosen: readonly Operation[]): boolean {
  return partOf.length === chosen.length && chosen.every(({ id, isPart }) => !isPart && partOf.includes(id));
}

interface WholePlace extends UndoPlace {
  /** Absent where git's state stays as it is. */
  readonly noteGit?: GitPlace["note"];
  readonly environment: NodeJS.ProcessEnv;
}

/** `of`: the ids of the operations that were undone completely; `partOf`: those of the others. */
async function takeBackAll(operations: readonly Undoing[], place: WholePlace) {
  const files: FileOutcome[] = [];
  const refused = new Set<string>();
  const [of, partOf]: [string[], string[]] = [[], []];
  for (const operation of operations) {
    const { id, changes } = operation;
    const before = refused.size;
    const git = place.noteGit ? await takeBackAllGit(operation, { ...place, note: place.noteGit }) : [];
    files.push(...git);
    // Files of one commit on the branch of another would be worse than nothing.
    if (git.some(({ what }) => what === "refused")) continue;
    const blobs = await blobsOf(changes, place);
    for (const change of inOrder(operation)) {
      const outcome = await takeBack(change, { ...place, blobs }, refused.has(change.file));
      if (outcome.what === "refused") refused.add(change.file);
      files.push(outcome);
    }
    if (refused.size === before && !operation.isPart) of.push(id);
    else partOf.push(id);
  }
  return { files, of, partOf };
}

async function takeBackAllGit({ git }: Undoing, place: GitPlace): Promise<FileOutcome[]> {
  if (git.length === 0) return [];
  const { takeBackGit } = await import("./take-back-git.ts");
  return [...git].reverse().map((change) => takeBackGit(change, place));
}

/** The changes of a call are sorted by path: what it made goes first, what is in a folder before the folder. */
function inOrder({ changes, isSorted }: Undoing): FileChange[] {
  const backwards = [...changes].reverse();
  if (!isSorted) return backwards;
  const isMade = ({ before }: FileChange) => before === null;
  return [...backwards.filter(isMade), ...changes.filter((change) => !isMade(change))];
}

/** Gets from git what only git has. */
async function blobsOf(
  changes: readonly FileChange[],
  place: WholePlace,
): Promise<ReadonlyMap<string, string>> {
  const needed = changes.filter((change) =>
    [change.before, change.after].some((one) => one?.git !== undefined),
  );
  if (needed.length === 0) return new Map();
  const { readBlobs } = await import("./git-blobs.ts");
  return readBlobs(needed, place);
}

/** Undoes in a copy of the project's folder what a session did, as far as possible; reports what was not. */
export async function undoInCopy(
  copy: string,
  options: Required<Pick<UndoOptions, "home" | "root" | "session">>,
): Promise<FileOutcome[]> {
  const { home, root } = options;
  const chosen = readOperations(home, root, (operations) => chosenFrom(operations, options));
  const onChange = () => ({ note: null, forget() {} });
  const place = { folder: undoFolder(home, root), root: copy, onChange, environment: process.env };
  const inCopy = chosen.map((operation) => {
    const inside = operation.changes.filter(({ file }) => isWithin(file, root));
    const changes = inside.map((one) => ({ ...one, file: join(copy, relative(root, one.file)) }));
    return { ...operation, changes, git: [] };
  });
  const { files } = await takeBackAll(inCopy, place);
  return files.filter(({ what }) => what === "refused");
}
