import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { ModelEvent } from "@burin/contract/chat-model";
import type { ModelProvider } from "@burin/contract/settings/settings";
import { ask, closeServers, delta, findFailure, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

/** A public recording; see public-streams.test.ts. */
interface Recorded {
  readonly who: string;
  readonly provider?: ModelProvider;
  readonly body: string;
  readonly calls?: readonly (readonly [string, object])[];
}

const STREAMS = readFileSync(new URL("./public-streams.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

async function eventsOf({ provider = "openai", body }: Pick<Recorded, "provider" | "body">) {
  const { baseUrl } = await serve(raw(body));
  const events = await readAll(openModel({ provider, name: "m", baseUrl }));
  await closeServers();
  return events;
}

function callsIn(events: readonly ModelEvent[]) {
  return events.flatMap((event) => (event.type === "function_call" ? [event.call] : []));
}

describe("P10 a recorded reply with calls, cut between any two events,", () => {
  it.each(STREAMS.filter(({ calls = [] }) => calls.length > 0))(
    "$who: runs no other call",
    async (stream) => {
      const whole = callsIn(await eventsOf(stream)).map(({ name, args }) => JSON.stringify([name, args]));
      const events = stream.body.split(/(?<=\r?\n\r?\n)/);
      const every = Math.ceil(events.length / 12);
      for (let kept = every; kept < events.length; kept += every) {
        const cut = await eventsOf({ ...stream, body: events.slice(0, kept).join("") });
        for (const { name, args, argsError } of callsIn(cut)) {
          if (argsError === undefined) expect(whole).toContain(JSON.stringify([name, args]));
        }
      }
    },
  );
});

const block = (index: number, content_block: object): object => ({
  type: "content_block_start",
  index,
  content_block,
});
const started = {
  type: "message_start",
  message: { content: [], usage: { input_tokens: 9, output_tokens: 1 } },
};
const told = { type: "message_delta", delta: { stop_reason: "tool_use" } };
const stopped = { type: "message_stop" };

it("P10 an end that is no word is none: a call that says nothing more may be cut", async () => {
  const call = { index: 0, id: "c", function: { name: "list_directory" } };
  const { baseUrl } = await serve(
    raw(sse({ choices: [{ delta: { tool_calls: [call] }, finish_reason: false }] })),
  );
  const events = await readAll(openModel({ provider: "openai", name: "m", baseUrl }), {});
  expect(events.find(({ type }) => type === "function_call")).toMatchObject({
    call: { argsError: expect.stringContaining("Nothing was run") },
  });
});

describe("P10 the end of a reply", () => {
  it.each<[string, object]>([
    ["the service's [DONE] alone", { body: ["[DONE]"] }],
    ["counts beside each piece", { usage: { prompt_tokens: 5, completion_tokens: 1 } }],
  ])("is not told by %s: a call without arguments does not run", async (_what, more) => {
    const { body = [], ...fields } = more as { body?: string[] };
    const call = delta({
      tool_calls: [{ id: "a", type: "function", function: { name: "ls", arguments: "" } }],
    });
    const [made] = callsIn(await eventsOf({ body: sse({ ...call, ...fields }, ...body) }));
    expect(made?.argsError).toContain("broke off");
  });

  it.each<[string, string[]]>([
    ["a reason", [JSON.stringify(delta({}, "tool_calls")), "[DONE]"]],
    ["counts behind all else", [JSON.stringify({ choices: [], usage: { prompt_tokens: 5 } })]],
  ])("is told by %s: a call without arguments runs", async (_what, behind) => {
    const call = delta({
      tool_calls: [{ id: "a", type: "function", function: { name: "ls", arguments: "" } }],
    });
    expect(callsIn(await eventsOf({ body: sse(call, ...behind) }))).toEqual([
      { id: "a", name: "ls", args: {} },
    ]);
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const)("of a reply packed with %s, missing, is a connection that broke", async (encoding, pack) => {
    const packed = pack(sse(delta({ content: "Hello" }), delta({}, "stop"), "[DONE]"));
    const { baseUrl } = await serve({
      raw: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": encoding });
        response.end(packed.subarray(0, packed.length >> 1));
      },
    });
    expect(findFailure(await ask({ baseUrl }))).toMatchObject({
      isPassing: true,
      message: expect.stringContaining("closed the connection"),
    });
  });

  it("is not waited for when a service goes on with signs of life behind it", async () => {
    let signs = 0;
    const { baseUrl } = await serve({
      raw: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(sse(delta({ content: "Hello" }), delta({}, "stop"), "[DONE]"));
        const drip = setInterval(() => {
          signs += 1;
          response.write(sse({ type: "ping" }));
        }, 20);
        response.on("close", () => clearInterval(drip));
      },
    });
    expect(await ask({ baseUrl })).toContainEqual({ type: "text", text: "Hello" });
    expect(signs).toBeLessThan(300);
  });

  it("of GLM's messages comes before their last blocks, which count; another message does not", async () => {
    const text = block(0, { type: "text", text: "I look." });
    const call = block(1, { type: "tool_use", id: "a", name: "ls", input: { path: "." } });
    const late = await eventsOf({
      provider: "anthropic",
      body: sse(started, text, told, stopped, call, stopped),
    });
    expect(callsIn(late)).toEqual([{ id: "a", name: "ls", args: { path: "." } }]);
    const answer = block(0, { type: "text", text: "Done." });
    const end = { type: "message_delta", delta: { stop_reason: "end_turn" } };
    const lateText = await eventsOf({ provider: "anthropic", body: sse(started, end, stopped, answer) });
    expect(lateText).toContainEqual({ type: "text", text: "Done." });
    const next = await eventsOf({
      provider: "anthropic",
      body: sse(started, text, told, stopped, started, call),
    });
    expect(callsIn(next)).toEqual([]);
  });
});
