import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { type AgentEvent, BaseTool, createSession } from "@burin/core";
import { type ModelChoice, openModel, withRetries } from "@burin/core/sessions";
import { startFakeModelServer } from "@burin/core/testing";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PROVIDERS = ["openai", "anthropic", "gemini", "openai-responses"] as const;
type Provider = (typeof PROVIDERS)[number];

/** What the fake service of the protocol answers, byte for byte. */
interface Recorded {
  readonly calling: Buffer;
  readonly thinking: Buffer;
  readonly ending: Buffer;
}

const recorded = new Map<Provider, Recorded>();
let server: Server;
let baseUrl = "";
let answers: ((response: ServerResponse) => void | Promise<void>)[] = [];

/** Leaves a mark each time it runs. */
class Mark extends BaseTool<{ text: string }> {
  readonly name = "mark";
  readonly displayName = "Mark";
  readonly kind = "edit";
  readonly description = "Leaves a mark.";
  readonly parameterSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  readonly marks: string[] = [];
  async execute({ text }: { text: string }) {
    this.marks.push(text);
    return { llmContent: "marked", returnDisplay: "marked" };
  }
  getDescription() {
    return "mark";
  }
}

const CALLS = [
  { name: "mark", args: { text: "one" } },
  { name: "mark", args: { text: "two" } },
];

async function record(provider: Provider): Promise<Recorded> {
  const fake = await startFakeModelServer([
    { calls: CALLS },
    { thought: "hm", calls: CALLS },
    { text: "All done." },
  ]);
  const bodies: Buffer[] = [];
  const relay = createServer(async (request, response) => {
    const target = `${new URL(fake.baseUrl).origin}${request.url}`;
    const answer = await fetch(target, { method: "POST", body: await buffer(request) });
    bodies.push(Buffer.from(await answer.arrayBuffer()));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(bodies.at(-1));
  });
  const model = openModel({
    provider,
    name: "m",
    baseUrl: `http://127.0.0.1:${await listenOnFreePort(relay)}/v1`,
  });
  for (let turn = 0; turn < 3; turn += 1) {
    for await (const event of model.stream(ASKING, new AbortController().signal)) void event;
  }
  relay.close();
  relay.closeAllConnections();
  await fake.close();
  const [calling = Buffer.of(), thinking = Buffer.of(), ending = Buffer.of()] = bodies;
  return { calling, thinking, ending };
}

