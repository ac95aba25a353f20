import * as core from "@burin/core";
import { createToolbox } from "@burin/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

/** By group: the name that the model calls, what people see, and the two names of the class. */
const TOOLS = {
  files: [
    ["list_directory", "ReadFolder", "ListFiles", "LSTool"],
    ["read_file", "ReadFile", "ReadFile", "ReadFileTool"],
    ["write_file", "WriteFile", "WriteFile", "WriteFileTool"],
    ["read_many_files", "ReadManyFiles", "ReadManyFiles", "ReadManyFilesTool"],
    ["search_file_content", "SearchText", "Grep", "GrepTool"],
    ["glob", "FindFiles", "Glob", "GlobTool"],
    ["edit", "Edit", "Edit", "EditTool"],
  ],
  execution: [["run_shell_command", "Shell", "Shell", "ShellTool"]],
  web: [
    ["web_fetch", "WebFetch", "WebFetch", "WebFetchTool"],
    ["web_search", "WebSearch", "WebSearch", "WebSearchTool"],
  ],
  memory: [["save_memory", "SaveMemory", "SaveMemory", "MemoryTool"]],
  planning: [
    ["task", "Task", "Task", "TaskTool"],
    ["todo_write", "TodoWrite", "TodoWrite", "TodoWriteTool"],
    ["exit_plan_mode", "ExitPlanMode", "ExitPlanMode", "ExitPlanModeTool"],
  ],
} as const;
const ALL = Object.values(TOOLS).flat();
const exported: Readonly<Record<string, unknown>> = core;

let toolbox: core.Toolbox;

makeFolders();
beforeEach(() => {
  toolbox = createToolbox({ root, environment: { BURIN_HOME: `${root}/.home` } });
});

afterEach(() => toolbox.close());

describe("the fourteen tools", () => {
  it("R38 R39 X5 are those of all groups, and no other", () => {
    const names = toolbox.registry.getAllTools().map((tool) => tool.name);
    expect(names.sort()).toEqual(ALL.map(([name]) => name).sort());
    expect(names).toHaveLength(14);
  });

  it.each(ALL)(
    "R2 R3 R4 X4 %s is shown as %s, and is made by %s as well as %s",
    (...[name, shown, one, other]) => {
      const tool = toolbox.registry.getTool(name);
      expect(tool?.displayName).toBe(shown);
      expect(tool?.description.length).toBeGreaterThan(20);
      expect(exported[one]).toBeTypeOf("function");
      expect(exported[other]).toBe(exported[one]);
      expect(tool).toBeInstanceOf(exported[one]);
      expect(tool).toBeInstanceOf(core.BaseTool);
    },
  );

  it("R5 R17 each is declared with a JSON Schema of an object", () => {
    for (const { name, parameters } of toolbox.registry.getFunctionDeclarations()) {
      expect({ name, type: parameters.type }).toEqual({ name, type: "object" });
      expect(Object.keys(parameters.properties ?? {})).not.toEqual([]);
    }
  });

  it("R10 R11 what the model reads and what the person sees are written apart", async () => {
    const path = `${root}/a.txt`;
    const yes = createToolbox({ root, confirm: async () => ({ outcome: "once" }) });
    const result = await yes.call("write_file", { file_path: path, content: "one\n" });
    await yes.close();
    expect(result.llmContent).toBe(`Successfully created and wrote to new file: ${path}`);
    expect(result.returnDisplay).toMatchObject({ kind: "file_diff", fileName: "a.txt", newContent: "one\n" });
  });

  it("R48 R49 R80 a relative path counts from the root, and without one the root is meant", async () => {
    const yes = createToolbox({ root, confirm: async () => ({ outcome: "once" }) });
    await yes.call("write_file", { file_path: `${root}/sub/a.txt`, content: "needle\n" });
    for (const path of [undefined, "sub", `${root}/sub`]) {
      const args = path === undefined ? { pattern: "needle" } : { pattern: "needle", path };
      expect((await yes.call("search_file_content", args)).llmContent).toContain("L1: needle");
    }
    expect((await yes.call("list_directory", { path: "sub" })).llmContent).toContain("a.txt");
    await yes.close();
  });
});
