import { readFileSync } from "node:fs";
import { createToolbox, defineTool, type Question, type Toolbox, type ToolboxOptions } from "@burin/core";
import type { ToolCall } from "@burin/core/sessions";
import { afterEach, expect, it } from "vitest";
import { file, home, makeFolders, root } from "./folder.ts";

makeFolders();
const opened: Toolbox[] = [];
afterEach(() => Promise.all(opened.splice(0).map((toolbox) => toolbox.close())));

function toolboxWith(options: Partial<ToolboxOptions> = {}): Toolbox {
  const toolbox = createToolbox({ root, environment: { ...process.env, BURIN_HOME: home }, ...options });
  opened.push(toolbox);
  return toolbox;
}

const ANY = { type: "object" } as const;

it("R36 callAll runs readers side by side and edits alone, and answers in the order of the calls", async () => {
  let running = 0;
  const max: Record<string, number> = { read: 0, edit: 0 };
  const tools = (["read", "edit"] as const).map((kind) =>
    defineTool({
      name: `${kind}_it`,
      kind,
      description: "Counts.",
      parameterSchema: ANY,
      execute: async ({ n }) => {
        running += 1;
        max[kind] = Math.max(max[kind] ?? 0, running);
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return `${kind} ${n}`;
      },
    }),
  );
  const toolbox = toolboxWith({ tools, approvalMode: "yolo" });
  const calls = ["read", "read", "edit", "edit", "read"].map((kind, n) => ({
    name: `${kind}_it`,
    args: { n },
  }));
  const heard: ToolCall[] = [];
  const answers = await toolbox.callAll(calls, { onCall: (call) => heard.push(call) });
  expect(answers.map(({ llmContent }) => llmContent)).toEqual([
    "read 0",
    "read 1",
    "edit 2",
    "edit 3",
    "read 4",
  ]);
  expect(max).toEqual({ read: 2, edit: 1 });
  expect(new Set(answers.map(({ callId }) => callId)).size).toBe(5);
  expect(heard.filter(({ status }) => status === "success")).toHaveLength(5);
});

it("R36 callAll answers each call once, whatever it asks for", async () => {
  const toolbox = toolboxWith();
  const answers = await toolbox.callAll([
    { id: "a", name: "list_directory", args: { path: "." } },
    { id: "b", name: "no_such_tool", args: {} },
    { id: "c", name: "read_file", args: {}, argsError: "The arguments are not JSON." },
    { id: "d", name: "write_file", args: { file_path: `${root}/a.txt`, content: "" } },
  ]);
  expect(answers.map(({ callId, status, error }) => [callId, status, error?.type])).toEqual([
    ["a", "success", undefined],
    ["b", "error", "unknown_tool"],
    ["c", "error", "invalid_arguments"],
    ["d", "error", "needs_approval"],
  ]);
  expect(await toolbox.callAll([])).toEqual([]);
});

it("R9 R33 call takes a signal, live output and the model's id as options", async () => {
  const slow = defineTool({
    name: "slow",
    kind: "read",
    description: "Is slow.",
    parameterSchema: ANY,
    execute: (_, signal, onUpdate) => {
      const stopped = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      onUpdate?.("so far");
      return stopped;
    },
  });
  const toolbox = toolboxWith({ tools: [slow] });
  const stop = new AbortController();
  const shown: unknown[] = [];
  const onUpdate = (display: unknown) => {
    shown.push(display);
    stop.abort();
  };
  const answer = await toolbox.call("slow", {}, { signal: stop.signal, onUpdate, callId: "call_7" });
  expect(answer).toMatchObject({ status: "cancelled", callId: "call_7", error: { type: "cancelled" } });
  expect(shown).toEqual(["so far"]);
  expect(toolbox.questions).toEqual([]);
  // The form of earlier versions.
  const aborted = await toolbox.call("list_directory", { path: "." }, AbortSignal.abort());
  expect(aborted.status).toBe("cancelled");
});

it("R33 a tool that is interrupted before it returns a promise, and never ends, is left behind", async () => {
  const deaf = defineTool({
    name: "deaf",
    kind: "read",
    description: "Never ends.",
    parameterSchema: ANY,
    execute: (...[, , onUpdate]) => {
      onUpdate?.("so far");
      return new Promise<never>(() => {});
    },
  });
  const stop = new AbortController();
  const onUpdate = () => stop.abort();
  const answer = await toolboxWith({ tools: [deaf] }).call("deaf", {}, { signal: stop.signal, onUpdate });
  expect(answer).toMatchObject({ status: "cancelled", llmContent: expect.stringContaining("did not stop") });
});

