import type { Workspace } from "@burin/contract/machine/workspace";
import type { Settings } from "@burin/contract/settings/settings";
import type { ToolSource } from "@burin/contract/tools";
import type { MachineCommands } from "@burin/machine/machine";
import type { Questions } from "../scheduler/questions.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { ForServers } from "./join-mcp.ts";
import { commandRunner } from "./run-command.ts";
import { type OpenSources, ToolDiscovery } from "./tool-discovery.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

interface SourceParts {
  readonly settings: Settings;
  readonly options: ToolboxOptions;
  readonly registry: ToolRegistry;
  readonly workspace: Workspace;
  readonly commands: MachineCommands;
  readonly forServers: ForServers;
  readonly questions?: () => Promise<Questions>;
}

/** What brings tools that are not built in. Loads nothing before it is started, and never when nothing is configured. */
export function discoveryOf(parts: SourceParts): ToolDiscovery {
  const { tools, mcpServers } = parts.settings;
  const isNothing = tools.toolDiscoveryCommand === undefined && Object.keys(mcpServers).length === 0;
  return new ToolDiscovery(parts.registry, isNothing ? null : (report) => sourcesOf(parts, report));
}

/** One source for the discovery command and one for each MCP server. */
async function sourcesOf(parts: SourceParts, report: Parameters<OpenSources>[0]): Promise<ToolSource[]> {
  const { tools, mcpServers } = parts.settings;
  const sources: ToolSource[] = [];
  if (tools.toolDiscoveryCommand !== undefined) {
    const [{ CommandSource }, { namePrefixes }] = await Promise.all([
      import("../discovery/command-source.ts"),
      import("@burin/mcp/tool-names"),
    ]);
    const source = new CommandSource({
      settings: tools,
      root: parts.workspace.root,
      run: commandRunner({ ...parts, isConfined: parts.settings.sandbox.discovered }),
      report: (message) => report({ source: source.name, message }),
      reservedPrefixes: [...namePrefixes(Object.keys(mcpServers)).values()],
    });
    sources.push(source);
  }
  if (Object.keys(mcpServers).length === 0) return sources;
  const { mcpSources } = await import("./join-mcp.ts");
  return [...sources, ...(await mcpSources(parts, report))];
}
