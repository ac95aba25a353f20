import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { matchFailure } from "./burin.ts";
import { modelEnv } from "./fake-model.ts";
import { type ClientOptions, type Connected, connect } from "./mcp-client.ts";
import { put, root } from "./project.ts";
import { findProcesses, type RawMessage, rawServer, waitUntil } from "./raw-server.ts";

const open: Connected[] = [];

beforeEach(async () => {
  put("a.txt", "one\ntwo\n");
});

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ client }) => client.close()));
});

async function client(options: ClientOptions = {}): Promise<Connected> {
  const connected = await connect(root, options);
  open.push(connected);
  return connected;
}

describe.each([
  ["of 2025", false],
  ["of 2026", true],
] as const)("a client %s of burin serve mcp", (_, isModern) => {
  it("is told of each tool, with a schema and what is true of it, and needs no model", async () => {
    const { client: mcp } = await client({ isModern });
    const { tools } = await mcp.listTools();
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]));
    expect(hints).toEqual({
      edit: false,
      glob: true,
      list_directory: true,
      read_file: true,
      read_many_files: true,
      run_shell_command: false,
      save_memory: false,
      search_file_content: true,
      web_fetch: true,
      write_file: false,
    });
    for (const tool of tools) expect(tool.inputSchema.type).toBe("object");
  });

  it("reads, and writes once its user has said yes to the diff", async () => {
    const asked: string[] = [];
    const says = (message: string) => (asked.push(message) === 1 ? null : "once");
    const { client: mcp, call } = await client({ isModern, says });
    expect(await call("read_file", { file_path: `${root}/a.txt` })).toEqual({
      text: "one\ntwo\n",
      isError: false,
    });
    const change = { file_path: `${root}/a.txt`, old_string: "two", new_string: "three" };
    expect(await call("edit", change)).toMatchObject({
      isError: true,
      text: expect.stringContaining("cancelled by user"),
    });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("one\ntwo\n");
    const answer = await mcp.callTool({ name: "edit", arguments: change });
    expect(answer.structuredContent).toMatchObject({ addedLines: 1, removedLines: 1 });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("one\nthree\n");
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain("-two\n+three");
    await call("edit", { ...change, old_string: "one", new_string: "zero" });
    expect(asked).toHaveLength(3);
  });

  it("that cannot ask its user is refused with how to allow it, and a rule allows it", async () => {
    const make = { file_path: join(root, "new.txt"), content: "hello\n" };
    const { call } = await client({ isModern });
    const refused = await call("write_file", make);
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining("--allow 'write_file(new.txt)'"),
    });
    expect(refused.text).toContain("\n\nThis client cannot ask");
    expect(existsSync(make.file_path)).toBe(false);
    const allowed = await client({ isModern, args: ["--allow", "write_file"] });
    expect(await allowed.call("write_file", make)).toMatchObject({ isError: false });
    expect(await readFile(make.file_path, "utf8")).toBe("hello\n");
  });

  it("that answers no without asking its user is told that a rule can allow the call, but not one whose user says no", async () => {
    const make = { file_path: join(root, "new.txt"), content: "hello\n" };
    const { call } = await client({ isModern, says: () => null });
    expect((await call("write_file", make)).text).toMatch(/the client answered "decline".* a rule can allow/);
    const asked = await client({ isModern, says: () => "no" });
    expect((await asked.call("write_file", make)).text).toMatch(/cancelled by user\.$/);
  });

  it("cannot leave the folder", async () => {
    const { call } = await client({ isModern, args: ["--yes"] });
    const outside = join(root, "..", "burin-serve-outside.txt");
    expect(await call("write_file", { file_path: outside, content: "x" })).toMatchObject({ isError: true });
    expect(await call("read_file", { file_path: "/etc/hostname" })).toMatchObject({ isError: true });
    expect(existsSync(outside)).toBe(false);
  });

  it("hears of progress, and reads a long output whole, as a resource", async () => {
    const { client: mcp } = await client({ isModern, args: ["--yes"] });
    const heard: (string | undefined)[] = [];
    const order = { name: "run_shell_command", arguments: { command: "seq 1 20000; sleep 1; echo last" } };
    const answer = await mcp.callTool(order, { onprogress: ({ message }) => void heard.push(message) });
    expect(heard).toContain("20000");
    expect(answer.structuredContent).toMatchObject({ exitCode: 0 });
    const [link] = answer.content.filter((block) => block.type === "resource_link");
    const { resources } = await mcp.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([link?.uri]);
    const { contents } = await mcp.readResource({ uri: link?.uri ?? "" });
    expect(contents).toMatchObject([{ text: expect.stringMatching(/^1\n2\n3\n.*\n20000\nlast\n$/s) }]);
    await expect(mcp.readResource({ uri: `file://${root}/a.txt` })).rejects.toThrow("There is no resource");
  });

  it("P26 cancels a command, twice, and nothing of it is left", requirePrograms("ps"), async () => {
    const { client: mcp, call } = await client({ isModern, args: ["--yes"] });
    const stop = new AbortController();
    const command = `echo $$ > ${root}/pid; sleep 1000 & wait`;
    const running = mcp.callTool(
      { name: "run_shell_command", arguments: { command } },
      { signal: stop.signal },
    );
    await waitUntil(() => existsSync(join(root, "pid")));
    stop.abort();
    stop.abort();
    await expect(running).rejects.toThrow();
    await waitUntil(
      async () =>
        !(await call("run_shell_command", { command: "pgrep -f 'sleep 100[0]'" })).text.match(/^\d/m),
    );
    expect(await call("read_file", { file_path: `${root}/a.txt` })).toMatchObject({ isError: false });
  });

  it("loses none of 1,000 calls that it makes at once", async () => {
    const { call } = await client({ isModern });
    const all = Array.from({ length: 1000 }, () => call("read_file", { file_path: `${root}/a.txt` }));
    for (const answer of await Promise.all(all))
      expect(answer).toEqual({ text: "one\ntwo\n", isError: false });
  });

  it('is not asked again after "always", but for what is protected it is', async () => {
    const asked: string[] = [];
    const says = (message: string) => {
      asked.push(message);
      return "session";
    };
    const { call } = await client({ isModern, says });
    await mkdir(join(root, ".git"));
    for (const name of ["made/x.txt", "made/y.txt", ".git/config", ".git/config2"]) {
      expect(await call("write_file", { file_path: join(root, name), content: "x\n" })).toMatchObject({
        isError: false,
      });
    }
    expect(asked.map((message) => message.split("\n")[0])).toEqual([
      expect.stringContaining("x.txt"),
      expect.stringContaining(".git/config"),
      expect.stringContaining(".git/config2"),
    ]);
  });
});

