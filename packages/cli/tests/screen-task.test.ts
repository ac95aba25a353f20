import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { answer, running, ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const TALLY = `// Counts words.
export function tally(text) {
  return text.split(/\\s+/).length;
}

export function most(words) {
  let best = null;
  for (const word of words) {
    if (best === null || word.length > best.length) best = word;
  }
  return best;
}
`;
const PACKAGE = JSON.stringify({ scripts: { test: "for i in 1 2 3 4 5; do echo ok $i; done" } });
const room = new ScreenRoom({ "src/tally.js": TALLY, "package.json": PACKAGE }, { columns: 90, rows: 44 });

const EDITS = [
  ["text.split(/\\s+/).length", "text.split(/\\s+/).filter(Boolean).length"],
  ["let best = null;", 'let best = "";'],
  ["if (best === null || word.length > best.length)", "if (word.length > best.length)"],
];

function editing(): FakeReply {
  const edits = EDITS.map(([old_string, new_string]) => ({ old_string, new_string }));
  return { calls: [{ name: "edit", args: { file_path: join(room.root, "src/tally.js"), edits } }] };
}

/** A reply that comes when the test says so. */
function later(reply: FakeReply): { reply: FakeReply; release: () => void } {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waiting = async () => {
    await released;
    return reply;
  };
  return { reply: waiting as FakeReply, release };
}

function lastAnswer(): string {
  const messages = room.server.requests.at(-1)?.body.messages as { role: string; content: string }[];
  return messages.filter(({ role }) => role === "tool").at(-1)?.content ?? "";
}

/** What follows each of these in what was written. */
function sequences({ written }: ScreenTerminal, begin: string): string[] {
  return written.split(`\u001b${begin}`).slice(1);
}

/** What a run shows, without what differs from run to run. */
function steady(terminal: ScreenTerminal): string {
  const rows = terminal.rows().map((row) => row.replaceAll(room.root, "ROOT").replace(/ {2}\d+ s$/, ""));
  const shown = rows.filter((row) => !/fake-model · (?!\d)|Burin works in/.test(row));
  return shown
    .join("\n")
    .replace(/\d+ s/g, "N s")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

describe("a task on the screen", () => {
  it("P30 says who is waited for, and for how long", async () => {
    const slow = later({ text: "Here." });
    const terminal = await room.open([slow.reply]);
    await terminal.enter("go\r", /Waiting for fake-model · \d+ s · esc stops/);
    slow.release();
    await terminal.shows("Here.");
    await terminal.shows("? for keys");
    expect(terminal.text()).not.toContain("Waiting for");
  });

  it("P27 takes parts of a change, splits it, and tells the model what was taken, left and said", async () => {
    const terminal = await room.open([editing(), { text: "Half." }]);
    await terminal.enter("go\r", "Make this change?");
    await answer(terminal, "h", "y   yes");
    await terminal.enter("s", "› [x] 1/3");
    await terminal.enter("\u001b[B", "› [x] 2/3");
    await terminal.enter("n", "Say what to change here");
    await terminal.enter("keep null\r", "› [ ] 2/3", '└ "keep null"');
    await terminal.enter("\r", "Half.");
    const text = await readFile(join(room.root, "src/tally.js"), "utf8");
    expect(text).toBe(
      TALLY.replace(...(EDITS[0] as [string, string])).replace(...(EDITS[2] as [string, string])),
    );
    expect(lastAnswer()).toMatch(/I took 2 of 3 parts\./);
    expect(lastAnswer()).toMatch(/part 2 \(around line \d+\): left out, with the words: keep null/);
    await terminal.shows(/You took 2 of 3 parts\.\n +└ part 2, left out: "keep null"/);
  });

  it("P27 tells the model the words of a change of which nothing was taken", async () => {
    const terminal = await room.open([editing(), { text: "None." }]);
    await terminal.enter("go\r", "Make this change?");
    await answer(terminal, "h", "y   yes");
    await terminal.enter("n", "Say what to change here");
    await terminal.enter("throw instead\r", "› [ ] 1/1");
    await terminal.enter("\r", "None.");
    expect(lastAnswer()).toContain("throw instead");
    await terminal.shows(
      /✗ Edit src\/tally\.js\n +You took 0 of 1 part\.\n +└ part 1, left out: "throw instead"/,
    );
    expect(await readFile(join(room.root, "src/tally.js"), "utf8")).toBe(TALLY);
  });

  it("P30 ends with a receipt of what was changed and which check ran since, from facts", async () => {
    const stale = running("npm test -s");
    const terminal = await room.open([editing(), stale, { text: "All done." }, { text: "Nothing." }], {
      args: ["--approval-mode", "yolo"],
    });
    await terminal.enter("go\r", "All done.");
    await terminal.shows(/✓ 1 file changed {2}\+3 -3 +\/undo takes it back/);
    await terminal.shows("✓ npm test -s  passed, after the last change");
    await terminal.enter("again\r", "Nothing.");
    await terminal.shows("? for keys");
    expect(terminal.all().filter((row) => row.includes("file changed"))).toHaveLength(1);
  });

  it("P30 says of a check that it did not run since the last change", async () => {
    const replies = [running("npm test -s"), editing(), { text: "All done." }];
    const terminal = await room.open(replies, { args: ["--approval-mode", "yolo"] });
    await terminal.enter("go\r", "All done.");
    await terminal.shows("⚠ npm test -s  not run since the last change");
  });

  it("P30 shows the end of an output, and more of one that failed", async () => {
    const lines = "for i in 1 2 3 4 5 6; do echo line $i; done";
    const replies = [running(lines), running(`${lines}; exit 3`), { text: "All done." }];
    const terminal = await room.open(replies, { args: ["--approval-mode", "yolo"] });
    await terminal.enter("go\r", "All done.");
    const all = terminal.all().join("\n");
    expect(all).toMatch(/● Run for .* 6 lines\n {4}line 4\n {4}line 5\n {4}line 6\n✗/);
    expect(all).toMatch(
      /exit code 3\n {4}line 1\n {4}line 2\n {4}line 3\n {4}line 4\n {4}line 5\n {4}line 6\n/,
    );
  });

  it("P30 says in the title what goes on, and that a question waits", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    await terminal.enter("make the file\r", "Run this command?");
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Done.");
    await terminal.shows("? for keys");
    const titles = sequences(terminal, "]2;").map((text) => text.split("\u0007", 1)[0]);
    const told = titles.filter((title, index) => title !== titles[index - 1]);
    expect(told.slice(1, 4)).toEqual([
      "● burin: make the file",
      "? waiting for you: make the file",
      "● burin: make the file",
    ]);
    expect(titles.at(-1)).toBe(titles[0]);
    expect(terminal.written).not.toContain("]9;4;");
  });

  it("P30 shows progress at the tab of a terminal that is known to have it, and ends it", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }], {
      env: { TERM_PROGRAM: "ghostty" },
    });
    await terminal.enter("go\r", "Run this command?");
    await answer(terminal, "y", "Run this command?");
    await terminal.shows("Done.");
    await terminal.shows("? for keys");
    const states = sequences(terminal, "]9;4;").map((text) => text[0]);
    expect(states).toEqual(["3", "4", "3", "0"]);
  });

  it("P15 is beside what was by itself in a wide window, and below it in a narrower one", async () => {
    const terminal = await room.open([editing()], { columns: 150 });
    await terminal.enter("go\r", /3 - .*length; +│ +3 \+ .*filter/);
    terminal.resize(120, 44);
    await terminal.shows(/^ +3 - .*length;\s*$/m);
  });

  it.each([35, 80, 150])("P30 is kept as rows, %d columns wide", async (columns) => {
    const slow = later(editing());
    const replies = [slow.reply, running("npm test -s"), { text: "The test passes." }];
    const args = ["--allow", "run_shell_command"];
    const terminal = await room.open(replies, { columns, rows: 50, args });
    const kept: string[] = [];
    const keep = async (name: string): Promise<void> => {
      await terminal.settled();
      kept.push(`=== ${name}\n${steady(terminal)}`);
    };
    await terminal.enter("leave out empty words\r", /Waiting for fake-model · \d+ s/);
    await keep("waiting");
    slow.release();
    await terminal.shows("Make this change?");
    await keep("a change");
    await answer(terminal, "h", "y   yes");
    await terminal.enter("s", "1/3");
    await terminal.enter("\u001b[Bn", "Say what to change");
    await terminal.enter("keep null\r", "[ ] 2/3");
    await keep("its parts");
    await terminal.enter("\r", "The test passes.");
    await terminal.shows("1 file changed");
    await terminal.shows("> Ask anything");
    await keep("the receipt");
    await expect(kept.join("\n\n")).toMatchFileSnapshot(`goldens/task-${columns}.txt`);
  });
});

describe("a service that limits the rate of requests", () => {
  it("P35 is asked again, and the screen counts down to that", async () => {
    const limited: FakeReply = {
      raw: (_request, response) => {
        response.writeHead(429, { "content-type": "application/json", "retry-after": "4" });
        response.end('{ "error": { "message": "Rate limit reached" } }');
      },
    };
    const terminal = await room.open([limited, { text: "Here I am." }]);
    await terminal.enter("go\r", "limits the rate of requests (HTTP 429). Attempt 2 of 6 follows.");
    await terminal.shows("Trying again in 3 s · esc stops");
    await terminal.shows("Trying again in 2 s · esc stops");
    await terminal.shows("Here I am.");
    expect(terminal.all().join("\n")).not.toContain("Trying again");
  });
});
