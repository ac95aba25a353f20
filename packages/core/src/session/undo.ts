import { join, relative } from "node:path";
import { lockPath } from "@burin/machine/disk/path-lock";
import { type FileOutcome, takeBack, type UndoPlace } from "./take-back.ts";
import { newChangeId, UndoJournal, undoFolder } from "./undo-journal.ts";
import { type Operation, readOperations } from "./undo-operations.ts";

export interface UndoOptions {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** The real path of the project's folder. */
  readonly root: string;
  /** The last so many calls that are in force; without it the last thing that happened, be it an undo. */
  readonly count?: number;
  /** All calls of this session that are in force. */
  readonly session?: string;
}

export interface UndoResult {
  /** An undo was taken back: what calls did is there again. */
  readonly isRedo: boolean;
  readonly files: readonly FileOutcome[];
}

/** One operation as a list shows it. */
export interface UndoEntry {
  readonly id: string;
  readonly at: string;
  readonly kind: "call" | "undo";
  readonly writer: string;
  readonly files: readonly string[];
  /** false while it is taken back. */
  readonly isInForce: boolean;
}

export function listOperations({ home, root }: Pick<UndoOptions, "home" | "root">): UndoEntry[] {
  const entries = readOperations(home, root).map(({ id, at, writer, of, isInForce, changes }) => ({
    id,
    at,
    kind: of === null ? ("call" as const) : ("undo" as const),
    writer,
    files: changes.map(({ file }) => relative(root, file)),
    isInForce,
  }));
  return entries.reverse();
}

/** Of two that undo at once the second takes back what was before. */
export function takeBackLast(options: UndoOptions): Promise<UndoResult> {
  return lockPath(undoFolder(options.home, options.root), () => takeBackChosen(options));
}

async function takeBackChosen(options: UndoOptions): Promise<UndoResult> {
  const { home, root } = options;
  const chosen = chosenFrom(readOperations(home, root), options);
  const id = newChangeId();
  const journal = new UndoJournal(home, root, `undo-${id}`);
  const place: UndoPlace = { folder: undoFolder(home, root), root, onChange: journal.onChange };
  const files: FileOutcome[] = [];
  const refused = new Set<string>();
  const of: string[] = [];
  for (const operation of chosen) {
    const before = refused.size;
    for (const change of [...operation.changes].reverse()) {
      const outcome = await takeBack(change, place, refused.has(change.file));
      if (outcome.what === "refused") refused.add(change.file);
      files.push(outcome);
    }
    if (refused.size === before) of.push(operation.id);
  }
  if (of.length > 0) journal.append({ type: "undo", id, at: new Date().toISOString(), of });
  return { isRedo: (chosen[0]?.depth ?? 0) % 2 === 1, files };
}

/** Takes back in a copy of the project's folder what a session did, as far as it can be; says what could not. */
export async function takeBackIn(
  copy: string,
  { home, root, session }: Pick<UndoOptions, "home" | "root" | "session">,
): Promise<FileOutcome[]> {
  const chosen = chosenFrom(readOperations(home, root), { home, root, session: session ?? "" });
  const place = { folder: undoFolder(home, root), root: copy, onChange: () => ({ note: null, forget() {} }) };
  const outcomes: FileOutcome[] = [];
  for (const change of chosen.flatMap(({ changes }) => changes)) {
    const inside = relative(root, change.file);
    if (inside.startsWith("..")) continue;
    const isBehind = outcomes.some(({ file, what }) => file === inside && what === "refused");
    outcomes.push(await takeBack({ ...change, file: join(copy, inside) }, place, isBehind));
  }
  return outcomes.filter(({ what }) => what === "refused");
}

/** The last first. */
function chosenFrom(operations: readonly Operation[], { count, session }: UndoOptions): Operation[] {
  const inForce = operations.filter(({ isInForce }) => isInForce).reverse();
  if (session !== undefined) return inForce.filter(({ writer }) => writer === session);
  if (count === undefined) return inForce.slice(0, 1);
  return inForce.filter(({ of }) => of === null).slice(0, count);
}
