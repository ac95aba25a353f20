import type { Settings, WebSearchSettings } from "@burin/contract/settings/settings";
import type { CallServer } from "@burin/web/search/mcp-search";
import type { BuiltInNeeds } from "../tools/built-in-tools.ts";
import type { WebSearcher } from "../tools/web-search.ts";
import { lazyMcp } from "./lazy-mcp.ts";
import type { ToolDiscovery } from "./tool-discovery.ts";

interface WebGround {
  readonly environment: NodeJS.ProcessEnv;
  /** For a search by an MCP server; it is joined later. */
  readonly discovery: () => ToolDiscovery;
}

/** What the web tools need of the settings. */
export function webParts(
  { web }: Settings,
  { environment, discovery }: WebGround,
): Pick<BuiltInNeeds, "web" | "searcher"> {
  const callServer: CallServer = (order, signal) => lazyMcp(discovery()).callTool(order, signal);
  return { web, searcher: searcherOf(web.search, environment, callServer) };
}

/** The search that the settings name; undefined when they name none. Its code is loaded with the first search. */
function searcherOf(
  settings: WebSearchSettings | undefined,
  environment: NodeJS.ProcessEnv,
  callServer: CallServer,
): WebSearcher | undefined {
  if (settings === undefined) return undefined;
  if (settings.provider === "mcp") return serverSearcher(settings, callServer);
  return {
    name: settings.provider,
    search: async (question, signal) => {
      const { searchWeb } = await import("@burin/web/search/search-web");
      return searchWeb(question, { settings, environment }, signal);
    },
  };
}

function serverSearcher(settings: WebSearchSettings, call: CallServer): WebSearcher {
  return {
    name: settings.server ?? settings.provider,
    search: async (question, signal) => {
      const { searchByServer } = await import("@burin/web/search/mcp-search");
      return searchByServer(question, { settings, call }, signal);
    },
  };
}
