import type { Part } from "./parts.ts";

/** One entry of the history. Tool answers are sent by the `user` role, as in @google/genai. */
export interface Message {
  readonly role: "user" | "model";
  readonly parts: readonly Part[];
}
