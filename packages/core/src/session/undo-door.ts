import type { UndoEntry, UndoOptions, UndoResult } from "./undo.ts";

/**
 * Takes back what calls did to files, and spares whatever was changed since: a file is set back where it
 * still holds what the call left, merged where other lines were changed, and else left alone, with the reason.
 * What it does is itself kept, so that it can be taken back the same way.
 */
export async function undo(options: UndoOptions): Promise<UndoResult> {
  return (await import("./undo.ts")).takeBackLast(options);
}

/** What can be taken back, the last first. */
export async function undoEntries(place: Pick<UndoOptions, "home" | "root">): Promise<UndoEntry[]> {
  return (await import("./undo.ts")).listOperations(place);
}
