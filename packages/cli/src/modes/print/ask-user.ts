// A separate module, loaded only if somebody can answer, so that other starts need not load it.
export { AskUser } from "@burin/core/internal";
