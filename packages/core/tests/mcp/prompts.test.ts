import { type Confirmation, createSession, type Decision } from "@burin/core";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/core/sessions";
import { describe, expect, it } from "vitest";
import { collectEvents } from "../events-of.ts";
import { fixture, project, published, useProject } from "./project.ts";

useProject();

const everything = { e: { command: process.execPath, args: [published("everything"), "stdio"] } };

/** What the model is sent for a prompt. */
async function sent(prompt: string): Promise<string> {
  const heard: string[] = [];
  const model: ChatModel = {
    name: "listening",
    async *stream({ history }: ModelRequest): AsyncGenerator<ModelEvent> {
      heard.push(JSON.stringify(history));
      yield { type: "end", reason: "stop" };
    },
  };
  const { root: cwd, environment } = project;
  const session = createSession({ root: cwd, environment, model, settings: { mcpServers: everything } });
  for await (const _ of session.run(prompt));
  await session.close();
  return heard[0] ?? "";
}

describe("prompts and resources of MCP servers", () => {
  it("R24 are listed for a program whose signals are none of Node's classes, as in jsdom", async () => {
    const { mcp } = project.open(everything);
    const foreign = {
      aborted: false,
      reason: undefined,
      throwIfAborted() {},
      addEventListener() {},
      removeEventListener() {},
    };
    expect(await mcp.prompts(foreign as unknown as AbortSignal)).not.toEqual([]);
  });

  it("R24 are listed", async () => {
    const { mcp } = project.open(everything);
    expect(await mcp.prompts()).toContainEqual(
      expect.objectContaining({
        server: "e",
        name: "args-prompt",
        arguments: expect.arrayContaining([{ name: "city", isRequired: true }]),
      }),
    );
    expect((await mcp.resources()).length).toBeGreaterThan(0);
  });

  it("R24 that a server announces and does not have are none, and a list that fails leaves it its tools", async () => {
    const { mcp } = project.open({ half: fixture("half") });
    const { tools, ...rest } = await mcp.test("half");
    expect(tools.length).toBeGreaterThan(0);
    const faults = ['The MCP server "half" failed at resources/list: no such folder'];
    expect(rest).toEqual({ prompts: 0, resources: 0, faults });
  });

  it("a prompt that begins with /server:prompt stands for it, with its arguments by name or place", async () => {
    expect(await sent('/e:args-prompt city="New York"')).toContain("New York");
    expect(await sent("/e:args-prompt Oslo")).toContain("Oslo");
  });

  it("@server:uri brings the resource along, between marks; other words with @ and : stay", async () => {
    const [resource] = await project.open(everything).mcp.resources();
    const text = await sent(`what is in @e:${resource?.uri}, and who is @nobody:here?`);
    expect(text).toMatch(/<untrusted-[0-9a-f]{12} source=/);
    expect(text).toContain("@nobody:here?");
  });

  it("P11 an interruption while a resource is awaited ends the run as one", async () => {
    const { root: cwd, environment } = project;
    const model: ChatModel = { name: "never asked", async *stream() {} };
    const settings = { mcpServers: { slow: fixture("mute") } };
    const session = createSession({ root: cwd, environment, model, settings });
    const events = await collectEvents(session.run("what is @slow:a:b", AbortSignal.timeout(500)));
    await session.close();
    expect(events.at(-1)).toMatchObject({ status: "cancelled", error: { type: "cancelled" } });
  });

  it.each([
    [{ outcome: "filled", values: { name: "Ada" } } as Decision, "Ada"],
    [{ outcome: "cancel" } as Decision, "decline"],
    [undefined, "decline"],
  ])("a question of a server goes to the person: %j", async (decision, words) => {
    const asked: Confirmation[] = [];
    const confirm = (question: Confirmation) => {
      asked.push(question);
      return Promise.resolve(decision ?? { outcome: "cancel" as const });
    };
    const options = decision ? { confirm } : {};
    const toolbox = project.open(everything, { approvalMode: "yolo", ...options });
    const answer = await toolbox.call("e__trigger-elicitation-request", {});
    expect(JSON.stringify(answer.llmContent)).toContain(words);
    if (decision) expect(asked[0]).toMatchObject({ kind: "form", server: "e" });
  });

  it.each([true, false])("a server asks the model only where settings allow it: %s", async (sampling) => {
    const model: ChatModel = {
      name: "answering",
      async *stream({ tools }: ModelRequest): AsyncGenerator<ModelEvent> {
        yield { type: "text", text: `an answer with ${tools.length} tools` };
        yield { type: "end", reason: "stop" };
      },
    };
    const { root: cwd, environment } = project;
    const settings = { mcpServers: { e: { ...everything.e, sampling } } };
    const session = createSession({ root: cwd, environment, model, settings, approvalMode: "yolo" });
    await session.ready();
    const { llmContent } = await session.call("e__trigger-sampling-request", { prompt: "hello" });
    await session.close();
    expect(JSON.stringify(llmContent).includes("an answer with 0 tools")).toBe(sampling);
  });
});
