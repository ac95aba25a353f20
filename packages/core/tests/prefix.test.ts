import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSession } from "@burin/core";
import { openModel, withRetries } from "@burin/core/sessions";
import { type FakeModelServer, type RecordedRequest, startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

/** The list of the body that holds the conversation, by protocol. */
const LISTS = {
  openai: "messages",
  "openai-responses": "input",
  anthropic: "messages",
  gemini: "contents",
} as const;

let server: FakeModelServer;

makeFolders();
beforeEach(async () => {
  await mkdir(join(root, "inner"));
  await writeFile(join(root, "inner", "a.txt"), "alpha\n");
  await writeFile(join(root, "AGENTS.md"), "Be exact.\n");
  await writeFile(join(root, "inner", "AGENTS.md"), "Be exact in here too.\n");
});

afterEach(async () => {
  await server.close();
});

/** Anthropic's marks say where its cache may begin; they are no part of what is cached. */
function withoutMarks(body: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(body, (key, value) => (key === "cache_control" ? undefined : value)));
}

describe.each(["openai", "openai-responses", "anthropic", "gemini"] as const)("P29 %s", (provider) => {
  it("each request begins with the one before, byte for byte, whatever came in between", async () => {
    const path = join(root, "inner", "a.txt");
    const read = { name: "read_file", args: { absolute_path: path } };
    server = await startFakeModelServer([
      { thought: "First.", text: "I look.", calls: [read, { name: "list_directory", args: { path: root } }] },
      { error: { status: 503, message: "busy" } },
      { thought: "Then.", calls: [read] },
      { text: "Done." },
      { calls: [{ name: "no_such_tool", args: {} }] },
      { text: "Done again." },
    ]);
    const opened = openModel({ provider, name: "fake", baseUrl: server.baseUrl, apiKey: "k" });
    const session = createSession({
      root,
      model: withRetries(opened, { firstDelayMs: 1 }),
      budget: "5 calls",
      environment: { ...process.env, BURIN_HOME: join(root, "home") },
    });
    for (const prompt of ["go", "go on"]) {
      for await (const event of session.run(prompt)) {
        if (event.type === "tool_call" && event.call.status === "success") session.steer("Faster!");
      }
    }
    expect(server.problems).toEqual([]);
    expect(server.unusedReplies()).toEqual([]);
    const bodies = server.requests.map(({ body }) => withoutMarks(body));
    const list = LISTS[provider];
    for (const [index, body] of bodies.slice(1).entries()) {
      const { [list]: before, ...restBefore } = bodies[index] ?? {};
      const { [list]: now, ...rest } = body;
      expect(JSON.stringify(rest)).toBe(JSON.stringify(restBefore));
      const start = JSON.stringify(before).slice(0, -1);
      expect(JSON.stringify(now).startsWith(start)).toBe(true);
    }
    const all = JSON.stringify(bodies.at(-1));
    for (const words of ["Be exact.", "Be exact in here too.", "Faster!", "% of the budget of 5 calls"]) {
      expect(all).toContain(words);
    }
  });

  it("the first request with all tools takes at most 12 kB, and is written as plainly as it can be", async () => {
    server = await startFakeModelServer([{ text: "hi" }]);
    const model = openModel({ provider, name: "fake", baseUrl: server.baseUrl, apiKey: "k" });
    const environment = { ...process.env, BURIN_HOME: join(root, "home"), TAVILY_API_KEY: "key" };
    const settings = { web: { search: { provider: "tavily" as const } } };
    const session = createSession({ root: join(root, "inner"), model, settings, environment });
    for await (const event of session.run("hi")) void event;
    const [{ body, bodyBytes }] = server.requests as [RecordedRequest];
    expect(Buffer.byteLength(JSON.stringify(body))).toBe(bodyBytes);
    expect(bodyBytes).toBeLessThanOrEqual(12_000);
  });
});
