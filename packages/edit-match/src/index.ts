export {
  applyReplacements,
  type ClosestRegion,
  type EditMatch,
  type EditRequest,
  findEdit,
  type Replacement,
} from "./edit-match.ts";
export { newOmission } from "./placeholder.ts";
