import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  type AgentEvent,
  BaseTool,
  createSession,
  type Decision,
  type SessionOptions,
  type ToolResult,
} from "@burin/core";
import { buildHistory, openModel } from "@burin/core/sessions";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { makeFolders, root } from "./folder.ts";

let server: FakeModelServer | null = null;

makeFolders();

afterEach(async () => {
  await server?.close();
  server = null;
});

interface Phase {
  readonly replies: readonly FakeReply[];
  /** Whether the run is now where it shall be interrupted. */
  readonly isThere: (event: AgentEvent) => boolean;
  readonly options?: Partial<SessionOptions>;
  readonly prompt?: string;
}

/** Interrupts a run in one phase, then gives the next prompt, which a strict service has to take. */
async function interrupt({ replies, isThere, options = {}, prompt = "go" }: Phase) {
  const started = await startFakeModelServer([...replies, { text: "Here again." }]);
  server = started;
  const model = openModel({ provider: "openai", name: "fake", baseUrl: started.baseUrl });
  const session = createSession({ root, model, approvalMode: "yolo", ...options });
  const controller = new AbortController();
  const events: AgentEvent[] = [];
  for await (const event of session.run(prompt, controller.signal)) {
    events.push(event);
    if (!isThere(event)) continue;
    // The request must have left, or the reply that hangs would wait for the next prompt.
    void expect
      .poll(() => started.requests.length, { timeout: 20_000 })
      .toBeGreaterThan(0)
      .then(() => setTimeout(() => controller.abort(), 30));
  }
  expect(controller.signal.aborted).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: "done", status: "cancelled" });
  const filesThen = await readdir(root);
  const next = await collectEvents(session.run("and now?"));
  expect(next.at(-1)).toMatchObject({ type: "done", status: "success", result: "Here again." });
  expect(started.problems).toEqual([]);
  expect(JSON.stringify(started.requests.at(-1)?.body)).toContain("and now?");
  expect(buildHistory([...events, ...next])).toEqual(session.history);
  await session.close();
  const calls = events.flatMap((event) => (event.type === "tool_call" ? [event.call] : []));
  return { events, calls, session, filesThen };
}

const write = (name: string) => ({
  name: "write_file",
  args: { file_path: join(root, name), content: "x" },
});
const command = (text: string) => ({ name: "run_shell_command", args: { command: text } });

/** The start of a reply, and then nothing more. */
function hanging(...chunks: readonly object[]): FakeReply {
  return {
    raw: (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const delta of chunks)
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    },
  };
}

const isText = (event: AgentEvent) => event.type === "text" && event.role === "model";
const isStatus = (status: string) => (event: AgentEvent) =>
  event.type === "tool_call" && event.call.status === status;

