import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createSession } from "@burin/core";
import { openModel } from "@burin/core/sessions";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

let server: FakeModelServer;

makeFolders();
beforeEach(async () => {
  await writeFile(join(root, "a.txt"), "alpha\nbeta\ngamma\n");
});

afterEach(async () => {
  await server.close();
});

type Provider = "openai" | "openai-responses" | "anthropic" | "gemini";

async function play(replies: readonly FakeReply[], provider: Provider = "openai", prompts = ["go"]) {
  server = await startFakeModelServer(replies);
  const model = openModel({ provider, name: "fake", baseUrl: server.baseUrl, apiKey: "k" });
  const session = createSession({ root, model, approvalMode: "yolo" });
  const events: AgentEvent[] = [];
  for (const prompt of prompts) for await (const event of session.run(prompt)) events.push(event);
  await session.close();
  expect(server.problems).toEqual([]);
  const calls = events.flatMap((event) => (event.type === "tool_call" ? [event.call] : []));
  const request = (index: number) => JSON.stringify(server.requests[index]?.body);
  return { events, calls, session, request, done: events.at(-1) };
}

/** A reply as a service of chat completions would stream it. */
function streamed(delta: object, finish: string): FakeReply {
  const data = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
  return {
    raw: (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${data({ delta })}${data({ delta: {}, finish_reason: finish })}data: [DONE]\n\n`);
    },
  };
}

const calling = (name: string, text: string) => ({
  tool_calls: [{ index: 0, id: "c1", type: "function", function: { name, arguments: text } }],
});

describe("P9 arguments that the output limit cuts", () => {
  it("run no tool and change no file; the model is told that they were cut, and how to go on", async () => {
    const text = `{"file_path":"${join(root, "new.txt")}","content":"one\\ntwo`;
    const { calls, request, done } = await play([
      streamed(calling("write_file", text), "length"),
      { text: "Ok." },
    ]);
    expect(calls.at(-1)).toMatchObject({ status: "error", error: { type: "invalid_arguments" } });
    expect(await readdir(root)).toEqual(["a.txt"]);
    expect(request(1)).toMatch(/cut|truncated/i);
    expect(request(1)).toMatch(/smaller|shorter|parts|split/i);
    expect(done).toMatchObject({ status: "success" });
  });

  it("that lack a key are not taken for empty", async () => {
    const args = { file_path: join(root, "a.txt") };
    const { calls, request } = await play([{ calls: [{ name: "write_file", args }] }, { text: "Ok." }]);
    expect(calls.at(-1)).toMatchObject({ status: "error", error: { type: "invalid_arguments" } });
    expect(request(1)).toContain("content");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("alpha\nbeta\ngamma\n");
  });
});

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("P12 media that would spoil every further request", () => {
  it.each(["openai", "openai-responses", "anthropic", "gemini"] as const)(
    "a picture that the service refuses is dropped, the turn ends well, and so does the next (%s)",
    async (provider) => {
      await writeFile(join(root, "a.png"), Buffer.from(PNG, "base64"));
      const reading = { calls: [{ name: "read_file", args: { absolute_path: join(root, "a.png") } }] };
      const refusing: FakeReply = ({ body }) =>
        JSON.stringify(body).includes(PNG.slice(0, 40))
          ? { error: { status: 400, message: "Could not process image", type: "invalid_request_error" } }
          : { text: "No picture." };
      const replies = [reading, refusing, refusing, refusing];
      const { events, done, request } = await play(replies, provider, ["look", "and now?"]);
      expect(events.filter(({ type }) => type === "done")).toMatchObject([
        { status: "success", result: "No picture." },
        { status: "success" },
      ]);
      expect(done).toMatchObject({ status: "success" });
      expect(request(3)).not.toContain(PNG.slice(0, 40));
    },
  );

  it("what is no picture, whatever its name, never reaches the service as one", async () => {
    await writeFile(join(root, "page.png"), "<!doctype html><p>Not found</p>");
    await writeFile(join(root, "empty.png"), "");
    await writeFile(join(root, "half.png"), Buffer.from(PNG, "base64").subarray(0, 40));
    const calls = ["page.png", "empty.png", "half.png"].map((name) => ({
      name: "read_file",
      args: { absolute_path: join(root, name) },
    }));
    const { request } = await play([{ calls }, { text: "Ok." }]);
    expect(request(1)).not.toMatch(/image_url|base64/);
  });
});

