import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { openWriteLedger } from "@burin/commands/shell/commands";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import { messageOf } from "@burin/contract/text/error-message";
import { lockPath } from "@burin/files/disk/path-lock";
import { readText } from "@burin/files/disk/regular-file";
import { codeOf } from "@burin/files/disk/system-error";
import { isWithin } from "@burin/files/paths/paths";
import { readLog } from "../log/read-log.ts";
import { asSessionError } from "../log/session-error.ts";
import { listSessions, sessionPath } from "../log/session-files.ts";
import { type FileOutcome, takeBack, type UndoPlace } from "./take-back.ts";
import { type FileChange, type JournalLine, newChangeId, UndoJournal, undoFolder } from "./undo-journal.ts";

export interface UndoOptions {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The real path of the project's folder. */
  readonly root: string;
  /** The last so many calls that are in effect; default: the last operation, which may be an undo. */
  readonly count?: number;
  /** All calls of this session that are in effect; with `count`, the last so many of them. */
  readonly session?: string;
  /**
   * Looks at nothing but what this session has changed, and before it those that it is a copy of. `calls`: what
   * calls outside of sessions have changed. See `undoScope`.
   */
  readonly only?: string;
  /** The last undo, if no call has changed a file since. */
  readonly redo?: boolean;
}

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
}

/** The operations that can be undone, latest first. */
export async function undoEntries({ home, root }: Pick<UndoOptions, "home" | "root">): Promise<UndoEntry[]> {
  const operations = readOperations(home, root, (all) => all);
  return operations.map((operation) => entryOf(operation, root)).reverse();
}

