import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSession } from "@burin/core";
import type { ChatModel, FunctionCall, ModelEvent, ModelRequest } from "@burin/core/sessions";
import { describe, expect, it } from "vitest";
import { fixture, project, useProject } from "./project.ts";

useProject();

/** Answers each request with the next calls, and keeps what each request declared. */
class Asking implements ChatModel {
  readonly name = "asking";
  readonly declared: string[][] = [];
  readonly sizes: number[] = [];
  readonly #calls: (readonly [name: string, args: Record<string, unknown>])[];

  constructor(...calls: (readonly [name: string, args: Record<string, unknown>])[]) {
    this.#calls = calls;
  }

  async *stream({ tools }: ModelRequest): AsyncGenerator<ModelEvent> {
    const [name, args] = this.#calls[this.declared.length] ?? [];
    this.declared.push(tools.map((tool) => tool.name));
    this.sizes.push(JSON.stringify(tools).length);
    if (name !== undefined && args !== undefined) {
      const call: FunctionCall = { id: `call_${this.declared.length}`, name, args };
      yield { type: "function_call", call };
    } else yield { type: "text", text: "done" };
    yield { type: "end", reason: "stop" };
  }
}

async function run(model: Asking, mcpServers: Readonly<Record<string, object>>, warm = true) {
  const { root: cwd, environment } = project;
  const session = createSession({
    root: cwd,
    environment,
    model,
    settings: { mcpServers },
    approvalMode: "yolo",
  });
  try {
    if (warm) await session.ready();
    const answers: string[] = [];
    for await (const event of session.run("go")) {
      if (event.type === "tool_call" && "llmContent" in event.call)
        answers.push(JSON.stringify(event.call.llmContent));
    }
    return answers;
  } finally {
    await session.close();
  }
}

describe("many tools", () => {
  it("P27 few tools are all declared, and no search", async () => {
    const model = new Asking();
    await run(model, { few: fixture("many", "5") });
    const [first = []] = model.declared;
    expect(first.filter((name) => name.startsWith("few__"))).toHaveLength(5);
    expect(first).not.toContain("tool_search");
    expect(first).toEqual([...first].sort());
  });

  it("P27 the tool text of the first request is as large with 1,000 tools as with 200, and within the budget", async () => {
    const sizes: number[] = [];
    for (const count of ["0", "200", "1000"]) {
      const model = new Asking();
      await run(model, { many: fixture("many", count) });
      sizes.push(model.sizes[0] ?? 0);
    }
    const [none = 0, some = 0, max = 0] = sizes;
    expect(max).toBe(some);
    expect(max - none).toBeLessThan(8192 + 1000);
  });

  it("P27 a tool that was not sent is found and called; it is declared behind the others from then on", async () => {
    const model = new Asking(["tool_search", { query: "number 777" }], ["many__tool_0777", { text: "x" }]);
    const answers = await run(model, { many: fixture("many", "1000") });
    const [first = [], second = []] = model.declared;
    expect(first).toContain("tool_search");
    expect(first).not.toContain("many__tool_0777");
    expect(second.slice(0, first.length)).toEqual(first);
    expect(second.slice(first.length)).toContain("many__tool_0777");
    expect(answers[0]).toContain("many__tool_0777");
    expect(answers[1]).toContain("tool_0777 was called");
  });

  it("P27 a tool that was neither sent nor found can be called by name", async () => {
    const model = new Asking(["many__tool_0999", {}]);
    expect((await run(model, { many: fixture("many", "1000") }))[0]).toContain("tool_0999 was called");
  });

  it("P27 lists of a server leave its other tools out", async () => {
    const model = new Asking();
    const server = { ...fixture("many", "50"), includeTools: ["tool_000*"], excludeTools: ["tool_0003"] };
    await run(model, { many: server });
    const its = (model.declared[0] ?? []).filter((name) => name.startsWith("many__"));
    expect(its).toHaveLength(9);
    expect(its).not.toContain("many__tool_0003");
  });

  it("P28 a server that is still starting is found by the search, in the first request", async () => {
    const model = new Asking(["tool_search", { query: "echo" }], ["late__echo", { text: "there" }]);
    const answers = await run(model, { late: fixture("sleep", "500") }, false);
    expect(model.declared[0]).toContain("tool_search");
    expect(answers[1]).toContain("there");
  });

  it("P26 of many servers only a few start at the same time, so that other work has its turn", async () => {
    const servers = Array.from({ length: 30 }, (_, n) => [`s${n}`, fixture("sleep", "1000")]);
    const toolbox = project.open(Object.fromEntries(servers));
    expect(await toolbox.ready()).toEqual([]);
    let up = 0;
    const counts = [...readFileSync(join(project.root, "starts"), "utf8")].map((sign) => {
      up += sign === "." ? 1 : -1;
      return up;
    });
    expect(counts).toHaveLength(60);
    expect(Math.max(...counts)).toBeLessThanOrEqual(16);
  });

  it("P9 more than ten servers make Node warn of nothing", async () => {
    const warnings: string[] = [];
    const hear = ({ name }: Error) => void warnings.push(name);
    process.on("warning", hear);
    const names = Array.from({ length: 12 }, (_, n) => `s${n}`);
    const gone = { url: "http://127.0.0.1:9/mcp", type: "http" };
    const toolbox = project.open(Object.fromEntries(names.map((name) => [name, gone])));
    await toolbox.call("s0__anything", {});
    await toolbox.mcp.prompts();
    await new Promise(setImmediate);
    process.off("warning", hear);
    expect(warnings).toEqual([]);
  });
});
