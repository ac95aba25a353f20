import type { InlineData } from "@burin/core";

/** One step of a conversation, in the words that all agents share. */
export type Step = { readonly at: string } & (
  | { readonly kind: "user" | "model"; readonly text: string; readonly media?: readonly InlineData[] }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: "answer";
      readonly id: string;
      readonly text: string;
      readonly media?: readonly InlineData[];
      readonly isError: boolean;
    }
);

/** A conversation as another agent has recorded it. */
export interface Talk {
  readonly model: string;
  readonly steps: readonly Step[];
}

export interface FoundSession {
  /** By the agent's own count. */
  readonly id: string;
  readonly file: string;
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

export interface FoundServer {
  readonly alias: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** What the user has written for the model, in all projects. */
export interface FoundMemory {
  readonly file: string;
  readonly text: string;
}

export interface FoundSetting {
  readonly path: readonly string[];
  readonly value: unknown;
}

export interface Left {
  readonly what: string;
  readonly why: string;
}

/** What another agent has, and what of it has no place here. */
export class Found {
  readonly sessions: FoundSession[] = [];
  readonly rules: FoundRule[] = [];
  readonly servers: FoundServer[] = [];
  readonly memories: FoundMemory[] = [];
  readonly settings: FoundSetting[] = [];
  readonly left: Left[] = [];

  leave(what: string, why: string): void {
    this.left.push({ what, why });
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

export function texts(value: unknown): string[] {
  return list(value).filter((one) => typeof one === "string");
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