function entryOf({ id, at, writer, of, isInForce, changes }: Operation, root: string): UndoEntry {
  const files = changes.map(({ file }) => relative(root, file));
  return { id, at, kind: of === null ? "call" : "undo", writer, files, isInForce };
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

/** Says that changes of a session were taken back by calls of its own, so that a redo finds them. */
export async function noteTakenBack(
  { home, root, session }: Required<Pick<UndoOptions, "home" | "root" | "session">>,
  ids: readonly string[],
): Promise<void> {
  const journal = new UndoJournal(home, root, session);
  for (const id of ids) journal.append({ type: "taken_back", id });
}

const CALLS = "calls";
const isCall = (writer: string) => writer.startsWith("call-");

/**
 * Undoes what calls did to files, but keeps later changes: a file is restored if it still holds what the call
 * wrote, merged if other lines were changed, and otherwise left alone, with the reason. The undo is itself
 * recorded, so that it can be undone the same way. Of two at the same time, the second undoes the operation
 * before.
 */
export function undo(options: UndoOptions): Promise<UndoResult> {
  return lockPath(undoFolder(options.home, options.root), () => takeBackChosen(options));
}

async function takeBackChosen(options: UndoOptions): Promise<UndoResult> {
  const { home, root } = options;
  const scope = options.only === undefined ? null : scopeOf(options.only, options);
  let elsewhere: Operation | undefined;
  const chosen = readOperations(home, root, (operations) => {
    const inScope = scope === null ? operations : within(operations, scope);
    const known = new Set(inScope);
    elsewhere = operations.findLast((one) => one.of === null && one.isInForce && !known.has(one));
    return chosenFrom(inScope, options);
  });
  if (chosen.length === 0)
    return { isRedo: false, files: [], ...(elsewhere && { elsewhere: entryOf(elsewhere, root) }) };
  const id = newChangeId(undoFolder(home, root));
  const journal = new UndoJournal(home, root, `undo-${id}`);
  const ledger = await openWriteLedger(home);
  const { beginWrite } = ledger;
  const { onChange } = journal;
  const place: UndoPlace = { folder: undoFolder(home, root), root, home, onChange, beginWrite };
  const { files, of } = await takeBackAll(chosen, place).finally(ledger.close);
  const result = { isRedo: (chosen[0]?.depth ?? 0) % 2 === 1, files };
  try {
    if (of.length > 0) journal.append({ type: "undo", id, at: new Date().toISOString(), of });
    return result;
  } catch (error) {
    return { ...result, unrecorded: messageOf(error) };
  }
}

/** `of`: the ids of the operations that were undone completely. */
async function takeBackAll(operations: readonly Pick<Operation, "id" | "changes">[], place: UndoPlace) {
  const files: FileOutcome[] = [];
  const refused = new Set<string>();
  const of: string[] = [];
  for (const { id, changes } of operations) {
    const before = refused.size;
    for (const change of [...changes].reverse()) {
      const outcome = await takeBack(change, place, refused.has(change.file));
      if (outcome.what === "refused") refused.add(change.file);
      files.push(outcome);
    }
    if (refused.size === before) of.push(id);
  }
  return { files, of };
}

/** Undoes in a copy of the project's folder what a session did, as far as possible; reports what was not. */
export async function undoInCopy(
  copy: string,
  options: Required<Pick<UndoOptions, "home" | "root" | "session">>,
): Promise<FileOutcome[]> {
  const { home, root } = options;
  const chosen = readOperations(home, root, (operations) => chosenFrom(operations, options));
  const place = { folder: undoFolder(home, root), root: copy, onChange: () => ({ note: null, forget() {} }) };
  const inCopy = chosen.map(({ id, changes }) => {
    const inside = changes.filter(({ file }) => isWithin(file, root));
    return { id, changes: inside.map((one) => ({ ...one, file: join(copy, relative(root, one.file)) })) };
  });
  const { files } = await takeBackAll(inCopy, place);
  return files.filter(({ what }) => what === "refused");
}

/** Writers whose changes are meant, each with the time until which they are: of a copied session only what came before. */
type Scope = (writer: string, at: string) => boolean;

function scopeOf(only: string, { home, root }: UndoOptions): Scope {
  if (only === CALLS) return isCall;
  const ancestors = new Set<string>();
  let begun: string | null = null;
  const records = orElse([], () => [...readLog(sessionPath(home, root, only))]);
  for (const { event, at } of records) {
    if (event.type !== "session") continue;
    if (event.sessionId === only) begun ??= at;
    else ancestors.add(event.sessionId);
  }
  return (writer, at) => writer === only || (ancestors.has(writer) && (begun === null || at < begun));
}

/** The operations in scope, and the undoing of them. */
function within(operations: readonly Operation[], isMeant: Scope): Operation[] {
  const ids = new Set<string>();
  return operations.filter(({ id, of, at, writer }) => {
    const isIn = of === null || of.length === 0 ? isMeant(writer, at) : of.some((its) => ids.has(its));
    if (isIn) ids.add(id);
    return isIn;
  });
}

/** Latest first. */
function chosenFrom(operations: readonly Operation[], { count, session, redo }: UndoOptions): Operation[] {
  const inForce = operations.filter(({ isInForce }) => isInForce).reverse();
  if (session !== undefined) {
    const its = inForce.filter(({ writer }) => writer === session);
    return its.slice(0, count ?? its.length);
  }
  if (redo) {
    const last = inForce.find(({ depth }) => depth === 0 || depth % 2 === 1);
    return last === undefined || last.depth === 0 ? [] : [last];
  }
  if (count === undefined) return inForce.slice(0, 1);
  return inForce.filter(({ of }) => of === null).slice(0, count);
}

/** A journal has one line for each change of one session. */
const MOST_JOURNAL_BYTES = 256 * 1024 * 1024;

/** A call that changed files, or an undo that changed them back. */
interface Operation {
  readonly id: string;
  readonly at: string;
  /** The journal that it is in: the id of a session, or another name. */
  readonly writer: string;
  readonly changes: readonly FileChange[];
  /** What an undo has undone; null for a call. */
  readonly of: readonly string[] | null;
  /** 0 for a call, 1 for its undo, 2 for the undo of that, and so on. */
  depth: number;
  /** false while it is undone. */
  isInForce: boolean;
}

/** Throws SessionError when nothing is chosen and some could not be read: it may be what was meant. */
function readOperations(
  home: string,
  root: string,
  choose: (operations: Operation[]) => Operation[],
): Operation[] {
  const folder = undoFolder(home, root);
  const faults: unknown[] = [];
  const read = <T>(path: string, work: () => readonly T[]) => {
    try {
      return work();
    } catch (error) {
      // What cannot be read hides nothing else.
      if (codeOf(error) !== "ENOENT")
        faults.push(asSessionError(error, `Nothing can be undone: ${path} cannot be read`));
      return [];
    }
  };
  const operations = read(folder, () => readdirSync(folder))
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => {
      const path = join(folder, name);
      return read(path, () => operationsIn(path, name.slice(0, -".jsonl".length)));
    })
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  const setForce = (id: string, isInForce: boolean) => {
    const operation = byId.get(id);
    if (operation === undefined) return;
    operation.isInForce = isInForce;
    for (const its of operation.of ?? []) setForce(its, !isInForce);
  };
  for (const operation of operations) {
    const { id, of } = operation;
    if (of === null) continue;
    operation.depth = 1 + Math.max(0, ...of.map((its) => byId.get(its)?.depth ?? 0));
    setForce(id, true);
  }
  const chosen = choose(operations);
  if (chosen.length === 0 && faults.length > 0) throw faults[0];
  return chosen;
}

function operationsIn(path: string, writer: string): Operation[] {
  // A line that a crash cut off describes a change that never happened.
  const read = (readText(path, MOST_JOURNAL_BYTES) ?? "").split("\n").map(parseJson);
  const lines = read.filter(isRecord) as unknown as JournalLine[];
  const forgotten = new Set(lines.flatMap((line) => (line.type === "forgotten" ? line.id : [])));
  const changes = lines.flatMap((line) => (line.type === "change" && !forgotten.has(line.id) ? line : []));
  const undo = lines.find((line) => line.type === "undo");
  if (undo?.type === "undo") {
    return [{ id: undo.id, at: undo.at, writer, changes, of: undo.of, depth: 1, isInForce: true }];
  }
  const takenBack = new Set(lines.flatMap((line) => (line.type === "taken_back" ? line.id : [])));
  return changes.map((change) => {
    const { id, at } = change;
    // A call that took something back counts as the undo of a part of a call.
    const how = takenBack.has(id) ? { of: [], depth: 1 } : { of: null, depth: 0 };
    return { id, at, writer, changes: [change], ...how, isInForce: true };
  });
}
