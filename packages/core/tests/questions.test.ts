import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  BaseTool,
  createSession,
  createToolbox,
  type Question,
  type Session,
  type SessionOptions,
} from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import type { ChatModel, LogRecord, ModelRequest } from "@burin/core/sessions";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

const writing = (name: string) => ({
  name: "write_file",
  args: { file_path: join(root, name), content: "x\n" },
});

function open(script: readonly ScriptLine[], more: Partial<SessionOptions> = {}): Session {
  const environment = { BURIN_HOME: home, PATH: process.env.PATH };
  return createSession({ root, environment, model: scriptedModel(script), ...more });
}

/** All that a session tells until it is closed, and the questions among it. */
function following(session: Session, from?: number) {
  const records: LogRecord[] = [];
  const waiting: ((question: Question) => void)[] = [];
  const over = (async () => {
    for await (const record of session.events(from)) {
      records.push(record);
      if (record.event.type === "question") waiting.shift()?.(record.event);
    }
  })();
  const nextQuestion = () => new Promise<Question>((resolve) => waiting.push(resolve));
  return { records, over, nextQuestion };
}

const typesOf = (records: readonly LogRecord[]) => records.map(({ event }) => event.type);

describe("a question", () => {
  it("R31 is an event with an identity, and anybody who knows the id answers it once", async () => {
    const session = open([{ calls: [writing("a.txt")] }, { text: "Done." }], { awaitsAnswers: true });
    const { nextQuestion, records, over } = following(session);
    const asked = nextQuestion();
    const run = collectEvents(session.run("write"));
    const question = await asked;
    expect(question).toMatchObject({
      callId: "call_1",
      agent: null,
      parentCallId: null,
      confirmation: { kind: "edit", path: join(root, "a.txt") },
      reason: expect.stringContaining("asks"),
    });
    expect(session.questions).toMatchObject([{ id: question.id }]);
    expect(session.answer("another", { outcome: "once" })).toContain("no question");
    expect(session.answer(question.id, { outcome: "filled", values: {} })).toContain("must be one of");
    expect(session.answer(question.id, { outcome: "edited", content: "mine\n" })).toBe(null);
    expect(session.answer(question.id, { outcome: "once" })).toContain("no question");
    expect((await run).at(-1)).toMatchObject({ status: "success" });
    expect(session.questions).toEqual([]);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("mine\n");
    await session.close();
    await over;
    const { id } = question;
    expect(records.map(({ event }) => event)).toContainEqual({
      type: "question_answered",
      id,
      decision: { outcome: "edited" },
    });
  });

  it("R31 a command that the user changes is a new one: rules decide about it, and it asks by another id", async () => {
    const run = {
      name: "run_shell_command",
      args: { command: "touch made.txt", description: "Makes a file" },
    };
    const session = open([{ calls: [run] }, { calls: [run] }, { text: "Done." }], {
      awaitsAnswers: true,
      settings: { permissions: { deny: ["run_shell_command(rm *)"] } },
    });
    const { nextQuestion, over } = following(session);
    const change = async (content: string) => {
      const question = await nextQuestion();
      expect(session.answer(question.id, { outcome: "edited", content })).toBe(null);
      return question.id;
    };
    const events = collectEvents(session.run("go"));
    const first = await change("touch other.txt");
    expect(await change("rm made.txt")).toBe(`${first}_edited1`);
    await change("touch other.txt");
    const last = await nextQuestion();
    expect(last.confirmation).toMatchObject({ kind: "exec", command: "touch other.txt" });
    expect(session.answer(last.id, { outcome: "once" })).toBe(null);
    expect((await events).at(-1)).toMatchObject({ result: "Done." });
    const [denied, done] = session.history.flatMap(({ parts }) =>
      parts.flatMap(({ functionResponse }) => (functionResponse ? [JSON.stringify(functionResponse)] : [])),
    );
    expect(denied).toContain("run_shell_command(rm *)");
    expect(denied).toContain("The user changed the command to:\\nrm made.txt");
    expect(done).toContain("The user changed the command to:\\ntouch other.txt");
    expect((await readdir(root)).sort()).toEqual(["other.txt"]);
    await session.close();
    await over;
  });

  it("R31 nobody who will answer is a refusal that blames no user; an interruption withdraws it", async () => {
    const session = open([{ calls: [writing("a.txt")] }, { text: "I see." }, { calls: [writing("a.txt")] }], {
      awaitsAnswers: true,
    });
    const { nextQuestion, records, over } = following(session);
    const first = nextQuestion();
    const run = collectEvents(session.run("write"));
    session.answer((await first).id, null);
    expect((await run).at(-1)).toMatchObject({ status: "refused", error: { type: "needs_approval" } });
    const stop = new AbortController();
    const second = nextQuestion();
    const other = collectEvents(session.run("again", stop.signal));
    const { id } = await second;
    stop.abort();
    expect((await other).at(-1)).toMatchObject({ status: "cancelled" });
    expect(session.answer(id, { outcome: "once" })).toContain("no question");
    await session.close();
    await over;
    const answers = records.flatMap(({ event }) => (event.type === "question_answered" ? [event] : []));
    expect(answers.map(({ decision }) => decision)).toEqual([null, null]);
  });

  it("R31 a callback and another face may both answer; the first one counts", async () => {
    const heard: Question[] = [];
    const confirm: SessionOptions["confirm"] = (_confirmation, _signal, question) => {
      heard.push(question);
      session.answer(question.id, { outcome: "once" });
      return new Promise(() => {});
    };
    const session = open([{ calls: [writing("a.txt")] }, { text: "Done." }], { confirm });
    expect((await collectEvents(session.run("write"))).at(-1)).toMatchObject({ status: "success" });
    expect(heard).toMatchObject([{ callId: "call_1" }]);
    await session.close();
  });

  it("P46 says which subagent asks and for which task, also when two of one kind work side by side", async () => {
    const task = (description: string) => ({
      name: "task",
      args: { description, prompt: `write ${description}`, subagent_type: "general" },
    });
    const main = scriptedModel([{ calls: [task("a"), task("b")] }, { text: "Done." }]);
    // Both number their calls alike, as services do.
    const workers = ["a", "b"].map((name) =>
      scriptedModel([{ calls: [writing(`${name}.txt`)] }, { text: "Written." }]),
    );
    const model: SessionOptions["model"] = {
      name: "many",
      stream: (request, signal) => {
        const prompt = JSON.stringify(request.history[0]);
        const worker = workers.find((_one, index) => prompt.includes(`write ${"ab"[index]}`));
        return (request.system.includes("whole task") && worker ? worker : main).stream(request, signal);
      },
    };
    const asked: Question[] = [];
    const confirm: SessionOptions["confirm"] = async (_confirmation, _signal, question) => {
      asked.push(question);
      return { outcome: "once" };
    };
    const events = await collectEvents(open([], { model, confirm }).run("go"));
    expect(asked.map(({ agent }) => agent)).toEqual(["general", "general"]);
    expect(new Set(asked.map(({ parentCallId }) => parentCallId))).toEqual(new Set(["call_1", "call_2"]));
    expect(new Set(asked.map(({ callId }) => callId)).size).toBe(2);
    const calls = events.flatMap((event) => (event.type === "subagent_call" ? [event] : []));
    for (const { parentCallId, call } of calls) {
      const name = parentCallId === "call_1" ? "a.txt" : "b.txt";
      expect(call.args.file_path).toBe(join(root, name));
    }
    const own = events.flatMap((event) => (event.type === "tool_call" ? event.call.callId : []));
    const others = calls.map(({ call }) => call.callId);
    expect(others.filter((id) => own.includes(id))).toEqual([]);
    expect(new Set(others).size).toBe(2);
  });

  it("P44 that a session was parked with is answered by its id when the session is resumed", async () => {
    const first = open([{ calls: [writing("a.txt")] }], { record: true, park: true });
    const end = (await collectEvents(first.run("write"))).at(-1);
    expect(end).toMatchObject({ status: "refused", error: { type: "parked" } });
    await first.close();
    const resume = await resumeSession({ home, root });
    const second = open([{ text: "Done." }], { resume, awaitsAnswers: true });
    const [question] = second.questions;
    expect(question).toMatchObject({ callId: "call_1", confirmation: { kind: "edit" } });
    expect(second.answer(question?.id ?? "", { outcome: "once" })).toBe(null);
    expect(second.questions).toEqual([]);
    expect((await collectEvents(second.goOn())).at(-1)).toMatchObject({ status: "success", result: "Done." });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("x\n");
    await second.close();
  });
});

