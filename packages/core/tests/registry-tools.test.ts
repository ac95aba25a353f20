import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Confirmation,
  createSession,
  createToolbox,
  type Decision,
  defineTool,
  type Tool,
  type ToolboxOptions,
  ToolRegistry,
} from "@burin/core";
import { scriptedModel } from "@burin/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

function open(options: Partial<ToolboxOptions> = {}) {
  const environment = { BURIN_HOME: home, PATH: process.env.PATH };
  const toolbox = createToolbox({ root, environment, ...options });
  opened.push(toolbox);
  return toolbox;
}

const permissions = (rules: object) => ({ settings: { permissions: rules } });
const { signal } = new AbortController();
const path = () => join(root, "a.txt");
const writing = (content = "x\n") => ({ file_path: path(), content });
const isWritten = () => existsSync(path());

function toolOf({ registry }: { readonly registry: ToolRegistry }, name = "write_file"): Tool {
  const tool = registry.getTool(name);
  if (tool === undefined) throw new Error(`There is no ${name}.`);
  return tool;
}

/** Each way in which an embedder gets at a tool. */
const WAYS: readonly [string, (box: { readonly registry: ToolRegistry }) => Tool | undefined][] = [
  ["getTool", ({ registry }) => registry.getTool("write_file")],
  ["getAllTools", ({ registry }) => registry.getAllTools().find(({ name }) => name === "write_file")],
  ["getUsableTools", ({ registry }) => registry.getUsableTools().find(({ name }) => name === "write_file")],
];