describe("P15 calls in odd forms", () => {
  it.each([1000, 20_000])(
    "arguments of %d levels are an error of that call, and the run goes on",
    async (levels) => {
      const text = `{"a":`.repeat(levels) + "1".padEnd(levels + 1, "}");
      const { request, done } = await play([
        streamed(calling("list_directory", text), "tool_calls"),
        { text: "Ok." },
      ]);
      expect(request(1)).toContain("levels deep");
      expect(done).toMatchObject({ status: "success" });
    },
  );

  it("numbers and truths that come as text are read as what the schema asks for, and only there", async () => {
    const args = { absolute_path: join(root, "a.txt"), offset: "1", limit: "1" };
    const written = { file_path: join(root, "n.txt"), content: "10" };
    const { request } = await play([
      {
        calls: [
          { name: "read_file", args },
          { name: "write_file", args: written },
        ],
      },
      { text: "Ok." },
    ]);
    expect(request(1)).toContain("beta");
    expect(await readFile(join(root, "n.txt"), "utf8")).toBe("10");
  });

  it("an error names the key and what was expected", async () => {
    const args = { absolute_path: join(root, "a.txt"), offset: "soon", limit: 1 };
    const { request } = await play([{ calls: [{ name: "read_file", args }] }, { text: "Ok." }]);
    expect(request(1)).toMatch(/offset.{0,40}integer/);
  });

  const inText = () =>
    `<tool_call>\n{"name": "write_file", "arguments": {"file_path": ${JSON.stringify(join(root, "t.txt"))}, "content": "x"}}\n</tool_call>`;

  it("a call written into the text runs once, in a fence it stays text", async () => {
    const { calls } = await play([streamed({ content: `I write.\n${inText()}` }, "stop"), { text: "Ok." }]);
    expect(calls.filter(({ status }) => status === "success")).toHaveLength(1);
    expect(await readFile(join(root, "t.txt"), "utf8")).toBe("x");
    await rm(join(root, "t.txt"));
    await server.close();
    const fenced = await play([streamed({ content: `Like this:\n\`\`\`\n${inText()}\n\`\`\`\n` }, "stop")]);
    expect(fenced.calls).toEqual([]);
    expect(await readdir(root)).toEqual(["a.txt"]);
    expect(fenced.done).toMatchObject({ result: expect.stringContaining("<tool_call>") });
  });
});

describe("P7 many turns", () => {
  it("leave a history that the window bounds, and no listener on the signal", async () => {
    const reply: FakeReply = ({ body }) => {
      if (body.tools === undefined) return { text: "SUMMARY" };
      asked += 1;
      const args = { absolute_path: join(root, "a.txt"), offset: asked % 2, limit: 5 };
      return asked > 400
        ? { text: "Done." }
        : { text: `Turn ${asked}.`, calls: [{ name: "read_file", args }] };
    };
    let asked = 0;
    server = await startFakeModelServer(new Array<FakeReply>(900).fill(reply));
    const model = openModel({ provider: "openai", name: "fake", baseUrl: server.baseUrl });
    const session = createSession({
      root,
      model,
      maxTurns: 1000,
      settings: { model: { contextWindow: 8192 } },
    });
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    let last: AgentEvent | undefined;
    let longest = 0;
    for await (const event of session.run("go", signal)) {
      last = event;
      longest = Math.max(longest, session.history.length);
    }
    expect(last).toMatchObject({ type: "done", status: "success", turns: 401 });
    expect(longest).toBeLessThan(200);
    expect(server.problems).toEqual([]);
    expect(listeners).toBe(0);
  });
});
