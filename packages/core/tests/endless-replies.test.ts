import { createServer, type Server } from "node:http";
import { text as bodyOf } from "node:stream/consumers";
import { createSession, type SessionOptions } from "@burin/core";
import type { ChatModel, ModelEvent } from "@burin/core/sessions";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

const MOST = 4 * 1024 * 1024;
const PIECE = "word ".repeat(13_000);
let server: Server;
let baseUrl: string;
/** How each request is answered: with this again and again until nobody reads, or once. */
let piece: object | null;
let sent: number;
let sizes: number[];

beforeEach(async () => {
  sent = 0;
  sizes = [];
  server = createServer(async (request, response) => {
    sizes.push((await bodyOf(request)).length);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (delta: object, finish: string | null = null) => {
      const data = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });
      sent += data.length;
      return response.write(`data: ${data}\n\n`);
    };
    if (piece === null) {
      say({ content: "All is well." });
      say({}, "stop");
      return response.end("data: [DONE]\n\n");
    }
    response.setMaxListeners(0);
    while (!response.destroyed)
      if (!say(piece)) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
    return response.end();
  });
  baseUrl = `http://127.0.0.1:${await listenOnFreePort(server)}/v1`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function open(options: Partial<SessionOptions> = {}) {
  const environment = { BURIN_HOME: home, OPENAI_API_KEY: "k", OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: "m" };
  return createSession({ root, environment, ...options });
}

const call = { index: 0, id: "c", function: { name: "write_file", arguments: "" } };
const PIECES: Readonly<Record<string, object>> = {
  text: { content: PIECE },
  thoughts: { reasoning_content: PIECE },
  "thoughts in tags": { content: `<think>${PIECE}` },
  "a call in the text": { content: `{"name":"write_file","arguments":{"content":"${PIECE}` },
  arguments: { tool_calls: [{ ...call, function: { ...call.function, arguments: `"${PIECE}` } }] },
  "arguments as objects": { tool_calls: [{ index: 0, function: { name: "x", arguments: { a: PIECE } } }] },
  calls: { tool_calls: Array.from({ length: 50 }, () => ({ function: { name: "x", arguments: "{}" } })) },
};

describe("P11 P12 a reply without an end has one", () => {
  it.each(Object.keys(PIECES))("%s: it is said, and the session goes on", async (what) => {
    piece = PIECES[what] ?? {};
    const session = open();
    const events = await collectEvents(session.run("go"));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "error", error: { type: "reply_too_long" } });
    expect(events.some((event) => event.type === "tool_call")).toBe(false);
    // The rest is what the system's buffers between the two hold.
    expect(sent).toBeLessThan(8 * MOST);
    const kept = JSON.stringify(session.history).length;
    if (what === "text" || what === "thoughts") expect(kept).toBeGreaterThan(MOST / 2);
    expect(kept).toBeLessThan(1.1 * MOST);
    piece = null;
    const next = await collectEvents(session.run("and now?"));
    expect(next.at(-1)).toMatchObject({ type: "done", status: "success", result: "All is well." });
    await session.close();
  });

  it("one event that is too long, of a model in a program", async () => {
    let asked = 0;
    const model: ChatModel = {
      name: "own",
      contextWindow: 100_000,
      async *stream(): AsyncGenerator<ModelEvent> {
        asked += 1;
        if (asked === 1) yield { type: "text", text: "x".repeat(10 * MOST) };
        yield { type: "text", text: "All is well." };
        yield { type: "end", reason: "stop" };
      },
    };
    const session = open({ model });
    const events = await collectEvents(session.run("go"));
    expect(events.at(-1)).toMatchObject({ status: "error", error: { type: "reply_too_long" } });
    const said = events.flatMap((event) =>
      event.type === "text" && event.role === "model" ? [event.text] : [],
    );
    expect(said.join("").length).toBe(MOST);
    const next = await collectEvents(session.run("and now?"));
    expect(next.at(-1)).toMatchObject({ type: "done", status: "success", result: "All is well." });
    await session.close();
  });
});