beforeAll(async () => {
  for (const provider of PROVIDERS) recorded.set(provider, await record(provider));
  server = createServer(async (request, response) => {
    request.resume();
    await once(request, "end");
    const answer = answers.shift();
    if (answer) await answer(response);
    else response.destroy();
  });
  baseUrl = `http://127.0.0.1:${await listenOnFreePort(server)}/v1`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const whole = (body: Buffer) => (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(body);
};

const cutAt = (body: Buffer, at: number) => async (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(body.subarray(0, at));
  await nextTurn();
  response.destroy();
};

const ASKING = { system: "", history: [{ role: "user" as const, parts: [{ text: "go" }] }], tools: [] };

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end('{"error":{"message":"not now"}}');
  };

async function play(choice: Partial<ModelChoice> & { provider: Provider }, script: typeof answers) {
  answers = [...script];
  const tool = new Mark();
  const model = withRetries(openModel({ name: "m", baseUrl, ...choice }), { firstDelayMs: 1 });
  const session = createSession({
    root: createTemporaryFolder(),
    model,
    tools: [tool],
    approvalMode: "yolo",
    settings: { tools: { include: ["mark"] } },
  });
  const events: AgentEvent[] = [];
  // A reply that breaks in its text is not asked for again; the person says so.
  for (const prompt of ["go", "go on"]) {
    for await (const event of session.run(prompt)) events.push(event);
    if (answers.length === 0) break;
  }
  await session.close();
  return { marks: tool.marks, events, session };
}

function bodiesOf(provider: Provider): Recorded {
  const bodies = recorded.get(provider);
  if (!bodies || bodies.ending.length === 0) throw new Error(`nothing was recorded for ${provider}`);
  return bodies;
}

describe.each(PROVIDERS)("a service that fails, in the protocol of %s", (provider) => {
  it("P35 a reply that is cut at any byte by a lost connection gives its calls once", async () => {
    const { calling } = bodiesOf(provider);
    const model = withRetries(openModel({ provider, name: "m", baseUrl }), { firstDelayMs: 0 });
    // Each run has other ones of all bytes, here and below.
    for (let at = Math.floor(Math.random() * 4); at < calling.length; at += 4) {
      answers = [cutAt(calling, at), whole(calling)];
      const calls: unknown[] = [];
      for await (const event of model.stream(ASKING, new AbortController().signal)) {
        if (event.type === "function_call") calls.push(event.call.args);
        expect(event.type).not.toBe("text");
      }
      expect([at, calls]).toEqual([at, CALLS.map((call) => call.args)]);
    }
  });

  it("P35 and no effect is lost or repeated", async () => {
    const { calling, ending } = bodiesOf(provider);
    for (let at = Math.floor(Math.random() * 26); at < calling.length; at += 26) {
      const { marks } = await play({ provider }, [cutAt(calling, at), whole(calling), whole(ending)]);
      // What was cut behind its end was whole: the calls of the second reply are then new ones.
      const all = answers.length === 0 ? marks : [];
      expect([at, ["one,two", "one,two,one,two"].includes(all.join())]).toEqual([at, true]);
    }
  });

  it("P9 a reply that ends at any byte as if it were whole: no call runs with other arguments than were meant", async () => {
    const { calling, ending } = bodiesOf(provider);
    for (let at = Math.floor(Math.random() * 14); at < calling.length; at += 14) {
      const { marks } = await play({ provider }, [
        whole(calling.subarray(0, at)),
        whole(ending),
        whole(ending),
      ]);
      expect([at, ["", "one", "one,two"].includes(marks.join())]).toEqual([at, true]);
    }
  });

  it("P35 a last reply that is cut at any byte says nothing twice", async () => {
    const { ending } = bodiesOf(provider);
    for (let at = Math.floor(Math.random() * 12); at < ending.length; at += 12) {
      const { events } = await play({ provider }, [cutAt(ending, at), whole(ending)]);
      const done = events.findIndex((event) => event.type === "done");
      const said = events
        .slice(0, done)
        .map((event) => (event.type === "text" && event.role === "model" ? event.text : ""));
      expect("All done.".startsWith(said.join(""))).toBe(true);
    }
  });

  it("P35 503 three times, then 429, in the middle of a task: it ends, and finished results are kept", async () => {
    const { calling, ending } = bodiesOf(provider);
    const script = [
      whole(calling),
      status(503),
      status(503),
      status(529),
      status(429, { "retry-after": "0" }),
      whole(ending),
    ];
    const { marks, events } = await play({ provider }, script);
    expect(marks).toEqual(["one", "two"]);
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success", result: "All done." });
    const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(notices.map((message) => /HTTP (\d+)\D+Attempt (\d) of 6/.exec(message)?.slice(1))).toEqual([
      ["503", "2"],
      ["503", "3"],
      ["529", "4"],
      ["429", "5"],
    ]);
  });

  it.each([400, 401, 403, 404])("P35 %i is not tried again", async (code) => {
    const { events } = await play({ provider }, [status(code)]);
    expect(events.at(-1)).toMatchObject({ type: "done", status: "error" });
    expect(events.filter((event) => event.type === "notice")).toEqual([]);
    expect(answers).toEqual([]);
  });

  it("P34 an empty reply and one of garbage are asked for again", async () => {
    const { ending } = bodiesOf(provider);
    const garbage = Buffer.from([0, 255, 254, 10, 10, 13, 0, 58, 200]);
    const { events, session } = await play({ provider }, [whole(Buffer.of()), whole(garbage), whole(ending)]);
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success", result: "All done." });
    expect(session.history).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ text: "All done." }] },
    ]);
  });

  it("P36 a reply that breaks off while it thinks leaves no thought behind", async () => {
    const { thinking, ending } = bodiesOf(provider);
    const cut = async (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(thinking.subarray(0, thinking.indexOf("hm") + 40));
      await pause(5);
      response.destroy();
    };
    const { marks, session } = await play({ provider }, [cut, whole(thinking), whole(ending)]);
    expect(marks).toEqual(["one", "two"]);
    const thoughts = session.history.flatMap(({ parts }) => parts.filter((part) => part.thought));
    expect(thoughts.map((part) => part.text).join("")).toMatch(/^(hm)?$/);
  });

  it("P33 silence ends at the limit of the settings and is tried again; drops and comments count as life", async () => {
    const { ending } = bodiesOf(provider);
    const silent = (response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
    };
    const dripping = async (response: ServerResponse): Promise<void> => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let drop = 0; drop < 3; drop += 1) {
        response.write(": still here\n\n");
        await pause(90);
      }
      for (let at = 0; at < ending.length; at += Math.ceil(ending.length / 3)) {
        response.write(ending.subarray(at, at + Math.ceil(ending.length / 3)));
        await pause(90);
      }
      response.end();
    };
    const { events } = await play({ provider, silenceMs: 250 }, [silent, dripping]);
    expect(events.filter((event) => event.type === "notice")).toMatchObject([
      { message: expect.stringMatching(/was silent for 0\.3 s.*timeoutSeconds.*Attempt 2/) },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success", result: "All done." });
  });
});
