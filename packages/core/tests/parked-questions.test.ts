import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AgentEvent,
  createSession,
  type Decision,
  defineTool,
  type Session,
  type SessionOptions,
} from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { findParkedQuestion } from "@burin/core/sessions";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

const YES: Decision = { outcome: "once" };
const NO: Decision = { outcome: "cancel" };
const ID = "q_call_1";

const writing = (name: string) => ({
  name: "write_file",
  args: { file_path: join(root, name), content: "x\n" },
});

function open(script: readonly ScriptLine[], more: Partial<SessionOptions> = {}): Session {
  const environment = { BURIN_HOME: home, PATH: process.env.PATH };
  return createSession({ root, environment, model: scriptedModel(script), ...more });
}

async function park(calls: NonNullable<ScriptLine["calls"]>): Promise<void> {
  const first = open([{ calls }], { record: true, park: true });
  expect((await collectEvents(first.run("go"))).at(-1)).toMatchObject({ error: { type: "parked" } });
  await first.close();
}

async function resumed(more: Partial<SessionOptions>): Promise<Session> {
  const resume = await resumeSession({ home, root });
  return open([{ text: "Done." }, { text: "Done." }], { resume, record: true, ...more });
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Needs a question for each call, and may work beside others. */
function pingTool(ran: unknown[]) {
  return defineTool({
    name: "ping",
    displayName: "Ping",
    description: "Says that it ran.",
    parameterSchema: { type: "object", properties: { host: { type: "string" } }, required: ["host"] },
    kind: "fetch",
    shouldConfirmExecute: async ({ host }: { host: string }) => {
      return { kind: "info", title: `Ping ${host}?`, prompt: host, urls: [], grants: [] };
    },
    execute: async ({ host }: { host: string }) => {
      ran.push(host);
      return host;
    },
  });
}

const written = (name = "a.txt") => existsSync(join(root, name));
const answersIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "question_answered" ? [event.decision?.outcome ?? null] : []));

/** Runs on, and does something at the first event that fits. */
async function goOn(session: Session, at: AgentEvent["type"], act: () => void): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  let hasActed = false;
  for await (const event of session.goOn()) {
    events.push(event);
    if (event.type !== at || hasActed) continue;
    hasActed = true;
    act();
  }
  return events;
}

