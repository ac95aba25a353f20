import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { running, ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const LINES = Array.from({ length: 30 }, (_, n) => `line ${n}`);

const CLEAR = "\u0015";

const SIZE = { columns: 90, rows: 38 };
const room = new ScreenRoom({ "a.txt": "alpha\n", "rows.txt": `${LINES.join("\n")}\n` }, SIZE);
let terminal: ScreenTerminal;
const screens: string[] = [];

/** The same, with nothing at the prompt: keys that came too early for a question may be there. */
async function keep(name: string, from?: string, prompt = "> Ask anything"): Promise<void> {
  if (!terminal.text().includes("─".repeat(SIZE.columns))) {
    await terminal.enter(CLEAR, prompt);
  }
  await look(name, from);
}

/**
 * What is on the screen, without what differs from run to run: places, times and how full the window is. Of a full
 * screen only what is below a row: how much of what was before fits above it depends on the rows that were shown
 * meanwhile.
 */
async function look(name: string, from?: string): Promise<void> {
  await terminal.settled();
  const rows = terminal.rows().map((row) => row.replaceAll(room.root, "ROOT").replace(/ {2}\d+ s$/, ""));
  const first = from === undefined ? 0 : rows.indexOf(from);
  expect(first).not.toBe(-1);
  const shown = rows
    .slice(first)
    .filter((row) => !row.includes("fake-model ·"))
    // Of two subagents, either may ask first.
    .map((row) => (row.startsWith(" ") ? row.replace(/\b(?:one|two)\b(?=\)|\.txt)/g, "ONE") : row))
    .map((row) => row.replace(/127\.0\.0\.1:\d+/, "ADDRESS").replace(/\b\w+-\w{6}(?= takes)/, "CALL"))
    .map((row) => row.replace(/^(Written|It works).*/, "$1 …").replace(/[\d,]+ tokens|[\d,]+ now/g, "N"))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  screens.push(`=== ${name}\n${shown}`);
}

async function ask(prompt: string, shown: string): Promise<void> {
  await terminal.shows("? for keys");
  await terminal.enter(`${prompt === "" ? "" : CLEAR}${prompt}\r`, shown);
}

/** Keys count only when the question has stood a while. */
async function answer(keys: string): Promise<void> {
  await terminal.until(() => {
    if (terminal.text().includes("y   yes")) terminal.type(keys);
    return !terminal.text().includes("y   yes");
  }, `an answer to the question with ${keys}`);
}

/** Of a subagent: the command first, then a word. */
const helping: FakeReply = ({ body }) => {
  const text = JSON.stringify(body);
  const name = /make (one|two)\.txt/.exec(text)?.[1] ?? "";
  return text.includes('"role":"tool"')
    ? { text: `${name}.txt is made.` }
    : (running(`touch ${name}.txt`) as { calls: [] });
};

function script(released: Promise<void>): FakeReply[] {
  const edits = [
    { old_string: "line 3\n", new_string: "line three\n" },
    { old_string: "line 25\n", new_string: "line twenty-five\n" },
  ];
  const task = (name: string) => ({
    name: "task",
    args: { description: `make ${name}`, prompt: `make ${name}.txt`, subagent_type: "general" },
  });
  return [
    { text: "ok" },
    { text: "It says alpha." },
    running("rm a.txt"),
    { text: "All right, it stays." },
    { calls: [{ name: "edit", args: { file_path: join(room.root, "rows.txt"), edits } }] },
    { text: "One of two places." },
    { calls: [{ name: "exit_plan_mode", args: { plan: "1. Look\n2. Change it" } }] },
    { text: "I begin." },
    { calls: [task("one"), task("two")] },
    ...[helping, helping, helping, helping],
    { text: "Both are made." },
    async () => {
      await released;
      return { text: "That took a while." };
    },
    { text: "And that, too." },
    { text: "All that was done so far." },
    running("touch begun.txt; sleep 30"),
    { text: "I look first at what was done." },
  ];
}

async function firstStart(): Promise<void> {
  terminal = room.begin();
  await terminal.shows("Which model service?");
  await terminal.enter("another", "› Another service");
  await look("the first start: a service is chosen");
  await terminal.enter("\r", "Where is the service?");
  await terminal.enter(room.server.baseUrl, room.server.baseUrl);
  await look("its address");
  await terminal.enter("\r", "press enter if it needs none");
  await look("its key");
  await terminal.enter("\r", "› fake-model");
  await look("its model");
  await terminal.enter("\r", "It works.", "What may run without asking?");
  await look("how much may run without asking");
  await terminal.enter("\r", "fake-model · asks before changes");
}

