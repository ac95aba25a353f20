import { createLazyMethods } from "@burin/contract/async/lazily";

/** The functions of undo.ts, loaded on the first call. */
const late = createLazyMethods(
  () => import("./undo.ts"),
  [
    "undo",
    "listUndoEntries",
    "runUndoInCopy",
    "resolveUndoScope",
    "recordTakenBack",
    "forgetUndo",
    "planUndo",
  ],
);

/** Undoes changes of files, latest first. Returns what happened to each file. */
export const undo = late.undo;
/** Lists the changes of a folder that can be undone, latest first. */
export const listUndoEntries = late.listUndoEntries;
/** Returns the scope of an undo for a user who names no session. */
export const resolveUndoScope = late.resolveUndoScope;
/** Removes everything that is stored for undo in a folder. */
export const forgetUndo = late.forgetUndo;
export const { runUndoInCopy, recordTakenBack, planUndo } = late;

/** Finds out what calls changed whose Burin process was killed, so that it can be undone too. */
export const settleCutCalls = createLazyMethods(
  () => import("./cut-calls.ts"),
  ["settleCutCalls"],
).settleCutCalls;
