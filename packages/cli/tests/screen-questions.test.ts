import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { FakeReply } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { answer, running, ScreenRoom } from "./screen-room.ts";

const LINES = Array.from({ length: 40 }, (_, n) => `line ${n}`);

const room = new ScreenRoom({ "a.txt": "alpha\n", "long.txt": `${LINES.join("\n")}\n` }, { columns: 90 });

function editing(file: string, pairs: readonly (readonly [string, string])[]): FakeReply {
  const edits = pairs.map(([old_string, new_string]) => ({ old_string, new_string }));
  return { calls: [{ name: "edit", args: { file_path: join(room.root, file), edits } }] };
}

/** What the model was told of its last call. */
function lastAnswer(): string {
  const messages = room.server.requests.at(-1)?.body.messages as { role: string; content: string }[];
  return messages.filter(({ role }) => role === "tool").at(-1)?.content ?? "";
}

function pasted(text: string): string {
  return `\u001b[200~${text}\u001b[201~`;
}

describe("a question", () => {
  it("shows the whole command, and runs it after y", async () => {
    const terminal = await room.open([running("touch made.txt && rm a.txt"), { text: "Done." }]);
    await terminal.enter("go\r", "Run this command?");
    expect(terminal.text()).toContain("\n   touch made.txt && rm a.txt");
    expect(terminal.text()).toContain("y   yes");
    expect(terminal.written).toContain("\u0007");
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Done.");
    await expect(readFile(join(room.root, "made.txt"), "utf8")).resolves.toBe("");
  });

  it(
    "P53 an approved command that fails for want of network says so, with what allows it",
    requirePrograms("bwrap"),
    async () => {
      const command = "echo asked for it; exec 3<>/dev/tcp/192.0.2.1/80";
      const terminal = await room.open([running(command), { text: "Done." }]);
      await terminal.enter("go\r", "Run this command?");
      await answer(terminal, "y", "Run this command?");
      await terminal.shows("Done.");
      expect(terminal.text()).toContain("Network is unreachable");
      expect(terminal.text()).toContain("The sandbox has no network.");
      expect(terminal.text().replace(/\s+/g, " ")).toContain('To allow it always: "sandbox": { "network": [');
      expect(lastAnswer()).toContain("The sandbox has no network.");
    },
  );

  it("P42 is answered without a change of the keyboard's layout or of an input method", async () => {
    const terminal = await room.open([running("touch one.txt"), running("touch two.txt"), { text: "Done." }]);
    await terminal.enter("go\r", "\n   touch one.txt");
    await answer(terminal, "Н", "\n   touch one.txt");
    await terminal.shows("\n   touch two.txt");
    await answer(terminal, "ｙ", "\n   touch two.txt");
    await terminal.shows("Done.");
  });

  it("does not take a key that was on its way when it came up", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    terminal.type("go\r");
    await terminal.until(() => {
      if (room.server.requests.length === 1) terminal.type("y");
      return terminal.text().includes("Run this command?");
    }, "the question");
    terminal.type("y");
    expect(terminal.text()).toContain("Run this command?");
    await expect(readFile(join(room.root, "made.txt"), "utf8")).rejects.toThrow("ENOENT");
    await answer(terminal, "n", "y   yes");
    await terminal.enter("\r", "Done.");
  });

  it("P11 is not answered by a letter that is pasted, which can be a part of the reason", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    await terminal.enter("go\r", "Run this command?");
    await answer(terminal, "a", "y   yes");
    terminal.type(pasted("s"));
    await terminal.enter("\u001b", "y   yes");
    terminal.type(pasted("y"));
    await terminal.enter("n", "Say what to do instead");
    await terminal.enter(`${pasted("later")}\r`, "Done.");
    expect(lastAnswer()).toContain("later");
    await expect(readFile(join(room.root, "made.txt"), "utf8")).rejects.toThrow("ENOENT");
  });

  it("P11 is not answered by a sentence that is still being written, which is whole at the prompt", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    const sentence = "yes, my answer is nearly ready, but try any other way";
    await terminal.enter("go\r", "Run this command?");
    for (const letter of sentence) {
      terminal.type(letter);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    terminal.type("\u001b[200~ of yours\u001b[201~");
    expect(terminal.text()).toContain("y   yes");
    await expect(readFile(join(room.root, "made.txt"), "utf8")).rejects.toThrow("ENOENT");
    await answer(terminal, "n", "y   yes");
    await terminal.enter("\r", `> ${sentence} of yours`);
  });

  it("leaves calls that wait behind it in words, not by the names that models use", async () => {
    const reading = { name: "read_file", args: { absolute_path: join(room.root, "a.txt") } };
    const asking = { name: "run_shell_command", args: { command: "touch made.txt" } };
    const terminal = await room.open([{ calls: [asking, reading] }, { text: "Done." }]);
    await terminal.enter("go\r", "Run this command?");
    expect(terminal.all()).toContain("○ Read file");
    await answer(terminal, "y", "Run this command?");
    await terminal.shows(/● Read a\.txt[\s\S]*Done\./);
  });

  it("P11 leaves calls in words that were not begun when escape stopped the run", async () => {
    const [first, second] = ["one", "two"].map((name) => ({
      name: "run_shell_command",
      args: { command: `touch ${name}.txt` },
    }));
    const terminal = await room.open([{ calls: [first, second] } as FakeReply]);
    await terminal.enter("go\r", "Run this command?");
    await answer(terminal, "\u001b", "Run this command?");
    await terminal.shows("Stopped.");
    expect(terminal.all()).toContain("✗ Run shell command");
  });

  it("is refused with words, which the model reads", async () => {
    const terminal = await room.open([running("rm a.txt"), { text: "All right." }]);
    await terminal.enter("go\r", "Run this command?");
    await answer(terminal, "n", "y   yes");
    await terminal.shows("Say what to do instead");
    await terminal.enter("keep the file, move it\r", "All right.");
    expect(lastAnswer()).toContain("keep the file, move it");
    await expect(readFile(join(room.root, "a.txt"), "utf8")).resolves.toBe("alpha\n");
  });

  it("ends the run after escape", async () => {
    const terminal = await room.open([running("rm a.txt"), { text: "never said" }]);
    await terminal.enter("go\r", "Run this command?");
    await answer(terminal, "\u001b", "Run this command?");
    await terminal.shows("Stopped.");
    expect(room.server.requests).toHaveLength(1);
  });

  it("P22 with many rules counts them among the answers, and lists every one before it stores them", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `made${n}.txt`);
    const terminal = await room.open([running(names.map((name) => `rm ${name}`).join(" && "))]);
    await terminal.enter("go\r", /exactly rm\s+made2\.txt,\s+… \+9/);
    expect(terminal.text()).not.toContain("exactly rm made3.txt");
    await answer(terminal, "a", "y   yes");
    for (const name of names) expect(terminal.text()).toContain(`\n exactly rm ${name}`);
    expect(terminal.text()).toContain("For how long?");
  });

  it("that is long stays where the user has scrolled to while a reason for the no is written", async () => {
    const lines = LINES.map((line) => `echo '${line}'`).join("\n");
    const terminal = await room.open([running(`touch made.txt\n${lines}`)]);
    await terminal.enter("go\r", "Run this command?", "echo 'line 1'");
    await terminal.until(() => {
      terminal.type("\u001b[6~");
      return terminal.text().includes("echo 'line 39'");
    }, "its end");
    await answer(terminal, "n", "y   yes");
    expect(terminal.text()).toContain("echo 'line 39'");
  });

  it("says its reason once under w, also a reason that was shortened, and what always would allow", async () => {
    const terminal = await room.open([running(`rm ${"n".repeat(700)} && rm made.txt`)], {
      columns: 150,
      rows: 50,
    });
    await terminal.enter("go\r", "Run this command?");
    await answer(terminal, "a", "y   yes");
    await terminal.shows(/s +this session/);
    // Until the panel has gone, escape and a letter after it could be one key.
    terminal.type("\u001b");
    await terminal.until(() => !/s +this session/.test(terminal.text()), "the question");
    await terminal.enter("w", "ask   rm made.txt  (`rm` is not known to be read-only)");
    expect(terminal.text().split("`rm` is")).toHaveLength(3);
    expect(terminal.text()).not.toContain("needs an approval");
    expect(terminal.text().split("exactly rm made.txt")).toHaveLength(2);
  });

  it("is not asked again after always, in the scope that was said", async () => {
    const terminal = await room.open([
      running("touch one.txt"),
      running("touch one.txt two.txt"),
      { text: "Both." },
    ]);
    await terminal.enter("go\r", "a   don't ask again for: touch …");
    await answer(terminal, "a", "y   yes");
    await terminal.shows("s   this session");
    await terminal.enter("s", /Run this command\?\s[\s\S]*two\.txt|Both\./);
    expect(terminal.text()).toContain("Both.");
    await expect(readFile(join(room.root, "two.txt"), "utf8")).resolves.toBe("");
  });

  it("P21 P22 is allowed as wide as is chosen, and that is listed and taken back", async () => {
    const terminal = await room.open([
      running("touch one.txt"),
      running("touch one.txt"),
      running("touch two.txt"),
      { text: "Both." },
    ]);
    await terminal.enter("go\r", "a   don't ask again for: touch …");
    await answer(terminal, "a", "y   yes");
    await terminal.shows("› 2 touch …");
    await terminal.enter("1", "› 1 exactly touch one.txt");
    await terminal.enter("s", /Run this command\?\s[\s\S]*two\.txt/);
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Both.");
    await terminal.enter("/permissions \r", "1  run_shell_command(touch one.txt;)  (this session)");
    await terminal.enter("/permissions revoke 1\r", "Revoked: run_shell_command(touch one.txt;)");
    await terminal.enter("/permissions \r", "Nothing is granted");
  });

  it("takes some hunks of an edit, and the model is told what was taken", async () => {
    const edit = editing("long.txt", [
      ["line 3\n", "line three\n"],
      ["line 30\n", "line thirty\n"],
    ]);
    const terminal = await room.open([edit, { text: "Half." }], { rows: 40 });
    await terminal.enter("go\r", "Make this change?");
    await answer(terminal, "h", "y   yes");
    await terminal.shows("[x] 2/2");
    await terminal.enter("\u001b[B ", "[ ] 2/2");
    await terminal.enter("\r", "Half.");
    const text = await readFile(join(room.root, "long.txt"), "utf8");
    expect(text).toContain("line three\n");
    expect(text).toContain("line 30\n");
    expect(lastAnswer()).not.toBe("");
  });

  it("shows the hunk that is chosen, in a low window and without colours", async () => {
    const edit = editing("long.txt", [
      ["line 3\n", "line three\n"],
      ["line 15\n", "line fifteen\n"],
      ["line 30\n", "line thirty\n"],
    ]);
    const terminal = await room.open([edit, { text: "One." }], { rows: 18, env: { NO_COLOR: "1" } });
    await terminal.enter("go\r", "Make this change?");
    await answer(terminal, "h", "y yes");
    await terminal.shows("› [x] 1/3");
    expect(terminal.text()).toContain("page up and page down to scroll");
    await terminal.enter("\u001b[B \u001b[B ", "› [ ] 3/3");
    expect(terminal.text()).toContain("line thirty");
    await terminal.enter("\u001b[5~".repeat(4), "  [x] 1/3");
    await terminal.enter("\u001b[A", "› [ ] 2/3");
    await terminal.enter("\r", "One.");
    const text = await readFile(join(room.root, "long.txt"), "utf8");
    expect(text.match(/line [a-z]+/g)).toEqual(["line three"]);
  });

  it("says in full what its keys do in a narrow window, and nothing beside says another thing", async () => {
    const terminal = await room.open([running("rm a.txt"), { text: "All right." }], { columns: 45 });
    await terminal.enter("go\r", "Run this command?");
    expect(terminal.text()).not.toContain("esc to interrupt");
    await answer(terminal, "n", "y   yes");
    await terminal.shows(/Say what to do instead, then press enter\s+\(esc: just no\)/);
    await terminal.enter("\r", "All right.");
    await terminal.enter("\u0015/theme\r", /type to filter, enter chooses, esc\s+closes/);
    expect(terminal.text()).not.toContain("? for keys");
  });

  it("can be scrolled to its end, however long it is", async () => {
    const content = Array.from({ length: 100 }, (_, n) => `new ${n}`).join("\n");
    const write = {
      calls: [{ name: "write_file", args: { file_path: join(room.root, "new.txt"), content } }],
    };
    const terminal = await room.open([write, { text: "Written." }]);
    await terminal.enter("go\r", "Make this change?");
    expect(terminal.text()).not.toContain("new 99");
    await terminal.until(() => {
      terminal.type("\u001b[6~");
      return terminal.text().includes("new 99");
    }, "its end");
    await answer(terminal, "y", "Make this change?");
    await terminal.shows("Written.");
  });

  it("leaves its command and all of why it is asked within reach, however long the reasons are", async () => {
    const words = Array.from({ length: 12 }, (_, n) => `chmod +x made-${n}`);
    const terminal = await room.open([running([...words, "rm -rf made"].join(" && "))]);
    await terminal.enter("go\r", "Run this command?");
    await pause(400);
    terminal.type("w");
    for (const shown of ["Run this command?", "\n   chmod +x made-0 &&", "y   yes"])
      expect(terminal.text()).toContain(shown);
    await terminal.until(() => {
      terminal.type("\u001b[6~");
      return /ask +rm -rf made +\(/.test(terminal.text());
    }, "the last reason");
    expect(terminal.text()).toContain("y   yes");
  });

  it("shows a plan, and goes on in the way that was chosen", async () => {
    const plan = { calls: [{ name: "exit_plan_mode", args: { plan: "1. look\n2. mend" } }] };
    const terminal = await room.open([plan, { text: "I begin." }], { args: ["--approval-mode", "plan"] });
    await terminal.enter("go\r", "Carry out this plan?");
    expect(terminal.text()).toContain("\n 2. mend");
    await answer(terminal, "y", "Carry out this plan?");
    await terminal.shows("I begin.");
    await terminal.shows("fake-model · edits without asking");
  });

  it("leaves a plan that was approved as it was, folded where it is long, also when the session is taken up", async () => {
    const steps = Array.from({ length: 40 }, (_, n) => `${n + 1}. step **${n + 1}**`);
    const plan = { calls: [{ name: "exit_plan_mode", args: { plan: `# The plan\n\n${steps.join("\n")}` } }] };
    const terminal = await room.open([plan, { text: "I begin." }], { args: ["--approval-mode", "plan"] });
    await terminal.enter("go\r", "Carry out this plan?");
    await answer(terminal, "a", "Carry out this plan?");
    await terminal.shows("I begin.");
    const shown = /● Show the plan and ask to carry it out\n {4}The plan\n\s*\n {4}1\. step 1\n/;
    const left = "… 18 more lines (ctrl+o shows all)";
    expect(terminal.all().join("\n")).toMatch(shown);
    expect(terminal.text()).toContain(left);
    await terminal.enter("\u000f", "Results of the last calls");
    await terminal.enter("\u001b[F", "40. step 40");
    terminal.type("\u001b");
    await terminal.until(() => !terminal.text().includes("40. step 40"), "the prompt");
    await terminal.enter("\u0015", "> Ask anything");
    terminal.type("\u0004");
    await terminal.ended();
    const again = await room.start({ args: ["-c"] });
    await again.shows("I begin.");
    expect(again.all().join("\n")).toMatch(shown);
    expect(again.text()).toContain(left);
  });

  it("goes on with what was said to a plan that was not approved", async () => {
    const plan = { calls: [{ name: "exit_plan_mode", args: { plan: "1. look" } }] };
    const terminal = await room.open([plan, { text: "Then so." }], { args: ["--approval-mode", "plan"] });
    await terminal.enter("go\r", "Carry out this plan?");
    await answer(terminal, "n", "y   yes");
    await terminal.enter("leave out the first step\r", "Then so.");
    expect(terminal.all()).toContain("> leave out the first step");
    expect(JSON.stringify(room.server.requests.at(-1)?.body.messages)).toContain("leave out the first step");
  });

  it("of two subagents names who asks, and how many wait behind it", async () => {
    const task = (name: string) => ({
      name: "task",
      args: { description: name, prompt: `make ${name}.txt`, subagent_type: "general" },
    });
    const making = (request: { body: unknown }): { text: string } | FakeReply => {
      const text = JSON.stringify(request.body);
      const name = /make (one|two)\.txt/.exec(text)?.[1] ?? "";
      return text.includes('"role":"tool"') ? { text: `${name} is made.` } : running(`touch ${name}.txt`);
    };
    const each = making as FakeReply;
    const two = { calls: [task("one"), task("two")] };
    const terminal = await room.open([two, each, each, each, each, { text: "Both." }]);
    await terminal.enter("go\r", "Run this command? (1 more waiting)");
    const askers = new Set<string>();
    await terminal.until(() => {
      for (const [asker] of terminal.text().matchAll(/the subagent .* asks/g)) askers.add(asker);
      if (terminal.text().includes("y   yes")) terminal.type("y");
      return terminal.text().includes("Both.");
    }, "both answers");
    expect([...askers].sort()).toEqual([
      "the subagent general (one) asks",
      "the subagent general (two) asks",
    ]);
    for (const name of ["one.txt", "two.txt"]) {
      await expect(readFile(join(room.root, name), "utf8")).resolves.toBe("");
    }
  });

  it("gives no text from outside power over the terminal", async () => {
    const evil = "echo \u001b]0;owned\u0007\u001b[2J\u202e";
    const terminal = await room.open([{ text: `say ${evil}` }, running(evil), { text: "Done." }]);
    await terminal.enter("go\r", "say echo \\x1b]0;owned\\x07\\x1b[2J\\u{202e}");
    await terminal.enter("again\r", "Run this command?");
    expect(terminal.text()).toContain("\\x1b[2J");
    expect(terminal.written).not.toContain("owned\u0007");
    expect(terminal.written).not.toContain("\u202e");
  });

  it("gives the name of a tool that only the model made up no power over the terminal either", async () => {
    const evil = "none\u001b]0;owned\u0007\u202e";
    const terminal = await room.open([{ calls: [{ name: evil, args: {} }] }, { text: "Done." }]);
    await terminal.enter("go\r", "Done.");
    await terminal.enter("/context\r", "results of", "none\\x1b]0;owned");
    expect(terminal.written).not.toContain("owned\u0007");
    expect(terminal.written).not.toContain("\u202e");
  });
});
