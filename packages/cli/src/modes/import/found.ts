import { describeError } from "@burin/core/internal";
import type { InlineData } from "@burin/core/sessions";

/** One step of a conversation, in a form that is common to all agents. */
export type Step = { readonly at: string } & (
  | ({ readonly kind: "user" | "model" } & MessageContent)
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly args: Fields }
  | ({ readonly kind: "answer"; readonly id: string; readonly isError: boolean } & MessageContent)
);

export interface MessageContent {
  readonly text: string;
  readonly media?: readonly InlineData[];
}

/** A conversation recorded by another agent. */
export interface Conversation {
  readonly model: string;
  readonly steps: readonly Step[];
}

export interface FoundSession {
  /** The session's id in the agent that recorded it. */
  readonly id: string;
  readonly file: string;
  /** The folder that the session worked in; empty if its record does not say. */
  readonly folder: string;
  readonly read: () => Conversation;
}

export interface FoundRule {
  readonly list: "allow" | "ask" | "deny";
  readonly rule: string;
  /** The rule as the agent wrote it. */
  readonly of: string;
  /** The rule applies only in this folder. */
  readonly isOfProject: boolean;
}

/** Another agent's data, and what cannot be used here. */
export class Found {
  readonly sessions: FoundSession[] = [];
  readonly rules: FoundRule[] = [];
  readonly servers: { readonly alias: string; readonly definition: Fields }[] = [];
  /** Instructions that the user wrote for the model, for all projects. */
  readonly memories: { readonly file: string; readonly text: string }[] = [];
  readonly settings: { readonly path: readonly string[]; readonly value: unknown }[] = [];
  readonly left: { readonly what: string; readonly why: string }[] = [];
  /** What could not be written, and why. */
  readonly failed: { readonly what: string; readonly why: string }[] = [];

  /** Notes that something is not imported. `why` is a text or an error. */
  noteLeftOut(what: string, why: unknown): void {
    this.left.push({ what, why: describeError(why) });
  }
}

export interface ImportLocations {
  /** The agent's own folder. */
  readonly folder: string;
  /** The user's home. */
  readonly userHome: string;
  /** The real path of the project. */
  readonly root: string;
  /** The user also wants the project's own data, which may come from somebody else. */
  readonly withProject: boolean;
}

export type Fields = Readonly<Record<string, unknown>>;

export function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the strings in a list; a single string counts as a list of one. */
export function toTexts(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === "string");
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
