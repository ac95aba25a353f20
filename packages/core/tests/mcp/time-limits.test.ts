import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { blockProcess } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { fixture, project, published, useProject } from "./project.ts";

useProject();

/** With limits far below those that hold where settings say nothing. */
function openOne(mode: string, startTimeout = 60_000) {
  const slow = { ...fixture(mode), timeout: 2500, startTimeout };
  return project.open({ slow }, { approvalMode: "yolo" });
}

describe("P17 a server that does not answer costs no more than its timeout", () => {
  it("tools/list, and a call that waits for the tools", async () => {
    const toolbox = openOne("mute");
    const { error } = await toolbox.call("slow__anything", {});
    expect(error?.type).toBe("unknown_tool");
    const [failure] = toolbox.discoveryFailures;
    expect(failure?.message).toContain('"slow" failed at tools/list');
  });

  it("prompts and resources, in lists and one by one", async () => {
    const { mcp } = openOne("mute");
    await expect(mcp.prompt({ server: "slow", name: "p", args: {} })).rejects.toThrow(
      "failed at prompts/get",
    );
    await expect(mcp.readResource("slow", "a:b")).rejects.toThrow("failed at resources/read");
    expect(await Promise.all([mcp.prompts(), mcp.resources()])).toEqual([[], []]);
  });

  it("initialize", async () => {
    const { mcp } = openOne("no-start", 2500);
    await expect(mcp.readResource("slow", "a:b")).rejects.toThrow("did not start within 2500 ms");
  });

  it.each([
    ["pages", 101],
    ["circle", 4],
  ])("a list without an end has one: %s", async (mode, max) => {
    const toolbox = openOne(mode);
    await toolbox.ready();
    const names = toolbox.registry.getAllTools().filter(({ name }) => name.startsWith("slow__"));
    expect(names.length).toBeGreaterThan(2);
    expect(names.length).toBeLessThanOrEqual(max);
  });

  it("P12 lists of long entries end early, are cut with a notice, and what they say is shortened", async () => {
    const toolbox = project.open({ long: fixture("long-lists") }, { approvalMode: "yolo" });
    const told = (await toolbox.ready()).map(({ message }) => message);
    expect(told.join("\n")).toMatch(/its list of tools is too long: only the first 15 are used/);
    const { mcp } = toolbox;
    for (const listed of [await mcp.prompts(), await mcp.resources()]) {
      expect(listed.length).toBeGreaterThan(5);
      expect(listed.length).toBeLessThan(40);
      expect(JSON.stringify(listed).length).toBeLessThan(100_000);
    }
  });

  it("P12 the words for the next page are no way to fill the memory", async () => {
    const toolbox = project.open({ long: fixture("long-cursor") }, { approvalMode: "yolo" });
    const told = (await toolbox.ready()).map(({ message }) => message);
    expect(told).toEqual(["its list of tools is too long: only the first 1 are used"]);
  });

  it("R16 an unknown name among hundreds of a server's tools is answered with the near ones, or with few", async () => {
    const { mcp } = project.open({ many: fixture("many", "300") });
    const order = { server: "many", argumentsFor: () => ({}) };
    await expect(mcp.callTool({ ...order, tool: "tool-0123" })).rejects.toThrow(
      /Did you mean tool_0123( or \w+){0,2}\?$/,
    );
    await expect(mcp.callTool({ ...order, tool: "zzz" })).rejects.toThrow(
      /It has: (\w+, ){19}\w+ and 280 more\.$/,
    );
  });
});

it("P28 P33 a call that ended while this process was stopped has not timed out", async () => {
  const toolbox = project.open(
    { slow: { ...fixture("late", "300"), timeout: 1000 } },
    { approvalMode: "yolo" },
  );
  await toolbox.ready();
  const call = toolbox.call("slow__echo", { text: "in time" });
  await expect.poll(() => existsSync(join(project.root, "called"))).toBe(true);
  blockProcess(join(project.root, "answered"), 1500);
  expect(JSON.stringify(await call)).toContain("in time");
});

it("P28 a very long limit for a call is no short one", async () => {
  const toolbox = project.open(
    { slow: { ...fixture("late", "300"), timeout: 1_000_000_000 } },
    { approvalMode: "yolo" },
  );
  await toolbox.ready();
  expect(JSON.stringify(await toolbox.call("slow__echo", { text: "in time" }))).toContain("in time");
});

it("P28 the time in which the user thinks about a question of a server is not the server's", async () => {
  const confirm = async () => {
    await pause(4000);
    return { outcome: "filled" as const, values: { name: "Ada" } };
  };
  const everything = { command: process.execPath, args: [published("everything"), "stdio"], timeout: 3000 };
  const toolbox = project.open(
    { e: { ...everything, startTimeout: 30_000 } },
    { approvalMode: "yolo", confirm },
  );
  await toolbox.ready();
  const { llmContent } = await toolbox.call("e__trigger-elicitation-request", {});
  expect(JSON.stringify(llmContent)).toContain("Ada");
});
