import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createSession, type SettingsInput } from "@burin/core";
import { openAiCompatible } from "@burin/core/internal";
import { buildHistory } from "@burin/core/sessions";
import {
  type FakeModelServer,
  type FakeReply,
  type RecordedRequest,
  type ScriptLine,
  startFakeModelServer,
} from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let root: string;
let home: string;
let server: FakeModelServer | null = null;
/** Requests that were refused as too long, and sent again without any change. */
const repeated: string[] = [];

beforeEach(async () => {
  const base = createTemporaryFolder();
  root = join(base, "work");
  home = join(base, "home");
  await mkdir(root);
  await mkdir(home);
});

afterEach(async () => {
  await server?.close();
  server = null;
  expect(repeated.splice(0)).toEqual([]);
  await rm(join(root, ".."), { recursive: true });
});

/** What a model with this window would do: refuse what is longer, with a round four bytes for a token. */
interface Played {
  readonly window: number;
  /** Answers a request that has tools; the step counts them from 0. */
  readonly step: (step: number, request: RecordedRequest) => ScriptLine;
  readonly summary?: ScriptLine;
}

const TOO_LONG = { status: 400, message: "This model's maximum context length is 8192 tokens." };

async function play({ window, step, summary = { text: "SUMMARY" } }: Played) {
  const seen = { refused: 0, summaries: 0, steps: 0 };
  const refused = new Set<string>();
  const reply: FakeReply = (request) => {
    const sent = JSON.stringify(request.body);
    if (refused.has(sent)) repeated.push(sent);
    if (request.bodyBytes / 4 > window) {
      seen.refused += 1;
      refused.add(sent);
      return { error: TOO_LONG };
    }
    if (request.body.tools === undefined) {
      seen.summaries += 1;
      if (summary.error === TOO_LONG) refused.add(sent);
      return summary;
    }
    seen.steps += 1;
    return step(seen.steps - 1, request);
  };
  const started = await startFakeModelServer(new Array<FakeReply>(400).fill(reply));
  server = started;
  return { seen, server: started };
}

function sessionAt(baseUrl: string, settings: SettingsInput = {}) {
  const model = openAiCompatible({ name: "some-model", baseUrl });
  return createSession({
    root,
    model,
    settings,
    approvalMode: "yolo",
    environment: { ...process.env, BURIN_HOME: home },
  });
}

async function eventsOf(running: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of running) events.push(JSON.parse(JSON.stringify(event)) as AgentEvent);
  return events;
}

async function file(name: string, content: string): Promise<string> {
  await writeFile(join(root, name), content);
  return join(root, name);
}

const reading = (path: string) => ({ name: "read_file", args: { absolute_path: path } });
const WORDS = "alpha beta gamma delta epsilon zeta\n";
const small = { model: { contextWindow: 8192 } };

