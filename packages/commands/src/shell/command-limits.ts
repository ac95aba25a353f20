import { onceFor } from "@burin/contract/async/once";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type { GuardNote } from "../processes/process-ledger.ts";
import { guardNote } from "../sandbox/guard-notes.ts";
import { beginAllowedCall } from "../sandbox/permissions.ts";
import type {
  CommandSpace,
  SandboxedCommand,
  SandboxMode,
  SandboxPlan,
  SandboxState,
} from "../sandbox/sandbox.ts";
import type { CommandsOptions } from "./command-request.ts";

export interface LimitsOptions
  extends Pick<CommandsOptions, "sandbox" | "roots" | "home" | "hide" | "environment"> {
  /** Returns the folder for this session's temporary files; creates it with the first call. */
  readonly temporary: () => string;
  readonly space: () => Promise<CommandSpace | null>;
  /** Called with what is protected while a command runs, in case of a crash; the returned function ends that. */
  readonly onGuard: (note: GuardNote) => () => void;
}

/** Wraps programs in this session's limits, which are determined with the first one. */
export function commandLimits(options: LimitsOptions) {
  const { sandbox: mode, temporary, onGuard } = options;
  const states = new Map<SandboxMode | "reading", Promise<SandboxState>>();
  const stateIn = (one: SandboxMode) => onceFor(states, one, () => probe(one, options));
  const reading = () => onceFor(states, "reading", () => probe("read-only", options, options.environment));
  const state = (isReadOnly: boolean) => (isReadOnly && mode !== "off" ? reading() : stateIn(mode));
  const planIn = async ({ sandbox }: SandboxState, command: SandboxedCommand) => {
    if (sandbox === null) return null;
    const { writes = [] } = command;
    const call = writes.length === 0 ? null : beginAllowedCall({ home: options.home, paths: writes });
    const plan = await sandbox.plan(command).catch((error) => {
      call?.end();
      throw error;
    });
    if (plan.before === null) return plan;
    const forget = onGuard(guardNote({ ...plan.before, roots: options.roots, temporary: temporary() }));
    return {
      ...plan,
      release: async () => {
        // Nothing of the command is left, so this is what it was allowed to write.
        call?.endWithFiles();
        const taken = await plan.release();
        forget();
        return taken;
      },
      releaseNow: () => {
        call?.endWithFiles();
        plan.releaseNow();
        forget();
      },
    };
  };
  return {
    /** Returns the limits that commands run in; with `isReadOnly`, those of a command that may change nothing. */
    state,
    /** null where there is no sandbox. */
    plan: async (command: SandboxedCommand, isReadOnly: boolean): Promise<SandboxPlan | null> =>
      planIn(await state(isReadOnly), command),
    /** For a program that must have limits, also where commands have none. Throws if the system has no sandbox. */
    async confined(command: SandboxedCommand): Promise<SandboxPlan> {
      const found = await stateIn(mode === "off" ? "workspace-write" : mode);
      const plan = await planIn(found, command);
      if (plan !== null) return plan;
      const reason = found.sandbox === null ? found.reason : "";
      throw new WorkspaceError(
        "permission_denied",
        `${command.argv[0]} was not started: it must run in the sandbox, and there is none (${reason}).`,
      );
    },
    /** The temporary folder is gone; the next command needs another. */
    forget: () => states.clear(),
  };
}

async function probe(
  mode: SandboxMode,
  options: LimitsOptions,
  reading?: NodeJS.ProcessEnv,
): Promise<SandboxState> {
  if (mode === "off") return { sandbox: null, reason: "it is switched off" };
  const { roots, home, hide, environment, temporary, space } = options;
  const { probeSandbox } = await import("../sandbox/sandbox-probe.ts");
  const own = { temporary: temporary(), space, environment };
  const limits = { mode, roots, home, ...(hide && { hide }), ...(reading && { reading }), ...own };
  return probeSandbox(limits, environment);
}