class Echo extends BaseTool {
  readonly name = "echo";
  readonly displayName = "Echo";
  readonly description = "Says the id of its call.";
  readonly parameterSchema = { type: "object" };
  readonly kind = "read";
  getDescription(): string {
    return "echo";
  }
  async execute(...[, , , context]: Parameters<BaseTool["execute"]>) {
    const callId = context?.callId ?? "none";
    return { llmContent: callId, returnDisplay: callId };
  }
}

describe("the id of a call", () => {
  it("R27 is its own for each call of a toolbox, and the tool is told of it", async () => {
    const toolbox = createToolbox({ root, tools: [new Echo()] });
    const answers = await Promise.all([1, 2, 3].map(() => toolbox.run("echo", {})));
    expect(answers.map(({ callId }) => callId)).toEqual(["call_1", "call_2", "call_3"]);
    expect(answers.map(({ llmContent }) => llmContent)).toEqual(["call_1", "call_2", "call_3"]);
    await toolbox.close();
  });

  it("R27 is not given twice in a session, whoever makes the call and however the service numbers", async () => {
    let asked = 0;
    const model: SessionOptions["model"] = {
      name: "counts from 1",
      async *stream() {
        asked += 1;
        if (asked < 3) {
          yield { type: "thought", text: "", signature: "mark", callId: "1" };
          yield { type: "function_call", call: { id: "1", name: "echo", args: {} } };
          yield { type: "function_call", call: { id: "1", name: "echo", args: {} } };
        }
        yield { type: "end", reason: "stop" };
      },
    };
    const session = open([], { model, tools: [new Echo()] });
    const events = await collectEvents(session.run("go"));
    await session.call("echo", {});
    const ids = events.flatMap((event) =>
      event.type === "tool_call" && event.call.status === "success" ? event.call.callId : [],
    );
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain((await session.call("echo", {})).llmContent);
    const marked = session.history.flatMap(({ parts }) => parts.filter((part) => part.thoughtSignature));
    expect(marked.map((part) => part.functionCall?.id)).toEqual([ids[0], ids[2]]);
    await session.close();
  });
});

