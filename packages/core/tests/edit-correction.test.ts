import { readFileSync } from "node:fs";
import { type Confirmation, createSession } from "@burin/core";
import { openAiCompatible } from "@burin/core/internal";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { createFile } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { makeFolders, root } from "./folder.ts";

const CONTENT = "const host = read();\nconst port = read();\nlisten(host, port);\n";

let path: string;
let server: FakeModelServer | null = null;

makeFolders();
beforeEach(() => {
  path = createFile(root, "server.js", CONTENT);
});

afterEach(async () => {
  await server?.close();
  server = null;
});

/** The model asks for an edit of what the file does not have; `correction` answers the correction's request. */
async function turn(correction: readonly FakeReply[], more: { off?: true; old?: string } = {}) {
  const args = {
    file_path: path,
    old_string: more.old ?? "const thePort = readIt();",
    new_string: "const port = 80;",
  };
  const started = await startFakeModelServer([
    { calls: [{ name: "edit", args }] },
    ...correction,
    { text: "done" },
  ]);
  server = started;
  const asked: Confirmation[] = [];
  const session = createSession({
    root,
    model: openAiCompatible({ name: "fake", baseUrl: started.baseUrl }),
    settings: { tools: { editCorrection: more.off !== true } },
    confirm: (confirmation) => {
      asked.push(confirmation);
      return Promise.resolve({ outcome: "once" });
    },
  });
  return { session, asked, server: started };
}

function answerOf(session: ReturnType<typeof createSession>): string {
  const parts = session.history.flatMap((message) => message.parts);
  return JSON.stringify(parts.find((part) => part.functionResponse)?.functionResponse?.response);
}

const proposing = (old_string: string, new_string = "const port = 80;") => ({
  text: JSON.stringify({ old_string, new_string }),
});

describe("an edit that matches nothing, over real HTTP", () => {
  it("R95 R99 the model is asked, and the person sees the corrected edit before it is made", async () => {
    const { session, asked, server } = await turn([proposing("const port = read();")]);
    const events = await collectEvents(session.run("go"));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success", result: "done" });
    expect(server.problems).toEqual([]);
    expect(server.unusedReplies()).toEqual([]);
    const diff = expect.stringContaining("-const port = read();\n+const port = 80;");
    expect(asked).toMatchObject([{ kind: "edit", diff: { fileDiff: diff } }]);
    expect(readFileSync(path, "utf8")).toBe(CONTENT.replace("port = read()", "port = 80"));
    expect(answerOf(session)).toContain("corrected by the model");
  });

  it("R95 an old text that means two places is corrected to the one that was meant", async () => {
    const { session, server } = await turn([proposing("const port = read();")], { old: " = read();" });
    await collectEvents(session.run("go"));
    expect(server.requests).toHaveLength(3);
    expect(readFileSync(path, "utf8")).toBe(CONTENT.replace("port = read()", "port = 80"));
  });

  it("R95 the correction's request is no part of the conversation", async () => {
    const { session, server } = await turn([proposing("const port = read();")]);
    await collectEvents(session.run("go"));
    expect(session.history).toHaveLength(4);
    expect(JSON.stringify(server.requests[2]?.body)).not.toContain("A text replacement in a file failed");
  });

  it("R95 tools.editCorrection switches it off: nobody is asked, nothing is written", async () => {
    const { session, asked, server } = await turn([], { off: true });
    await collectEvents(session.run("go"));
    expect(server.requests).toHaveLength(2);
    expect(asked).toEqual([]);
    expect(answerOf(session)).toContain("Failed to edit, 0 occurrences found");
    expect(readFileSync(path, "utf8")).toBe(CONTENT);
  });

  it.each([
    ["matches nothing", proposing("const port = readAll();")],
    ["matches twice", proposing(" = read();")],
    ["only nearly matches", proposing("  const port  = read();")],
    ["changes nothing", proposing("const port = read();", "const port = read();")],
    ["is garbage", { text: "<<<<<<< {{{ I am not sure" }],
    ["is empty", { text: "" }],
    ["is an error", { error: { type: "bad_request", message: "no", status: 400 } }],
  ])("R95 R96 a proposal that %s is not taken: the edit fails and writes nothing", async (_name, reply) => {
    const { session, asked } = await turn([reply]);
    const events = await collectEvents(session.run("go"));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success" });
    expect(asked).toEqual([]);
    expect(answerOf(session)).toContain("Failed to edit, 0 occurrences found");
    expect(readFileSync(path, "utf8")).toBe(CONTENT);
  });

  it("R95 P11 an abort during the correction ends the run, writes nothing, and the next prompt works", async () => {
    const controller = new AbortController();
    const hanging: FakeReply = { raw: () => controller.abort() };
    const { session, asked, server } = await turn([hanging]);
    const events = await collectEvents(session.run("go", controller.signal));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "cancelled" });
    expect(events.findLast((event) => event.type === "tool_call")).toMatchObject({
      call: { status: "cancelled" },
    });
    expect(asked).toEqual([]);
    expect(readFileSync(path, "utf8")).toBe(CONTENT);
    expect((await collectEvents(session.run("again"))).at(-1)).toMatchObject({
      status: "success",
      result: "done",
    });
    expect(server.problems).toEqual([]);
  });

  it("R95 a correction for a subagent is told what was said to the subagent, not to the session", async () => {
    const old_string = "const thePort = readIt();";
    const order = { description: "port", prompt: "Make the port eighty.", subagent_type: "general" };
    const started = await startFakeModelServer([
      { text: "I hand that on.", calls: [{ name: "task", args: order }] },
      {
        text: "Only port changes.",
        calls: [{ name: "edit", args: { file_path: path, old_string, new_string: "const port = 80;" } }],
      },
      proposing("const port = read();"),
      { text: "done by the subagent" },
      { text: "done" },
    ]);
    server = started;
    const model = openAiCompatible({ name: "fake", baseUrl: started.baseUrl });
    const session = createSession({ root, model, approvalMode: "auto-edit" });
    await collectEvents(session.run("What the user said to the session."));
    expect(readFileSync(path, "utf8")).toBe(CONTENT.replace("port = read()", "port = 80"));
    const asked = JSON.stringify(started.requests[2]?.body);
    expect(asked).toContain("Make the port eighty.");
    expect(asked).toContain("Only port changes.");
    expect(asked).not.toContain("said to the session");
  });
});
