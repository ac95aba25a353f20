import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";
import { readText } from "@burin/files/disk/regular-file";
import { readErrorCode } from "@burin/files/disk/system-error";
import { toSessionError } from "../log/session-error.ts";
import type { CallNote, FileChange, GitChange, JournalLine } from "./journal-line.ts";
import { resolveUndoFolder } from "./undo-journal.ts";

/** The largest journal that is read. A journal has one line for each change of one session. */
const MAX_JOURNAL_BYTES = 256 * 1024 * 1024;

export interface UndoUnit {
  readonly id: string;
  readonly changes: readonly FileChange[];
  readonly git: readonly GitChange[];
  /** true if all changes belong to one call and are sorted by path. */
  readonly isSorted: boolean;
  /** true if only some of its files are to be taken back. */
  readonly isPart?: boolean;
}

/** A call that changed files, or an undo that changed them back. */
export interface Operation extends UndoUnit {
  readonly call?: CallNote;
  readonly isShared?: boolean;
  readonly cut?: "during" | "after";
  readonly at: string;
  /** The journal that contains it: the id of a session, or another name. */
  readonly writer: string;
  /** The ids of the operations that this undo has undone; null for a call. */
  readonly of: readonly string[] | null;
  /** The ids of operations that this undo has undone in part. */
  readonly partOf?: readonly string[];
  /** true for an undo that was killed before its end. */
  readonly isUnfinished?: boolean;
  /** 0 for a call, 1 for its undo, 2 for the undo of that, and so on. */
  depth: number;
  /** false while the operation is undone. */
  isInForce: boolean;
}

/** Reads operations and chooses some. Throws SessionError if none is chosen and some could not be read. */
export function readOperations(
  home: string,
  root: string,
  choose: (operations: Operation[]) => readonly Operation[],
): readonly Operation[] {
  const folder = resolveUndoFolder(home, root);
  const faults: unknown[] = [];
  const read = <T>(path: string, work: () => readonly T[]) => {
    try {
      return work();
    } catch (error) {
      // A journal that cannot be read must not hide the others.
      if (readErrorCode(error) !== "ENOENT")
        faults.push(toSessionError(error, `Nothing can be undone: ${path} cannot be read`));
      return [];
    }
  };
  const operations = read(folder, () => readdirSync(folder))
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => {
      const path = join(folder, name);
      return read(path, () => readJournal(path, name.slice(0, -".jsonl".length)));
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
    const all = [...of, ...(operation.partOf ?? [])];
    operation.depth = 1 + Math.max(0, ...all.map((its) => byId.get(its)?.depth ?? 0));
    setForce(id, true);
  }
  const chosen = choose(operations);
  if (chosen.length === 0 && faults.length > 0) throw faults[0];
  return chosen;
}

/** Whether the writer's journal contains this operation. */
export function hasOperation(folder: string, { writer, id }: { writer: string; id: string }): boolean {
  const path = join(folder, `${writer}.jsonl`);
  return withFallback([], () => readJournal(path, writer)).some((one) => one.id === id);
}

function readJournal(path: string, writer: string): Operation[] {
  // A line that a crash cut off describes a change that never happened.
  const read = (readText(path, MAX_JOURNAL_BYTES) ?? "").split("\n").map(parseJson);
  const lines = read.filter(isRecord) as unknown as JournalLine[];
  const forgotten = new Set(lines.flatMap((line) => (line.type === "forgotten" ? line.id : [])));
  const changes = lines.flatMap((line) => (line.type === "change" && !forgotten.has(line.id) ? line : []));
  const undo = lines.find((line) => line.type === "undo");
  if (undo?.type === "undo") {
    const { id, at, of, partOf = [] } = undo;
    return [{ ...UNDO, id, at, writer, changes, git: collectGitChanges(lines), of, partOf }];
  }
  const begun = lines.find((line) => line.type === "undo_begun");
  if (begun?.type === "undo_begun") {
    const { id, at, of } = begun;
    const isUnfinished = true;
    return [
      { ...UNDO, id, at, writer, changes, git: collectGitChanges(lines), of: [], partOf: of, isUnfinished },
    ];
  }
  const takenBack = new Set(lines.flatMap((line) => (line.type === "taken_back" ? line.id : [])));
  const edits = changes.map((change): Operation => {
    const { id, at } = change;
    // A call that took something back counts as the undo of a part of another call.
    const how = takenBack.has(id) ? { of: [], depth: 1 } : { of: null, depth: 0 };
    return { id, at, writer, changes: [change], git: [], isSorted: false, ...how, isInForce: true };
  });
  const calls = lines.flatMap((line): Operation | [] => {
    if (line.type !== "changes") return [];
    const { type: _, git = [], ...rest } = line;
    return { ...rest, git, writer, isSorted: true, of: null, depth: 0, isInForce: true };
  });
  return [...edits, ...calls];
}

const UNDO = { depth: 1, isInForce: true, isSorted: false };

function collectGitChanges(lines: readonly JournalLine[]): GitChange[] {
  const found = new Map<string, GitChange | null>();
  for (const line of lines) if (line.type === "git") found.set(line.id ?? String(found.size), line.change);
  return [...found.values()].filter((change) => change !== null);
}
