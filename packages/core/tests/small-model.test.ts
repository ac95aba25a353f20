import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { type AgentEvent, createSession } from "@burin/core";
import { type FakeReply, type ScriptedCall, startFakeModelServer } from "@burin/core/testing";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, describe, expect, it } from "vitest";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A session with two prompts behind it that is then shortened. `small` is what the small model answers. */
async function compacted(small: FakeReply, ...more: FakeReply[]) {
  const server = await startFakeModelServer([{ text: "one ".repeat(300) }, { text: "two" }, small, ...more]);
  closing.push(() => server.close());
  const settings = { model: { name: "large", baseUrl: server.baseUrl, small: "little", retries: 0 } };
  const environment = { BURIN_HOME: join(createTemporaryFolder(), "home") };
  const names = { ...settings, models: { little: { baseUrl: server.baseUrl, model: "little", retries: 0 } } };
  const session = createSession({ root: createTemporaryFolder(), environment, settings: names });
  closing.push(() => session.close());
  for (const prompt of ["a", "b"]) for await (const _ of session.run(prompt));
  const told: AgentEvent[] = [];
  const following = (async () => {
    for await (const { event } of session.events()) told.push(event);
  })();
  await session.compact();
  await session.close();
  await following;
  const asked = server.requests.map(({ body }) => body.model);
  return { asked, told, history: session.history };
}

describe("P5 model.small", () => {
  it("writes the summary of a conversation", async () => {
    const { asked, told, history } = await compacted({ text: "Goal: letters." });
    expect(asked).toEqual(["large", "large", "little"]);
    expect(told).toContainEqual(expect.objectContaining({ type: "usage", purpose: "compaction" }));
    expect(JSON.stringify(history)).toContain("Goal: letters.");
  });

  it.each<[string, FakeReply]>([
    ["fails", { error: { status: 401, message: "no" } }],
    ["says nothing", { text: "  " }],
  ])("is helped out by the main model where it %s", async (_how, reply) => {
    const { asked, history } = await compacted(reply, { text: "Goal: more letters." });
    expect(asked).toEqual(["large", "large", "little", "large"]);
    expect(JSON.stringify(history)).toContain("Goal: more letters.");
  });
});

/** The models that are asked in a session whose first reply makes this call, with a small one beside the large. */
async function askedFor(call: ScriptedCall, small: FakeReply, { root = createTemporaryFolder(), host = "" }) {
  const server = await startFakeModelServer([{ calls: [call] }, small, { text: "done" }]);
  closing.push(() => server.close());
  const there = { baseUrl: server.baseUrl, retries: 0 };
  const settings = {
    model: { name: "large", small: "fast", ...there },
    models: { fast: { model: "little", ...there } },
    web: { allowedHosts: [host] },
  };
  const environment = { BURIN_HOME: join(createTemporaryFolder(), "home") };
  const session = createSession({ root, environment, settings, approvalMode: "yolo" });
  closing.push(() => session.close());
  for await (const _ of session.run("go"));
  expect(server.problems).toEqual([]);
  return { asked: server.requests.map(({ body }) => body.model), history: JSON.stringify(session.history) };
}

describe("P5 R95 model.small", () => {
  it("corrects an edit that matches nothing", async () => {
    const root = createTemporaryFolder();
    const path = createFile(root, "server.js", "const port = read();\nlisten(port);\n");
    const args = { file_path: path, old_string: "const thePort = readIt();", new_string: "const port = 80;" };
    const corrected = { old_string: "const port = read();", new_string: "const port = 80;" };
    const small = { text: JSON.stringify(corrected) };
    const { asked } = await askedFor({ name: "edit", args }, small, { root });
    expect(asked).toEqual(["large", "little", "large"]);
    expect(readFileSync(path, "utf8")).toContain("const port = 80;");
  });
});

describe("P5 R42 model.small", () => {
  it("answers a question over a web page", async () => {
    const pages = createServer((_request, response) => response.end("The burin was made in 1430."));
    closing.push(async () => void pages.close());
    const host = `127.0.0.1:${await listenOnFreePort(pages)}`;
    const args = { url: `http://${host}/`, prompt: "When?" };
    const { asked, history } = await askedFor(
      { name: "web_fetch", args },
      { text: "In 1430, it says." },
      { host },
    );
    expect(asked).toEqual(["large", "little", "large"]);
    expect(history).toContain("In 1430, it says.");
    expect(history).not.toContain("was made in 1430");
  });
});

describe("P5 model.subagent", () => {
  it("answers for subagents, and the main model for the session", async () => {
    const asking = { description: "find", prompt: "find it", subagent_type: "explore" };
    const server = await startFakeModelServer([
      { calls: [{ name: "task", args: asking }] },
      { text: "It is in a.txt." },
      { text: "done" },
    ]);
    closing.push(() => server.close());
    const there = { baseUrl: server.baseUrl, retries: 0 };
    const settings = {
      model: { name: "large", subagent: "helper", ...there },
      models: { helper: { model: "little", ...there } },
    };
    const environment = { BURIN_HOME: join(createTemporaryFolder(), "home") };
    const session = createSession({ root: createTemporaryFolder(), environment, settings });
    closing.push(() => session.close());
    for await (const _ of session.run("go"));
    expect(server.requests.map(({ body }) => body.model)).toEqual(["large", "little", "large"]);
  });
});