describe("a tool that the registry hands out", () => {
  it.each(WAYS)("R33 does not run against a deny rule (%s)", async (_way, get) => {
    const toolbox = open(permissions({ deny: ["write_file"], allow: ["*"] }));
    const tool = get(toolbox);
    expect(await tool?.execute(writing(), signal)).toMatchObject({ error: { type: "denied" } });
    const prepared = await tool?.prepare?.(writing(), signal);
    expect(prepared?.confirmation).toBe(false);
    expect(await prepared?.run({ outcome: "once" }, signal)).toMatchObject({ error: { type: "denied" } });
    expect(isWritten()).toBe(false);
  });

  it("R33 does not run unasked, and in no session either", async () => {
    const refused = {
      error: { type: "needs_approval", message: expect.stringContaining("nobody can be asked") },
    };
    expect(await toolOf(open()).execute(writing(), signal)).toMatchObject(refused);
    const environment = { BURIN_HOME: home, PATH: process.env.PATH };
    const session = createSession({ root, environment, model: scriptedModel([]) });
    opened.push(session);
    expect(await toolOf(session).execute(writing(), signal)).toMatchObject(refused);
    expect(
      await toolOf(session, "run_shell_command").execute({ command: "touch a.txt" }, signal),
    ).toMatchObject(refused);
    expect(isWritten()).toBe(false);
  });

  it("R33 runs when a rule allows it, and asks no question then", async () => {
    const tool = toolOf(open(permissions({ allow: ["write_file(a.txt)"] })));
    expect(await tool.shouldConfirmExecute(writing(), signal)).toBe(false);
    const result = await tool.execute(writing(), signal);
    expect(result.llmContent).toBe(`Successfully created and wrote to new file: ${path()}`);
    const other = { file_path: join(root, "b.txt"), content: "x\n" };
    expect(await tool.shouldConfirmExecute(other, signal)).toMatchObject({ kind: "edit" });
    expect(await tool.execute(other, signal)).toMatchObject({ error: { type: "needs_approval" } });
  });

  it("R30 checks its arguments, and changes nothing with those that are not valid", async () => {
    const tool = toolOf(open({ approvalMode: "yolo" }));
    expect(tool.validateToolParams(writing())).toBe(null);
    expect(tool.validateToolParams({ file_path: "a.txt", content: 1 })).toBeTypeOf("string");
    const wrong = { file_path: path() };
    expect(await tool.shouldConfirmExecute(wrong, signal)).toBe(false);
    expect(await tool.execute(wrong, signal)).toMatchObject({ error: { type: "invalid_arguments" } });
    expect(isWritten()).toBe(false);
  });

  it("R7 R8 describes what it will do, and says whether the user must confirm", async () => {
    const tool = toolOf(open());
    expect(tool.getDescription(writing())).toContain("a.txt");
    const question = await tool.shouldConfirmExecute(writing(), signal);
    expect(question).toMatchObject({ kind: "edit", path: path(), diff: { newContent: "x\n" } });
    expect(isWritten()).toBe(false);
    const shell = toolOf(open(), "run_shell_command");
    const asked = await shell.shouldConfirmExecute({ command: "make it && ls" }, signal);
    expect(asked).toMatchObject({ kind: "exec", grants: expect.arrayContaining([expect.any(String)]) });
    expect(await toolOf(open(), "read_file").shouldConfirmExecute({ absolute_path: path() }, signal)).toBe(
      false,
    );
  });

  it("R31 asks by the toolbox's own callback, and a no is a no", async () => {
    const asked: string[] = [];
    const answers: Decision[] = [{ outcome: "cancel", reason: "not there" }, { outcome: "once" }];
    const toolbox = open({
      confirm: async ({ kind }) => {
        asked.push(kind);
        return answers.shift() ?? null;
      },
    });
    const refused = await toolOf(toolbox).execute(writing(), signal);
    expect(refused.llmContent).toContain("not there");
    expect(isWritten()).toBe(false);
    expect(await toolOf(toolbox).execute(writing(), signal)).not.toHaveProperty("error");
    expect([asked, isWritten()]).toEqual([["edit", "edit"], true]);
  });

  it.each<[string, (tool: Tool, question: Confirmation, answer: Decision) => Promise<object>]>([
    [
      "approvedByUser and execute",
      (tool, question, answer) => {
        const params = writing();
        if (answer.outcome !== "cancel") tool.approvedByUser?.(params, question, answer);
        return tool.execute(params, signal);
      },
    ],
    [
      "prepare and run",
      async (tool, _question, answer) => {
        const prepared = await tool.prepare?.(writing(), signal);
        return prepared?.run(answer.outcome === "cancel" ? null : answer, signal) ?? {};
      },
    ],
  ])("R31 R33 takes the answer of a user whom the embedder asked (%s)", async (_how, run) => {
    const tool = toolOf(open());
    const question = await tool.shouldConfirmExecute(writing(), signal);
    if (question === false) throw new Error("It asks nothing.");
    expect(await run(tool, question, { outcome: "cancel" })).toMatchObject({ error: {} });
    expect(isWritten()).toBe(false);
    expect(await run(tool, question, { outcome: "no" } as unknown as Decision)).toMatchObject({ error: {} });
    expect(isWritten()).toBe(false);
    expect(await run(tool, question, { outcome: "edited", content: "mine\n" })).not.toHaveProperty("error");
    expect(readFileSync(path(), "utf8")).toBe("mine\n");
  });

  it("R31 takes no answer to a question that has changed since", async () => {
    const tool = toolOf(open({ overwriteUnread: true }));
    const prepared = await tool.prepare?.(writing(), signal);
    writeFileSync(path(), "of somebody else\n");
    const result = await prepared?.run({ outcome: "once" }, signal);
    expect(result).toMatchObject({ error: { type: "needs_approval" } });
    expect(readFileSync(path(), "utf8")).toBe("of somebody else\n");
  });

  it("R33 has its output bounded, and hears of it while it runs", async () => {
    const shown: unknown[] = [];
    const tool = toolOf(open({ approvalMode: "yolo" }), "run_shell_command");
    const command = "for i in 1 2 3; do echo line $i; sleep 0.2; done; yes | head -c 3000000";
    const result = await tool.execute({ command }, signal, (display) => shown.push(display));
    expect(String(result.llmContent).length).toBeLessThan(200_000);
    expect(shown.length).toBeGreaterThan(0);
  });

  it("R9 stops with its signal, and gives a result also when the tool throws", async () => {
    const broken = defineTool({
      name: "broken",
      description: "Fails.",
      parameterSchema: { type: "object" },
      kind: "read",
      execute: () => Promise.reject(new Error("down")),
    });
    const toolbox = open({ tools: [broken] });
    const failed = await toolOf(toolbox, "broken").execute({}, signal);
    expect(failed).toMatchObject({
      error: { type: "tool_failed", message: expect.stringContaining("down") },
    });
    const stopped = await toolOf(toolbox, "broken").execute({}, AbortSignal.abort());
    expect(stopped).toMatchObject({ error: { type: "cancelled" } });
  });

  it("R33 is refused after close, and by what was handed out before", async () => {
    const toolbox = open({ approvalMode: "yolo" });
    const tool = toolOf(toolbox);
    const prepared = await tool.prepare?.(writing(), signal);
    await toolbox.close();
    const closed = { error: { type: "closed" } };
    expect(await tool.execute(writing(), signal)).toMatchObject(closed);
    expect(await prepared?.run(null, signal)).toMatchObject(closed);
    expect(await toolOf(toolbox).execute(writing(), signal)).toMatchObject(closed);
    expect(isWritten()).toBe(false);
  });
});

