import type { InlineData } from "@burin/core";

/** One step of a conversation, in the words that all agents share. */
export type Step = { readonly at: string } & (
  | ({ readonly kind: "user" | "model" } & Said)
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly args: Fields }
  | ({ readonly kind: "answer"; readonly id: string; readonly isError: boolean } & Said)
);

export interface Said {
  readonly text: string;
  readonly media?: readonly InlineData[];
}

/** A conversation as another agent has recorded it. */
export interface Talk {
  readonly model: string;
  readonly steps: readonly Step[];
}

export interface FoundSession {
  /** By the agent's own count. */
  readonly id: string;
  readonly file: string;
  /** Where it was held; empty where its record does not say. */
  readonly folder: string;
  readonly read: () => Talk;
}

export interface FoundRule {
  readonly list: "allow" | "ask" | "deny";
  readonly rule: string;
  /** How the agent wrote it. */
  readonly of: string;
  /** It holds in this folder alone. */
  readonly isOfProject: boolean;
}

/** What another agent has, and what of it has no place here. */
export class Found {
  readonly sessions: FoundSession[] = [];
  readonly rules: FoundRule[] = [];
  readonly servers: { readonly alias: string; readonly definition: Fields }[] = [];
  /** What the user has written for the model, in all projects. */
  readonly memories: { readonly file: string; readonly text: string }[] = [];
  readonly settings: { readonly path: readonly string[]; readonly value: unknown }[] = [];
  readonly left: { readonly what: string; readonly why: string }[] = [];

  /** The reason in words, or the error that says it. */
  leave(what: string, why: unknown): void {
    this.left.push({ what, why: why instanceof Error ? why.message : String(why) });
  }
}

/** Where to look. */
export interface Places {
  /** The agent's own folder. */
  readonly folder: string;
  /** The user's home. */
  readonly userHome: string;
  /** The real path of the project. */
  readonly root: string;
  /** The user also wants what lies in the project, where somebody else may have put it. */
  readonly withProject: boolean;
}

export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts of a list, or the one text that stands in its place. */
export function texts(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === "string");
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
