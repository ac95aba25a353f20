/** Everything that writing a whole file needs, as one module that is loaded with the first write. */

export { findNewOmission } from "@burin/edit-match";
export { buildFileDiff } from "@burin/files/workspace/diff";
