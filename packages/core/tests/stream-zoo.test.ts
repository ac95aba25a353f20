import { createServer, type Server, type ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FunctionDeclaration } from "@burin/core";
import { type ModelChoice, openModel } from "@burin/core/sessions";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANTHROPIC } from "./zoo/anthropic.ts";
import { CHAT_COMPLETIONS } from "./zoo/chat-completions.ts";
import { GEMINI } from "./zoo/gemini.ts";
import { RESPONSES } from "./zoo/openai-responses.ts";
import type { Outcome, Shape } from "./zoo/shape.ts";

const ZOO: readonly (readonly [ModelChoice["provider"], readonly Shape[]])[] = [
  ["openai", CHAT_COMPLETIONS],
  ["anthropic", ANTHROPIC],
  ["gemini", GEMINI],
  ["openai-responses", RESPONSES],
];

const tools: FunctionDeclaration[] = ["read_file", "glob", "ls"].map((name) => ({
  name,
  description: name,
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));

/** The same events in the ways in which they travel. */
const JOURNEYS: Readonly<Record<string, (events: readonly string[]) => string>> = {
  plain: (events) => events.map((data) => `data: ${data}\n\n`).join(""),
  "with names, comments and CRLF": (events) =>
    events
      .map((data, index) => `: ping\r\nevent: e${index}\r\nid: ${index}\r\ndata: ${data}\r\n\r\n`)
      .join(""),
  "without blanks, and without an end to the last event": (events) =>
    events
      .map((data) => `data:${data}\n\n`)
      .join("")
      .trimEnd(),
};

let server: Server;
let baseUrl = "";
let reply: (response: ServerResponse) => Promise<void> | void = () => {};

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      void reply(response);
    });
  });
  baseUrl = `http://127.0.0.1:${await listenOnFreePort(server)}/v1`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function outcome(provider: ModelChoice["provider"]): Promise<Outcome> {
  const request = { system: "s", history: [{ role: "user" as const, parts: [{ text: "go" }] }], tools };
  let text = "";
  let thought = "";
  let end = "";
  const calls: [string, object | string][] = [];
  const ids = new Set<string>();
  for await (const event of openModel({ provider, name: "m", baseUrl }).stream(
    request,
    new AbortController().signal,
  )) {
    expect(end).toBe("");
    if (event.type === "text") text += event.text;
    if (event.type === "thought") thought += event.text;
    if (event.type === "function_call") {
      calls.push([event.call.name, event.call.argsError ?? event.call.args]);
      ids.add(event.call.id);
    }
    if (event.type === "end") end = event.reason === "error" ? event.error.type : event.reason;
  }
  expect(ids.size).toBe(calls.length);
  return { text, thought, calls, end };
}

function expected({ text = "", thought = "", calls = [], end = "stop" }: Outcome): Outcome {
  const said = calls.map(([name, args]): [string, object | string] => [
    name,
    typeof args === "string" ? expect.stringContaining(args) : args,
  ]);
  return { text, thought, calls: said, end };
}

describe.each(ZOO)("the streams of %s", (provider, shapes) => {
  it("are at least forty, each with a name of its own", () => {
    expect(new Set(shapes.map((one) => one.title)).size).toBe(shapes.length);
    expect(shapes.length).toBeGreaterThanOrEqual(40);
  });

  it.each(shapes)("P10 $title", async ({ data, gives }) => {
    const events = data.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    for (const [journey, write] of Object.entries(JOURNEYS)) {
      reply = (response) => void response.end(write(events));
      expect([journey, await outcome(provider)]).toEqual([journey, expected(gives)]);
    }
    reply = async (response) => {
      const bytes = Buffer.from(JOURNEYS.plain?.(events) ?? "");
      for (let at = 0; at < bytes.length; at += 5) {
        response.write(bytes.subarray(at, at + 5));
        await nextTurn();
      }
      response.end();
    };
    expect(["in crumbs", await outcome(provider)]).toEqual(["in crumbs", expected(gives)]);
  });
});
