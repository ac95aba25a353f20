import type { Part } from "./parts.ts";

/** One entry of the history. Tool answers have the role `user`, as in @google/genai. */
export interface Message {
  readonly role: "user" | "model";
  readonly parts: readonly Part[];
}
