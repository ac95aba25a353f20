import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import {
  type Agent,
  continueSession,
  HOME,
  ID,
  importFrom,
  PLACES,
  putRecord,
  RECORDS,
  root,
  run,
} from "./import-room.ts";
import { put, root as top } from "./project.ts";

/** A Zstandard frame with one block that is not compressed. */
function zstandard(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  const block = Buffer.alloc(4);
  block.writeUInt32LE(bytes.length * 8 + 1);
  return Buffer.concat([Buffer.from("28b52ffda0", "hex"), length, block.subarray(0, 3), bytes]);
}

/** The roles of a session with one call, and of what was asked after it. */
const WITH_A_CALL = ["system", "user", "assistant", "tool", "assistant", "user"];

describe("burin import, of records,", () => {
  it("takes the sessions of all folders when it is told to, each to its folder, and says what it leaves", async () => {
    const other = join(top, "other");
    await mkdir(other);
    for (const agent of Object.keys(PLACES) as Agent[]) {
      const text = await readFile(join(RECORDS, `${agent}.jsonl`), "utf8");
      const ofGone = text.replaceAll("/ROOT", join(top, "gone"));
      const ofOther = text.replaceAll("/ROOT", other);
      const [first, second] = ["01a202ee-0000-0000-0000-00000000000", "01a202ee-1111-1111-1111-11111111111"];
      const [there, gone] = {
        claude: [`.claude/projects/x/${first}1.jsonl`, `.claude/projects/y/${second}1.jsonl`],
        codex: [1, 2].map(
          (at) => `.codex/sessions/2026/11/2${at}/rollout-2026-11-2${at}T11-04-47-${first}${at}.jsonl`,
        ),
        gemini: [".gemini/tmp/named/chats/session-1.jsonl", ".gemini/tmp/gone/chats/session-2.jsonl"],
        qwen: [`.qwen/projects/x/chats/${first}3.jsonl`, `.qwen/projects/y/chats/${second}3.jsonl`],
      }[agent] as [string, string];
      put(there, ofOther);
      put(gone, ofGone);
    }
    put(".gemini/tmp/named/.project_root", other);
    const unknown = createHash("sha256").update("/nobody/knows").digest("hex");
    put(`.gemini/tmp/${unknown}/chats/session-3.jsonl`, "{}");
    const { stdout } = await run("import");
    expect(stdout).toContain("Claude Code: nothing; left: 1\n");
    for (const agent of Object.keys(PLACES)) {
      const here = await run("import", "--from", agent);
      expect(here.stdout).toMatch(/Left\n {2}\d sessions of 2 other folders \(.*other.*: add --all/);
      expect(here.stdout).not.toContain("Sessions of");
      const all = await run("import", "--from", agent, "--all", "--apply");
      expect(all).toMatchObject({ code: 0, stderr: "" });
      expect(all.stdout).toContain(`Sessions of ${other}\n`);
      if (agent !== "gemini") expect(all.stdout).toContain(`its folder ${join(top, "gone")} is not there`);
      else expect(all.stdout).toContain("its record does not name its folder");
    }
    const listed = await burin(["sessions", "--json"], { cwd: other, env: HOME() });
    expect(JSON.parse(listed.stdout)).toHaveLength(4);
    expect(JSON.parse((await run("sessions", "--json")).stdout)).toEqual([]);
  });

  it("Codex: takes images and calls of every kind, and what a summary and a step back have left", async () => {
    const item = (payload: object, type = "response_item", timestamp = "2026-11-22T10:00:00.000Z") =>
      `${JSON.stringify({ timestamp, type, payload })}\n`;
    const said = (role: string, ...content: object[]) => item({ type: "message", role, content });
    const image = { type: "input_image", image_url: "data:image/png;base64,aGVsbG8=" };
    const text = [
      item({ cwd: root }, "session_meta"),
      said("user", { type: "input_text", text: "Forgotten." }),
      item(
        {
          message: "",
          replacement_history: [{ type: "message", role: "user", content: [{ text: "Summed up." }] }],
        },
        "compacted",
      ),
      said("assistant", { type: "output_text", text: "Yes." }),
      said("user", { type: "input_text", text: "# AGENTS.md instructions" }, { text: "Look." }, image),
      item({ type: "local_shell_call", call_id: "a", action: { command: ["bash", "-lc", "ls | wc"] } }),
      item({ type: "function_call_output", call_id: "a", output: { content: "3", success: false } }),
      item({ type: "custom_tool_call", call_id: "b", name: "apply_patch", input: "*** Begin" }),
      item({ type: "custom_tool_call_output", call_id: "b", output: [{ type: "input_text", text: "ok" }] }),
      item({ type: "function_call", name: "view_image", arguments: '{"path":"/p.png"}', call_id: "c" }),
      item({ type: "function_call_output", call_id: "c", output: [{ ...image, detail: "high" }] }),
      item({ type: "reasoning", summary: [{ text: "Thought." }], content: [{ text: "Thought." }] }),
      item({ type: "web_search_call", id: "w", action: { query: "q" } }, "response_item", "not a time"),
      said("user", { type: "input_text", text: "Taken back." }),
      item({ type: "thread_rolled_back", num_turns: 1 }, "event_msg"),
    ].join("");
    put(PLACES.codex(), text);
    expect(await importFrom("codex")).toMatchObject({ code: 0, stderr: "" });
    const { messages } = await continueSession("-c", "-p", "Next.");
    const told = JSON.stringify(messages);
    for (const gone of ["Forgotten", "instructions", "Thought", "Taken back"])
      expect(told).not.toContain(gone);
    for (const kept of ["Summed up.", "Look.", "aGVsbG8="]) expect(told).toContain(kept);
    const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map((one) => one.function));
    expect(calls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual([
      ["run_shell_command", { command: "ls | wc" }],
      ["apply_patch", { input: "*** Begin" }],
      ["read_file", { absolute_path: "/p.png" }],
    ]);
    expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      expect.stringContaining("3"),
      expect.stringContaining("ok"),
      expect.any(String),
    ]);
  });

  it("Codex: takes records that it has compressed, each once, or says which Node.js can read them", async () => {
    await putRecord("codex");
    const plain = join(top, PLACES.codex());
    const packed = `${plain}.zst`;
    await writeFile(packed, zstandard(await readFile(plain)));
    expect((await run("import")).stdout).toContain("codex   Codex: 1 session\n");
    await rm(plain);
    const { code, stdout } = await importFrom("codex");
    expect(code).toBe(0);
    if (!("zstdDecompressSync" in zlib)) {
      expect(stdout).toContain(`${packed}: it is compressed, which needs Node.js 22.15 or later`);
      return;
    }
    expect(stdout).toContain(`codex-${ID}`);
    expect((await continueSession("-c", "-p", "Next.")).messages[1]?.content).toBe(
      "Look at a.txt and say hello.",
    );
  });

  it("Codex: a summary that only its service can read, and an empty one, leave what they have replaced", async () => {
    const item = (payload: object, type = "response_item") =>
      `${JSON.stringify({ timestamp: "2026-11-22T10:00:00.000Z", type, payload })}\n`;
    const said = {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "List the files." }],
    };
    const sealed = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAAABq1111" };
    const text = [
      item({ cwd: root }, "session_meta"),
      item(said),
      item({ type: "function_call", call_id: "a", name: "exec_command", arguments: '{"cmd":"ls"}' }),
      item({ type: "function_call_output", call_id: "a", output: "a.txt" }),
      item({ message: "", replacement_history: [said, sealed], window_number: 2 }, "compacted"),
      item({ message: "", replacement_history: [] }, "compacted"),
      item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "One file." }] }),
    ].join("");
    put(PLACES.codex(), text);
    await importFrom("codex");
    const { messages } = await continueSession("-c", "-p", "Next.");
    expect(messages.map(({ role }) => role)).toEqual(WITH_A_CALL);
  });

  it("Gemini CLI and Qwen Code: takes what a step back, a rewritten message and a summary have left", async () => {
    const at = "2026-11-22T10:00:00.000Z";
    const user = (id: string, text: string) => ({ id, timestamp: at, type: "user", content: [{ text }] });
    const call = { id: "c", name: "read_file", args: { file_path: "a.txt" }, status: "success" };
    const result = [
      { functionResponse: { id: "c", response: { output: "one" } } },
      { inlineData: { mimeType: "image/png", data: "aGVsbG8=" } },
    ];
    const lines = [
      { projectHash: "x", kind: "main" },
      { $set: { messages: [user("1", "First.")] } },
      { id: "2", timestamp: at, type: "gemini", content: "Half", model: "g" },
      {
        id: "2",
        timestamp: at,
        type: "gemini",
        content: [{ text: "Whole." }],
        toolCalls: [{ ...call, result }],
      },
      user("3", "Taken back."),
      { $rewindTo: "3" },
    ];
    put(".gemini/projects.json", { projects: { [root]: "project" } });
    put(PLACES.gemini(), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const old = { messages: [user("1", "An old one.")] };
    const print = createHash("sha256").update(root).digest("hex");
    put(`.gemini/tmp/${print}/chats/session-2025-01-01T00-00-old.json`, JSON.stringify(old, null, 2));
    expect((await importFrom("gemini")).stdout).toContain("An old one.");
    const id = "gemini-session-2026-11-22T11-04-d3b05731";
    const told = JSON.stringify((await continueSession("-r", id, "-p", "Next.")).messages);
    for (const gone of ["Half", "Taken back"]) expect(told).not.toContain(gone);
    for (const kept of ["First.", "Whole.", '"content":"one', "aGVsbG8="]) expect(told).toContain(kept);
    const line = (uuid: string, more: object) =>
      `${JSON.stringify({ uuid, parentUuid: uuid === "1" ? null : "1", timestamp: at, cwd: root, ...more })}\n`;
    const history = [{ role: "user", parts: [{ text: "Summed up." }] }];
    const summed = {
      type: "user",
      subtype: "chat_compression",
      systemPayload: { compressedHistory: history },
    };
    const asked = { type: "user", message: { role: "user", parts: [{ text: "Early." }] } };
    put(PLACES.qwen(), line("1", asked) + line("2", summed));
    await importFrom("qwen");
    const after = JSON.stringify((await continueSession("-r", `qwen-${ID}`, "-p", "Next.")).messages);
    expect(after).toContain("Summed up.");
    expect(after).not.toContain("Early.");
  });

  it("Gemini CLI: takes the answers of a session that was resumed, which stand in messages of their own", async () => {
    const at = "2026-11-22T10:00:00.000Z";
    const message = (id: string, type: string, ...content: object[]) => ({
      id,
      timestamp: at,
      type,
      content,
    });
    const call = (id: string, name: string, args: object) => ({ functionCall: { id, name, args } });
    const answer = (id: string, output: string) => ({ functionResponse: { id, response: { output } } });
    const todos = [{ description: "Look.", status: "in_progress" }];
    const calls = [call("a", "read_many_files", { paths: ["a.txt"] }), call("b", "write_todos", { todos })];
    const answers = [answer("a", "Read."), { text: "--- a.txt ---\none" }, answer("b", "Noted.")];
    const beside = [
      { id: "c", name: "glob", args: { pattern: "*" } },
      { id: "d", name: "grep_search", args: { pattern: "one" } },
    ];
    const result = [answer("c", "Globbed."), answer("d", "Searched.")];
    const toolCalls = beside.map((one) => ({ ...one, status: "success", result }));
    const messages = [
      message("1", "user", { text: "Look at @a.txt." }, { text: "--- a.txt ---" }),
      message("2", "gemini", { text: "I will." }, ...calls),
      message("3", "user", ...answers),
      message("4", "user", ...answers),
      { ...message("5", "gemini", { text: "Done." }), toolCalls },
    ];
    put(".gemini/projects.json", { projects: { [root]: "project" } });
    put(PLACES.gemini(), `${JSON.stringify({ $set: { messages } })}\n`);
    await importFrom("gemini");
    const { messages: told } = await continueSession("-c", "-p", "Next.");
    expect(told.slice(1).map(({ role, content }) => [role, content])).toEqual([
      ["user", "Look at @a.txt.\n--- a.txt ---"],
      ["assistant", "I will."],
      ["tool", expect.stringMatching(/Read\.\n--- a\.txt ---\none/)],
      ["tool", expect.stringContaining("Noted.")],
      ["assistant", "Done."],
      ["tool", "Globbed."],
      ["tool", "Searched."],
      ["user", expect.stringContaining("Next.")],
    ]);
    const [, noted] = told[2]?.tool_calls ?? [];
    expect(JSON.parse(noted?.function.arguments ?? "")).toEqual({
      todos: [{ id: "1", content: "Look.", status: "in_progress" }],
    });
  });

  it("Codex: takes a record of 2025, whose lines are the items and whose folder only the model was told", async () => {
    const said = (role: string, words: string) => ({ type: "message", role, content: [{ text: words }] });
    const lines = [
      { id: ID, timestamp: "2025-09-01T10:00:00.000Z", instructions: null },
      { record_type: "state" },
      said("user", `<environment_context>\n  <cwd>${root}</cwd>\n</environment_context>`),
      said("user", "Look."),
      { type: "reasoning", summary: [{ text: "Thought." }] },
      { type: "function_call", name: "shell", arguments: '{"command":["bash","-lc","ls"]}', call_id: "a" },
      { type: "function_call_output", call_id: "a", output: "a.txt" },
      said("assistant", "There it is."),
    ];
    put(PLACES.codex(), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect((await importFrom("codex")).stdout).toMatch(/ {2}2025-09-01 {2}codex-\S+ {2}Look\.\n/);
    const { messages } = await continueSession("-c", "-p", "Next.");
    expect(messages.map(({ role }) => role)).toEqual(WITH_A_CALL);
    expect(messages[2]?.tool_calls?.[0]?.function).toEqual({
      name: "run_shell_command",
      arguments: '{"command":"ls"}',
    });
    expect(JSON.stringify(messages)).not.toContain("Thought.");
  });

  it("Claude Code: takes a file of notes on other sessions for none, and says what else it leaves", async () => {
    put(`.claude/projects/x/${ID}.jsonl`, '{"type":"summary","summary":"One.","leafUuid":"1"}\n');
    put(".claude/commands/git/commit.md", "Commit.");
    put(`.claude/projects/${root.replace(/[^A-Za-z0-9]/g, "-")}/memory/MEMORY.md`, "Likes tea.");
    const { left, sessions } = JSON.parse((await run("import", "--from", "claude", "--json")).stdout);
    expect(sessions).toEqual([]);
    expect(left.map(({ what }: { what: string }) => what)).toEqual([
      join(top, ".claude/commands"),
      expect.stringMatching(/memory\/MEMORY\.md$/),
    ]);
  });

  it("P13 Claude Code: takes what the user said while it worked, once, and not what it noted itself", async () => {
    const at = "2026-11-22T10:00:00.000Z";
    const call = { type: "tool_use", id: "t1", name: "Read", input: { file_path: join(root, "a.txt") } };
    const answer = { type: "tool_result", tool_use_id: "t1", content: "one" };
    const user = (...content: object[]) => ({ type: "user", message: { role: "user", content } });
    const model = (...content: object[]) => ({ type: "assistant", message: { role: "assistant", content } });
    const text = (said: string) => ({ type: "text", text: said });
    const queued = (prompt: unknown, commandMode = "prompt") => ({
      type: "attachment",
      attachment: { type: "queued_command", prompt, commandMode },
    });
    const note = "<task-notification>gone</task-notification>";
    const chain = [
      user(text("First.")),
      model(call),
      queued([text("In the chain.")]),
      user(answer),
      queued(note, "task-notification"),
      user(text(note)),
      model(text("Whole.")),
    ].map((line, at) => ({ uuid: `u${at}`, parentUuid: at === 0 ? null : `u${at - 1}`, ...line }));
    const undone = { uuid: "x", parentUuid: "u0", ...queued("Undone.") };
    const absorbed = (content: string) => ({
      type: "queue-operation",
      operation: "remove",
      reason: "absorbed_mid_turn",
      content,
    });
    const beside = [
      { type: "queue-operation", operation: "enqueue", content: "Beside." },
      queued("Beside."),
      absorbed("Beside."),
      absorbed("Only noted."),
    ];
    const lines = [...chain.slice(0, 2), undone, ...chain.slice(2, 6), ...beside, ...chain.slice(6)];
    const record = lines.map((line) => `${JSON.stringify({ cwd: root, timestamp: at, ...line })}\n`);
    put(PLACES.claude(), record.join(""));
    await importFrom("claude");
    const { messages } = await continueSession("-r", `claude-${ID}`, "-p", "Next.");
    const told = JSON.stringify(messages);
    for (const gone of ["Undone.", "gone"]) expect(told).not.toContain(gone);
    for (const kept of ["In the chain.", "Beside.", "Only noted."]) expect(told.split(kept)).toHaveLength(2);
    expect(told.indexOf("Only noted.")).toBeLessThan(told.indexOf("Whole."));
  });

  it("takes what can be read of a record that is nested without end", async () => {
    const said = (uuid: string, content: string) =>
      `{"cwd":${JSON.stringify(root)},"uuid":"${uuid}","parentUuid":"one","type":"user","timestamp":"2026-11-22T10:00:00Z","message":{"content":${content}}}`;
    const deep = `${'{"content":'.repeat(50_000)}"deep"${"}".repeat(50_000)}`;
    put(`.claude/projects/x/${ID}.jsonl`, `${said("one", '"First."')}\n${said("two", deep)}\n`);
    const { code, stdout } = await run("import", "--from", "claude");
    expect(code).toBe(0);
    expect(stdout).toContain(ID);
  });

  it("P13 a message of very many parts, and one with openings that nothing ends, are read once", async () => {
    const said = (parts: readonly string[]) => ({
      ...{ cwd: root, uuid: "one", type: "user", timestamp: "2026-11-22T10:00:00Z" },
      message: { content: parts.map((text) => ({ type: "text", text })) },
    });
    const parts = Array.from({ length: 100_000 }, (_, at) => `part ${at}`);
    const reminders = ["First.<system-reminder>left</system-reminder> ", "<system-reminder>".repeat(50_000)];
    const lines = [{ cwd: root }, said([...reminders, ...parts])];
    put(PLACES.claude(), lines.map((line) => JSON.stringify(line)).join("\n"));
    put(PLACES.codex(), JSON.stringify({ content: [{ text: "<cwd>".repeat(100_000) }] }));
    expect((await run("import", "--from", "codex")).code).toBe(0);
    expect((await importFrom("claude")).stdout).toMatch(/ First\.\s+<system-reminder><system-reminder>/);
  });

  it("P13 the model is told the skills, and session_start hooks run, when a session taken over first goes on", async () => {
    await putRecord("claude");
    put("burin/settings.json", {
      hooks: [
        {
          event: "session_start",
          command: `echo ran >> ${join(top, "ran")}; echo '{"context":"the moon is full"}'`,
        },
      ],
    });
    put("burin/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n");
    await importFrom("claude");
    const first = JSON.stringify((await continueSession("-c", "-p", "Next.")).messages);
    for (const told of ["the moon is full", "Tidies up."]) expect(first.split(told)).toHaveLength(2);
    const second = JSON.stringify((await continueSession("-c", "-p", "Again.")).messages);
    for (const told of ["the moon is full", "Tidies up."]) expect(second.split(told)).toHaveLength(2);
    expect(await readFile(join(top, "ran"), "utf8")).toBe("ran\n");
  });
});