describe("burin serve mcp", () => {
  it("works in the roots that its client names, and in the root that its user named whatever the client says", async () => {
    const other = createTemporaryFolder();
    await writeFile(join(other, "b.txt"), "other\n");
    const there = await client({ roots: [other] });
    expect(await there.call("read_file", { file_path: `${other}/b.txt` })).toEqual({
      text: "other\n",
      isError: false,
    });
    expect(await there.call("read_file", { file_path: `${root}/a.txt` })).toMatchObject({ isError: true });
    for (const lie of [`${other}/not-there`, `${other}/b.txt`, "/%zz"]) {
      const lied = await client({ roots: [lie] });
      expect(await lied.call("read_file", { file_path: `${root}/a.txt` })).toMatchObject({ isError: false });
      expect(await lied.call("read_file", { file_path: `${other}/b.txt` })).toMatchObject({ isError: true });
    }
    const fixed = await client({ roots: [other], args: ["--root", root] });
    expect(await fixed.call("read_file", { file_path: `${root}/a.txt` })).toMatchObject({ isError: false });
    expect(await fixed.call("read_file", { file_path: `${other}/b.txt` })).toMatchObject({ isError: true });
  });

  it("tells of tools that a discovery command brings later", async () => {
    const declared = [
      { name: "late", description: "Comes late.", parameters: { type: "object", properties: {} } },
    ];
    put("declared.json", declared);
    const tools = {
      toolDiscoveryCommand: `sleep 1; cat ${root}/declared.json`,
      toolCallCommand: "echo called",
    };
    put(".home/settings.json", { tools });
    const { client: mcp, call } = await client({ args: ["--allow", "late"] });
    let changes = 0;
    mcp.setNotificationHandler("notifications/tools/list_changed", () => {
      changes += 1;
    });
    const names = async () => (await mcp.listTools()).tools.map(({ name }) => name);
    expect(await names()).not.toContain("late");
    await waitUntil(() => changes > 0);
    expect(await names()).toContain("late");
    expect(await call("late", {})).toMatchObject({ isError: false });
  });

  it("tells a client of the protocol of 2025 what went wrong as a log message, from the level that it names", async () => {
    const tools = { toolDiscoveryCommand: "echo no list", toolCallCommand: "echo called" };
    put(".home/settings.json", { tools });
    const heard = async (before: (mcp: Connected["client"]) => Promise<unknown>) => {
      const { client: mcp } = await client();
      const messages: unknown[] = [];
      mcp.setNotificationHandler("notifications/message", ({ params }) => void messages.push(params));
      await before(mcp);
      await mcp.callTool({ name: "no_such_tool", arguments: {} });
      return messages;
    };
    const data = expect.stringContaining("tools from");
    const all = await heard(async () => {});
    await waitUntil(() => all.length > 0);
    expect(all).toEqual([{ level: "warning", logger: "burin", data }]);
    expect(await heard((mcp) => mcp.setLoggingLevel("error"))).toEqual([]);
    const modern = await client({ isModern: true });
    const messages: unknown[] = [];
    modern.client.setNotificationHandler("notifications/message", ({ params }) => void messages.push(params));
    await modern.call("no_such_tool", {});
    expect(messages).toEqual([]);
  });

  it("hands a task to a subagent where a model is configured", async () => {
    const env = await modelEnv({ text: "It is one, two." });
    const { client: mcp, call } = await client({ env });
    const { tools } = await mcp.listTools();
    const task = tools.find(({ name }) => name === "task");
    expect(Object.keys(task?.inputSchema.properties ?? {})).toEqual([
      "description",
      "prompt",
      "subagent_type",
    ]);
    const params = { description: "Look", prompt: "What is in a.txt?", subagent_type: "general" };
    expect(await call("task", params)).toEqual({ text: "It is one, two.", isError: false });
  });

  it("answers each line that is no message with one error, and goes on", async () => {
    const server = rawServer(root, ["mcp"]);
    const big = `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"${"y".repeat(11_000_000)}"}}`;
    server.send('{"jsonrpc":"2.0","id":1,');
    server.send('{"hello":1}');
    server.send(big);
    server.send(INITIALIZE);
    const answers = [await server.next(), await server.next(), await server.next(), await server.next()];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [0, undefined],
    ]);
    server.child.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it(
    "P26 ends with its commands when the client vanishes in the middle of a call",
    requirePrograms("ps"),
    async () => {
      const server = rawServer(root, ["mcp", "--yes"]);
      server.send(INITIALIZE);
      await server.next();
      server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      const params = {
        name: "run_shell_command",
        arguments: { command: `echo $$ > ${root}/pid; sleep 1001 & wait` },
      };
      server.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
      await waitUntil(() => existsSync(join(root, "pid")));
      server.child.stdin.write('{"jsonrpc":"2.0","id":2,');
      server.child.stdin.destroy();
      server.child.stdout.destroy();
      expect(await server.ended).not.toBeNull();
      expect(await findProcesses("sleep 1001")).toBe("");
    },
  );

  it("drops an answer to a question that nobody asked or that was answered", async () => {
    const server = rawServer(root, ["mcp"]);
    server.send(INITIALIZE.replace('"capabilities":{}', '"capabilities":{"elicitation":{}}'));
    await server.next();
    server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    const params = { name: "write_file", arguments: { file_path: `${root}/n.txt`, content: "n" } };
    server.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    const question = await server.next();
    const answer = (decision: string) => ({ action: "accept", content: { decision } });
    const reply = (decision: string) =>
      JSON.stringify({ jsonrpc: "2.0", id: question.id, result: answer(decision) });
    server.send(JSON.stringify({ jsonrpc: "2.0", id: 99, result: answer("once") }));
    server.send(reply("no"));
    server.send(reply("once"));
    expect(await server.next()).toMatchObject({ id: 1, result: { isError: true } });
    server.send('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    expect(await server.next()).toMatchObject({ id: 2, result: {} });
    expect(existsSync(join(root, "n.txt"))).toBe(false);
    server.child.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it("takes an approval for just what was asked, and once", async () => {
    const server = rawServer(root, ["mcp"]);
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    };
    const yes = { approval: { action: "accept", content: { decision: "once" } } };
    let id = 0;
    const write = async (name: string, more: object): Promise<RawMessage["result"]> => {
      id += 1;
      const call = {
        name: "write_file",
        arguments: { file_path: join(root, name), content: "n" },
        _meta: meta,
        ...more,
      };
      server.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: call }));
      return (await server.next()).result;
    };
    const asks = { resultType: "input_required" };
    expect(await write("n.txt", { inputResponses: yes })).toMatchObject(asks);
    expect(await write("n.txt", { inputResponses: yes, requestState: "made up" })).toMatchObject(asks);
    const first = await write("n.txt", {});
    expect(first).toMatchObject(asks);
    const given = { inputResponses: yes, requestState: first?.requestState };
    expect(await write("other.txt", given)).toMatchObject(asks);
    expect(await write("n.txt", given)).toMatchObject(asks);
    expect(existsSync(join(root, "n.txt"))).toBe(false);
    const second = { inputResponses: yes, requestState: (await write("n.txt", {}))?.requestState };
    expect(await write("n.txt", second)).toMatchObject({ structuredContent: { addedLines: 1 } });
    await rm(join(root, "n.txt"));
    expect(await write("n.txt", second)).toMatchObject(asks);
    expect(existsSync(join(root, "n.txt"))).toBe(false);
    server.child.stdin.end();
    expect(await server.ended).toBe(0);
  });

  it("says at once what is wrong with settings, and with what it cannot serve", async () => {
    const { burin } = await import("./burin.ts");
    expect(await burin(["serve"], { cwd: root })).toEqual(matchFailure(2, "burin serve mcp"));
    const refused = [
      ["mcp --port x", "whole number"],
      ["mcp more", 'no "more"'],
      ["acp --http", "only burin serve mcp"],
      ["mcp --root nowhere", `${join(root, "nowhere")} does not exist`],
      ["acp --root a.txt", `${join(root, "a.txt")} is not a folder`],
    ] as const;
    for (const [words, why] of refused)
      expect(await burin(["serve", ...words.split(" ")], { cwd: root })).toEqual(matchFailure(2, why));
    put(".home/settings.json", "{");
    expect(await burin(["serve", "mcp"], { cwd: root })).toMatchObject({ code: 2, stdout: "" });
  });
});

const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}';
