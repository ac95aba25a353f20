import type { Workspace } from "@burin/contract/machine/workspace";
import type { Settings } from "@burin/contract/settings/settings";
import type { MachineCommands } from "@burin/machine/machine";
import type { ExchangeEnd } from "@burin/machine/processes/run-exchange";

export interface CommandGround {
  readonly settings: Settings;
  readonly workspace: Workspace;
  readonly commands: MachineCommands;
  /** Whether they run with the limits of the shell tool's commands. */
  readonly isConfined: boolean;
}

/** A line of the shell that settings name, with what it reads. */
export interface CommandRequest {
  readonly command: string;
  readonly input: string;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

const MOST_BYTES = 10 * 1024 * 1024;

/** Runs the commands that settings name, with the environment of every child. */
export function commandRunner({ settings, workspace: { root: cwd }, commands, isConfined }: CommandGround) {
  const { network } = settings.sandbox;
  const limits = isConfined ? { limits: { network } } : {};
  return ({ seconds, ...request }: CommandRequest): Promise<ExchangeEnd> =>
    commands.exchange({ ...request, ...limits, cwd, milliseconds: seconds * 1000, mostBytes: MOST_BYTES });
}
