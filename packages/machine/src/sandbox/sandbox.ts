import type { Before } from "./sandbox-guard.ts";
import type { TakenBack } from "./taken-back.ts";

/** How far a command may reach. `workspace-write`: the roots and a private temporary folder, no network. */
export const SANDBOX_MODES = ["off", "read-only", "workspace-write"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** What the limits are drawn around. */
export interface SandboxLimits {
  readonly mode: Exclude<SandboxMode, "off">;
  /** The folders that work stays in, by their real paths. */
  readonly roots: readonly string[];
  /** Where Burin keeps what belongs to the user: hidden, but for long outputs. */
  readonly home: string;
  /** Further folders that are hidden, but for the roots in them. */
  readonly hide?: readonly string[];
  /** A folder of this session's own, for the temporary files of commands. */
  readonly temporary: string;
}

export interface SandboxedCommand {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly cwd: string;
  readonly network: boolean;
  /** Nobody listens on descriptor 3: the program ends by itself, and all it started with it. */
  readonly isAlone?: boolean;
  /** It has a terminal of its own, which it must not lose. */
  readonly hasTerminal?: boolean;
}

/** What to start instead of the command itself. */
export interface SandboxPlan {
  readonly program: string;
  readonly args: readonly string[];
  /** Variables to add. */
  readonly env: Readonly<Record<string, string>>;
  /** The program tells on descriptor 3 how the command ended and what it left, and stays until that closes. */
  readonly hasControl: boolean;
  /** What is protected in the roots as the command starts; null when it can write to none. */
  readonly before: Before | null;
  /** Takes back what the command has made under protected names so far, and gives all that was taken. */
  look(): readonly TakenBack[];
  /** The same for the last time, to be called when nothing of the command is left. */
  release(): readonly TakenBack[];
}

/** One way to limit a command, where it is known to work. */
export interface Sandbox {
  readonly mode: Exclude<SandboxMode, "off">;
  plan(command: SandboxedCommand): Promise<SandboxPlan>;
}

/** A sandbox, or why there is none, in words for the user. */
export type SandboxState =
  | { readonly sandbox: Sandbox }
  | { readonly sandbox: null; readonly reason: string };
