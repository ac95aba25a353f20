import { once } from "@burin/contract/async/once";
import { lazily } from "@burin/machine/files/lazily";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { McpServer } from "@burin/mcp/mcp-server";
import type { ToolDiscovery } from "./tool-discovery.ts";

/** Access to the MCP servers among the sources; its code is loaded at the first use. */
export function lazyMcp(discovery: ToolDiscovery): McpDoor {
  const door = once(async (): Promise<McpDoor> => {
    const [{ mcpDoor }, { McpServer: Server }] = await Promise.all([
      import("@burin/mcp/mcp-door"),
      import("@burin/mcp/mcp-server"),
    ]);
    return mcpDoor(async () => {
      await discovery.start();
      return discovery.sources.filter((source): source is McpServer => source instanceof Server);
    });
  });
  const names = ["prompts", "resources", "prompt", "readResource", "callTool", "test", "login"] as const;
  return {
    ...lazily(door, names),
    resolved: async (text, signal) => {
      // Most prompts mention no server and need not load the code that looks for one.
      if (!/(?:^\/|(?:^|\s)@)[A-Za-z0-9_-]+:/.test(text)) return text;
      return (await door()).resolved(text, signal);
    },
  };
}
