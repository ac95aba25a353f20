import type { MachineCommands } from "@burin/commands/machine";
import type { RunToolCommand } from "../discovery/discovered-tool.ts";
import type { Home } from "./home.ts";

export interface CommandOptions {
  readonly home: Home;
  readonly commands: MachineCommands;
  /** Whether the commands run with the limits of the shell tool's commands. */
  readonly isConfined: boolean;
}

const MAX_BYTES = 10 * 1024 * 1024;

const NOT_STARTED = { stdout: Buffer.alloc(0), stderr: "", exitCode: null, signal: null, stopped: null };

/** Returns why a command of the project's settings may no longer run, or null. */
export async function findCommandFault({ root, settings }: Home, command: string): Promise<string | null> {
  const trusted = settings.trustedScripts?.[command];
  if (trusted === undefined) return null;
  return (await import("../settings/project-definitions.ts")).findChangeSinceTrust(root, trusted);
}

/** Returns a function that runs commands from the settings, with the environment of every child process. */
export function createCommandRunner({ home, commands, isConfined }: CommandOptions): RunToolCommand {
  const { root: cwd, settings } = home;
  const network = settings.sandbox.network === true;
  const limits = isConfined ? { limits: { network } } : {};
  return async ({ seconds, inSettings, ...request }) => {
    const startError = await findCommandFault(home, inSettings ?? request.command);
    if (startError !== null) return { ...NOT_STARTED, startError };
    const max = { milliseconds: seconds * 1000, maxBytes: MAX_BYTES };
    return commands.exchange({ ...request, ...limits, cwd, ...max });
  };
}
