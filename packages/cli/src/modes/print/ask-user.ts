// Loaded only where somebody can answer: a start does not need it.
export { AskUser } from "@burin/core/internal";
