import { join } from "node:path";
import { createSession, defineTool, type Session, type SessionOptions } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { openModel } from "@burin/core/sessions";
import { type FakeModelServer, type ScriptLine, startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

let server: FakeModelServer;
let environment: NodeJS.ProcessEnv;
const sessions: Session[] = [];

makeFolders();
beforeEach(() => {
  environment = { ...process.env, BURIN_HOME: join(root, ".home") };
});

afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
  await server.close();
});

const WRITTEN = {
  inputTokens: 9000,
  outputTokens: 5,
  cachedTokens: 0,
  cacheWrites: { tokens: 9000, hour: 0 },
};
const READ = { inputTokens: 9100, outputTokens: 5, cachedTokens: 9000 };
const LOST = { inputTokens: 9200, outputTokens: 5, cachedTokens: 0 };

async function serve(replies: readonly ScriptLine[]): Promise<void> {
  server = await startFakeModelServer(replies);
}

function asked(name = "claude-m", cache?: "1h" | "5m" | "off") {
  const tuning = cache ? { tuning: { cache } } : {};
  return openModel({ provider: "anthropic", name, baseUrl: server.baseUrl, apiKey: "k", ...tuning });
}

function open(options: Partial<SessionOptions> = {}): Session {
  const session = createSession({ root, model: asked(), environment, ...options });
  sessions.push(session);
  return session;
}

async function misses(session: Session, prompt = "go"): Promise<object[]> {
  const found: object[] = [];
  for await (const event of session.run(prompt)) {
    if (event.type === "usage" && event.cacheMiss) found.push(event.cacheMiss);
  }
  return found;
}

describe("P29 what was cached before and is not read again", () => {
  it.each<[string, string, (session: Session) => unknown]>([
    ["another model", "model", (session) => session.useModel(asked("claude-n"))],
    [
      "another tool",
      "tools",
      ({ registry }) =>
        registry.registerTool(
          defineTool({
            name: "more",
            description: "More.",
            kind: "read",
            parameterSchema: { type: "object", properties: {} },
            execute: () => "more",
          }),
        ),
    ],
    ["a compaction", "compaction", (session) => session.compact()],
  ])("is told with its reason after %s", async (_what, reason, change) => {
    const summary = reason === "compaction" ? [{ text: "Short." }] : [];
    await serve([
      { text: "a ".repeat(500), usage: WRITTEN },
      { text: "b", usage: READ },
      ...summary,
      { text: "c", usage: LOST },
      { text: "d", usage: READ },
    ]);
    const session = open();
    expect(await misses(session)).toEqual([]);
    expect(await misses(session)).toEqual([]);
    await change(session);
    expect(await misses(session)).toEqual([{ tokens: 9000, reason }]);
    expect(await misses(session)).toEqual([]);
    expect(server.problems).toEqual([]);
  });

  it("is told without a reason that nobody knows: not at all", async () => {
    await serve([
      { text: "a", usage: WRITTEN },
      { text: "b", usage: LOST },
    ]);
    const session = open();
    expect([...(await misses(session)), ...(await misses(session))]).toEqual([]);
  });

  it("is told of a session that goes on with another model, from its log alone", async () => {
    await serve([
      { text: "a", usage: WRITTEN },
      { text: "b", usage: LOST },
      { text: "c", usage: LOST },
    ]);
    const first = open({ record: true });
    await misses(first);
    await first.close();
    const home = join(root, ".home");
    const goOn = async (name: string) =>
      misses(
        open({ resume: await resumeSession({ home, root, id: first.id, fork: true }), model: asked(name) }),
      );
    expect(await goOn("claude-m")).toEqual([]);
    expect(await goOn("claude-n")).toEqual([{ tokens: 9000, reason: "model" }]);
  });
});

/** The lifetimes that the marks of each request ask for. */
function lifetimes(): string[][] {
  return server.requests.map(({ body }) => {
    const marks = JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g) ?? [];
    return [...new Set(marks.map((mark) => /"ttl":"(\w+)"/.exec(mark)?.[1] ?? "5m"))];
  });
}

describe("P29 an hour in Claude's cache", () => {
  const short = [{ text: "a" }, { text: "b" }, { text: "c" }];

  it.each<[string, Partial<SessionOptions>, string[][]]>([
    [
      "is asked for where a user is waited for, once little is new",
      { awaitsAnswers: true },
      [["5m"], ["1h"], ["1h"]],
    ],
    ["and where a question may be parked", { park: true }, [["5m"], ["1h"], ["1h"]]],
    ["is not asked for in a script", {}, [["5m"], ["5m"], ["5m"]]],
  ])("%s", async (_how, options, wanted) => {
    await serve(short);
    const session = open(options);
    for (const prompt of ["one", "two", "three"]) await misses(session, prompt);
    expect(lifetimes()).toEqual(wanted);
    expect(server.problems).toEqual([]);
  });

  it("is not paid for much that is new", async () => {
    await serve(short);
    const session = open({ awaitsAnswers: true });
    for (const prompt of ["one", "x ".repeat(20_000), "three"]) await misses(session, prompt);
    expect(lifetimes()).toEqual([["5m"], ["5m"], ["1h"]]);
  });

  it.each(["5m", "1h", "off"] as const)("is what the settings say of it: %s", async (cache) => {
    await serve(short);
    const session = open({ awaitsAnswers: true, model: asked("claude-m", cache) });
    for (const prompt of ["one", "two"]) await misses(session, prompt);
    const wanted = cache === "off" ? [] : [cache];
    expect(lifetimes()).toEqual([wanted, wanted]);
  });
});
