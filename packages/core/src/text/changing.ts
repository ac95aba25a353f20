/** What the tools that change files need of this room, as one thing to load with the first change. */

export { applyReplacements, findEdit, newOmission } from "@burin/edit-match";
export { fileDiff } from "@burin/machine/files/diff";
export { isNotebook } from "@burin/machine/parsing/notebook";
export { createdAnswer, isSameEdit, modifiedAnswer, notText, usersVersionAnswer } from "./edit-answer.ts";
export { changedLines, failureReport } from "./edit-report.ts";
export { findNotebookEdit } from "./notebook-edit.ts";
