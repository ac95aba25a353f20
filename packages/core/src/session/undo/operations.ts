import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import { readText } from "@burin/files/disk/regular-file";
import { codeOf } from "@burin/files/disk/system-error";
import { asSessionError } from "../log/session-error.ts";
import type { CallNote, FileChange, GitChange, JournalLine } from "./journal-line.ts";
import { undoFolder } from "./undo-journal.ts";

/** A journal has one line for each change of one session. */
const MOST_JOURNAL_BYTES = 256 * 1024 * 1024;

export interface Undoing {
  readonly id: string;
  readonly changes: readonly FileChange[];
  readonly git: readonly GitChange[];
  /** All changes are of one call, sorted by path. */
  readonly isSorted: boolean;
  /** Only some of its files are to be taken back. */
  readonly isPart?: boolean;
}

/** A call that changed files, or an undo that changed them back. */
export interface Operation extends Undoing {
  readonly call?: CallNote;
  readonly isShared?: boolean;
  readonly cut?: "during" | "after";
  readonly at: string;
  /** The journal that it is in: the id of a session, or another name. */
  readonly writer: string;
  /** What an undo has undone; null for a call. */
  readonly of: readonly string[] | null;
  /** Of what an undo has undone a part. */
  readonly partOf?: readonly string[];
  /** An undo that was killed before its end. */
  readonly isUnfinished?: boolean;
  /** 0 for a call, 1 for its undo, 2 for the undo of that, and so on. */
  depth: number;
  /** false while it is undone. */
  isInForce: boolean;
}

/** Throws SessionError when nothing is chosen and some could not be read: it may be what was meant. */
export function readOperations(
  home: string,
  root: string,
  choose: (operations: Operation[]) => readonly Operation[],
): readonly Operation[] {
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
    const all = [...of, ...(operation.partOf ?? [])];
    operation.depth = 1 + Math.max(0, ...all.map((its) => byId.get(its)?.depth ?? 0));
    setForce(id, true);
  }
  const chosen = choose(operations);
  if (chosen.length === 0 && faults.length > 0) throw faults[0];
  return chosen;
}

/** Whether the journal of a writer has this one. */
export function hasOperation(folder: string, { writer, id }: { writer: string; id: string }): boolean {
  const path = join(folder, `${writer}.jsonl`);
  return orElse([], () => operationsIn(path, writer)).some((one) => one.id === id);
}

function operationsIn(path: string, writer: string): Operation[] {
  // A line that a crash cut off describes a change that never happened.
  const read = (readText(path, MOST_JOURNAL_BYTES) ?? "").split("\n").map(parseJson);
  const lines = read.filter(isRecord) as unknown as JournalLine[];
  const forgotten = new Set(lines.flatMap((line) => (line.type === "forgotten" ? line.id : [])));
  const changes = lines.flatMap((line) => (line.type === "change" && !forgotten.has(line.id) ? line : []));
  const undo = lines.find((line) => line.type === "undo");
  if (undo?.type === "undo") {
    const { id, at, of, partOf = [] } = undo;
    return [{ ...UNDO, id, at, writer, changes, git: gitIn(lines), of, partOf }];
  }
  const begun = lines.find((line) => line.type === "undo_begun");
  if (begun?.type === "undo_begun") {
    const { id, at, of } = begun;
    const isUnfinished = true;
    return [{ ...UNDO, id, at, writer, changes, git: gitIn(lines), of: [], partOf: of, isUnfinished }];
  }
  const takenBack = new Set(lines.flatMap((line) => (line.type === "taken_back" ? line.id : [])));
  const edits = changes.map((change): Operation => {
    const { id, at } = change;
    // A call that took something back counts as the undo of a part of a call.
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

function gitIn(lines: readonly JournalLine[]): GitChange[] {
  const found = new Map<string, GitChange | null>();
  for (const line of lines) if (line.type === "git") found.set(line.id ?? String(found.size), line.change);
  return [...found.values()].filter((change) => change !== null);
}
