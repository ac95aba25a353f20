import { burinHome } from "../settings/load-settings.ts";
import type { Settings } from "../settings/settings.ts";
import { Commands } from "../workspace/commands.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

/** The commands of the shell tool, in the sandbox and with the environment that settings and options say. */
export function commandsOf(options: ToolboxOptions, settings: Settings, workspace: Workspace): Commands {
  const environment = options.environment ?? process.env;
  const models = [settings.model, ...(settings.model.fallbacks ?? [])];
  const keys = models.flatMap((model) => (typeof model === "string" ? [] : (model.apiKeyEnv ?? [])));
  return new Commands({
    roots: workspace.roots,
    home: burinHome(environment),
    environment,
    sandbox: settings.sandbox.mode,
    network: settings.sandbox.network,
    passEnvironment: settings.shell.passEnvironment,
    secretEnvironment: keys,
  });
}
