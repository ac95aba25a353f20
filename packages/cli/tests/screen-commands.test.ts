import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFakeModelServer } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { SCREEN_COMMANDS } from "../src/commands/screen-commands.ts";
import { KEY_LIST } from "../src/ui/key-list.ts";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom(
  { "a.txt": "alpha\nbeta\n", "AGENTS.md": "Say please.\n" },
  { columns: 100, rows: 40 },
);

/** What each command shows, for a session in which one prompt was answered with `Answer.` */
const SHOWN: Readonly<Record<string, string | RegExp>> = {
  agents: "Which subagent?",
  approval: "What may run without asking?",
  back: "Go back to which prompt?",
  changes: "This session has changed no file.",
  "add-dir": "Name the folder: /add-dir ../other",
  clear: /^\s*> Ask anything/,
  compact: "The conversation stays as it is (",
  context: "tool descriptions",
  copy: "7 characters copied.",
  cost: "tokens sent",
  demo: "The demo:",
  doctor: /Node/,
  export: /Written: .*\.md/,
  fork: /^\/fork$[\s\S]*^> ask$[\s\S]*Answer\.[\s\S]*This is a copy; .*burin -r \d{8}T/m,
  effort: "How much should the model think?",
  help: /Commands[\s\S]*\/approval/,
  hooks: "No hook is set.",
  init: "Made.",
  keys: "search earlier prompts",
  language: "Which language?",
  merge: "There is no work tree; burin -w makes one.",
  mcp: "no MCP servers in settings",
  memory: "Say please.",
  model: "Which model?",
  permissions: "Nothing is granted",
  quit: "To continue this session",
  redo: "There is nothing to put back.",
  rename: /^\/rename$[\s\S]*^> \/rename/m,
  resume: "There is no other session of this folder.",
  review: "Made.",
  settings: "Settings, kept in",
  skills: "No skill is defined.",
  tasks: "Nothing runs in the background.",
  theme: "Which colours?",
  tools: "read_file",
  trust: "has no settings of its own",
  undo: "There is nothing to undo.",
};

