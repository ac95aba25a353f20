import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, createSession, createToolbox, defineTool, type ToolboxOptions } from "@burin/core";
import { scriptedModel } from "@burin/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

const environment = () => ({ BURIN_HOME: home, PATH: process.env.PATH, BURIN_KEYCHAIN: "off" });

function openToolbox(options: Partial<ToolboxOptions> = {}) {
  const toolbox = createToolbox({ root, environment: environment(), ...options });
  opened.push(toolbox);
  return toolbox;
}

/** A server that never says anything. */
const MUTE = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
const mute = { mcpServers: { mute: MUTE } };
const CLOSED = { error: { type: "closed", message: expect.stringContaining("closed") } };

const writing = () => ({ file_path: join(root, "a.txt"), content: "x\n" });
const isWritten = () => existsSync(join(root, "a.txt"));

describe("a closed toolbox", () => {
  it("R33 refuses every call, and starts nothing", async () => {
    const toolbox = openToolbox({ approvalMode: "yolo" });
    await toolbox.call("list_directory", { path: root });
    await toolbox.close();
    expect(await toolbox.call("write_file", writing())).toMatchObject(CLOSED);
    expect(await toolbox.call("read_file", { absolute_path: join(root, "b.txt") })).toMatchObject(CLOSED);
    const background = { command: "touch a.txt", is_background: true };
    expect(await toolbox.call("run_shell_command", background)).toMatchObject(CLOSED);
    expect(await toolbox.call("unknown_tool", {})).toMatchObject(CLOSED);
    expect(await toolbox.run("todo_write", { todos: [] })).toMatchObject({ status: "error", ...CLOSED });
    expect(await toolbox.commands.list()).toEqual([]);
    expect(isWritten()).toBe(false);
  });

  it("R33 refuses calls that wait: for an answer, and for their turn after it", async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const confirm: ToolboxOptions["confirm"] = () => {
      asked();
      return new Promise(() => {});
    };
    const toolbox = openToolbox({ confirm });
    const calls = [1, 2].map(() => toolbox.call("write_file", writing()));
    await isAsked;
    await toolbox.close();
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject(CLOSED);
    expect(isWritten()).toBe(false);
  });

  it("R33 interrupts a call that is running, and does not call that refused", async () => {
    let started = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const wait = defineTool({
      name: "wait",
      description: "Waits until it is stopped.",
      parameterSchema: { type: "object" },
      kind: "read",
      execute: (_params, signal) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
          started();
        }),
    });
    const toolbox = openToolbox({ tools: [wait] });
    const call = toolbox.run("wait", {});
    await hasStarted;
    await toolbox.close();
    expect(await call).toMatchObject({ status: "cancelled", error: { type: "cancelled" } });
  });

  it("R23 refuses what goes to MCP servers, whether they were started or not", async () => {
    for (const isStarted of [false, true]) {
      const toolbox = openToolbox({ settings: mute });
      if (isStarted) await toolbox.ready({ timeoutMs: 50 });
      await toolbox.close();
      const order = { server: "mute", tool: "any", argumentsFor: () => ({}) };
      await expect(toolbox.mcp.callTool(order)).rejects.toThrow("closed");
      await expect(toolbox.mcp.prompts()).rejects.toThrow("closed");
      await expect(toolbox.mcp.test("mute")).rejects.toThrow("closed");
      const failures = [{ source: "tools", message: expect.stringContaining("closed") }];
      expect(await toolbox.ready()).toEqual(failures);
      expect(await toolbox.refreshTools()).toEqual(failures);
    }
  });
});

describe("ready", () => {
  it("R21 ends after the given time, and names the server that has not answered", async () => {
    const toolbox = openToolbox({ settings: mute });
    const failures = await toolbox.ready({ timeoutMs: 300 });
    expect(failures).toEqual([
      { source: "mcp:mute", message: expect.stringContaining("has not answered within 0.3 s") },
    ]);
    expect(toolbox.discoveryFailures).toEqual([]);
    expect(await toolbox.call("list_directory", { path: root })).not.toHaveProperty("error");
  });

  it("R21 ends with its signal, or with the toolbox", async () => {
    const toolbox = openToolbox({ settings: mute });
    const stop = new AbortController();
    const known = expect.stringMatching(/^(mcp:mute|tools)$/);
    const first = toolbox.ready({ signal: stop.signal });
    const second = toolbox.ready({ timeoutMs: 600_000 });
    stop.abort();
    expect(await first).toEqual([
      { source: known, message: expect.stringContaining("when the wait was ended") },
    ]);
    await toolbox.close();
    expect(await second).toEqual([{ source: "tools", message: expect.stringContaining("closed") }]);
  });

  it("R21 does not wait for a mute server until that fails, also when nothing is said about the time", async () => {
    const toolbox = openToolbox({ settings: mute });
    const [failure] = await toolbox.ready();
    expect(failure).toMatchObject({ source: "mcp:mute", message: expect.stringContaining("within 10 s") });
  }, 30_000);
});

describe("a closed session", () => {
  const openSession = (options: Partial<Parameters<typeof createSession>[0]> = {}) => {
    const session = createSession({
      root,
      environment: environment(),
      model: scriptedModel([{ calls: [{ name: "write_file", args: writing() }] }, { text: "Done." }]),
      approvalMode: "yolo",
      ...options,
    });
    opened.push(session);
    return session;
  };
  const refused: Partial<AgentEvent> = { type: "done", status: "error", ...CLOSED };

  it("R33 refuses prompts, calls and answers", async () => {
    const session = openSession();
    await session.close();
    expect(await collectEvents(session.run("write"))).toEqual([expect.objectContaining(refused)]);
    expect(await collectEvents(session.goOn())).toEqual([expect.objectContaining(refused)]);
    expect(await session.call("write_file", writing())).toMatchObject(CLOSED);
    expect(session.answer("q_call_1", { outcome: "once" })).toContain("no question");
    await expect(session.compact()).rejects.toThrow("closed");
    expect(isWritten()).toBe(false);
  });

  it("R33 refuses the prompt that waited for its turn, and the call that waited for an answer", async () => {
    const session = openSession({ approvalMode: "default", awaitsAnswers: true });
    const first = collectEvents(session.run("write"));
    while (session.questions.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const second = collectEvents(session.run("and again"));
    const call = session.call("write_file", writing());
    await session.close();
    expect((await first).at(-1)).toMatchObject({ type: "done", status: "cancelled" });
    expect(await second).toEqual([expect.objectContaining(refused)]);
    expect(await call).toMatchObject(CLOSED);
    expect(session.questions).toEqual([]);
    expect(isWritten()).toBe(false);
  });
});
