import { describeError } from "@burin/core/internal";
import type { InlineData } from "@burin/core/sessions";

/** One step of a conversation, in a form common to all agents. */
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
  /** The agent's own id. */
  readonly id: string;
  readonly file: string;
  /** The folder it worked in; empty if its record does not say. */
  readonly folder: string;
  readonly read: () => Conversation;
}

export interface FoundRule {
  readonly list: "allow" | "ask" | "deny";
  readonly rule: string;
  /** The rule as the agent wrote it. */
  readonly of: string;
  /** It applies only in this folder. */
  readonly isOfProject: boolean;
}

/** The data of another agent, and what of it cannot be used here. */
export class Found {
  readonly sessions: FoundSession[] = [];
  readonly rules: FoundRule[] = [];
  readonly servers: { readonly alias: string; readonly definition: Fields }[] = [];
  /** Texts that the user wrote for the model, in all projects. */
  readonly memories: { readonly file: string; readonly text: string }[] = [];
  readonly settings: { readonly path: readonly string[]; readonly value: unknown }[] = [];
  readonly left: { readonly what: string; readonly why: string }[] = [];
  /** What could not be written. */
  readonly failed: { readonly what: string; readonly why: string }[] = [];

  /** `why` is the reason in words, or an error with it. */
  leave(what: string, why: unknown): void {
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
  /** The user also wants the data in the project, which may come from somebody else. */
  readonly withProject: boolean;
}

export type Fields = Readonly<Record<string, unknown>>;

export function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The strings of a list, or the one string given instead. */
export function toTexts(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === "string");
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
