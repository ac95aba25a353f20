import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createToolbox, type Toolbox, type ToolboxOptions } from "@burin/core";
import { afterEach, beforeEach } from "vitest";

/** A project in a temporary folder with MCP servers, and everything that was opened for it. */
export interface McpProject {
  readonly root: string;
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  /** A toolbox with these servers; closed with the project. */
  open(mcpServers: Readonly<Record<string, object>>, options?: Partial<ToolboxOptions>): Toolbox;
  close(): Promise<void>;
}

/** The project of each test, in a file that has called `useProject`. */
export let project: McpProject;

export function useProject(): void {
  beforeEach(() => {
    project = mcpProject();
  });
  afterEach(() => project.close());
}

function mcpProject(): McpProject {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-mcp-")));
  const root = join(top, "project");
  const home = join(top, "home");
  mkdirSync(root);
  const environment = { ...process.env, BURIN_HOME: home, BURIN_KEYCHAIN: "off" };
  const opened: Toolbox[] = [];
  return {
    root,
    home,
    environment,
    open: (mcpServers, options = {}) => {
      const toolbox = createToolbox({ root, environment, settings: { mcpServers }, ...options });
      opened.push(toolbox);
      return toolbox;
    },
    close: async () => {
      await Promise.all(opened.map((toolbox) => toolbox.close()));
      rmSync(top, { recursive: true, force: true });
    },
  };
}

/** Where a server that others wrote begins. */
export function published(name: "everything" | "filesystem" | "memory"): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`));
}
/** A server of the fixture that misbehaves as its mode says. */
export function fixture(mode = "plain", value = ""): { command: string; args: string[] } {
  const file = fileURLToPath(new URL("stdio-server.mjs", import.meta.url));
  return { command: process.execPath, args: [file, mode, value] };
}