describe("P11 an interruption", () => {
  it("before the first byte", async () => {
    const { session } = await interrupt({
      replies: [hanging()],
      isThere: (event) => event.type === "text" && event.role === "user",
    });
    expect(session.history.map(({ role }) => role)).toEqual(["user", "model"]);
  });

  it("while text streams: what was said stays said", async () => {
    const { session } = await interrupt({ replies: [hanging({ content: "Half a " })], isThere: isText });
    expect(session.history[1]?.parts).toEqual([{ text: "Half a " }]);
  });

  it("while arguments stream: the call is never run and never asked for an answer", async () => {
    const fn = { name: "write_file", arguments: `{"file_path":"${join(root, "a.txt")}","content":"x"}` };
    const half = { name: "write_file", arguments: '{"file_path":"' };
    const { calls, filesThen } = await interrupt({
      replies: [
        hanging({
          content: "Writing.",
          tool_calls: [
            { index: 0, id: "c1", type: "function", function: fn },
            { index: 1, id: "c2", type: "function", function: half },
          ],
        }),
      ],
      isThere: isText,
    });
    expect([calls, filesThen]).toEqual([[], []]);
  });

  it("while a question is open: a late yes does nothing, and what waits behind it is not asked", async () => {
    let answer: (decision: Decision) => void = () => {};
    let questions = 0;
    const confirm = () => {
      questions += 1;
      return new Promise<Decision>((resolve) => {
        answer = resolve;
      });
    };
    const { calls, filesThen } = await interrupt({
      replies: [{ calls: [write("a.txt"), write("b.txt")] }],
      isThere: ({ type }) => type === "question",
      options: { confirm, approvalMode: "default" },
    });
    answer({ outcome: "once" });
    await pause(50);
    expect(questions).toBe(1);
    expect([filesThen, await readdir(root)]).toEqual([[], []]);
    expect(calls.filter(({ status }) => status === "cancelled")).toHaveLength(2);
  });

  it("while a command runs: it ends with all it started, and the call behind it never starts", async () => {
    const late = join(root, "late.txt");
    const { calls } = await interrupt({
      replies: [{ calls: [command(`(sleep 2; echo x > ${late}) & sleep 30`), write("b.txt")] }],
      isThere: (event) => isStatus("executing")(event),
    });
    await pause(2200);
    expect([existsSync(late), existsSync(join(root, "b.txt"))]).toEqual([false, false]);
    expect(calls.filter(({ status }) => status === "cancelled")).toHaveLength(2);
  });

  it("of a tool that does not heed it: the run ends all the same, says so, and hears nothing more of it", async () => {
    let tell: (text: string) => void = () => {};
    class Deaf extends BaseTool {
      readonly name = "deaf";
      readonly displayName = "Deaf";
      readonly kind = "execute";
      readonly description = "Never ends.";
      readonly parameterSchema = { type: "object", properties: {} };
      getDescription() {
        return "deaf";
      }
      execute(_params: object, _signal: AbortSignal, onUpdate?: (text: string) => void): Promise<ToolResult> {
        tell = onUpdate ?? tell;
        return new Promise(() => {});
      }
    }
    const { calls } = await interrupt({
      replies: [{ calls: [{ name: "deaf", args: {} }] }],
      isThere: isStatus("executing"),
      options: { tools: [new Deaf()] },
    });
    tell("still here");
    expect(calls.at(-1)).toMatchObject({ status: "cancelled" });
    expect(JSON.stringify(calls.at(-1))).toContain("may still be at work");
  });

  it("while the conversation is summarized: nothing is shortened, and the next prompt is answered", async () => {
    await writeFile(join(root, "a.txt"), "alpha beta gamma delta epsilon zeta\n".repeat(60));
    const summaries = [hanging({ content: "SUMM" }), { text: "SUMMARY" }];
    const reply: FakeReply = ({ body }) => {
      const summary = body.tools === undefined ? summaries.shift() : undefined;
      if (summary !== undefined && typeof summary !== "function") return summary;
      if (JSON.stringify(body.messages).includes("and now?")) return { text: "Here again." };
      const text = "A long thought about it. ".repeat(160);
      return { text, calls: [{ name: "read_file", args: { absolute_path: join(root, "a.txt") } }] };
    };
    const { events } = await interrupt({
      replies: new Array<FakeReply>(30).fill(reply),
      isThere: (event) => event.type === "notice" && event.message.includes("being summarized"),
      options: { settings: { model: { contextWindow: 8192 } } },
    });
    expect(events.some(({ type }) => type === "compaction")).toBe(false);
  });

  it("while the service is waited for to be tried again", async () => {
    const { withRetries } = await import("@burin/core/sessions");
    const started = await startFakeModelServer([
      { error: { status: 503, message: "busy" } },
      { text: "Here." },
    ]);
    server = started;
    const opened = openModel({ provider: "openai", name: "fake", baseUrl: started.baseUrl });
    const session = createSession({ root, model: withRetries(opened, { firstDelayMs: 60_000 }) });
    const controller = new AbortController();
    let last: AgentEvent | undefined;
    for await (const event of session.run("go", controller.signal)) {
      if (event.type === "notice") controller.abort();
      last = event;
    }
    expect(last).toMatchObject({ type: "done", status: "cancelled" });
    expect(started.requests).toHaveLength(1);
  });

  it("that came before the run: nothing is asked of anybody", async () => {
    const started = await startFakeModelServer([{ text: "Here." }]);
    server = started;
    const model = openModel({ provider: "openai", name: "fake", baseUrl: started.baseUrl });
    const session = createSession({ root, model });
    const events = await collectEvents(session.run("go", AbortSignal.abort()));
    expect(events.at(-1)).toMatchObject({ status: "cancelled" });
    expect(started.requests).toEqual([]);
  });
});
