import type { FileOutcome } from "./take-back.ts";
import type { UndoEntry, UndoOptions, UndoResult } from "./undo.ts";

/**
 * Takes back what calls did to files, and spares whatever was changed since: a file is set back where it
 * still holds what the call left, merged where other lines were changed, and else left alone, with the reason.
 * What it does is itself kept, so that it can be taken back the same way.
 */
export async function undo(options: UndoOptions): Promise<UndoResult> {
  return (await import("./undo.ts")).takeBackLast(options);
}

/** Takes back in a copy of the project's folder what a session did; resolves to what could not be. */
export async function undoInCopy(
  copy: string,
  session: Required<Pick<UndoOptions, "home" | "root" | "session">>,
): Promise<FileOutcome[]> {
  return (await import("./undo.ts")).takeBackIn(copy, session);
}

/** What can be taken back, the last first. */
export async function undoEntries(place: Pick<UndoOptions, "home" | "root">): Promise<UndoEntry[]> {
  return (await import("./undo.ts")).listOperations(place);
}