async function promptAndQuestions(): Promise<void> {
  await terminal.enter("what is in @a.t", "› a.txt");
  await look("a path is completed");
  await terminal.enter("\t", /> what is in @a\.txt\s*\n/);
  await ask("", "It says alpha.");
  await keep("a prompt that names a file");
  await ask("remove it", "Run this command?");
  await look("a question");
  await answer("n");
  await terminal.shows("Say what to do instead");
  await terminal.enter(`${CLEAR}keep the file`, "> keep the file");
  await look("words for a no");
  await terminal.enter("\r", "All right, it stays.");
  await keep("a command refused with words");
  await ask("change two lines", "Make this change?");
  await answer("h");
  await terminal.shows("[x] 2/2");
  await terminal.enter("\u001b[B ", "[ ] 2/2");
  await keep("an edit, place by place", "> change two lines");
  await terminal.enter("\r", "One of two places.");
  expect(await readFile(join(room.root, "rows.txt"), "utf8")).toContain("line three\nline 4\n");
}

async function reviewAndPlan(): Promise<void> {
  await ask("/changes ", "1 of 1");
  await terminal.enter("t", "1 of 1  taken back");
  await keep("a change taken back", "> change two lines");
  expect(await readFile(join(room.root, "rows.txt"), "utf8")).toBe(`${LINES.join("\n")}\n`);
  terminal.type("\u001b");
  await terminal.until(() => !terminal.text().includes("Changes of this session"), "the prompt");
  await terminal.shows("taken back: rows.txt");
  await terminal.enter("\u001b[Z\u001b[Z\u001b[Z", "fake-model · plans first, changes nothing");
  await ask("plan it", "Carry out this plan?");
  await keep("a plan", "> plan it");
  await answer("a");
  await terminal.shows("I begin.");
  await terminal.shows("fake-model · asks before changes");
}

async function subagentsAndSteering(release: () => void): Promise<void> {
  await ask("two helpers", "(1 more waiting)");
  await look("two subagents with a question each", "> two helpers");
  await terminal.until(() => {
    if (terminal.text().includes("y   yes")) terminal.type("y");
    return terminal.text().includes("Both are made.");
  }, "both answers");
  for (const name of ["one.txt", "two.txt"]) expect(await readFile(join(room.root, name), "utf8")).toBe("");
  await ask("take your time", "esc to interrupt");
  await terminal.enter(`${CLEAR}and do that, too\r`, "with the next turn: and do that, too");
  await keep("words while it works", "> take your time", "> enter: send now");
  release();
  await terminal.shows("And that, too.");
  await ask("/compact ", "The conversation was shortened to a summary:");
  await keep("a shorter conversation", "> take your time");
}

async function killAndResume(): Promise<void> {
  await ask("begin", "Run this command?");
  await answer("y");
  await terminal.until(() => existsSync(join(room.root, "begun.txt")), "the command at work");
  await terminal.shows("◐ Run touch begun.txt");
  await keep("a command at work, before kill -9", "> begin", "> enter: send now");
  process.kill(terminal.pid, "SIGKILL");
  await terminal.ended();
  terminal = room.begin({ args: ["-c"] });
  await terminal.shows("touch begun.txt");
  await terminal.shows("fake-model · asks before changes");
  await terminal.shows("The session ended while this was running.");
  await terminal.shows("Burin was killed during:");
  await ask("go on", "I look first at what was done.");
  await keep("taken up after kill -9", "> take your time");
  expect(JSON.stringify(room.server.requests.at(-1)?.body.messages)).toContain("All that was done so far.");
}

describe("a whole session", () => {
  it(
    "goes from the first start to a resume after kill -9, as its screens show",
    requirePrograms("bwrap"),
    async () => {
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await room.serve(script(released));
      await firstStart();
      await keep("the first start");
      await promptAndQuestions();
      await reviewAndPlan();
      await subagentsAndSteering(release);
      await killAndResume();
      expect(room.server.problems).toEqual([]);
      expect(room.server.unusedReplies()).toEqual([]);
      expect(screens.join("\n\n")).toMatchSnapshot();
    },
  );
});
