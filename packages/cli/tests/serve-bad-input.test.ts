import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { server as model, modelEnv } from "./fake-model.ts";
import { put, root } from "./project.ts";
import {
  formatMessage,
  type RawServer,
  rawServer,
  serveMcp,
  toolCall,
  waitForRequest,
} from "./raw-server.ts";

const serve = (...args: string[]): RawServer => rawServer(root, args);

const write = (id: number) => toolCall(id, "write_file", { file_path: join(root, "n.txt"), content: "n" });
const read = (id: number) => toolCall(id, "read_file", { file_path: join(root, "a.txt") });
const ONE = { result: { content: [{ type: "text", text: "one\n" }] } };

async function stillReads(server: RawServer): Promise<void> {
  server.send(read(1000));
  expect(await server.answer(1000)).toMatchObject(ONE);
}

const statusOf = (pid = 0) => readFileSync(`/proc/${pid}/status`, "utf8");

describe("a client of the tools that", () => {
  it("sends a message in pieces, cut inside of a letter, is answered when it is whole", async () => {
    const server = await serveMcp(root, {});
    put("ä€.txt", "one\n");
    const line = `${JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "read_file", { file_path: join(root, "ä€.txt") }) })}\n`;
    for (const byte of Buffer.from(line)) server.child.stdin.write(Buffer.of(byte));
    expect(await server.answer(1)).toMatchObject(ONE);
  });

  it.each([
    ["answers with an error", { error: { code: -32601, message: "Method not found" } }],
    ["answers with nonsense", { result: { action: "perhaps", content: 7 } }],
    ["answers yes without saying to what", { result: { action: "accept" } }],
    [
      "answers with a choice that was not offered",
      { result: { action: "accept", content: { decision: "all" } } },
    ],
  ])("says that it can ask its user, but %s: nothing is written, and it hears why", async (_, answer) => {
    const server = await serveMcp(root, { elicitation: {} });
    server.send(write(1));
    const question = await server.next();
    expect(question.method).toBe("elicitation/create");
    server.send({ id: question.id, ...answer });
    expect(formatMessage(await server.answer(1))).toMatch(
      /write_file was not completed: |not run: the client could not ask its user \([^{]+\)\. .*--allow where/,
    );
    await stillReads(server);
    expect(existsSync(join(root, "n.txt"))).toBe(false);
  });

  it("reads a file that begins as the failure of a question gets what is in it", async () => {
    const text = "Fulfilling input required by 'tools/call' failed: Method not found\n";
    put("log.txt", text);
    const server = await serveMcp(root, { elicitation: {} });
    server.send(toolCall(1, "read_file", { file_path: join(root, "log.txt") }));
    expect(await server.answer(1)).toMatchObject({ result: { content: [{ type: "text", text }] } });
  });

  it.each([
    ["refuses to name them", { error: { code: -32601, message: "Method not found" } }, /Method not found$/],
    ["names nonsense", { result: { roots: "all" } }, /its answer has no roots$/],
    [
      "names a folder that does not exist",
      { result: { roots: [{ uri: "file:///nowhere/at/all" }] } },
      /nowhere\/at\/all/,
    ],
    ["names what is no file", { result: { roots: [{ uri: "https://example.org/" }] } }, null],
    ["names what is no address", { result: { roots: [{ uri: "file://%ZZ" }] } }, /^[^\n]+$/],
  ])("says that it has roots, but %s: work goes on in the folder of the start", async (_, answer, words) => {
    const server = await serveMcp(root, { roots: { listChanged: true } });
    const question = await server.next();
    expect(question.method).toBe("roots/list");
    server.send({ id: question.id, ...answer });
    if (words !== null) expect((await server.next()).params?.data).toMatch(words);
    await stillReads(server);
  });

  it("changes its roots in the middle of a call has the call's answer, and is then in the other folder", async () => {
    const folders = [join(root, "one"), join(root, "two")];
    for (const folder of folders) await mkdir(folder);
    const server = await serveMcp(root, { roots: { listChanged: true } }, "--yes");
    const nameRoot = async (folder = "") => {
      const { id } = await waitForRequest(server, "roots/list");
      server.send({ id, result: { roots: [{ uri: `file://${folder}` }] } });
    };
    await nameRoot(folders[0]);
    server.send(
      toolCall(1, "run_shell_command", { command: "touch begun; until [ -e go ]; do sleep 0.1; done" }),
    );
    await expect.poll(() => existsSync(join(root, "one/begun"))).toBe(true);
    server.send({ method: "notifications/roots/list_changed" });
    await nameRoot(folders[1]);
    server.send(toolCall(2, "run_shell_command", { command: "pwd" }));
    expect(formatMessage(await server.answer(2))).toContain(folders[1]);
    put("one/go", "");
    expect(await server.answer(1)).toMatchObject({ result: { structuredContent: { exitCode: 0 } } });
  });

  it("answers after the call was cancelled: nothing is written", async () => {
    const server = await serveMcp(root, { elicitation: {} });
    server.send(write(1));
    const question = await server.next();
    server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    server.send({ method: "notifications/cancelled", params: { requestId: 77 } });
    server.send({ id: question.id, result: { action: "accept", content: { decision: "once" } } });
    await stillReads(server);
    expect(existsSync(join(root, "n.txt"))).toBe(false);
  });

  it("sends two requests of one id gets an answer to each", async () => {
    const server = await serveMcp(root, {});
    server.send(read(5));
    server.send(read(5));
    expect(await server.answer(5)).toMatchObject(ONE);
    expect(await server.answer(5)).toMatchObject(ONE);
  });

  it("floods with requests, notifications and answers that nobody asked for: each request has its answer", async () => {
    const server = await serveMcp(root, {});
    for (let id = 1; id <= 3000; id += 1) {
      server.send({ id: `x${id}`, method: "no/such", params: { id } });
      server.send({ method: "notifications/no-such" });
      server.send({ id, result: {} });
    }
    for (let id = 1; id <= 3000; id += 1) expect((await server.next()).error?.code).toBe(-32601);
    await stillReads(server);
  });

  it("P26 floods, reads no answer and vanishes: the server ends", async () => {
    const server = await serveMcp(root, {});
    server.child.stdout.pause();
    for (let id = 1; id <= 20_000; id += 1) server.send(read(id));
    server.child.stdout.destroy();
    server.child.stdin.destroy();
    expect(await server.ended).not.toBeNull();
  });

  it("P12 floods, and reads its answers only later: they wait in little memory, and none is lost", async () => {
    put("long.txt", "a line of text that is read and not heard\n".repeat(2000));
    const server = await serveMcp(root, {});
    const memory = () => Number(/VmHWM:\s+(\d+)/.exec(statusOf(server.child.pid))?.[1]);
    server.child.stdout.pause();
    const ids = new Set(Array.from({ length: 4000 }, (_, id) => id));
    for (const id of ids) server.send(toolCall(id, "read_file", { file_path: join(root, "long.txt") }));
    for (let before = 0; memory() > before; await pause(1000)) before = memory();
    expect(memory()).toBeLessThan(320_000);
    server.child.stdout.resume();
    while (ids.size > 0) ids.delete(Number((await server.next()).id));
  });

  it("P12 nests arguments 100,000 levels deep is told so", async () => {
    const server = await serveMcp(root, {});
    const deep = `{"path":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    server.send(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_directory","arguments":${deep}}}`,
    );
    expect(JSON.stringify(await server.answer(1))).toContain("nested deeper than 500 levels");
    await stillReads(server);
  });

  it("calls before it has said hello is answered", async () => {
    const server = serve("mcp");
    server.send(read(1));
    expect(await server.answer(1)).toMatchObject(ONE);
  });
});

