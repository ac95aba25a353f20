import { createLazyMethods } from "@burin/contract/async/lazy-methods";
import type { TreeChange } from "./merge-tree.ts";
import type { WorkTree, WorkTreeLocation } from "./work-trees.ts";

/** Creates work trees, and merges their changes back. The code is loaded with the first call. */
export const workTrees = createLazyMethods(async () => {
  const [trees, merge] = await Promise.all([import("./work-trees.ts"), import("./merge-tree.ts")]);
  return {
    open: trees.openWorkTree,
    /** Lists what is left of work trees that are not whole. */
    remains: async (place: WorkTreeLocation) => trees.listTreeRemains(place),
    list: async (place: WorkTreeLocation) => trees.listWorkTrees(place),
    find: async (place: WorkTreeLocation) => trees.findWorkTree(place),
    isInUse: trees.isTreeInUse,
    remove: trees.removeWorkTree,
    changes: async (place: WorkTreeLocation, tree: WorkTree) =>
      merge.findTreeChanges(tree, place.environment),
    /** Returns the change with exactly the content of the work tree. */
    theirs: async (_: WorkTreeLocation, tree: WorkTree, change: TreeChange) =>
      merge.chooseTreeVersion(tree, change),
    take: merge.takeTreeChanges,
    noteMerged: async (place: WorkTreeLocation, tree: WorkTree) => merge.noteMerged(tree, place.environment),
    canRemove: async (place: WorkTreeLocation, tree: WorkTree) =>
      merge.canRemoveTree(tree, place.environment),
    keepAttempt: async (tree: WorkTree, attempt: object) => trees.keepAttempt(tree, attempt),
    attempt: async (tree: WorkTree) => trees.readAttempt(tree),
  };
}, [
  "open",
  "remains",
  "list",
  "find",
  "isInUse",
  "remove",
  "changes",
  "theirs",
  "take",
  "noteMerged",
  "canRemove",
  "keepAttempt",
  "attempt",
]);
