/** Everything that the edit tool needs, as one module that is loaded with the first edit. */

export { applyReplacements, findEdit } from "@burin/edit-match";
export { mayBeNotebook } from "@burin/files/parsing/documents";
export { buildFileDiff } from "@burin/files/workspace/diff";
export * from "./edit-report.ts";
