import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createSession, type SessionOptions } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { type ScriptLine, scriptedModel } from "@burin/core/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";
import { openReceiver, type ReceivedSpan } from "./otlp-receiver.ts";

const SECRET = "sk-verysecretvalue1234567890";
let receiver: Awaited<ReturnType<typeof openReceiver>>;

makeFolders();
beforeEach(async () => {
  await mkdir(join(root, "project"));
  await writeFile(join(root, "project/known.txt"), "known words\n");
  receiver = await openReceiver();
});

afterEach(async () => {
  await receiver.close();
});

interface Work {
  readonly environment?: NodeJS.ProcessEnv;
  readonly settings?: SessionOptions["settings"];
  readonly lines: readonly ScriptLine[];
  readonly prompts?: readonly string[];
}

/** Works the prompts off in the default mode with each question answered by yes; gives all events. */
async function work({
  environment,
  settings,
  lines,
  prompts = ["secret plan"],
}: Work): Promise<AgentEvent[]> {
  const session = createSession({
    root: join(root, "project"),
    environment: { BURIN_HOME: join(root, "home"), OPENAI_API_KEY: SECRET, ...environment },
    model: scriptedModel(lines),
    confirm: async () => ({ outcome: "once" }),
    ...(settings && { settings }),
  });
  const events: AgentEvent[] = [];
  const heard = (async () => {
    for await (const { event } of session.events(1)) events.push(event);
  })();
  for (const prompt of prompts) for await (const _ of session.run(prompt));
  await session.close();
  await heard;
  return events;
}

const call = (name: string, args: object) => ({ name, args: { ...args } });
const told = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });

/** A prompt with a call that succeeds, one that is asked about, and one that fails. */
const lines = (): ScriptLine[] => [
  {
    thought: "hm",
    text: "first words",
    calls: [
      call("read_file", { file_path: join(root, "project/known.txt") }),
      call("write_file", { file_path: join(root, "project/new.txt"), content: "new" }),
    ],
    usage: { inputTokens: 100, outputTokens: 10, cachedTokens: 40 },
  },
  {
    calls: [call("read_file", { file_path: join(root, "project/none.txt") })],
    usage: { inputTokens: 200, outputTokens: 20 },
  },
  { text: `last words ${SECRET}`, usage: { inputTokens: 300, outputTokens: 30 } },
];

const named = (name: string) => receiver.spans().filter((span) => span.name === name);
const isWithin = (inner: ReceivedSpan, outer: ReceivedSpan) =>
  inner.start >= outer.start && inner.end <= outer.end;