describe("a command", () => {
  it("has a proof each", () => {
    expect(SCREEN_COMMANDS.map(({ name }) => name).sort()).toEqual(Object.keys(SHOWN).sort());
  });

  it("P55 /memory shows the file of another agent where the project has no AGENTS.md", async () => {
    const terminal = await room.open();
    await rename(join(room.root, "AGENTS.md"), join(room.root, "CLAUDE.md"));
    await terminal.enter("/memory \r", /CLAUDE\.md\s+Say please\./);
  });

  it.each(Object.entries(SHOWN))("/%s works", async (name, wanted) => {
    const terminal = await room.open([{ text: "Answer." }, { text: "Made." }]);
    await terminal.enter("ask\r", "Answer.", "? for keys");
    await terminal.enter(`/${name} `, `> /${name}`);
    // What was there before the command proves nothing of it.
    expect(terminal.text()).not.toMatch(wanted);
    await terminal.enter("\r", wanted);
  });

  it("is completed, with what it does", async () => {
    const terminal = await room.open();
    await terminal.enter("/appr", "› /approval [mode]  how much runs without asking");
    await terminal.enter("\r", "What may run without asking?");
    await terminal.enter("auto\r", "fake-model · edits without asking");
    await terminal.enter("\u001b[Z", "fake-model · asks before what can't be undone");
    await terminal.enter("\u001b[Z", "fake-model · plans first, changes nothing");
  });

  it("P11 that only contains what was typed is completed by enter, and not run", async () => {
    const terminal = await room.open([{ text: "never said" }]);
    await terminal.enter("/nit", "› /init");
    await terminal.enter("\r", /^> \/init ?$/m);
    expect(room.server.requests).toHaveLength(0);
  });

  it("/changes takes one place back, and spares what somebody changed since", async () => {
    const lines = Array.from({ length: 30 }, (_, n) => `row ${n}`);
    await writeFile(join(room.root, "rows.txt"), `${lines.join("\n")}\n`);
    const edits = [
      { old_string: "row 2\n", new_string: "row two\n" },
      { old_string: "row 25\n", new_string: "row twenty-five\n" },
    ];
    const edit = { name: "edit", args: { file_path: join(room.root, "rows.txt"), edits } };
    const terminal = await room.open([{ calls: [edit] }, { text: "Edited." }], {
      args: ["--approval-mode", "auto-edit"],
    });
    await terminal.enter("edit\r", "Edited.", "? for keys");
    await terminal.enter("/changes \r", "1 of 2");
    await terminal.enter("t", "1 of 2  taken back");
    expect(await readFile(join(room.root, "rows.txt"), "utf8")).toBe(
      `${lines.join("\n")}\n`.replace("row 25\n", "row twenty-five\n"),
    );
    await writeFile(join(room.root, "rows.txt"), "all of it is other now\n");
    await terminal.enter("a", "left alone: rows.txt");
    expect(await readFile(join(room.root, "rows.txt"), "utf8")).toBe("all of it is other now\n");
  });

  it("/changes takes all of one file back, and leaves the other files", async () => {
    const lines = Array.from({ length: 30 }, (_, n) => `row ${n}`);
    await writeFile(join(room.root, "rows.txt"), `${lines.join("\n")}\n`);
    const edits = [
      { old_string: "row 2\n", new_string: "row two\n" },
      { old_string: "row 25\n", new_string: "row twenty-five\n" },
    ];
    const calls = [
      { name: "edit", args: { file_path: join(room.root, "rows.txt"), edits } },
      { name: "write_file", args: { file_path: join(room.root, "new.txt"), content: "new\n" } },
    ];
    const terminal = await room.open([{ calls }, { text: "Edited." }], {
      args: ["--approval-mode", "auto-edit"],
    });
    await terminal.enter("edit\r", "Edited.", "? for keys");
    await terminal.enter("/changes \r", "rows.txt  1 of 3");
    await terminal.enter("f", "rows.txt  1 of 3  taken back");
    await terminal.enter("\u001b[B", "rows.txt  2 of 3  taken back");
    await terminal.enter("\u001b[B", /new\.txt {2}3 of 3$/m);
    expect(await readFile(join(room.root, "rows.txt"), "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(await readFile(join(room.root, "new.txt"), "utf8")).toBe("new\n");
  });

  it("/rename gives the session a name, which lists show", async () => {
    const terminal = await room.open([{ text: "Known." }]);
    await terminal.enter("the old question\r", "Known.", "? for keys");
    await terminal.enter("/rename the better name\r", "This session is now called: the better name");
    terminal.type("/clear \r");
    await terminal.until(() => !terminal.text().includes("Known."), "an empty window");
    await terminal.enter("/resume \r", "› the better name");
    expect(terminal.text()).not.toContain("› the old question");
  });

  it("/compact has the model go on with a summary", async () => {
    const terminal = await room.open([
      { text: `${"A long answer. ".repeat(200)}Known.` },
      { text: "What was summed up." },
      { text: "On it." },
    ]);
    await terminal.enter("the old question\r", "Known.", "? for keys");
    await terminal.enter("/compact \r", "The conversation was shortened to a summary:", "? for keys");
    await terminal.enter("go on\r", "On it.");
    const messages = JSON.stringify(room.server.requests.at(-1)?.body.messages);
    expect(messages).toContain("What was summed up.");
    expect(messages).not.toContain("Known.");
  });

  it("P5 /compact WORDS says what the summary keeps, and one that would be longer leaves all as it is", async () => {
    const terminal = await room.open([
      { text: "Known." },
      { text: `${"A long answer. ".repeat(200)}Known too.` },
      { text: "The names." },
    ]);
    await terminal.enter("the old question\r", "Known.", "? for keys");
    await terminal.enter("/compact \r", "The conversation stays as it is (", "? for keys");
    await terminal.enter("more\r", "Known too.", "? for keys");
    expect(JSON.stringify(room.server.requests.at(-1)?.body.messages)).toContain("Known.");
    await terminal.enter("/compact keep the names\r", "was shortened to a summary:", "? for keys");
    expect(JSON.stringify(room.server.requests.at(-1)?.body.messages)).toContain("keep the names");
    expect(room.server.requests).toHaveLength(3);
  });

  it("/tasks ends what runs in the background", async () => {
    const sleeping = { name: "run_shell_command", args: { command: "sleep 600", is_background: true } };
    const terminal = await room.open([{ calls: [sleeping] }, { text: "It sleeps." }], {
      args: ["--approval-mode", "yolo"],
    });
    await terminal.enter("sleep\r", "It sleeps.", "? for keys");
    await terminal.enter("/tasks \r", "› bg_1  sleep 600");
    await terminal.enter("\r", "e ends it");
    await terminal.enter("e", "End bg_1 with all that it has started?");
    await terminal.enter("y", "bg_1 was ended.");
    await terminal.enter("/tasks \r", "Nothing runs in the background.");
  });

  it("P44 /tasks shows what a command writes, and no key but e and then y ends it", async () => {
    const command = "echo first; while [ ! -e go ]; do sleep 0.1; done; seq 100; echo second; sleep 600";
    const watching = { name: "run_shell_command", args: { command, is_background: true } };
    const terminal = await room.open([{ calls: [watching] }, { text: "It works." }], {
      args: ["--approval-mode", "yolo"],
    });
    await terminal.enter("watch\r", "It works.", "? for keys");
    await terminal.enter("/tasks \r", "› bg_1  echo first");
    await terminal.enter("\r", /\n first\n e ends it/);
    await writeFile(join(room.root, "go"), "");
    await terminal.shows(/\n 100\n second\n e ends it/);
    await terminal.enter("\u001b[5~", /\n [1-9]\d\n e ends it/);
    for (const key of ["n", "\r", "\u001b", "x"]) {
      await terminal.enter("e", "End bg_1 with all that it has started?");
      await terminal.enter(key, "e ends it");
    }
    terminal.type("\r");
    await terminal.until(() => !terminal.text().includes("e ends it"), "the prompt");
    await terminal.enter("/tasks \r", "› bg_1  echo first");
    await terminal.enter("\r", /\n second\n e ends it/);
    await terminal.enter("e", "End bg_1 with all that it has started?");
    await terminal.enter("y", "bg_1 was ended.");
  });

  it("/agents and /skills begin the next prompt with the chosen one", async () => {
    const skill = "---\ndescription: how to release\n---\nTag it.\n";
    await mkdir(join(room.root, ".home/skills/release"), { recursive: true });
    await writeFile(join(room.root, ".home/skills/release/SKILL.md"), skill);
    const terminal = await room.open();
    await terminal.enter("/agents \r", "› explore");
    await terminal.enter("gen\r", "> Let the subagent general do this:");
    await terminal.enter("\u0015/skills \r", "› release  how to release");
    await terminal.enter("\r", "> Use the skill release:");
  });

  it("adds up what requests cost, where prices are known", async () => {
    const prices = { "fake-model": { input: 1000, output: 1000 } };
    await room.set({ model: { prices } });
    const terminal = await room.open([{ text: "Dear.", usage: { inputTokens: 1000, outputTokens: 500 } }]);
    await terminal.enter("ask\r", "Dear.", "% context · $1.50");
    await terminal.enter("/cost \r", /cost +\$1\.5/);
  });

  it("P29 /cost tells what the cache lost, and why", async () => {
    const usage = { inputTokens: 9000, outputTokens: 5, cachedTokens: 8000 };
    const terminal = await room.open([
      { text: "First.", usage },
      { text: "Second.", usage: { ...usage, cachedTokens: 0 } },
    ]);
    await terminal.enter("ask\r", "First.", "? for keys");
    await terminal.enter("/model other-model\r", "other-model · asks before changes");
    await terminal.enter("again\r", "Second.");
    await terminal.enter("/cost \r", /cached before, read again +8,000: another model/);
  });

  it("/back goes on in a copy from before an earlier prompt, which is there to be changed", async () => {
    const terminal = await room.open([{ text: "One." }, { text: "Two." }, { text: "Other." }]);
    await terminal.enter("first\r", "One.", "? for keys");
    await terminal.enter("second\r", "Two.", "? for keys");
    await terminal.enter("\u001b", "Press esc again");
    await terminal.enter("\u001b", "Go back to which prompt?");
    await terminal.enter("second\r", /> second\n +fake-model/);
    await terminal.enter(" time\r", "Other.");
    const messages = JSON.stringify(room.server.requests.at(-1)?.body.messages);
    expect(messages).toContain("first");
    expect(messages).toContain("second time");
    expect(messages).not.toContain("Two.");
  });

  it("/back in a session without a prompt says that there is nothing in it yet", async () => {
    const terminal = await room.open();
    await terminal.enter("/back\r", "There is nothing in this session yet.");
  });

  it("/model asks another model from then on, with the session as it is", async () => {
    const terminal = await room.open([{ text: "One." }, { text: "Two." }]);
    await terminal.enter("first\r", "One.", "? for keys");
    await terminal.enter("/model other-model\r", "other-model · asks before changes");
    await terminal.enter("second\r", "Two.");
    const body = room.server.requests.at(-1)?.body;
    expect(body?.model).toBe("other-model");
    expect(JSON.stringify(body?.messages)).toContain("first");
  });

  it("/model begins at the model that is asked", async () => {
    const terminal = await room.open();
    await terminal.enter("/model \r", "› fake-model");
  });

  it("P54 /model offers the models that settings name, and asks the one that is chosen", async () => {
    const other = await startFakeModelServer([{ text: "Two." }]);
    try {
      const models = { "my-fast-one": { baseUrl: other.baseUrl, model: "little" } };
      await room.set({ models });
      const terminal = await room.open([{ text: "One." }]);
      await terminal.enter("first\r", "One.", "? for keys");
      await terminal.enter("/model \r", "Which model?", "my-fast-one");
      terminal.type("my-fast");
      await terminal.enter("\r", /(?:little|my-fast-one) · asks before changes/);
      await terminal.enter("second\r", "Two.");
      expect(other.requests[0]?.body.model).toBe("little");
      expect(JSON.stringify(other.requests[0]?.body.messages)).toContain("first");
    } finally {
      await other.close();
    }
  });

  it("P13 /resume with a name that no session has leaves the session that is open", async () => {
    const terminal = await room.open([{ text: "I know alpha." }, { text: "It was alpha." }]);
    await terminal.enter("remember alpha\r", "I know alpha.", "? for keys");
    await terminal.enter("/resume nosuch\r", 'There is no session "nosuch"');
    await terminal.enter("what was it?\r", "It was alpha.");
    expect(JSON.stringify(room.server.requests.at(-1)?.body.messages)).toContain("remember alpha");
  });

  it("-r without an ID lists earlier sessions at its start, and leaves a prompt beside it to be sent", async () => {
    const first = await room.open([{ text: "Answer." }]);
    await first.enter("the first thing\r", "Answer.");
    first.type("\u0003\u0003");
    await first.ended();
    const terminal = await room.start({ args: ["more words", "-r"] });
    await terminal.shows("Which session?");
    await terminal.enter("\r", "> the first thing", "Answer.", "> more words");
  });

  it("/resume lists earlier sessions, and goes on with the chosen one", async () => {
    const terminal = await room.open([{ text: "Known." }, { text: "Still known." }]);
    await terminal.enter("the old question\r", "Known.", "? for keys");
    terminal.type("/clear \r");
    await terminal.until(() => !terminal.text().includes("Known."), "an empty window");
    await terminal.enter("/resume \r", "Which session?");
    await terminal.enter("old\r", /^Known\.$/m);
    await terminal.enter("and now?\r", "Still known.");
    expect(JSON.stringify(room.server.requests.at(-1)?.body.messages)).toContain("the old question");
  });

  it.each([
    ["/exit", "To continue this session"],
    ["exit", "To continue this session"],
    ["quit", "To continue this session"],
    ["/stats", /^\/cost$[\s\S]*tokens sent/m],
    ["/plan", "fake-model · plans first, changes nothing"],
    ["/models other-model", "other-model · asks before changes"],
    ["/compress", "The conversation stays as it is ("],
    ["/diff", "This session has changed no file."],
    ["/rewind", "Go back to which prompt?"],
    ["/config", "Settings, kept in"],
    ["/yolo", "fake-model · asks nothing"],
    ["/?", /Commands[\s\S]*\/approval/],
    ["/login", "Which model?"],
    ["/vim", 'There is no command /vim; here it is "ui": {"vim": true}'],
    ["/directory", "Name the folder: /add-dir ../other"],
    ["/mcp list", "/mcp takes no words; left out: list"],
    ["/new", /^\s*> Ask anything/],
  ])("%s does what users of other agents mean by it", async (typed, wanted) => {
    const terminal = await room.open([{ text: "Answer." }, { text: "Made." }]);
    await terminal.enter("ask\r", "Answer.", "? for keys");
    expect(terminal.text()).not.toMatch(wanted);
    await terminal.enter(`${typed}\r`, wanted);
  });

  it("of the user's own stays theirs, whatever other agents mean by its name", async () => {
    await mkdir(join(room.root, ".home/commands"), { recursive: true });
    await writeFile(join(room.root, ".home/commands/diff.md"), "Draw the difference.");
    const terminal = await room.open([{ text: "Drawn." }]);
    await terminal.enter("/diff\r", "Drawn.");
  });

  it("/help names every command and every key", async () => {
    const terminal = await room.open([], { rows: 90 });
    await terminal.enter("/help \r", "remember a fact");
    await terminal.settled();
    const shown = terminal.all().join("\n");
    for (const { name } of SCREEN_COMMANDS) expect(shown).toContain(`/${name}`);
    for (const [keys] of KEY_LIST) for (const key of keys.split(", ")) expect(shown).toContain(key);
  });

  it("waits while the model works, unless it only shows something", async () => {
    let answer = (): void => {};
    const held = new Promise<{ text: string }>((resolve) => {
      answer = () => resolve({ text: "First answer." });
    });
    const terminal = await room.open([() => held, { text: "Second answer." }]);
    await terminal.enter("go\r", "esc to interrupt");
    await terminal.enter("/clear \r", "when this is done: /clear");
    await terminal.enter("/cost \r", "tokens sent");
    answer();
    await terminal.until(() => !terminal.text().includes("when this is done"), "the end");
    await terminal.enter("again\r", "Second answer.");
    expect(JSON.stringify(room.server.requests[1]?.body)).not.toContain("First answer.");
  });

  it("goes back into the prompt when the work that it waits for is interrupted", async () => {
    const terminal = await room.open([
      { raw: (_request, response) => void response.writeHead(200).flushHeaders() },
    ]);
    await terminal.enter("go\r", "esc to interrupt");
    await terminal.enter("/clear \r", "when this is done: /clear");
    await terminal.enter("\u001b", "> /clear");
  });

  it("/export writes below the user's home where ~ is named", async () => {
    const terminal = await room.open([{ text: "Answer." }]);
    await terminal.enter("ask\r", "Answer.", "? for keys");
    await terminal.enter("/export ~/said.md\r", "Written: ");
    expect(await readFile(join(room.root, "said.md"), "utf8")).toContain("Answer.");
  });
});
