/** Everything that the edit tool needs from this room, as one module to load with the first edit. */

export { applyReplacements, findEdit } from "@burin/edit-match";
export { isNotebook } from "@burin/files/parsing/notebook";
export { fileDiff } from "@burin/files/workspace/diff";
export * from "./edit-report.ts";
