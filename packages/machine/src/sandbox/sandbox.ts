import type { Guard } from "./sandbox-guard.ts";

/** What a command can reach. `workspace-write`: the roots and a private temporary folder, no network. */
export const SANDBOX_MODES = ["off", "read-only", "workspace-write"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

export interface SandboxLimits {
  readonly mode: Exclude<SandboxMode, "off">;
  /** The real paths of the roots. */
  readonly roots: readonly string[];
  /** Burin's home with the user's data: hidden, except for long outputs. */
  readonly home: string;
  /** Further folders that are hidden, except for roots in them. */
  readonly hide?: readonly string[];
  /** This session's folder for the temporary files of commands. */
  readonly temporary: string;
}

export interface SandboxedCommand {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly cwd: string;
  /** It uses the network of this machine. */
  readonly network: boolean;
  /** The words that start a program in another network namespace, in which it then stays. */
  readonly within?: readonly string[];
  /** There is no listener on descriptor 3: the program ends by itself, and with it all it started. */
  readonly isAlone?: boolean;
  /** It has its own terminal, which it must keep. */
  readonly hasTerminal?: boolean;
}

/** The program to start instead of the command itself. */
export interface SandboxPlan extends Guard {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The program reports on descriptor 3 how the command ended and what it left, and stays until that is closed. */
  readonly hasControl: boolean;
}

export interface Sandbox {
  readonly mode: Exclude<SandboxMode, "off">;
  plan(command: SandboxedCommand): Promise<SandboxPlan>;
}

/** A sandbox, or the reason for the user why there is none. */
export type SandboxState =
  | { readonly sandbox: Sandbox }
  | { readonly sandbox: null; readonly reason: string };
