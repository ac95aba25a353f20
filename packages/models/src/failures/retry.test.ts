import type { ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import type { FakeReply } from "@burin/testing/fake-model-server";
import { ASK, closeServers, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openAiCompatible } from "../choice/open-model.ts";
import { createFallbackChain } from "./fallback.ts";
import { withRetries } from "./retry.ts";

afterEach(closeServers);

const REQUEST: ModelRequest = { system: "", history: [ASK], tools: [] };

function refusal(status: number, headers: Record<string, string>, body = "{}"): FakeReply {
  return {
    raw: (_request, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body);
    },
  };
}

async function retried(replies: FakeReply[], firstDelayMs = 1): Promise<ModelEvent[]> {
  const { baseUrl } = await serve(...replies);
  return readAll(withRetries(openAiCompatible({ name: "m", baseUrl }), { firstDelayMs, mostAttempts: 3 }));
}

function notices(events: readonly ModelEvent[]): string[] {
  return events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
}

describe("P35 a name that cannot be looked up", () => {
  it("is looked up again: a network may be coming up", async () => {
    const model = withRetries(openAiCompatible({ name: "m", baseUrl: "http://no-such-host.invalid/v1" }), {
      firstDelayMs: 1,
    });
    const events = await readAll(model);
    const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(notices).toEqual([
      expect.stringMatching(/no-such-host\.invalid.*Attempt 2 of 3/),
      expect.stringMatching(/Attempt 3 of 3/),
    ]);
  });
});

describe("retries", () => {
  it.each<[string, FakeReply, RegExp]>([
    ["seconds", refusal(503, { "retry-after": "0.05" }), /HTTP 503.*in 0\.1 s/],
    ["milliseconds", refusal(429, { "retry-after-ms": "40" }), /HTTP 429.*in 0\.1 s/],
    [
      "a date",
      refusal(529, { "retry-after": new Date(Date.now() - 5000).toUTCString() }),
      /HTTP 529.*in 0 s/,
    ],
    [
      "Google's detail",
      refusal(429, {}, '{"error":{"message":"x","details":[{"retryDelay":"0.05s"}]}}'),
      /in 0\.1 s/,
    ],
  ])(
    "P35 keep to what the service asks for, in %s, and not to their own pause",
    async (_title, reply, words) => {
      const events = await retried([reply, { text: "ok" }], 60_000);
      expect(notices(events)).toEqual([expect.stringMatching(words)]);
      expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    },
  );

  it("P35 wait longer where the pause that a service asks for did not help", async () => {
    const words = "request reached organization max RPM: 3, please try again after 0.001 seconds";
    const full = refusal(
      429,
      {},
      JSON.stringify({ error: { message: words, type: "rate_limit_reached_error" } }),
    );
    const [first = "", second = ""] = notices(await retried([full, full, { text: "ok" }], 300));
    expect(first).toMatch(/in 0\.1 s/);
    expect(Number(/in ([\d.]+) s/.exec(second)?.[1])).toBeGreaterThanOrEqual(0.3);
  });

  it("P35 do not wait for hours, nor for money", async () => {
    for (const [reply, words] of [
      [refusal(429, { "retry-after": "7200" }), /wait 120 minutes/],
      [refusal(429, { "retry-after": "86400" }), /wait 24 hours/],
      [refusal(429, {}, '{"error":{"message":"no","code":"insufficient_quota"}}'), /quota/],
      [refusal(501, {}), /501/],
    ] as const) {
      const events = await retried([reply]);
      expect(notices(events)).toEqual([]);
      expect(events.at(-1)).toMatchObject({
        reason: "error",
        error: { message: expect.stringMatching(words) },
      });
    }
  });

  it("P35 end with the status and how often it was tried", async () => {
    const down: FakeReply = { error: { message: "down", status: 503 } };
    const events = await retried([down, down, down]);
    expect(notices(events)).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({
      error: { status: 503, message: expect.stringMatching(/HTTP 503: down\..*\(3 attempts\)$/) },
    });
  });

  it("P11 an abort ends the waiting at once", async () => {
    const { baseUrl } = await serve({ error: { message: "down", status: 503 } });
    const controller = new AbortController();
    const model = withRetries(openAiCompatible({ name: "m", baseUrl }), { firstDelayMs: 600_000 });
    const events: ModelEvent[] = [];
    for await (const event of model.stream(REQUEST, controller.signal)) {
      events.push(event);
      if (event.type === "notice") controller.abort();
    }
    expect(events.at(-1)).toEqual({ type: "end", reason: "cancelled" });
  });

  it("P35 never after text, and try a server that is not there only a few times", async () => {
    const events = await retried([{ text: "so", error: { message: "boom" } }, { text: "again" }]);
    expect(notices(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ reason: "error" });
    const gone = withRetries(openAiCompatible({ name: "m", baseUrl: "http://127.0.0.1:9/v1" }), {
      firstDelayMs: 1,
    });
    expect(notices(await readAll(gone))).toHaveLength(2);
    const unknown = withRetries(openAiCompatible({ name: "m", baseUrl: "http://nowhere.invalid/v1" }));
    expect(notices(await readAll(unknown)).length).toBeLessThan(3);
  });
});

