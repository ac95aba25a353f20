import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { methods } from "@agentclientprotocol/sdk";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AcpRoom, call, prompt } from "./acp-room.ts";
import { put, root } from "./project.ts";
import { findProcesses, rawServer, waitUntil } from "./raw-server.ts";

const { session } = methods.agent;
const MCP_SERVER = fileURLToPath(new URL("../../core/tests/mcp/stdio-server.mjs", import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
let room: AcpRoom;

beforeEach(() => {
  room = new AcpRoom();
});

afterEach(() => room.close());

interface Told {
  readonly terminal_id: string;
  readonly data: string;
}

describe("burin serve acp", () => {
  it("answers a prompt, asks before an edit with its diff, and tells of the call, the plan and the window", async () => {
    const todos = [{ id: "1", content: "Change it", status: "in_progress" }];
    const change = { file_path: join(root, "a.txt"), old_string: "two", new_string: "three" };
    const opened = await room.editor(
      [
        call("todo_write", { todos }),
        call("read_file", { file_path: join(root, "a.txt") }),
        call("edit", change),
        { text: "Done." },
      ],
      { says: () => "once", capabilities: { session: {} } },
    );
    const { sessionId, modes, configOptions } = await room.newSession(opened);
    expect(modes).toMatchObject({
      currentModeId: "default",
      availableModes: [{ id: "plan" }, {}, {}, {}, { id: "yolo" }],
    });
    expect(configOptions).toMatchObject([{ id: "model", currentValue: "fake" }]);
    expect(await prompt(opened, sessionId, "Change two to three.")).toBe("end_turn");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("one\nthree\n");
    expect(opened.text("agent_message_chunk")).toBe("Done.");
    const diff = { type: "diff", path: join(root, "a.txt"), oldText: "one\ntwo\n", newText: "one\nthree\n" };
    expect(opened.asked).toMatchObject([
      {
        sessionId,
        options: [
          { optionId: "once" },
          { optionId: "session", name: "Yes, always in this session: edit(a.txt), write_file(a.txt)" },
          { optionId: "session-all", name: "Yes, always in this session: edit" },
          { optionId: "project" },
          { optionId: "no" },
        ],
        toolCall: { content: [diff, {}] },
      },
    ]);
    const plan = opened.updates.find((update) => update.sessionUpdate === "plan");
    expect(plan).toMatchObject({ entries: [{ content: "Change it", status: "in_progress" }] });
    const ended = opened.updates.filter(
      (update) => update.sessionUpdate === "tool_call_update" && update.status === "completed",
    );
    expect(ended.at(-1)).toMatchObject({ content: [diff], locations: [{ path: join(root, "a.txt") }] });
    expect(opened.updates.some((update) => update.sessionUpdate === "usage_update")).toBe(true);
    expect(opened.updates.some((update) => update.sessionUpdate === "available_commands_update")).toBe(true);
    expect(room.model.problems).toEqual([]);
  });

  it.each([
    ["refused", "no"],
    ["given up", null],
    ["answered with what was not offered", "certainly"],
  ])("runs nothing when its question is %s", async (_, answer) => {
    const make = { file_path: join(root, "new.txt"), content: "x" };
    const opened = await room.editor([call("write_file", make), { text: "All right." }], {
      says: () => answer,
    });
    const { sessionId } = await room.newSession(opened);
    await prompt(opened, sessionId, "Make it.");
    expect(opened.asked).toHaveLength(1);
    expect(existsSync(make.file_path)).toBe(false);
  });

  it("shows the output of commands as they run in a terminal of the editor, where it has such", async () => {
    const lines = "for n in $(seq 1 2000); do echo line $n; done";
    const command = `echo begun; until [ -e go ]; do sleep 0.05; done; ${lines}; exit 3`;
    const opened = await room.editor([call("run_shell_command", { command }), { text: "Done." }], {
      args: ["--yes"],
      capabilities: { _meta: { terminal_output: true } },
    });
    const { sessionId } = await room.newSession(opened);
    const running = prompt(opened, sessionId, "Run it.");
    const told = () => opened.updates.filter((one) => one.sessionUpdate.startsWith("tool_call"));
    const output = () => told().map(({ _meta }) => (_meta?.terminal_output as Told | undefined)?.data ?? "");
    await waitUntil(() => output().join("") === "begun\n");
    put("go", "");
    expect(await running).toBe("end_turn");
    const [first] = told();
    const { terminal_id = "" } = (first?._meta?.terminal_info ?? {}) as Partial<Told>;
    expect(first).toMatchObject({ toolCallId: terminal_id, _meta: { terminal_info: { cwd: root } } });
    expect(told().filter(({ _meta }) => _meta?.terminal_info !== undefined)).toHaveLength(1);
    expect(told().at(-1)).toMatchObject({
      status: "completed",
      content: [{ type: "terminal", terminalId: terminal_id }],
      _meta: { terminal_exit: { terminal_id, exit_code: 3, signal: null } },
    });
    const shown = output().join("");
    expect(shown).toMatch(/^begun\n[\s\S]*line 1999\nline 2000\n\nExit code: 3$/);
    expect(shown.match(/line 2000\n/g)).toHaveLength(1);
  });

  it("P26 cancels a command, twice, and nothing of it is left", requirePrograms("ps"), async () => {
    const command = `echo $$ > ${root}/pid; sleep 1002 & wait`;
    const opened = await room.editor([call("run_shell_command", { command }), { text: "Again." }], {
      args: ["--yes"],
    });
    const { sessionId } = await room.newSession(opened);
    const running = prompt(opened, sessionId, "Run it.");
    await waitUntil(() => existsSync(join(root, "pid")));
    await opened.agent.notify(session.cancel, { sessionId });
    await opened.agent.notify(session.cancel, { sessionId });
    expect(await running).toBe("cancelled");
    expect(await findProcesses("sleep 1002")).toBe("");
    expect(await prompt(opened, sessionId, "And now?")).toBe("end_turn");
  });

  it("P26 ends with its commands when the editor vanishes", requirePrograms("ps"), async () => {
    const command = `echo $$ > ${root}/pid; sleep 1003 & wait`;
    const opened = await room.editor([call("run_shell_command", { command })], { args: ["--yes"] });
    const { sessionId } = await room.newSession(opened);
    void prompt(opened, sessionId, "Run it.").catch(() => {});
    await waitUntil(() => existsSync(join(root, "pid")));
    opened.child.stdin?.destroy();
    opened.child.stdout?.destroy();
    expect(await opened.ended).not.toBeNull();
    expect(await findProcesses("sleep 1003")).toBe("");
  });

  it("ends when the editor vanishes while its user is asked, and runs nothing", async () => {
    const make = { file_path: join(root, "new.txt"), content: "x" };
    const opened = await room.editor([call("write_file", make)], { says: () => new Promise<null>(() => {}) });
    const { sessionId } = await room.newSession(opened);
    void prompt(opened, sessionId, "Make it.").catch(() => {});
    await waitUntil(() => opened.asked.length > 0);
    opened.child.stdin?.destroy();
    expect(await opened.ended).not.toBeNull();
    expect(existsSync(make.file_path)).toBe(false);
  });

  it("leaves plan mode in the mode that the user takes", async () => {
    const make = { file_path: join(root, "new.txt"), content: "x\n" };
    const plan = call("exit_plan_mode", { plan: "1. Make new.txt." });
    const opened = await room.editor([plan, call("write_file", make), { text: "Done." }], {
      args: ["--approval-mode", "plan"],
      says: () => "auto-edit",
    });
    const { sessionId, modes } = await room.newSession(opened);
    expect(modes?.currentModeId).toBe("plan");
    expect(await prompt(opened, sessionId, "Plan it.")).toBe("end_turn");
    expect(opened.asked).toMatchObject([
      { options: [{ optionId: "default" }, { optionId: "auto-edit" }, { optionId: "no" }] },
    ]);
    expect(opened.updates).toContainEqual({
      sessionUpdate: "current_mode_update",
      currentModeId: "auto-edit",
    });
    expect(existsSync(make.file_path)).toBe(true);
  });

  it("lists, loads, resumes, closes and deletes sessions", async () => {
    const first = await room.editor([
      call("list_directory", { path: root }),
      { text: "There is a.txt." },
      { text: "Still there." },
      { text: "Yes." },
    ]);
    const { sessionId } = await room.newSession(first);
    await prompt(first, sessionId, "What is here?");
    await first.close();
    const second = await room.again();
    const listed = await second.agent.request(session.list, { cwd: root });
    expect(listed.sessions).toMatchObject([{ sessionId, cwd: root, title: "What is here?" }]);
    expect(await second.agent.request(session.load, { sessionId, cwd: root, mcpServers: [] })).toMatchObject({
      modes: { currentModeId: "default" },
    });
    expect(second.text("user_message_chunk")).toBe("What is here?");
    expect(second.text("agent_message_chunk")).toBe("There is a.txt.");
    expect(second.updates.filter((update) => update.sessionUpdate === "tool_call")).toHaveLength(1);
    expect(await prompt(second, sessionId, "And now?")).toBe("end_turn");
    expect(JSON.stringify(room.model.requests.at(-1)?.body)).toContain("There is a.txt.");
    await second.agent.request(session.close, { sessionId });
    await expect(prompt(second, sessionId, "Hello?")).rejects.toThrow(`no session ${sessionId} is open`);
    second.updates.length = 0;
    await second.agent.request(session.resume, { sessionId, cwd: root });
    expect(second.text("user_message_chunk")).toBe("");
    expect(await prompt(second, sessionId, "Really?")).toBe("end_turn");
    await second.agent.request(session.delete, { sessionId });
    expect((await second.agent.request(session.list, {})).sessions).toEqual([]);
  });

  it("says that nothing can be read of a session whose record is damaged, and opens another", async () => {
    const opened = await room.editor([{ text: "Hello." }, { text: "Again." }]);
    const { sessionId } = await room.newSession(opened);
    await prompt(opened, sessionId, "Hello?");
    await opened.agent.request(session.close, { sessionId });
    const records = join(root, ".home/sessions");
    const [folder = ""] = await readdir(records);
    await writeFile(join(records, folder, `${sessionId}.jsonl`), "no record\n");
    const load = opened.agent.request(session.load, { sessionId, cwd: root, mcpServers: [] });
    await expect(load).rejects.toThrow(`nothing of the session ${sessionId} can be read`);
    const next = await room.newSession(opened);
    expect(await prompt(opened, next.sessionId, "And now?")).toBe("end_turn");
  });

  it("changes mode and model, and takes commands", async () => {
    put(".home/commands/greet.md", "---\ndescription: Greets.\n---\nSay hello to $ARGUMENTS.\n");
    put(".home/settings.json", { models: { other: {} } });
    const make = { file_path: join(root, "new.txt"), content: "x\n" };
    const opened = await room.editor([call("write_file", make), { text: "Made." }, { text: "Hello." }]);
    const { sessionId } = await room.newSession(opened);
    await waitUntil(() =>
      opened.updates.some((update) => update.sessionUpdate === "available_commands_update"),
    );
    const commands = opened.updates.find((update) => update.sessionUpdate === "available_commands_update");
    expect(commands).toMatchObject({
      availableCommands: [{ name: "compact" }, { name: "greet", description: "Greets." }],
    });
    await opened.agent.request(session.setMode, { sessionId, modeId: "auto-edit" });
    await expect(opened.agent.request(session.setMode, { sessionId, modeId: "root" })).rejects.toThrow(
      "the modes are",
    );
    const option = { sessionId, configId: "model", value: "other" };
    expect(await opened.agent.request(session.setConfigOption, option)).toMatchObject({
      configOptions: [{ currentValue: "other" }],
    });
    expect(await prompt(opened, sessionId, "Make it.")).toBe("end_turn");
    expect(opened.asked).toEqual([]);
    expect(existsSync(make.file_path)).toBe(true);
    expect(room.model.requests.map(({ body }) => body.model)).toEqual(["other", "other"]);
    expect(await prompt(opened, sessionId, "/greet Ann")).toBe("end_turn");
    expect(JSON.stringify(room.model.requests.at(-1)?.body)).toContain("Say hello to Ann.");
  });

  it("P14 tells of a change of mode once, when it is made, and at once when a call makes it", async () => {
    const plan = call("exit_plan_mode", { plan: "1. Look." });
    const opened = await room.editor([{ text: "One." }, plan, { text: "Two." }], { says: () => "default" });
    const { sessionId } = await room.newSession(opened);
    const told = () =>
      opened.updates.flatMap((update) =>
        update.sessionUpdate === "current_mode_update" ? [update.currentModeId] : [],
      );
    const enter = (modeId: string) => opened.agent.request(session.setMode, { sessionId, modeId });
    await enter("auto-edit");
    await enter("auto-edit");
    await waitUntil(() => told().length > 0);
    await prompt(opened, sessionId, "Begin.");
    expect(told()).toEqual(["auto-edit"]);
    await enter("plan");
    await prompt(opened, sessionId, "Plan it.");
    await waitUntil(() => told().includes("default"));
    expect(told()).toEqual(["auto-edit", "plan", "default"]);
  });

  it("P13 says the mode that applies when it loads a session whose mode was changed", async () => {
    const first = await room.editor([{ text: "One." }, { text: "Two." }]);
    const { sessionId } = await room.newSession(first);
    await prompt(first, sessionId, "Begin.");
    await first.agent.request(session.setMode, { sessionId, modeId: "yolo" });
    await prompt(first, sessionId, "Go on.");
    await first.close();
    const second = await room.again({ args: ["--approval-mode", "plan"] });
    const loaded = await second.agent.request(session.load, { sessionId, cwd: root, mcpServers: [] });
    expect(loaded?.modes?.currentModeId).toBe("plan");
    expect(second.text("agent_message_chunk")).toBe("One.Two.");
    expect(second.updates.filter((update) => update.sessionUpdate === "current_mode_update")).toEqual([]);
  });

  it("P5 tells how full the window is only an editor whose capabilities are of a protocol that has it", async () => {
    const opened = await room.editor([{ text: "Hello." }, { text: "Hello." }]);
    const fills = async (editor: typeof opened) => {
      const { sessionId } = await room.newSession(editor);
      await prompt(editor, sessionId, "Hello?");
      await prompt(editor, sessionId, "/compact").catch(() => {});
      return editor.updates.filter((update) => update.sessionUpdate === "usage_update").length;
    };
    expect(await fills(opened)).toBe(0);
    expect(await fills(await room.again({ capabilities: { session: {} } }))).toBeGreaterThan(0);
  });

  it("gives the model links, attached texts and images", async () => {
    const opened = await room.editor([{ text: "Seen." }]);
    const { sessionId } = await room.newSession(opened);
    const data =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await prompt(opened, sessionId, [
      { type: "text", text: "Compare " },
      { type: "resource_link", uri: `file://${root}/a.txt`, name: "a.txt" },
      { type: "resource", resource: { uri: `file://${root}/b%20c.txt`, text: "not saved" } },
      { type: "image", data, mimeType: "image/png" },
    ]);
    const sent = JSON.stringify(room.model.requests[0]?.body);
    expect(sent).toContain(`Compare ${root}/a.txt`);
    expect(sent).toContain(`--- ${root}/b c.txt ---\\nnot saved`);
    expect(sent).toContain(`data:image/png;base64,${data}`);
  });

  it("uses the MCP servers of the editor", async () => {
    const servers = [{ name: "given", command: process.execPath, args: [MCP_SERVER, "plain"], env: [] }];
    const opened = await room.editor([call("given__echo", { text: "hello" }), { text: "Echoed." }], {
      says: () => "once",
    });
    const { sessionId } = await room.newSession(opened, { mcpServers: servers });
    expect(await prompt(opened, sessionId, "Echo it.")).toBe("end_turn");
    expect(opened.asked).toHaveLength(1);
    expect(JSON.stringify(room.model.requests[1]?.body.messages)).toContain("hello");
  });

  it("shows what an MCP server asks as a form, where the editor has forms", async () => {
    const servers = [{ name: "e", command: process.execPath, args: [EVERYTHING], env: [] }];
    const script = () => [call("e__trigger-elicitation-request", {}), { text: "Asked." }];
    const options = { args: ["--yes"], fills: { name: "Ada" } };
    const opened = await room.editor([...script(), ...script()], {
      ...options,
      capabilities: { elicitation: { form: {} } },
    });
    const { sessionId } = await room.newSession(opened, { mcpServers: servers });
    await prompt(opened, sessionId, "Ask.");
    expect(opened.forms).toHaveLength(1);
    expect(JSON.stringify(room.model.requests[1]?.body.messages)).toContain("Ada");
    const plain = await room.again(options);
    await prompt(plain, (await room.newSession(plain, { mcpServers: servers })).sessionId, "Ask.");
    expect(plain.forms).toEqual([]);
    expect(JSON.stringify(room.model.requests[3]?.body.messages)).not.toContain("Ada");
  });

  it("says what is wrong: no model, no session, no folder, another folder than its user named, lines that are no messages", async () => {
    const opened = await room.editor([{ text: "Hi." }]);
    await expect(room.newSession(opened, { cwd: join(root, "none") })).rejects.toThrow("none");
    await expect(
      opened.agent.request(session.load, { sessionId: "unknown", cwd: root, mcpServers: [] }),
    ).rejects.toThrow("unknown");
    const { sessionId: empty } = await room.newSession(opened);
    const another = await room.again();
    for (const method of [session.load, session.resume]) {
      const answer = another.agent.request(method, { sessionId: empty, cwd: root, mcpServers: [] });
      await expect(answer).rejects.toMatchObject({ code: -32002, data: { sessionId: empty } });
    }
    await prompt(opened, empty, "Hello.");
    await opened.close();
    const begins = { sessionId: empty.slice(0, 10), cwd: root, mcpServers: [] };
    await expect(another.agent.request(session.load, begins)).rejects.toThrow("no session");
    const whole = { ...begins, sessionId: empty };
    expect(await another.agent.request(session.load, whole)).toMatchObject({ modes: expect.anything() });
    const fixed = await room.again({ args: ["--root", root] });
    await expect(room.newSession(fixed, { cwd: tmpdir() })).rejects.toThrow("only");
    const wider = room.newSession(fixed, { additionalDirectories: [tmpdir()] });
    await expect(wider).rejects.toThrow(`this agent was started for ${root} only`);
    const none = await room.again({ env: {} });
    await expect(room.newSession(none)).rejects.toThrow("no model is configured");
    const server = rawServer(root, ["acp"]);
    server.send('{"jsonrpc":"2.0","id":1,\n{"jsonrpc":"2.0","id":2,"method":"nothing/known"}');
    expect([await server.next(), await server.next()]).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: 2, error: { code: expect.any(Number) } },
    ]);
    server.child.stdin.end();
    expect(await server.ended).toBe(0);
  });
});
