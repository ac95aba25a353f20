export * from "./edit-match.ts";
export { newOmission } from "./placeholder.ts";
