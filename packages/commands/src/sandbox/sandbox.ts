import type { SandboxedProgram } from "../processes/limited-program.ts";
import type { Guard } from "./sandbox-guard.ts";
import type { AllowedWrites } from "./sandbox-place.ts";
import type { SpaceVisit } from "./space-visit.ts";

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
  /**
   * For commands that run unasked because they only read: the environment that says which programs and settings they
   * use. Nothing else outside the roots is visible.
   */
  readonly reading?: Readonly<Record<string, string | undefined>>;
  /** The user's, which says where programs are, and where they keep their settings and caches. */
  readonly environment: NodeJS.ProcessEnv;
  /** This session's folder for the temporary files of commands. */
  readonly temporary: string;
  /** Resolves to what the commands of a session share; to null where the system does not allow it. */
  readonly space?: () => Promise<CommandSpace | null>;
}

/** A pid namespace and a network that all commands of a session share. */
export interface CommandSpace {
  /** Call before a command starts in it. */
  begin(): SpaceVisit;
  /** The program and arguments that start a command line in it. */
  enter(hasHostNetwork: boolean, line: readonly string[]): readonly [string, ...string[]];
}

export interface SandboxedCommand extends AllowedWrites {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly cwd: string;
  /** It uses the network of this machine. */
  readonly network: boolean;
  /** The words that start a program in another network namespace, where it then stays; not used in a shared space. */
  readonly within?: readonly string[];
  /** Work trees around the roots in which the user lets git write any file. */
  readonly trees?: readonly string[];
  /** Repositories beside a root in a temporary folder, where it can read them. */
  readonly neighbors?: readonly string[];
  /** Absolute paths in the roots that it must not change. */
  readonly readOnly?: readonly string[];
  /** It shares nothing with the commands of its session, and all that it started ends with it. */
  readonly isAlone?: boolean;
  /** It has its own terminal, which it must keep. */
  readonly hasTerminal?: boolean;
}

/** The program to start instead of the command itself. */
export interface SandboxPlan extends Guard, SandboxedProgram {
  readonly visit: SpaceVisit | null;
}

export interface Sandbox {
  readonly mode: Exclude<SandboxMode, "off">;
  plan(command: SandboxedCommand): Promise<SandboxPlan>;
  /** Whether a hook of git can be kept from writing what git itself may write. */
  canConfineHook?(): Promise<boolean>;
}

/** A sandbox, or the reason for the user why there is none. */
export type SandboxState =
  | { readonly sandbox: Sandbox }
  | { readonly sandbox: null; readonly reason: string };
