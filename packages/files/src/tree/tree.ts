/** The door of this room. */
export { changedPaths, lookAtTree, type TreeLook, type TreeRequest } from "../ignore/tree-look.ts";
export { isAsInIndex, parseIndex } from "./git-index.ts";
export {
  findRepository,
  markOf,
  type Repository,
  type RepositoryLook,
  RepositoryReader,
} from "./repository.ts";
export { lookAtWork, MOST_KEPT_BYTES, readStamp, stampNow, type WorkLook } from "./work-look.ts";
