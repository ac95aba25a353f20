/** What the tools that change files need of this room, as one thing to load with the first change. */
export { fileDiff } from "./diff.ts";
export { createdAnswer, isSameEdit, modifiedAnswer, notText, personsVersionAnswer } from "./edit-answer.ts";
export { applyReplacements, findEdit } from "./edit-match.ts";
export { changedLines, failureReport } from "./edit-report.ts";
export { largeChangedLines, largeDiff, largeFailure } from "./large-edit-report.ts";
export { isNotebook } from "./notebook.ts";
export { findNotebookEdit } from "./notebook-edit.ts";
export { newOmission } from "./omission-placeholder.ts";
