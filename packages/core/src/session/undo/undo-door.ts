import { lazily } from "@burin/contract/async/lazily";

/** The functions of undo.ts, loaded at the first call. */
const late = lazily(
  () => import("./undo.ts"),
  ["undo", "undoEntries", "undoInCopy", "undoScope", "noteTakenBack", "forgetUndo", "undoPlan"],
);

/** Takes back changes of files, the latest first, and says what became of each file. */
export const undo = late.undo;
/** The changes of a folder that can be taken back, the latest first. */
export const undoEntries = late.undoEntries;
/** Whose changes a user means who names no session. */
export const undoScope = late.undoScope;
/** Removes what is stored to take changes of a folder back. */
export const forgetUndo = late.forgetUndo;
export const { undoInCopy, noteTakenBack, undoPlan } = late;

/** Finds out what calls changed whose Burin was killed, so that it can be taken back too. */
export const settleCutCalls = lazily(() => import("./cut-calls.ts"), ["settleCutCalls"]).settleCutCalls;