describe("P5 a window that fills up", () => {
  it("a long tool loop in a window of 8k: shortened in the middle, and no request is too long", async () => {
    const paths: string[] = [];
    for (let index = 0; index < 40; index += 1) paths.push(await file(`f${index}.txt`, WORDS.repeat(80)));
    const { seen, server: fake } = await play({
      window: 8192,
      step: (step) => {
        const path = paths[step];
        return path === undefined ? { text: "All read." } : { text: `File ${step}.`, calls: [reading(path)] };
      },
    });
    const session = sessionAt(fake.baseUrl, small);
    const events = await eventsOf(session.run("Read all forty files."));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success", result: "All read.", turns: 41 });
    expect([seen.refused, fake.problems]).toEqual([0, []]);
    expect(seen.summaries).toBeGreaterThan(0);
    expect(events.filter((event) => event.type === "cleared").length).toBeGreaterThan(0);
    expect(buildHistory(events)).toEqual(session.history);
    const next = await eventsOf(session.run("And now?"));
    expect(next.at(-1)).toMatchObject({ type: "done", status: "success" });
  });

  it("a window in which the instructions and tools alone do not fit is said to be too small, and asked once", async () => {
    const { seen, server: fake } = await play({ window: 1000, step: () => ({ text: "ok" }) });
    const events = await eventsOf(sessionAt(fake.baseUrl).run("Hello."));
    const message = expect.stringMatching(
      /instructions and tools alone take about \d+ tokens.*a larger window/,
    );
    expect(events.at(-1)).toMatchObject({ type: "done", status: "error", error: { message } });
    expect(seen).toEqual({ refused: 1, summaries: 0, steps: 0 });
    expect(events.filter(({ type }) => type === "notice" || type === "compaction")).toEqual([]);
  });

  it("a refusal as too long shortens the conversation and asks once more; a window that is said is kept to", async () => {
    const path = await file("a.txt", WORDS.repeat(150));
    const { seen, server: fake } = await play({
      window: 8192,
      step: (step) => (step < 8 ? { calls: [reading(path)] } : { text: "Done." }),
    });
    // Nobody has said how small the window is: 32k tokens are assumed.
    const session = sessionAt(fake.baseUrl);
    const events = await eventsOf(session.run("Read it again and again."));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success", result: "Done." });
    expect(seen.refused).toBe(1);
    expect(events.filter((event) => event.type === "compaction").length).toBeGreaterThan(0);
    expect(fake.problems).toEqual([]);
  });

  it("P5 a refusal as too long of what cannot be shortened is not sent again", async () => {
    const refusal = { status: 400, message: "This model's maximum context length is 1000000 tokens." };
    const served = await startFakeModelServer(new Array<FakeReply>(10).fill({ error: refusal }));
    server = served;
    const events = await eventsOf(sessionAt(served.baseUrl).run("Hello."));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "error" });
    const bodies = served.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies).toHaveLength(new Set(bodies).size);
  });

  it("a prompt that is itself larger than the window is cut with a word on it, and the next one is answered", async () => {
    const { seen, server: fake } = await play({ window: 8192, step: () => ({ text: "Long!" }) });
    const session = sessionAt(fake.baseUrl, small);
    const events = await eventsOf(session.run(`Begin. ${WORDS.repeat(2000)} The end.`));
    expect(events.at(-1)).toMatchObject({ status: "success", result: "Long!" });
    const sent = JSON.stringify(fake.requests.at(-1)?.body);
    expect(sent).toMatch(/Begin\..*left out.*The end\./);
    expect((await eventsOf(session.run("Short one."))).at(-1)).toMatchObject({ status: "success" });
    expect(seen.refused).toBe(0);
  });

  it("one large answer, or many at once, never fill the window", async () => {
    const path = await file("a.txt", WORDS.repeat(2000));
    const { seen, server: fake } = await play({
      window: 8192,
      step: (step) => (step < 3 ? { calls: new Array(5).fill(reading(path)) } : { text: "Done." }),
    });
    const events = await eventsOf(sessionAt(fake.baseUrl, small).run("Read it."));
    expect(events.at(-1)).toMatchObject({ status: "success", result: "Done." });
    expect([seen.refused, fake.problems]).toEqual([0, []]);
  });

  it("P48 a file that has no room is read in parts, which say how to go on", async () => {
    const path = await file("a.txt", WORDS.repeat(2000));
    const { server: fake } = await play({
      window: 8192,
      step: (step) => (step < 1 ? { calls: [reading(path)] } : { text: "Done." }),
    });
    await eventsOf(sessionAt(fake.baseUrl, small).run("Read it."));
    const { messages } = fake.requests[1]?.body ?? {};
    const answer = Array.isArray(messages) ? String(messages.at(-1)?.content) : "";
    expect(answer.length).toBeGreaterThan(4000);
    expect(answer).toMatch(/lines 1-\d+ of 2000.*offset/s);
    expect(answer).not.toContain("left out; ask for a smaller part");
  });

  it("a summary that fails is replaced by a plain list of what was done", async () => {
    const paths: string[] = [];
    for (let index = 0; index < 30; index += 1) paths.push(await file(`f${index}.txt`, `${index}\n`));
    const { server: fake } = await play({
      window: 8192,
      summary: { error: { status: 400, message: "no" } },
      step: (step) => {
        const path = paths[step];
        const text = `I look at number ${step}. ${WORDS.repeat(15)}`;
        return path === undefined ? { text: "Done." } : { text, calls: [reading(path)] };
      },
    });
    const events = await eventsOf(sessionAt(fake.baseUrl, small).run("Read them."));
    expect(events.at(-1)).toMatchObject({ status: "success", result: "Done." });
    const compaction = events.find((event) => event.type === "compaction");
    expect(compaction?.text).toContain("Call of read_file:");
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "notice",
        message: expect.stringContaining("No summary could be made"),
      }),
    );
  });

  it("a summary that is refused as too long is asked once more, with half of the record", async () => {
    const { seen, server: fake } = await play({
      window: 8192,
      summary: { error: TOO_LONG },
      step: () => ({ text: WORDS.repeat(60) }),
    });
    const session = sessionAt(fake.baseUrl, small);
    await eventsOf(session.run("Say much."));
    await session.compact();
    expect(seen.summaries).toBe(2);
    const [first = 0, second = 0] = fake.requests.slice(-2).map(({ bodyBytes }) => bodyBytes);
    expect(second).toBeLessThan(first * 0.8);
  });
});