describe("a notice of another attempt", () => {
  it("P35 is whole sentences, and keeps its words where the key of a local server is one of them", async () => {
    const { baseUrl } = await serve(
      { error: { message: "the loader is busy", status: 503 } },
      { text: "ok" },
    );
    const overloaded: FakeReply = {
      raw: (_request, response) => {
        response.end('data: {"error":{"message":"the loader is busy","type":"server_error"}}\n\n');
      },
    };
    const busy = await serve(overloaded, { text: "ok" });
    for (const url of [baseUrl, busy.baseUrl]) {
      const model = openAiCompatible({ name: "m", baseUrl: url, apiKey: "a" });
      const [notice] = notices(await readAll(withRetries(model, { firstDelayMs: 1 })));
      expect(notice).toMatch(/[.)] Attempt 2 of 6 follows/);
      expect(notice).not.toContain("[the API key]");
    }
  });
});

describe("a proper end with nothing said", () => {
  const silent: FakeReply = { text: "" };

  it("P34 is no answer to a person: the model is asked again, and at last it is a failure", async () => {
    const events = await retried([silent, { text: "here" }]);
    expect(notices(events)).toEqual([expect.stringContaining("neither text nor a call")]);
    expect(events.filter(({ type }) => type === "text")).toEqual([{ type: "text", text: "here" }]);
    expect((await retried([silent, silent, silent])).at(-1)).toMatchObject({
      reason: "error",
      error: { type: "empty_reply", message: expect.stringContaining("(3 attempts)") },
    });
  });

  // mistralai/client-python#628
  it.each<[string, FakeReply[], string, number]>([
    ["is the end of a turn", [silent], "", 0],
    ["but only after a thought is asked for once more", [{ thought: "hm" }, { text: "Done." }], "Done.", 1],
    ["and may stay so after a thought", [{ thought: "hm" }, { thought: "hm" }], "", 1],
  ])("P34 behind the answers of tools %s", async (...[, replies, text, told]) => {
    const { baseUrl } = await serve(...replies);
    const functionCall = { id: "c1", name: "look", args: {} };
    const functionResponse = { id: "c1", name: "look", response: { output: "seen" } };
    const history: Message[] = [
      ASK,
      { role: "model", parts: [{ functionCall }] },
      { role: "user", parts: [{ functionResponse }] },
    ];
    const model = withRetries(openAiCompatible({ name: "m", baseUrl }), { firstDelayMs: 1 });
    const events = await readAll(model, { ...REQUEST, history });
    expect(notices(events)).toHaveLength(told);
    expect(events.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe(text);
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
  });
});

describe("a chain of models", () => {
  async function chain(first: FakeReply[], second: FakeReply[], now: () => number = Date.now) {
    const one = await serve(...first);
    const two = await serve(...second);
    const model = createFallbackChain(
      [
        openAiCompatible({ name: "one", baseUrl: one.baseUrl }),
        openAiCompatible({ name: "two", baseUrl: two.baseUrl }),
      ],
      now,
    );
    return { model, one, two };
  }
  const down: FakeReply = { error: { message: "down", status: 503 } };

  it("P35 asks the next one, says so, and comes back to the first after a while", async () => {
    let time = 0;
    const { model, one, two } = await chain(
      [down, { text: "first" }],
      [{ text: "second" }, { text: "more" }],
      () => time,
    );
    const events = await readAll(model);
    expect(notices(events)).toEqual([expect.stringMatching(/^one failed: .*503.* Now asking two\.$/)]);
    expect(events.some((event) => event.type === "text")).toBe(true);
    expect(notices(await readAll(model))).toEqual([]);
    expect([one.requests.length, two.requests.length]).toEqual([1, 2]);
    time = 301_000;
    await readAll(model);
    expect([one.requests.length, two.requests.length]).toEqual([2, 2]);
  });

  it("P35 does not ask another one after a word, nor for ever", async () => {
    const spoken = await chain([{ text: "so", error: { message: "boom" } }], [{ text: "no" }]);
    expect((await readAll(spoken.model)).at(-1)).toMatchObject({ reason: "error" });
    expect(spoken.two.requests).toHaveLength(0);
    const broken = await chain([down], [down]);
    const events = await readAll(broken.model);
    expect(notices(events)).toHaveLength(1);
    expect(events.filter((event) => event.type === "end")).toMatchObject([{ error: { status: 503 } }]);
  });
});
