import { burinHome } from "../settings/load-settings.ts";
import type { Settings } from "../settings/settings.ts";
import { Commands } from "../workspace/commands.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

/** The commands of the shell tool, in the sandbox and with the environment that settings and options say. */
export function commandsOf(options: ToolboxOptions, settings: Settings, workspace: Workspace): Commands {
  const environment = options.environment ?? process.env;
  return new Commands({
    roots: workspace.roots,
    home: burinHome(environment),
    environment,
    sandbox: settings.sandbox.mode,
    network: settings.sandbox.network,
    passEnvironment: settings.shell.passEnvironment,
    secretEnvironment: keyVariables(settings),
  });
}

/** The variables that settings name for the keys of models. */
export function keyVariables(settings: Settings): string[] {
  const models = [settings.model, ...(settings.model.fallbacks ?? [])];
  return models.flatMap((model) => (typeof model === "string" ? [] : (model.apiKeyEnv ?? [])));
}
