/** Everything that the edit tool needs from this room, as one module to load with the first edit. */

export { applyReplacements, findEdit } from "@burin/edit-match";
export { fileDiff } from "@burin/machine/files/diff";
export { isNotebook } from "@burin/machine/parsing/notebook";
export * from "./edit-report.ts";
