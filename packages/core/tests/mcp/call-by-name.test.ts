import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ToolboxOptions } from "@burin/core";
import { describe, expect, it } from "vitest";
import { fixture, project, useProject } from "./project.ts";

useProject();

const order = (tool: string, args = {}) => ({ server: "s", tool, argumentsFor: () => args });
/** The fixture's `wait` writes this file when it is called. */
const wasCalled = () => existsSync(join(project.root, "called"));

describe("a call by the server's own tool name", () => {
  it.each<[string, Partial<ToolboxOptions>, string]>([
    ["against a deny rule", { approvalMode: "yolo" }, "denied"],
    ["in plan mode", { approvalMode: "plan" }, "denied"],
    ["with nobody to ask", {}, "needs_approval"],
    ["that the user refuses", { confirm: async () => ({ outcome: "cancel" }) }, "cancelled"],
  ])("R8 R33 does not reach the server %s", async (how, options, type) => {
    const deny = how.includes("rule") ? ["s__*"] : [];
    const settings = { mcpServers: { s: fixture() }, permissions: { deny } };
    const { mcp } = project.open({}, { settings, ...options });
    const { error } = await mcp.callTool(order("wait"));
    expect(error?.type).toBe(type);
    expect(wasCalled()).toBe(false);
  });

  it("R8 R23 runs after a yes, whose question shows the server, the tool and the arguments", async () => {
    const asked: unknown[] = [];
    const { mcp } = project.open(
      { s: fixture() },
      {
        confirm: async (confirmation) => {
          asked.push(confirmation);
          return { outcome: "once" };
        },
      },
    );
    const { llmContent, error } = await mcp.callTool(order("echo", { text: "hello" }));
    expect(error).toBeUndefined();
    expect(JSON.stringify(llmContent)).toContain("hello");
    expect(asked).toMatchObject([{ kind: "mcp", server: "s", tool: "echo", args: { text: "hello" } }]);
  });
});
