import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readText } from "@burin/machine/disk/regular-file";
import { type FileChange, type JournalLine, undoFolder } from "./undo-journal.ts";

/** A line for each change of one session. */
const MOST_BYTES = 256 * 1024 * 1024;

/** A call that changed files, or an undo, which changed them back. */
export interface Operation {
  readonly id: string;
  readonly at: string;
  /** The journal that tells of it: the id of a session, or another name. */
  readonly writer: string;
  readonly changes: readonly FileChange[];
  /** What an undo took back; null for a call. */
  readonly of: readonly string[] | null;
  /** 0 for a call, 1 for its undo, 2 for the undo of that, and so on. */
  depth: number;
  /** false while it is taken back. */
  isInForce: boolean;
}

/** All that happened to the files of a project, the oldest first. */
export function readOperations(home: string, root: string): Operation[] {
  const folder = undoFolder(home, root);
  const operations = journalsIn(folder)
    .flatMap((name) => operationsIn(join(folder, name), name.slice(0, -".jsonl".length)))
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
  return operations;
}

function journalsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  } catch {
    return [];
  }
}

function operationsIn(path: string, writer: string): Operation[] {
  const lines = (readText(path, MOST_BYTES) ?? "").split("\n").flatMap(parsedLine);
  const forgotten = new Set(lines.flatMap((line) => (line.type === "forgotten" ? line.id : [])));
  const changes = lines.flatMap((line) => (line.type === "change" && !forgotten.has(line.id) ? line : []));
  const undo = lines.find((line) => line.type === "undo");
  if (undo?.type === "undo") {
    return [{ id: undo.id, at: undo.at, writer, changes, of: undo.of, depth: 1, isInForce: true }];
  }
  return changes.map((change) => {
    return { id: change.id, at: change.at, writer, changes: [change], of: null, depth: 0, isInForce: true };
  });
}

/** A line that a crash has cut tells of a change that never happened. */
function parsedLine(text: string): JournalLine[] {
  try {
    return text === "" ? [] : [JSON.parse(text) as JournalLine];
  } catch {
    return [];
  }
}