class Counter {
  #count = 0;
  readonly name = "counter";
  readonly displayName = "Counter";
  readonly description = "Counts.";
  readonly parameterSchema = { type: "object" };
  readonly kind = "execute";
  get count() {
    return this.#count;
  }
  add() {
    this.#count += 1;
    return this.#count;
  }
  validateToolParams() {
    return null;
  }
  getDescription() {
    return "count";
  }
  async shouldConfirmExecute() {
    return false as const;
  }
  async execute() {
    const text = String(this.add());
    return { llmContent: text, returnDisplay: text };
  }
}

describe("a tool of an embedder that comes back from the registry", () => {
  it("R33 goes through the flow, and is otherwise the same", async () => {
    const mine = new Counter();
    const toolbox = open({ ...permissions({ deny: ["counter"] }), tools: [mine] });
    const tool = toolOf(toolbox, "counter") as Tool & Counter;
    expect(await tool.execute({}, signal)).toMatchObject({ error: { type: "denied" } });
    expect(mine.count).toBe(0);
    expect(tool).toBeInstanceOf(Counter);
    expect([tool.add(), tool.count, mine.count]).toEqual([1, 1, 1]);
    expect({ ...tool }).toMatchObject({ name: "counter", description: "Counts.", kind: "execute" });
    expect(toolbox.registry.getTool("counter")).toBe(tool);
  });

  it("R15 can be registered again, and wrapped, without a way around the rules or a second question", async () => {
    const asked: string[] = [];
    const confirm: ToolboxOptions["confirm"] = async ({ title }) => {
      asked.push(title);
      return { outcome: "once" };
    };
    const toolbox = open({ confirm });
    const tool = toolOf(toolbox);
    toolbox.registry.unregisterTool("write_file");
    toolbox.registry.registerTool(tool);
    expect(await toolbox.call("write_file", writing())).not.toHaveProperty("error");
    const heard: string[] = [];
    toolbox.registry.unregisterTool("write_file");
    const prepare: Tool["prepare"] = async (params, stop) => {
      heard.push(String(params.file_path));
      return (
        (await tool.prepare?.(params, stop)) ?? { confirmation: false, run: async () => Promise.reject() }
      );
    };
    toolbox.registry.registerTool({ ...tool, prepare });
    expect(await toolbox.call("write_file", writing("y\n"))).not.toHaveProperty("error");
    expect(readFileSync(path(), "utf8")).toBe("y\n");
    expect([heard, asked]).toEqual([[path()], ["Create a.txt?", expect.any(String)]]);
    const denied = open(permissions({ deny: ["write_file"] }));
    const elsewhere = open({ approvalMode: "yolo" });
    elsewhere.registry.unregisterTool("write_file");
    elsewhere.registry.registerTool(toolOf(denied));
    expect(await elsewhere.call("write_file", writing("z\n"))).toMatchObject({ error: { type: "denied" } });
    expect(readFileSync(path(), "utf8")).toBe("y\n");
  });

  it("R15 a registry of one's own hands out what it was given", () => {
    const registry = new ToolRegistry();
    const mine = new Counter();
    registry.registerTool(mine);
    expect(registry.getTool("counter")).toBe(mine);
  });
});
