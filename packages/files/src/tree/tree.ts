/** What other folders and packages may use of `tree`. */
export { findChangedPaths, snapshotTree, type TreeRequest, type TreeSnapshot } from "../ignore/tree-look.ts";
export { matchesIndexEntry, parseIndex } from "./git-index.ts";
export {
  findRepository,
  hashRepository,
  type Repository,
  RepositoryReader,
  type RepositorySnapshot,
  readNewParents,
} from "./repository.ts";
export {
  findUnrestorable,
  MAX_UNDO_BYTES,
  parseStamp,
  readStamp as readStampAt,
  snapshotWork,
  type WorkSnapshot,
} from "./work-look.ts";
