import type { FunctionDeclaration } from "@burin/contract/messages/message";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import { TOOL_SEARCH, ToolSearch } from "../tools/tool-search.ts";
import { DeclaredTools } from "./declared-tools.ts";
import type { Home } from "./home.ts";
import type { ToolDiscovery } from "./tool-discovery.ts";

interface DeclarationOptions {
  readonly home: Pick<Home, "settings">;
  readonly registry: ToolRegistry;
  /** Tool sources that may still add tools. */
  readonly waiting?: ToolDiscovery;
}

/** Returns a function that declares the tools that fit the budget, and a search tool for those of sources. */
export function createDeclarationList({
  home,
  registry,
  waiting,
}: DeclarationOptions): () => FunctionDeclaration[] {
  const { tools, mcpServers } = home.settings;
  const declared = new DeclaredTools({
    registry,
    maxCharacters: tools.schemaBudget,
    isWaiting: () => waiting?.isWaiting ?? false,
  });
  const command = tools.toolDiscoveryCommand ? ["the discovery command"] : [];
  const sources = [...command, ...Object.keys(mcpServers)];
  const isExcluded = tools.exclude.includes(TOOL_SEARCH) || registry.getTool(TOOL_SEARCH) !== undefined;
  if (sources.length > 0 && !isExcluded) {
    const search = new ToolSearch({
      sources,
      undeclared: () => declared.listUndeclared(),
      declare: (names) => declared.declare(names),
      settle: async (signal) => (await waiting?.waitAndListUnanswered(signal)) ?? [],
    });
    registry.registerTool(search);
  }
  return () => declared.buildDeclarations();
}
