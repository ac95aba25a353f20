import type { McpDoor } from "@burin/mcp/mcp-door";
import type { McpServer } from "@burin/mcp/mcp-server";
import type { ToolDiscovery } from "./tool-discovery.ts";

/** The door to the MCP servers among the sources; its code is loaded with the first question. */
export function lazyMcp(discovery: ToolDiscovery): McpDoor {
  const door = async (): Promise<McpDoor> => {
    const [{ mcpDoor }, { McpServer: Server }] = await Promise.all([
      import("@burin/mcp/mcp-door"),
      import("@burin/mcp/mcp-server"),
    ]);
    return mcpDoor(async () => {
      await discovery.start();
      return discovery.sources.filter((source): source is McpServer => source instanceof Server);
    });
  };
  return {
    resolved: async (text, signal) => {
      // Most prompts name no server; they need not load what looks for one.
      if (!/(?:^\/|(?:^|\s)@)[A-Za-z0-9_-]+:/.test(text)) return text;
      return (await door()).resolved(text, signal);
    },
    prompts: async (signal) => (await door()).prompts(signal),
    resources: async (signal) => (await door()).resources(signal),
    prompt: async (request, signal) => (await door()).prompt(request, signal),
    readResource: async (server, uri, signal) => (await door()).readResource(server, uri, signal),
    callTool: async (order, signal) => (await door()).callTool(order, signal),
    test: async (server, signal) => (await door()).test(server, signal),
    login: async (server, how, signal) => (await door()).login(server, how, signal),
  };
}
