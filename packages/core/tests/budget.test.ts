import { createSession, type SessionOptions } from "@burin/core";
import { Budget, parseBudget } from "@burin/core/sessions";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { makeFolders, root } from "./folder.ts";

makeFolders();

const list = { name: "list_directory", args: { path: "." } };
const usage = { inputTokens: 900, outputTokens: 100 };

async function play(script: readonly ScriptLine[], options: Partial<SessionOptions>) {
  const model = scriptedModel(script);
  const session = createSession({ root, model, approvalMode: "yolo", ...options });
  const events = await collectEvents(session.run("go"));
  await session.close();
  const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
  const told = events.flatMap((event) => (event.type === "context" ? [event.text] : []));
  const calls = events.flatMap((event) => (event.type === "tool_call" ? [event.call] : []));
  return { done: events.at(-1), notices, told, calls, session };
}

const turns = (count: number, line: ScriptLine = { calls: [list], usage }): ScriptLine[] =>
  new Array<ScriptLine>(count).fill(line);

describe("a budget", () => {
  it("of tokens: a warning at 80 %, told to the model once, and a clean stop at 100 %", async () => {
    const { done, notices, told, session } = await play(turns(20), { budget: "5k" });
    expect(done).toMatchObject({ status: "limit", turns: 5, error: { type: "budget" } });
    expect(done).toMatchObject({ error: { message: "The budget of 5000 tokens is used up (5000 tokens)." } });
    expect(notices).toEqual(["80 % of the budget of 5000 tokens is used."]);
    expect(told).toEqual([expect.stringContaining("finish now")]);
    expect(session.history.at(-1)?.role).toBe("user");
  });

  it("of tokens counts by itself where the service does not", async () => {
    const { done } = await play(turns(50, { calls: [list] }), { budget: "20k" });
    expect(done).toMatchObject({ status: "limit", error: { type: "budget" } });
  });

  it("of money, by the prices of the settings; cached input may be cheaper", async () => {
    const settings = { model: { prices: { scripted: { input: 10, output: 20, cached: 1 } } } };
    // 400 * 10 + 500 * 1 + 100 * 20 = 6,500 for a million.
    const line = { calls: [list], usage: { ...usage, cachedTokens: 500 } };
    const { done } = await play(turns(20, line), { budget: "$0.013", settings });
    expect(done).toMatchObject({ status: "limit", turns: 2 });
    expect(() => createSession({ root, model: scriptedModel([]), budget: "$1" })).toThrow(
      /needs the price of scripted.*"prices"/,
    );
  });

  it("of calls: not one more is run, and each has its answer", async () => {
    const { done, calls } = await play(
      [{ calls: [list, list] }, { calls: [list, list, list] }, { text: "x" }],
      {
        budget: "3 calls",
      },
    );
    expect(done).toMatchObject({ status: "limit", turns: 2, error: { type: "budget" } });
    const ended = calls.filter(({ status }) => status === "success" || status === "error");
    expect(ended.map(({ status }) => status).sort()).toEqual([
      "error",
      "error",
      "success",
      "success",
      "success",
    ]);
  });

  it("of calls: one reply stays one reply, also when a tool has to be looked for", async () => {
    const lost = { name: "no_such_tool", args: {} };
    const { session } = await play([{ calls: [lost, list, list, list] }], { budget: "2 calls" });
    expect(session.history.map(({ role, parts }) => [role, parts.length])).toEqual([
      ["user", 1],
      ["model", 4],
      ["user", 4],
    ]);
  });

  it("of time: what runs then is ended, and the history stays whole", async () => {
    const sleeping = { name: "run_shell_command", args: { command: "sleep 30" } };
    const { done, session } = await play([{ calls: [sleeping] }, { text: "x" }], { budget: "1s" });
    expect(done).toMatchObject({ status: "limit", error: { type: "budget" } });
    expect(session.history.at(-1)?.parts[0]?.functionResponse?.name).toBe("run_shell_command");
  });

  it("may be several at once, and is shared by whoever is given it", async () => {
    const budget = new Budget(parseBudget("100k, 4 calls"));
    await play([...turns(3), { text: "x" }], { budget });
    const { done } = await play([...turns(3), { text: "x" }], { budget });
    expect(done).toMatchObject({
      status: "limit",
      turns: 1,
      error: { message: expect.stringContaining("4 calls") },
    });
  });

  it("that is used up stops before anything is asked", async () => {
    const budget = new Budget(parseBudget("1 call"));
    budget.spendCalls(1);
    expect((await play([], { budget })).done).toMatchObject({ status: "limit", turns: 0 });
  });

  it.each([
    ["200k", { tokens: 200_000 }],
    ["1500 tokens", { tokens: 1500 }],
    ["5 tokens, 1m", { tokens: 5, milliseconds: 60_000 }],
    ["1000", { tokens: 1000 }],
    ["$2", { money: 2 }],
    ["90s", { milliseconds: 90_000 }],
    ["10m, 50 calls, $0.50, 20K", { milliseconds: 600_000, calls: 50, money: 0.5, tokens: 20_000 }],
    ["2h", { milliseconds: 7_200_000 }],
  ])("%s is understood", (text, limits) => {
    expect(parseBudget(text)).toEqual(limits);
  });

  it.each([
    ["", "cannot be read"],
    ["a lot", 'write tokens as 200k, money as $2, time as 10m (or 90s, 2h), calls as "50 calls"'],
    ["2M", "cannot be read"],
    ["0k", "greater than 0"],
    ["1k, 2k", "names tokens twice"],
  ])("%j is refused, with how to write it", (text, words) => {
    expect(() => parseBudget(text)).toThrow(words);
  });
});
