/** Everything that writing a whole file needs from this room, as one module to load with the first write. */

export { newOmission } from "@burin/edit-match";
export { fileDiff } from "@burin/files/workspace/diff";
