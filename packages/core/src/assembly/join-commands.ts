import type { CurrentMode } from "@burin/contract/approval-mode";
import type { Workspace } from "@burin/contract/machine/workspace";
import type { Settings } from "@burin/contract/settings/settings";
import type { Machine, MachineCommands } from "@burin/machine/machine";
import type { EnvironmentRules } from "@burin/machine/processes/child-environment";
import { variableOf } from "@burin/models/key-variable";
import { burinHome } from "../settings/load-settings.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

interface CommandsPlace {
  readonly workspace: Workspace;
  readonly current: CurrentMode;
  readonly machine: Machine;
}

/** The commands of the shell tool, in the sandbox and with the environment that settings and options say; what a crash left is ended. */
export function commandsOf(
  options: ToolboxOptions,
  settings: Settings,
  place: CommandsPlace,
): MachineCommands {
  const { workspace, current, machine } = place;
  const environment = options.environment ?? process.env;
  const { pass, secret } = environmentRules(settings);
  const commands = machine.openCommands({
    roots: workspace.roots,
    home: burinHome(environment),
    environment,
    sandbox: settings.sandbox.mode,
    network: settings.sandbox.network,
    passEnvironment: pass,
    secretEnvironment: secret,
    isReadOnly: () => current.mode === "plan",
    cleanOutput: async (file) => {
      const [{ cleanFile }, { Redactor }] = await Promise.all([
        import("../session/clean-file.ts"),
        import("../session/redactor.ts"),
      ]);
      await cleanFile(file, Redactor.ofBytes(environment, secret));
    },
  });
  void commands.endLeftBehind();
  return commands;
}

/** Which variables every child process is denied, and which it gets all the same. */
export function environmentRules({ model, models, shell, web }: Settings): EnvironmentRules {
  const named = [model, ...Object.values(models), ...(model.fallbacks ?? [])];
  const keys = named.flatMap((one) => (typeof one === "string" ? [] : (variableOf(one) ?? [])));
  const { search } = web;
  return {
    pass: shell.passEnvironment,
    secret: search?.apiKeyEnv === undefined ? keys : [...keys, search.apiKeyEnv],
  };
}