it("R10 R22 results have data for programs: exit codes, changed files with counts, hits", async () => {
  const toolbox = toolboxWith({ approvalMode: "yolo" });
  const path = file("a.txt", "one\ntwo\n");
  const data = async (name: string, args: Record<string, unknown>) => (await toolbox.call(name, args)).data;
  const edit = { file_path: path, old_string: "two\n", new_string: "three\nfour\n" };
  expect(await data("edit", edit)).toEqual({
    changedFiles: [{ path, change: "modified", addedLines: 2, removedLines: 1 }],
  });
  const made = `${root}/new/b.txt`;
  expect(await data("write_file", { file_path: made, content: "one\n" })).toEqual({
    changedFiles: [{ path: made, change: "created", addedLines: 1, removedLines: 0 }],
  });
  expect(await data("search_file_content", { pattern: "e" })).toEqual({ hits: 3 });
  expect(await data("glob", { pattern: "**/*.txt" })).toEqual({ hits: 2 });
  expect(await data("run_shell_command", { command: "exit 3" })).toEqual({ exitCode: 3 });
  const started = await data("run_shell_command", { command: "sleep 30", is_background: true });
  expect(started).toEqual({ background: expect.any(String) });
});

it("R10 data that is not JSON is left out, and the words stay", async () => {
  const odd = defineTool({
    name: "odd",
    kind: "read",
    description: "Is odd.",
    parameterSchema: ANY,
    execute: () => ({ llmContent: "done", returnDisplay: "done", data: { big: 1n } }),
  });
  const answer = await toolboxWith({ tools: [odd] }).call("odd", {});
  expect(answer).toMatchObject({ status: "success", llmContent: "done" });
  expect(answer.data).toBeUndefined();
});

it("R17 tools says what the model may call: chosen names, and none that needs a session", () => {
  const toolbox = toolboxWith();
  const names = (filter?: Parameters<Toolbox["tools"]>[0]) => toolbox.tools(filter).map(({ name }) => name);
  expect(names()).toContain("read_file");
  for (const name of ["task", "exit_plan_mode", "web_search"]) expect(names()).not.toContain(name);
  expect(names({ only: ["read_*", "task"] })).toEqual(["read_file", "read_many_files"]);
  expect(names({ only: ["read_*"], except: ["*many*"] })).toEqual(["read_file"]);
  expect(names({ only: [] })).toEqual([]);
});

it("R17 tools declares what fits the budget, and tool_search finds the rest", async () => {
  const declared = Array.from({ length: 40 }, (_, n) => ({
    name: `lookup_${n}`,
    description: `Looks up the number ${n}. ${"x".repeat(500)}`,
    parameters: { type: "object", properties: {} },
  }));
  const list = file("tools.json", JSON.stringify(declared));
  const toolbox = toolboxWith({
    approvalMode: "yolo",
    settings: { tools: { toolDiscoveryCommand: `cat ${list}`, toolCallCommand: "echo", schemaBudget: 4000 } },
  });
  expect(await toolbox.ready()).toEqual([]);
  const found = () => toolbox.tools().filter(({ name }) => name.startsWith("lookup_"));
  expect(found().length).toBeLessThan(8);
  expect(toolbox.tools().map(({ name }) => name)).toContain("tool_search");
  await toolbox.call("tool_search", { query: "lookup_39" });
  expect(found().map(({ name }) => name)).toContain("lookup_39");
});

it("R31 R32 a question of a toolbox is answered by its id, once", async () => {
  const asked: Question[] = [];
  const toolbox = toolboxWith({ awaitsAnswers: true, onQuestion: (question) => asked.push(question) });
  const path = `${root}/a.txt`;
  const writing = toolbox.call("write_file", { file_path: path, content: "one\n" }, { callId: "w1" });
  await expect.poll(() => toolbox.questions.length).toBe(1);
  const [question] = toolbox.questions;
  expect(question).toMatchObject({ callId: "w1", confirmation: { kind: "edit" } });
  expect(asked).toEqual([question]);
  expect(toolbox.answer("other", { outcome: "once" })).toContain("no question");
  expect(toolbox.answer(question?.id ?? "", { outcome: "filled", values: {} })).toContain("must be one of");
  expect(toolbox.answer(question?.id ?? "", { outcome: "once" })).toBeNull();
  expect(toolbox.answer(question?.id ?? "", { outcome: "cancel" })).toContain("no question");
  expect((await writing).status).toBe("success");
  expect(readFileSync(path, "utf8")).toBe("one\n");
  expect(toolbox.questions).toEqual([]);
});
