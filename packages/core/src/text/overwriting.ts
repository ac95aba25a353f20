/** What writing a whole file needs of this room, as one thing to load with the first one. */

export { newOmission } from "@burin/edit-match";
export { fileDiff } from "@burin/machine/files/diff";
