import { createLazyMethods } from "@burin/contract/async/lazy-methods";

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

/** Undo looks for git where the caller's environment says, and otherwise where that of this process does. */
function addEnvironment<
  Options extends { readonly environment?: NodeJS.ProcessEnv },
  Rest extends unknown[],
  R,
>(work: (options: Options, ...rest: Rest) => R): (options: Options, ...rest: Rest) => R {
  return (options, ...rest) => work({ ...options, environment: options.environment ?? process.env }, ...rest);
}

/** Undoes changes of files, latest first. Returns what happened to each file. */
export const undo = addEnvironment(late.undo);
/** Lists the changes of a folder that can be undone, latest first. */
export const listUndoEntries = addEnvironment(late.listUndoEntries);
/** Returns the scope of an undo for a user who names no session. */
export const resolveUndoScope = addEnvironment(late.resolveUndoScope);
/** Removes everything that is stored for undo in a folder. */
export const forgetUndo = late.forgetUndo;
export const planUndo = addEnvironment(late.planUndo);
export const runUndoInCopy = addEnvironment(late.runUndoInCopy);
export const { recordTakenBack } = late;

/** Finds out what calls changed whose Burin process was killed, so that it can be undone too. */
export const settleCutCalls = createLazyMethods(
  () => import("./cut-calls.ts"),
  ["settleCutCalls"],
).settleCutCalls;
