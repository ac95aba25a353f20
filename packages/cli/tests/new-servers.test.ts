import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

const SERVER = fileURLToPath(new URL("../../core/tests/mcp/stdio-server.mjs", import.meta.url));
let env: Record<string, string>;

beforeEach(async () => {
  env = await modelEnv({ text: "One." }, { text: "Two." });
});

/** Writes the settings of the person, or of the project, by hand. */
function writeServer(server: object, folder = ".home"): void {
  const mcpServers = { mine: { command: process.execPath, ...server } };
  put(`${folder}/settings.json`, { mcpServers });
}

const ask = (...more: string[]) => burin(["-p", "hi", ...more], { cwd: root, env });

/** The names that a request declared. */
function declared(request: number): string[] {
  const tools = server.requests[request]?.body.tools as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name);
}

describe("burin -p with an MCP server that was written into the settings by hand", () => {
  it("R24 P28 declares its tools in the very first request, and says nothing of it", async () => {
    writeServer({ args: [SERVER, "plain"] });
    expect(await ask()).toMatchObject({ code: 0, stdout: "One.\n" });
    expect(declared(0)).toContain("mine__echo");
    expect(declared(0)).not.toContain("tool_search");
  });

  it("R24 P28 waits for one that is slow no longer than its startTimeout, and says so", async () => {
    writeServer({ args: [SERVER, "sleep", "60000"], startTimeout: 700 });
    const first = await ask();
    expect(first).toMatchObject({ code: 0, stdout: "One.\n" });
    expect(first.stderr).toContain("mcp:mine: it did not start in time");
    expect(declared(0)).not.toContain("mine__echo");
  });

  it("R24 P28 after 5 seconds asks without it, and the next time at once, with the search for its tools", async () => {
    writeServer({ args: [SERVER, "sleep", "60000"] });
    const first = await ask();
    expect(first.stderr).toMatch(/mcp:mine: it did not start in time.*burin mcp test mine/);
    const second = await ask();
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(second.stderr).not.toContain("did not start in time");
    expect(declared(1)).toContain("tool_search");
  });

  it("P24 starts none that a folder names which nobody has trusted", async () => {
    writeServer({ args: [SERVER, "plain"] }, ".burin");
    expect(await ask()).toMatchObject({ code: 0 });
    expect(declared(0)).not.toContain("mine__echo");
    expect(existsSync(join(root, "starts"))).toBe(false);
  });
});