describe("P6 what outlives a compaction word for word", () => {
  const todos = [
    { id: "1", content: "write «one»", status: "completed" },
    { id: "2", content: "write \\two\\ $'", status: "in_progress" },
  ];

  async function long(lastTodos: readonly object[]) {
    await file("AGENTS.md", "Never use tabs.\nSpeak Latin.");
    await writeFile(join(home, "AGENTS.md"), "I like short answers.");
    const written = { name: "write_file", args: { file_path: join(root, "new.txt"), content: "x\ny\n" } };
    const { server: fake } = await play({
      window: 8192,
      step: (step) => {
        if (step === 0) return { calls: [{ name: "todo_write", args: { todos: lastTodos } }, written] };
        return step < 40
          ? { text: `Thinking about ${step}. ${WORDS.repeat(20)}`, calls: [reading(join(root, "new.txt"))] }
          : { text: "Done." };
      },
    });
    const session = sessionAt(fake.baseUrl, { ...small, loop: { detection: false } });
    const task = 'Do it "exactly" so:\n\t1. one\n\t2. two';
    const events = await eventsOf(session.run(task));
    expect(events.at(-1)).toMatchObject({ status: "success" });
    const at = events.findIndex((event) => event.type === "compaction");
    expect(at).toBeGreaterThan(0);
    const requests = fake.requests.filter(({ body }) => body.tools !== undefined);
    const texts = requests.map(({ body }) => (body.messages as { content: string }[])[1]?.content ?? "");
    return { task, text: texts.find((content) => content.includes("SUMMARY")) ?? "" };
  }

  it("the first request has the instructions, the task, the todos, the changed files and the summary", async () => {
    const { task, text } = await long(todos);
    for (const words of [
      "Never use tabs.\nSpeak Latin.",
      "I like short answers.",
      task,
      "[in_progress] 2: write \\two\\ $'",
      "new.txt (new, +2 -0 lines)",
      "SUMMARY",
    ])
      expect(text).toContain(words);
  });

  it("an image that the model has not seen yet reaches it", async () => {
    const { server: fake } = await play({
      window: 40_000,
      step: (step) => ({ text: step === 0 ? WORDS.repeat(1700) : "A dot." }),
    });
    const session = sessionAt(fake.baseUrl, { model: { contextWindow: 16_000 } });
    await eventsOf(session.run("Tell me all."));
    const data =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    const events = await eventsOf(
      session.run(["What is this?", { inlineData: { mimeType: "image/png", data } }]),
    );
    expect(events.map(({ type }) => type)).toContain("compaction");
    expect(JSON.stringify(fake.requests.at(-1)?.body)).toContain(data);
    expect(fake.problems).toEqual([]);
  });

  it("a list of todos that are all done is not brought up again", async () => {
    const { text } = await long(todos.map((todo) => ({ ...todo, status: "completed" })));
    expect(text).toContain("SUMMARY");
    expect(text).not.toContain("write «one»");
  });
});