describe("a question that a session was parked with", () => {
  it.each<[string, AgentEvent["type"]]>([
    ["before it comes up again", "session"],
    ["when it comes up again", "question"],
  ])("P44 is answered after goOn, %s", async (_when, at) => {
    await park([writing("a.txt")]);
    const session = await resumed({ awaitsAnswers: true });
    let said: string | null = "";
    const events = await goOn(session, at, () => {
      expect(session.questions.map(({ id }) => id)).toEqual([ID]);
      said = session.answer(ID, YES);
      expect(session.questions).toEqual([]);
    });
    expect(said).toBe(null);
    expect(events.at(-1)).toMatchObject({ status: "success" });
    expect(answersIn(events)).toEqual(["once"]);
    expect(written()).toBe(true);
    await session.close();
  });

  it("P44 is answered some time after goOn, and is listed once until then", async () => {
    await park([writing("a.txt")]);
    const session = await resumed({ awaitsAnswers: true });
    const run = collectEvents(session.goOn());
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(session.questions.map(({ id }) => id)).toEqual([ID]);
    expect(session.answer(ID, YES)).toBe(null);
    expect((await run).at(-1)).toMatchObject({ status: "success" });
    await session.close();
  });

  it.each<[string, AgentEvent["type"] | null]>([
    ["before goOn", null],
    ["after goOn", "session"],
    ["when it comes up again", "question"],
  ])("P44 keeps its first answer: a no, whatever says yes later (%s)", async (_when, at) => {
    await park([writing("a.txt")]);
    const session = await resumed({ awaitsAnswers: true });
    const said: (string | null)[] = [];
    const both = () => said.push(session.answer(ID, NO), session.answer(ID, YES));
    if (at === null) both();
    const events = await goOn(session, at ?? "tool_call", at === null ? () => session.answer(ID, YES) : both);
    expect(said).toEqual([null, expect.stringContaining("no question")]);
    expect(answersIn(events)).toEqual(["cancel"]);
    expect(events.at(-1)).toMatchObject({ status: "refused", error: { type: "cancelled" } });
    expect(session.answer(ID, YES)).toContain("no question");
    expect(written()).toBe(false);
    await session.close();
  });

  it.each<[string, Decision, boolean]>([
    ["yes", YES, true],
    ["no", NO, false],
  ])("P44 takes its answer from the option alone: %s", async (_what, answer, isWritten) => {
    await park([writing("a.txt")]);
    const session = await resumed({ answer });
    expect(session.questions).toEqual([]);
    expect(session.answer(ID, YES)).toContain("no question");
    const events = await collectEvents(session.goOn());
    expect(answersIn(events)).toEqual([answer.outcome]);
    expect(events.at(-1)).toMatchObject({ status: isWritten ? "success" : "refused" });
    expect(written()).toBe(isWritten);
    await session.close();
  });

  it("P44 takes an answer by its id when nobody can be asked, and refuses the next question", async () => {
    await park([writing("a.txt"), writing("b.txt")]);
    const session = await resumed({});
    expect(session.answer(ID, YES)).toBe(null);
    const end = (await collectEvents(session.goOn())).at(-1);
    expect(end).toMatchObject({ status: "refused", error: { type: "needs_approval" } });
    expect([written("a.txt"), written("b.txt")]).toEqual([true, false]);
    await session.close();
  });

  it("P44 takes no answer of the options that is not a clear yes", async () => {
    await park([writing("a.txt")]);
    const session = await resumed({ answer: { outcome: "yes" } as unknown as Decision });
    expect((await collectEvents(session.goOn())).at(-1)).toMatchObject({ status: "refused" });
    expect(written()).toBe(false);
    await session.close();
  });

  it("P44 keeps an accepted answer for the process that goes on", async () => {
    await park([writing("a.txt")]);
    const first = await resumed({ awaitsAnswers: true });
    expect(first.answer(ID, NO)).toBe(null);
    await first.close();
    const resume = await resumeSession({ home, root });
    const second = open([{ text: "I see." }], { resume, awaitsAnswers: true });
    expect(second.questions).toEqual([]);
    expect(second.answer(ID, YES)).toContain("no question");
    expect((await collectEvents(second.goOn())).at(-1)).toMatchObject({ status: "refused" });
    expect(written()).toBe(false);
    await second.close();
    expect(findParkedQuestion(resume.session.path)).toBe(null);
  });

  it("P44 asks again for what a user wrote, which no log keeps", async () => {
    await park([writing("a.txt")]);
    const first = await resumed({ awaitsAnswers: true });
    expect(first.answer(ID, { outcome: "edited", content: "mine\n" })).toBe(null);
    await first.close();
    const second = await resumed({ awaitsAnswers: true });
    expect(second.answer(ID, { outcome: "edited", content: "other\n" })).toBe(null);
    expect((await collectEvents(second.goOn())).at(-1)).toMatchObject({ status: "success" });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("other\n");
    await second.close();
  });

  it("P44 is over when it was interrupted, and no later answer runs its call", async () => {
    await park([writing("a.txt")]);
    const session = await resumed({ awaitsAnswers: true });
    const stop = new AbortController();
    const run = collectEvents(session.goOn(stop.signal));
    while (session.questions.length !== 1) await moment();
    stop.abort();
    expect(session.answer(ID, YES)).toContain("no question");
    expect((await run).at(-1)).toMatchObject({ status: "cancelled" });
    expect([session.questions, written()]).toEqual([[], false]);
    await session.close();
  });

  it("P44 is over when a mode answers in its place", async () => {
    await park([writing("a.txt")]);
    const session = await resumed({ awaitsAnswers: true, approvalMode: "yolo" });
    expect((await collectEvents(session.goOn())).at(-1)).toMatchObject({ status: "success" });
    expect(session.questions).toEqual([]);
    expect(session.answer(ID, NO)).toContain("no question");
    await session.close();
  });

  it("P44 is one of two that came side by side, and each takes its own answer in any order", async () => {
    const ran: unknown[] = [];
    const tools = [pingTool(ran)];
    const calls = ["one", "two", "three"].map((host) => ({ name: "ping", args: { host } }));
    const first = open([{ calls }], { record: true, awaitsAnswers: true, tools });
    const stop = new AbortController();
    const run = collectEvents(first.run("go", stop.signal));
    while (first.questions.length + first.waitingQuestions < 3) await moment();
    await first.recorded();
    // A copy of what a process leaves that dies here.
    const resume = await resumeSession({ home, root, fork: true });
    stop.abort();
    await run;
    await first.close();
    const second = open([{ text: "Done." }], { resume, awaitsAnswers: true, tools });
    expect(second.questions.map(({ id }) => id)).toEqual(["q_call_1", "q_call_2", "q_call_3"]);
    expect(second.answer("q_call_3", YES)).toBe(null);
    expect(second.answer("q_call_2", NO)).toBe(null);
    const going = collectEvents(second.goOn());
    while (second.questions.length !== 1) await moment();
    expect(second.answer("q_call_3", NO)).toContain("no question");
    expect(second.answer("q_call_1", YES)).toBe(null);
    expect((await going).at(-1)).toMatchObject({ type: "done" });
    expect(ran.sort()).toEqual(["one", "three"]);
    await second.close();
  });
});

describe("a question of a subagent", () => {
  it("P44 takes its first answer, also when two faces answer at the same moment", async () => {
    const task = { description: "a", prompt: "write a", subagent_type: "general" };
    const script = [
      { calls: [{ name: "task", args: task }] },
      { calls: [writing("a.txt")] },
      { text: "I see." },
    ];
    const session = open([...script, { text: "Done." }], { awaitsAnswers: true });
    const run = collectEvents(session.run("go"));
    while (session.questions.length === 0) await moment();
    const [question] = session.questions;
    expect(question?.agent).toBe("general");
    const said = [NO, YES].map((decision) => session.answer(question?.id ?? "", decision));
    expect(said).toEqual([null, expect.stringContaining("no question")]);
    expect(answersIn(await run)).toEqual(["cancel"]);
    expect(written()).toBe(false);
    await session.close();
  });
});

describe("a question with a callback", () => {
  it("P44 takes no answer that will not count once the callback has answered", async () => {
    let late: string | null = null;
    const confirm: SessionOptions["confirm"] = async (_confirmation, _signal, { id }) => {
      // Comes right after the answer, before anything else can react to it.
      void Promise.resolve().then(() => Promise.resolve().then(() => (late = session.answer(id, YES))));
      return NO;
    };
    const session = open([{ calls: [writing("a.txt")] }, { text: "I see." }], { confirm });
    await collectEvents(session.run("go"));
    expect(written()).toBe(late === null);
    await session.close();
  });
});