describe("what a session tells", () => {
  it.each([
    ["recorded", true],
    ["not recorded", false],
  ])("P44 %s: a face reads on from any number, in the envelope of the log", async (_what, record) => {
    const session = open([{ text: "One." }, { text: "Two." }], { record });
    const all = following(session);
    await collectEvents(session.run("first"));
    const early = following(session, 1);
    await collectEvents(session.run("second"));
    const late = following(session, 3);
    session.note({ type: "input_error", line: 7, message: "what?" });
    await session.close();
    await Promise.all([all.over, early.over, late.over]);
    expect(typesOf(all.records).slice(0, 3)).toEqual(["session", "text", "text"]);
    expect(all.records.map(({ n }) => n)).toEqual(all.records.map((_record, index) => index + 1));
    expect(early.records).toEqual(all.records);
    expect(late.records).toEqual(all.records.slice(2));
    expect(all.records.at(-1)?.event).toEqual({ type: "input_error", line: 7, message: "what?" });
  });

  it("P44 the pieces of a text that grows bear one number, under which the whole is read later", async () => {
    const model: SessionOptions["model"] = {
      name: "slow",
      async *stream() {
        for (const text of ["One", " two", " three."]) yield { type: "text", text };
        yield { type: "end", reason: "stop" };
      },
    };
    const session = open([], { model, record: true });
    const live = following(session);
    await collectEvents(session.run("count"));
    const again = following(session, 1);
    await session.close();
    await Promise.all([live.over, again.over]);
    const words = (records: readonly LogRecord[]) =>
      records.flatMap(({ n, event }) =>
        event.type === "text" && event.role === "model" ? [[n, event.text]] : [],
      );
    expect(words(live.records)).toEqual([
      [3, "One"],
      [3, " two"],
      [3, " three."],
    ]);
    expect(words(again.records)).toEqual([[3, "One two three."]]);
  });

  it("R47 a change of the approval mode, by whomever", async () => {
    const plan = { name: "exit_plan_mode", args: { plan: "1. do it" } };
    const session = open([{ calls: [plan] }, { text: "Done." }], {
      approvalMode: "plan",
      confirm: async () => ({ outcome: "approved_plan", mode: "auto-edit" }),
    });
    const { records, over } = following(session);
    await collectEvents(session.run("plan"));
    session.approvalMode = "auto-edit";
    session.approvalMode = "default";
    await session.close();
    await over;
    const modes = records.flatMap(({ event }) => ("mode" in event ? [[event.type, event.mode]] : []));
    expect(modes).toEqual([
      ["session", "plan"],
      ["mode", "auto-edit"],
      ["mode", "default"],
    ]);
  });

  it("P5 how full the window is, and that another model answers", async () => {
    const session = open([{ text: "One." }]);
    const { records, over } = following(session);
    const before = session.contextFill;
    await collectEvents(session.run("first"));
    const fill = session.contextFill;
    expect(fill.tokens).toBeGreaterThan(before.tokens);
    const other = { ...scriptedModel([{ text: "Two." }]), name: "other", contextWindow: 5000 };
    session.useModel(other);
    expect(session.contextFill).toEqual({ tokens: fill.tokens, window: 5000 });
    expect((await collectEvents(session.run("second"))).at(-1)).toMatchObject({ result: "Two." });
    await session.close();
    await over;
    const events = records.map(({ event }) => event);
    expect(events).toContainEqual({ type: "context_fill", ...fill });
    expect(events).toContainEqual({ type: "model", model: "other", window: 5000 });
  });

  it("P5 a history is replaced by a summary when the user says so, between two runs", async () => {
    const script = [{ text: "A long answer. ".repeat(200) }, { text: "They talked." }, { text: "Two." }];
    const session = open(script);
    const { records, over } = following(session);
    const run = collectEvents(session.run("first"));
    const after = await session.compact();
    await run;
    expect(JSON.stringify(session.history)).toContain("They talked.");
    expect(JSON.stringify(session.history)).not.toContain("A long answer.");
    expect(after).toEqual({ ...session.contextFill, isSummarized: true });
    expect((await collectEvents(session.run("second"))).at(-1)).toMatchObject({ result: "Two." });
    await session.close();
    await over;
    const types = typesOf(records);
    expect(types.indexOf("compaction")).toBeGreaterThan(types.indexOf("done"));
    expect(types.indexOf("compaction")).toBeLessThan(types.lastIndexOf("done"));
  });

  it("P5 the user's words go to the model that sums up, with the record", async () => {
    const asked: ModelRequest[] = [];
    const script = scriptedModel([{ text: "A long answer. ".repeat(200) }, { text: "The names." }]);
    const model: ChatModel = {
      ...script,
      stream: (request, signal) => {
        asked.push(request);
        return script.stream(request, signal);
      },
    };
    const session = createSession({ root, environment: { BURIN_HOME: home }, model });
    await collectEvents(session.run("first"));
    await session.compact(undefined, "keep all names of functions");
    expect(asked.at(-1)?.system).toContain("keep all names of functions");
    expect(asked[0]?.system).not.toContain("keep all names of functions");
    await session.close();
  });

  it.each([
    ["is too short for one, and no model is asked", [{ text: "Yes." }]],
    [
      "would get a longer one",
      [{ text: "An answer. ".repeat(60) }, { text: "Much more of it. ".repeat(200) }],
    ],
  ])("P5 a history stays as it is where it %s", async (_what, script) => {
    const session = open(script);
    const { records, over } = following(session);
    await collectEvents(session.run("first"));
    const before = structuredClone(session.history);
    const { tokens } = session.contextFill;
    expect(await session.compact()).toEqual({ ...session.contextFill, isSummarized: false });
    expect([session.history, session.contextFill.tokens]).toEqual([before, tokens]);
    await session.close();
    await over;
    expect(typesOf(records)).not.toContain("compaction");
  });
});
