import { lazily } from "@burin/machine/files/lazily";

/** What undo does, loaded with the first question: see undo.ts. */
export const { undo, undoEntries, undoInCopy } = lazily(
  () => import("./undo.ts"),
  ["undo", "undoEntries", "undoInCopy"],
);
