import type { Workspace } from "@burin/contract/machine/workspace";
import type { Settings } from "@burin/contract/settings/settings";
import type { Commands } from "@burin/machine/processes/commands";
import type { ExchangeEnd } from "@burin/machine/processes/run-exchange";
import { burinHome } from "../settings/load-settings.ts";
import { environmentRules } from "./join-commands.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

export interface CommandGround {
  readonly settings: Settings;
  readonly options: ToolboxOptions;
  readonly workspace: Workspace;
  readonly commands: Commands;
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
export function commandRunner({
  options,
  settings,
  workspace: { root },
  commands,
  isConfined,
}: CommandGround) {
  const { network } = settings.sandbox;
  const confined = (argv: readonly [string, ...string[]]) => commands.confined({ argv, cwd: root, network });
  return async ({ command, input, seconds, signal }: CommandRequest): Promise<ExchangeEnd> => {
    const [{ exchange }, { childEnvironment }] = await Promise.all([
      import("@burin/machine/processes/run-exchange"),
      import("@burin/machine/processes/child-environment"),
    ]);
    const environment = options.environment ?? process.env;
    return exchange({
      command,
      home: burinHome(environment),
      shell: commands.shell,
      cwd: root,
      env: childEnvironment(environment, environmentRules(settings)),
      input,
      milliseconds: seconds * 1000,
      mostBytes: MOST_BYTES,
      signal,
      ...(isConfined ? { limit: confined } : {}),
    });
  };
}
