import { getOrCreate } from "@burin/contract/async/once";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type { GuardNote } from "../processes/process-ledger.ts";
import { createGuardNote } from "../sandbox/guard-notes.ts";
import { beginAllowedCall } from "../sandbox/permissions.ts";
import type {
  CommandSpace,
  SandboxedCommand,
  SandboxMode,
  SandboxPlan,
  SandboxState,
} from "../sandbox/sandbox.ts";
import { probeSandbox } from "../sandbox/sandbox-probe.ts";
import type { CommandsOptions } from "./command-request.ts";

export interface SandboxOptions
  extends Pick<CommandsOptions, "sandbox" | "roots" | "home" | "hide" | "environment"> {
  /** Returns the folder for this session's temporary files; creates it with the first call. */
  readonly temporary: () => string;
  readonly space: () => Promise<CommandSpace | null>;
  /**
   * Called with the protected paths while a command runs, in case of a crash. Call the returned function when the
   * command has ended.
   */
  readonly onGuard: (note: GuardNote) => () => void;
}

/** Wraps programs in this session's sandbox, which is chosen when the first one starts. */
export function createCommandLimits(options: SandboxOptions) {
  const { sandbox: mode, temporary, onGuard } = options;
  const states = new Map<SandboxMode | "reading", Promise<SandboxState>>();
  const getModeState = (one: SandboxMode) => getOrCreate(states, one, () => probeMode(one, options));
  const probeReadOnly = () =>
    getOrCreate(states, "reading", () => probeMode("read-only", options, options.environment));
  const probeState = (isReadOnly: boolean) =>
    isReadOnly && mode !== "off" ? probeReadOnly() : getModeState(mode);
  const planCommand = async ({ sandbox }: SandboxState, command: SandboxedCommand) => {
    if (sandbox === null) return null;
    const { writes = [] } = command;
    const call = writes.length === 0 ? null : beginAllowedCall({ home: options.home, paths: writes });
    const plan = await sandbox.plan(command).catch((error) => {
      call?.end();
      throw error;
    });
    if (plan.before === null) return plan;
    const forget = onGuard(createGuardNote({ ...plan.before, roots: options.roots, temporary: temporary() }));
    return {
      ...plan,
      release: async () => {
        // Called when no process of the command is left: all that it has written there was allowed.
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
    state: probeState,
    /** Plans a command; resolves to null where there is no sandbox. */
    plan: async (command: SandboxedCommand, isReadOnly: boolean): Promise<SandboxPlan | null> =>
      planCommand(await probeState(isReadOnly), command),
    /** Plans a program that must be sandboxed, even where commands are not. Throws if the system has no sandbox. */
    async confine(command: SandboxedCommand): Promise<SandboxPlan> {
      const found = await getModeState(mode === "off" ? "workspace-write" : mode);
      const plan = await planCommand(found, command);
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

async function probeMode(
  mode: SandboxMode,
  options: SandboxOptions,
  reading?: NodeJS.ProcessEnv,
): Promise<SandboxState> {
  if (mode === "off") return { sandbox: null, reason: "it is switched off" };
  const { roots, home, hide, environment, temporary, space } = options;
  const own = { temporary: temporary(), space, environment };
  const limits = { mode, roots, home, ...(hide && { hide }), ...(reading && { reading }), ...own };
  return probeSandbox(limits, environment);
}
