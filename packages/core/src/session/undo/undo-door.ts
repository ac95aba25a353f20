import { lazily } from "@burin/contract/async/lazily";

/** The functions of undo.ts, loaded at the first call. */
export const { undo, undoEntries, undoInCopy, undoScope, noteTakenBack, forgetUndo, undoPlan } = lazily(
  () => import("./undo.ts"),
  ["undo", "undoEntries", "undoInCopy", "undoScope", "noteTakenBack", "forgetUndo", "undoPlan"],
);

/** Those of cut-calls.ts. */
export const { settleCutCalls } = lazily(() => import("./cut-calls.ts"), ["settleCutCalls"]);