describe("OpenTelemetry", () => {
  it("is told of a run, its requests, calls and questions, as the session did them", async () => {
    const events = await work({
      environment: { ...told(), OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b,other=c" },
      lines: lines(),
    });
    const sessionId = events.flatMap((event) => (event.type === "session" ? event.sessionId : []))[0];
    const [run, ...more] = named("invoke_agent burin");
    if (run === undefined) throw new Error(receiver.text());
    expect(more).toEqual([]);
    expect(run.parentSpanId).toBeUndefined();
    expect(run).toMatchObject({ kind: 1, isError: false });
    expect(run.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "burin",
      "gen_ai.conversation.id": sessionId,
      "gen_ai.request.model": "scripted",
      "gen_ai.usage.input_tokens": 600,
      "gen_ai.usage.output_tokens": 60,
      "burin.status": "success",
      "burin.turns": 3,
    });
    const spans = receiver.spans();
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(spans.filter((span) => !isWithin(span, run))).toEqual([]);

    const chats = named("chat scripted");
    expect(chats.map(({ attributes }) => attributes["gen_ai.usage.input_tokens"])).toEqual([100, 200, 300]);
    expect(chats[0]?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 40,
    });
    expect(chats.every(({ parentSpanId, kind }) => parentSpanId === run.spanId && kind === 3)).toBe(true);

    const calls = events.flatMap((event) =>
      event.type === "tool_call" && ["success", "error"].includes(event.call.status) ? [event.call] : [],
    );
    const tools = spans.filter(({ name }) => name.startsWith("execute_tool"));
    expect(
      tools.map(({ name, attributes, isError }) => [name, attributes["gen_ai.tool.call.id"], isError]),
    ).toEqual(calls.map(({ name, callId, status }) => [`execute_tool ${name}`, callId, status === "error"]));
    expect(tools.at(-1)?.attributes["error.type"]).toBe(
      calls.flatMap((one) => ("error" in one ? (one.error?.type ?? []) : []))[0],
    );
    expect(tools.every(({ parentSpanId }) => parentSpanId === run.spanId)).toBe(true);

    const [question] = named("question");
    const [write] = named("execute_tool write_file");
    expect(question?.parentSpanId).toBe(write?.spanId);
    expect(question && write && isWithin(question, write)).toBe(true);
    expect(question?.attributes).toEqual({ "burin.question.kind": "edit", "burin.question.outcome": "once" });
    expect(receiver.resource()).toMatchObject({ "service.name": "burin" });
    expect(receiver.posted[0]?.headers).toMatchObject({ "api-key": "a b", other: "c" });
  });

  it("gets the metrics of the conventions", async () => {
    await work({ environment: told(), lines: lines() });
    const points = receiver.metrics();
    const usage = (type: string) =>
      points.find(
        ({ name, attributes }) =>
          name === "gen_ai.client.token.usage" && attributes["gen_ai.token.type"] === type,
      );
    expect(usage("input")).toMatchObject({ count: 3, sum: 600 });
    expect(usage("output")).toMatchObject({ count: 3, sum: 60 });
    expect(points.find(({ name }) => name === "gen_ai.client.operation.duration")?.count).toBe(3);
    const tools = points.filter(({ name }) => name === "gen_ai.execute_tool.duration");
    expect(tools.map(({ attributes }) => attributes["gen_ai.tool.name"])).toContain("write_file");
  });

  it("gets contents only where a setting says so, and then no known secret", async () => {
    await work({ environment: told(), lines: lines() });
    const bare = receiver.text();
    for (const words of [
      "secret plan",
      "known words",
      "known.txt",
      "first words",
      "last words",
      SECRET,
      root,
    ])
      expect(bare).not.toContain(words);
    await work({
      settings: { telemetry: { endpoint: `${receiver.url}/`, contents: true } },
      lines: lines(),
      prompts: [`secret plan ${SECRET}`],
    });
    const full = receiver.text().slice(bare.length);
    for (const words of ["secret plan", "known words", "known.txt", "first words", "last words"])
      expect(full).toContain(words);
    expect(full).not.toContain(SECRET);
    const run = named("invoke_agent burin").at(-1);
    const [message] = JSON.parse(String(run?.attributes["gen_ai.input.messages"]));
    expect(message).toEqual({
      role: "user",
      parts: [{ type: "text", content: expect.stringContaining("secret plan") }],
    });
  });

  it("is told of failures, with a trace for each run, part of the one that Burin was started in", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const environment = { ...told(), TRACEPARENT: `00-${trace}-b7ad6b7169203331-01` };
    await work({
      environment,
      lines: [{ error: { type: "quota", message: "no money" } }, { text: "well" }],
      prompts: ["one", "two"],
    });
    const runs = named("invoke_agent burin");
    expect(runs.map(({ isError, attributes }) => [isError, attributes["error.type"]])).toEqual([
      [true, "quota"],
      [false, undefined],
    ]);
    expect(named("chat scripted").map(({ isError }) => isError)).toEqual([true, false]);
    for (const run of runs) expect(run).toMatchObject({ traceId: trace, parentSpanId: "b7ad6b7169203331" });
    expect(receiver.text()).not.toContain("no money");
  });

  it("is told of a session that another process takes up again, under the same conversation", async () => {
    const place = { home: join(root, "home"), root: join(root, "project") };
    const environment = { BURIN_HOME: place.home, ...told() };
    const given = { root: place.root, environment, park: true, record: true };
    const file_path = join(root, "project/new.txt");
    const first = createSession({
      ...given,
      model: scriptedModel([{ text: "I write", calls: [call("write_file", { file_path, content: "new" })] }]),
    });
    for await (const _ of first.run("write it"));
    await first.close();
    const { id } = first;
    const resume = await resumeSession({ ...place, id });
    const model = scriptedModel([{ text: "done" }]);
    const second = createSession({ ...given, model, resume, answer: { outcome: "once" } });
    for await (const _ of second.goOn());
    await second.close();
    const runs = named("invoke_agent burin");
    expect(
      runs.map(({ attributes }) => [attributes["gen_ai.conversation.id"], attributes["burin.status"]]),
    ).toEqual([
      [id, "refused"],
      [id, "success"],
    ]);
    const calls = named("execute_tool write_file");
    expect(calls.map(({ traceId, attributes }) => [traceId, attributes["error.type"]])).toEqual([
      [runs[0]?.traceId, "parked"],
      [runs[1]?.traceId, undefined],
    ]);
    expect(named("question")[0]?.attributes["burin.question.outcome"]).toBe("none");
    expect(named("chat scripted").map(({ traceId }) => traceId)).toEqual(runs.map(({ traceId }) => traceId));
  });

  it("is told nothing where nobody asked for it, or it was switched off", async () => {
    for (const environment of [
      {},
      { OTEL_SERVICE_NAME: "x" },
      { ...told(), OTEL_SDK_DISABLED: "true" },
      { ...told(), OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" },
    ])
      await work({ environment, lines: [{ text: "well" }] });
    expect(receiver.posted).toEqual([]);
    await work({
      environment: {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own`,
        OTEL_SERVICE_NAME: "mine",
        OTEL_RESOURCE_ATTRIBUTES: "team=a",
      },
      lines: [{ text: "well" }],
    });
    expect(receiver.posted.map(({ path }) => path)).toEqual(["/own"]);
    expect(receiver.text()).toContain('{"key":"service.name","value":{"stringValue":"mine"}}');
    expect(receiver.text()).toContain('{"key":"team","value":{"stringValue":"a"}}');
  });

  it.each(["collector:4318", "not an address"])(
    "that has no address of the web is named: %s",
    async (endpoint) => {
      const events = await work({ settings: { telemetry: { endpoint } }, lines: [{ text: "one" }] });
      expect(events).toContainEqual(expect.objectContaining({ type: "done", status: "success" }));
      const notices = events.flatMap((event) => (event.type === "notice" ? event.message : []));
      expect(notices).toEqual([
        `Telemetry is not sent: "${endpoint}/v1/traces" is not an http or https URL.`,
      ]);
    },
  );

  it("that cannot be reached keeps no session from its work, and is reported once", async () => {
    await receiver.close();
    const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces` };
    const events = await work({
      environment,
      lines: [{ text: "one" }, { text: "two" }],
      prompts: ["1", "2"],
    });
    expect(events.filter(({ type }) => type === "done")).toMatchObject([
      { status: "success" },
      { status: "success" },
    ]);
    const notices = events.flatMap((event) => (event.type === "notice" ? event.message : []));
    expect(
      notices.filter((text) => text.startsWith(`Telemetry could not be sent to ${receiver.url}/v1/traces: `)),
    ).toHaveLength(1);
    receiver = await openReceiver();
  });
});
