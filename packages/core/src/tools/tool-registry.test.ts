import { BaseTool, type ToolResult } from "@burin/contract/tools";
import { describe, expect, it } from "vitest";
import { ToolRegistry } from "./tool-registry.ts";

class Named extends BaseTool {
  readonly name: string;
  readonly displayName: string = "Named";
  readonly description = "A tool with a name.";
  readonly kind = "read";
  readonly parameterSchema = {
    type: "object",
    properties: { n: { type: "integer" } },
    additionalProperties: false,
  };

  constructor(name: string) {
    super();
    this.name = name;
  }

  getDescription(): string {
    return "Do nothing";
  }

  execute(): Promise<ToolResult> {
    return Promise.resolve({ llmContent: "", returnDisplay: "" });
  }
}

describe("BaseTool", () => {
  it("R1 R6 fills in validation by schema: null when valid, else what is wrong", () => {
    const tool = new Named("one");
    expect(tool.validateToolParams({ n: 1 })).toBeNull();
    expect(tool.validateToolParams({ n: "x" })).toContain('"n" must be an integer');
    expect(tool.validateToolParams({ m: 1 })).toContain("It takes: n.");
  });

  it("R8 asks nothing unless a tool says so", async () => {
    expect(await new Named("one").shouldConfirmExecute({}, new AbortController().signal)).toBe(false);
  });
});

describe("ToolRegistry", () => {
  it("R15 registers, hands out and unregisters", () => {
    const registry = new ToolRegistry();
    const tool = new Named("one");
    registry.registerTool(tool);
    expect(registry.getTool("one")).toBe(tool);
    expect(registry.unregisterTool("one")).toBe(true);
    expect(registry.unregisterTool("one")).toBe(false);
    expect(registry.getTool("one")).toBeUndefined();
  });

  it("R16 knows nothing of an unknown name", () => {
    const registry = new ToolRegistry();
    registry.registerTool(new Named("read_file"));
    expect(registry.getTool("readfile")).toBeUndefined();
  });

  it("R17 declares name, description and parameters, by name, whatever the order of registration", () => {
    const registry = new ToolRegistry();
    for (const name of ["zeta", "alpha", "Beta"]) registry.registerTool(new Named(name));
    const declarations = registry.getFunctionDeclarations();
    expect(declarations.map((one) => one.name)).toEqual(["Beta", "alpha", "zeta"]);
    expect(Object.keys(declarations[0] ?? {})).toEqual(["name", "description", "parameters"]);
  });

  it("R2 refuses a name that is taken and one that a provider would reject", () => {
    const registry = new ToolRegistry();
    registry.registerTool(new Named("one"));
    expect(() => registry.registerTool(new Named("one"))).toThrow("already registered");
    for (const bad of ["", "a b", "a.b", "x".repeat(65), "é"]) {
      expect(() => registry.registerTool(new Named(bad))).toThrow("1 to 64 letters");
    }
  });

  it("R21 a source that fails is reported and harms no other", async () => {
    const registry = new ToolRegistry();
    registry.addSource({ name: "broken", discover: () => Promise.reject(new Error("exit code 3")) });
    registry.addSource({
      name: "good",
      discover: () => Promise.resolve([new Named("found"), new Named("bad name")]),
    });
    const failures = await registry.discoverTools(new AbortController().signal);
    expect(registry.getToolSource("found")).toBe("good");
    expect(failures.map((failure) => failure.source)).toEqual(["broken", "good"]);
    expect(failures[0]?.message).toBe("exit code 3");
  });
});
