export * from "./edit-match.ts";
export { findNewOmission } from "./placeholder.ts";
