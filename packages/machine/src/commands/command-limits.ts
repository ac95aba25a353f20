import { onceFor } from "@burin/contract/async/once";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type { SandboxedCommand, SandboxMode, SandboxPlan, SandboxState } from "../sandbox/sandbox.ts";
import type { Before } from "../sandbox/sandbox-guard.ts";
import type { CommandsOptions } from "./command-request.ts";

export interface LimitsOptions
  extends Pick<CommandsOptions, "sandbox" | "roots" | "home" | "hide" | "environment"> {
  /** Returns the folder for this session's temporary files; creates it with the first call. */
  readonly temporary: () => string;
  /** Called with what is protected while a command runs, in case of a crash; the returned function ends that. */
  readonly onGuard: (before: Before, temporary: string) => () => void;
}

/** Wraps programs in this session's limits, which are determined with the first one. */
export class CommandLimits {
  readonly #options: LimitsOptions;
  readonly #states = new Map<SandboxMode, Promise<SandboxState>>();

  constructor(options: LimitsOptions) {
    this.#options = options;
  }

  /** Returns the limits that commands run in; with `isReadOnly`, those of a command that may change nothing. */
  state(isReadOnly = false): Promise<SandboxState> {
    const { sandbox: mode } = this.#options;
    return this.#in(isReadOnly && mode !== "off" ? "read-only" : mode);
  }

  #in(mode: SandboxMode): Promise<SandboxState> {
    return onceFor(this.#states, mode, () => this.#probe(mode));
  }

  async #probe(mode: SandboxMode): Promise<SandboxState> {
    if (mode === "off") return { sandbox: null, reason: "it is switched off" };
    const { roots, home, hide, environment, temporary } = this.#options;
    const { probeSandbox } = await import("../sandbox/sandbox-probe.ts");
    return probeSandbox({ mode, roots, home, ...(hide && { hide }), temporary: temporary() }, environment);
  }

  /** null where there is no sandbox. */
  async plan(command: SandboxedCommand, isReadOnly: boolean): Promise<SandboxPlan | null> {
    return this.#planIn(await this.state(isReadOnly), command);
  }

  /** For a program that must have limits, also where commands have none. Throws if the system has no sandbox. */
  async confined(command: SandboxedCommand): Promise<SandboxPlan> {
    const { sandbox: mode } = this.#options;
    const state = await this.#in(mode === "off" ? "workspace-write" : mode);
    const plan = await this.#planIn(state, command);
    if (plan !== null) return plan;
    const reason = state.sandbox === null ? state.reason : "";
    throw new WorkspaceError(
      "permission_denied",
      `${command.argv[0]} was not started: it must run in the sandbox, and there is none (${reason}).`,
    );
  }

  async #planIn({ sandbox }: SandboxState, command: SandboxedCommand): Promise<SandboxPlan | null> {
    if (sandbox === null) return null;
    const plan = await sandbox.plan(command);
    if (plan.before === null) return plan;
    const forget = this.#options.onGuard(plan.before, this.#options.temporary());
    const release = () => {
      const taken = plan.release();
      forget();
      return taken;
    };
    return { ...plan, release };
  }

  /** The temporary folder is gone; the next command needs another. */
  forget(): void {
    this.#states.clear();
  }
}