describe("an editor that", () => {
  /** A session of an editor, and the prompt to which the model makes a call and ends. */
  async function serveAcp(clientCapabilities: object, name: string, args: object) {
    const env = await modelEnv({ calls: [{ name, args: { ...args } }] }, { text: "Done." });
    const server = rawServer(root, ["acp"], env);
    server.send({ id: "start", method: "initialize", params: { protocolVersion: 1, clientCapabilities } });
    await server.answer("start");
    server.send({ id: "new", method: "session/new", params: { cwd: root, mcpServers: [] } });
    const sessionId = String((await server.answer("new")).result?.sessionId);
    const params = { sessionId, prompt: [{ type: "text", text: "Go." }] };
    return { server, sessionId, prompt: { id: "prompt", method: "session/prompt", params } };
  }

  const MAKE = () => ["write_file", { file_path: join(root, "n.txt"), content: "n" }] as const;

  it.each([
    ["with an error", { error: { code: -32601, message: "Method not found" } }],
    ["with nonsense", { result: { outcome: "yes" } }],
    ["with a choice that was not offered", { result: { outcome: { outcome: "selected", optionId: "all" } } }],
    ["with no, and then with yes", { result: { outcome: { outcome: "selected", optionId: "no" } } }],
  ])("answers a question %s: nothing is written, and the prompt ends", async (_, answer) => {
    const { server, prompt } = await serveAcp({}, ...MAKE());
    server.send(prompt);
    const { id } = await waitForRequest(server, "session/request_permission");
    server.send({ id, ...answer });
    server.send({ id, result: { outcome: { outcome: "selected", optionId: "once" } } });
    expect(await server.answer("prompt")).toMatchObject({ result: { stopReason: expect.any(String) } });
    expect(existsSync(join(root, "n.txt"))).toBe(false);
  });

  it("answers a question after it cancelled, twice: nothing is written", async () => {
    const { server, sessionId, prompt } = await serveAcp({}, ...MAKE());
    server.send(prompt);
    const { id } = await waitForRequest(server, "session/request_permission");
    const cancel = { method: "session/cancel", params: { sessionId } };
    server.send(cancel);
    server.send(cancel);
    server.send({ method: "session/cancel", params: { sessionId: "unknown" } });
    server.send({ id, result: { outcome: { outcome: "selected", optionId: "once" } } });
    expect(await server.answer("prompt")).toMatchObject({ result: { stopReason: "cancelled" } });
    server.send({ ...prompt, id: "again" });
    expect(await server.answer("again")).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(existsSync(join(root, "n.txt"))).toBe(false);
  });

  it.each([
    ["fails", { error: { code: -32601, message: "Method not found" } }],
    ["gives nonsense", { result: { content: 7 } }],
  ])("says that it has files, but %s when asked for one: what is saved is read", async (_, answer) => {
    const fs = { readTextFile: true, writeTextFile: true };
    const { server, prompt } = await serveAcp({ fs }, "read_file", { file_path: join(root, "a.txt") });
    server.send(prompt);
    const { id } = await waitForRequest(server, "fs/read_text_file");
    server.send({ id, ...answer });
    await server.answer("prompt");
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain("one\\n");
  });

  it("answers a write with null, as those of Neovim and Emacs do, has written", async () => {
    const fs = { readTextFile: true, writeTextFile: true };
    const args = { file_path: join(root, "a.txt"), old_string: "unsaved", new_string: "changed" };
    const { server, sessionId, prompt } = await serveAcp({ fs }, "edit", args);
    server.send({ id: "mode", method: "session/set_mode", params: { sessionId, modeId: "yolo" } });
    server.send(prompt);
    for (let message = await server.next(); message.id !== "prompt"; message = await server.next()) {
      const { id, method } = message;
      if (method === "fs/read_text_file") server.send({ id, result: { content: "unsaved\n" } });
      if (method === "fs/write_text_file") server.send({ id, result: null });
    }
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain("Successfully modified");
  });

  it("floods with sessions, prompts and methods that do not exist: each request has one error, and work goes on", async () => {
    const { server, prompt } = await serveAcp({}, "read_file", { file_path: join(root, "a.txt") });
    const unknown = { sessionId: "unknown", prompt: [] };
    for (let id = 1; id <= 1000; id += 1) {
      server.send({ id: 2 * id, method: "session/prompt", params: unknown });
      server.send({ id: 2 * id + 1, method: "no/such", params: {} });
      server.send({ id: "nobody", result: {} });
    }
    server.send(prompt);
    const errors = new Set<unknown>();
    for (let message = await server.next(); message.id !== "prompt"; message = await server.next()) {
      if (message.error !== undefined) errors.add(message.id);
    }
    expect(errors.size).toBe(2000);
  });

  it("sends half a message and vanishes: the server ends", async () => {
    const { server, prompt } = await serveAcp({}, ...MAKE());
    server.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...prompt }).slice(0, 40));
    server.child.stdin.end();
    expect(await server.ended).toBe(0);
    expect(model.requests).toEqual([]);
  });
});
