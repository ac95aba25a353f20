import { BaseTool } from "@burin/contract/tools";
import { describe, expect, it } from "vitest";
import { ToolRegistry } from "../tools/tool-registry.ts";
import { describeUnknownTool } from "./unknown-tool.ts";

class Named extends BaseTool {
  readonly description = "";
  readonly kind = "read";
  readonly parameterSchema = { type: "object" };
  readonly name: string;
  readonly displayName: string;

  constructor(name: string, displayName = name) {
    super();
    this.name = name;
    this.displayName = displayName;
  }

  getDescription(): string {
    return "";
  }

  async execute() {
    return { llmContent: "", returnDisplay: "" };
  }
}

function answerTo(name: string, ...tools: readonly Named[]): string {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.registerTool(tool);
  return String(describeUnknownTool(name, registry).llmContent);
}

describe("a call of an unknown tool", () => {
  it("R16 is answered with the closest known names, also of those that people see", () => {
    const tools = [new Named("list_directory", "ReadFolder"), new Named("read_file", "ReadFile")];
    expect(answerTo("readfile", ...tools)).toMatch(/Did you mean read_file\b/);
    expect(answerTo("ReadFolder", ...tools)).toMatch(/Did you mean list_directory\b/);
  });

  it.each([
    ["Bash", "run_shell_command"],
    ["LS", "list_directory"],
    ["functions.grep", "search_file_content"],
    ["str_replace_editor", "edit"],
    ["apply_patch", "edit"],
  ])("R16 is answered for %s with %s, which does what that of other agents does", (name, meant) => {
    const names = ["edit", "list_directory", "run_shell_command", "search_file_content", "task"];
    expect(answerTo(name, ...names.map((one) => new Named(one)))).toContain(`Did you mean ${meant}?`);
    expect(answerTo(name, new Named("deploy"))).toContain("The tools are: deploy.");
  });

  it("R16 is not answered with hundreds of names, but with the few that share words with it", () => {
    const many = Array.from({ length: 300 }, (_, index) => new Named(`files__tool_${index}`));
    const others = ["github__create_pull_request", "github__list_issues"].map((name) => new Named(name));
    expect(answerTo("zzz", ...many)).toMatch(/ Of 300 tools the likeliest are: (\w+, ){4}\w+\.$/);
    const answer = answerTo("open_issues_of_github_repository", ...many, ...others);
    expect(answer).toContain("the likeliest are: github__list_issues, github__create_pull_request, files__");
  });
});
