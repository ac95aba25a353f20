import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({
  "a.txt": "alpha\n",
  "src/tally.js": "export const one = 1;\n",
  ".gitignore": "hidden/\n",
  "hidden/tally.js": "\n",
});

/** What the model was asked last. */
function lastPrompt(): string {
  const messages = room.server.requests.at(-1)?.body.messages as { role: string; content: unknown }[];
  const content = messages.filter(({ role }) => role === "user").at(-1)?.content;
  return typeof content === "string" ? content : JSON.stringify(content);
}

const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96);

describe("what is written at the prompt", () => {
  it("is edited with the keys of a shell: words, cutting, putting back, undo", async () => {
    const terminal = await room.open();
    await terminal.enter("one two three", "> one two three");
    await terminal.enter(ctrl("w"), /> one two\s*\n/);
    await terminal.enter(`${ctrl("a")}${ctrl("y")} `, "> three one two");
    expect(terminal.caret.column).toBe(8);
    await terminal.enter("\u001bf\u001bf\u001b\u007f", "> three one");
    await terminal.enter("\u001f", "> three one two");
    await terminal.enter("\u001b_", /> three one\s*\n/);
    await terminal.enter(`${ctrl("u")}left\u001b[D\u001b[DX`, "> leXft");
    await terminal.enter(`${ctrl("k")}${ctrl("a")}${ctrl("d")}`, /> eX\n/);
  });

  it("P42 has the same keys in a Russian layout, however the terminal reports them", async () => {
    const terminal = await room.open();
    await terminal.enter("one two\u001b[1094::119;5u", /> one\s*\n/);
    await terminal.enter("\u001b[1092;5ux", "> xone");
    await terminal.enter("\u001bаy\u001b\nz", /> xoney\n {2}z/);
    await terminal.enter("\u001b[1089::99;5u", "> Ask anything");
    await terminal.enter("\u001b[1089::99999999;5u", "Press ctrl+c again to quit");
  });

  it("P42 knows ctrl and a letter as the key that it is elsewhere, where the terminal reports both", async () => {
    await room.set('{ "ui": { "vim": true } }');
    const terminal = await room.open([{ text: "Read." }]);
    await terminal.enter("one two\u001b[91;5u", "NORMAL");
    await terminal.enter("cbx", "> one xo");
    await terminal.enter("\u001b[104;5uy\u001b[109;5u", "Read.");
    expect(lastPrompt()).toBe("one yo");
  });

  it("P42 has wide characters in their cells, the caret behind them, and loses one at a time", async () => {
    const terminal = await room.open();
    await terminal.enter("日本語 e\u0301 한", "> 日本語 e\u0301 한");
    expect(terminal.caret.column).toBe(13);
    terminal.type("\u007f");
    await terminal.until(() => terminal.caret.column === 11, "a caret behind the blank");
    terminal.type("\u007f\u007f");
    await terminal.until(() => terminal.caret.column === 9, "a caret behind the third character");
    expect(terminal.text()).toContain("> 日本語");
    expect(terminal.text()).not.toContain("e\u0301");
  });

  it("P42 has the caret behind emoji wherever the terminal draws them", async () => {
    const terminal = await room.open();
    await terminal.enter("a👨‍👩‍👧b❤️c", "c");
    await terminal.until(() => terminal.caretFollows("c"), "a caret behind the c");
  });

  it("may have several lines, and arrows move between them before they go through what was asked", async () => {
    const terminal = await room.open([{ text: "First." }]);
    await terminal.enter("asked before\r", "First.");
    await terminal.enter("one\u001b\rtwo\\\rthree", /> one\n {2}two\n {2}three/);
    await terminal.enter("\u001b[A\u001b[AX", /> oneX\n/);
    await terminal.enter("\u001b[A", /> asked before\n/);
    await terminal.enter("\u001b[B", /> oneX\n {2}two\n {2}three/);
  });

  it("P43 takes a paste of 200 kB in odd pieces as one, folded, and sends it whole", async () => {
    const pasted = Array.from(
      { length: 4000 },
      (_, n) => `line ${n} of the paste, with some words äöü 日本\r`,
    ).join("");
    await room.set('{ "model": { "contextWindow": 1000000 } }');
    const terminal = await room.open([{ text: "Read." }]);
    terminal.type("look: ");
    const whole = `\u001b[200~${pasted}\u001b[201~`;
    for (let at = 0; at < whole.length; at += 977) terminal.type(whole.slice(at, at + 977));
    await terminal.shows("> look: [pasted: 4000 lines]");
    await terminal.enter("\r", "Read.");
    expect(lastPrompt()).toBe(`look: ${pasted.replace(/\r/g, "\n").trimEnd()}`);
  });

  it("P43 is not sent by new lines inside of a paste that is not marked as one", async () => {
    const terminal = await room.open([{ text: "Read." }]);
    await terminal.enter("first\rsecond\rthird", /> first\n {2}second\n {2}third/);
    expect(room.server.requests).toHaveLength(0);
    await terminal.enter("\r", "Read.");
    expect(lastPrompt()).toBe("first\nsecond\nthird");
  });

  it("P43 is not sent either where an answer of the terminal comes in the middle of it", async () => {
    const terminal = await room.open([]);
    terminal.type("first\r\u001b[>1;10;0csecond\u001b]11;rgb:0000/0000/0000\u0007\rthird");
    await terminal.shows(/> first\n {2}second\n {2}third/);
    expect(room.server.requests).toHaveLength(0);
  });

  it("is found again with ctrl+r, also in a later run", async () => {
    const first = await room.open([{ text: "One." }, { text: "Two." }]);
    await first.enter("the needle\r", "One.");
    await first.enter("something else\r", "Two.");
    first.type(ctrl("d"));
    expect(await first.ended()).toBe(0);
    await room.server.close();
    const terminal = await room.open();
    await terminal.enter(ctrl("r"), "Earlier prompts");
    await terminal.enter("needle\r", /> the needle\n/);
  });

  it("completes a path after @, fuzzily and without what is ignored", async () => {
    const terminal = await room.open([{ text: "Seen." }]);
    await terminal.enter("see @stal", "› src/tally.js");
    expect(terminal.text()).not.toContain("hidden");
    await terminal.enter("\t", /> see @src\/tally\.js\s*\n/);
    await terminal.enter("\r", "Seen.");
    expect(lastPrompt()).toContain("export const one = 1;");
    expect(terminal.all()).toContain("> see @src/tally.js");
  });

  it("P41 completes a folder after @, and a name in it where one follows", async () => {
    const terminal = await room.open([{ text: "Listed." }, { text: "Seen." }]);
    await terminal.enter("see @sr", "› src/");
    await terminal.enter("\t", /> see @src\/\s*\n/);
    await terminal.enter("\r", "Listed.");
    expect(lastPrompt()).toContain("tally.js");
    await terminal.enter("@src", "› src/");
    await terminal.enter("\ttal", "› src/tally.js");
    await terminal.enter("\t\r", "Seen.");
    expect(lastPrompt()).toContain("export const one = 1;");
  });

  it("completes paths that came after the first look", async () => {
    const terminal = await room.open();
    await terminal.enter("@", "  src/tally.js");
    await writeFile(join(room.root, "later.txt"), "");
    let last = 0;
    // A reading is not repeated at once.
    await terminal.until(() => {
      const isDue = performance.now() - last > 400;
      if (isDue) terminal.type(`${ctrl("u")}@lat`);
      if (isDue) last = performance.now();
      return terminal.text().includes("› later.txt");
    }, "the new file");
  });

  it("is there again after up, if it was emptied and not sent", async () => {
    const terminal = await room.open();
    await terminal.enter("a long draft\u0003", "Press ctrl+c again to quit");
    await terminal.enter("\u001b[A", "> a long draft");
    await terminal.enter(", and more", "> a long draft, and more");
    await terminal.enter("\u001b\u001b", "> Ask anything");
    await terminal.enter("\u001b[A", "> a long draft, and more");
    await expect(readFile(join(room.root, ".home/history.jsonl"), "utf8")).rejects.toThrow("ENOENT");
  });

  it("is emptied by the second escape, which says so before and nothing behind", async () => {
    const terminal = await room.open();
    await terminal.enter("a draft\u001b", "Press esc again to empty the prompt");
    await terminal.enter("\u001b", /> Ask anything.*\n.*\? for keys/);
    await terminal.enter("\u001b", "Press esc again to go back to an earlier prompt");
  });

  it("P43 is whole again behind a look at earlier prompts, with its folded paste and what was changed in them", async () => {
    const pasted = Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n");
    const terminal = await room.open([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    await terminal.enter("first\r", "One.");
    await terminal.enter("second\r", "Two.");
    await terminal.enter(`look: \u001b[200~${pasted}\u001b[201~`, "> look: [pasted: 30 lines]");
    await terminal.enter("\u001b[A and more\u001b[A", /> first\n/);
    await terminal.enter("\u001b[B", "> second and more");
    await terminal.enter("\u001b[B", "> look: [pasted: 30 lines]");
    await terminal.enter("\r", "Three.");
    expect(lastPrompt()).toBe(`look: ${pasted}`);
  });

  it("runs a command of the person's own after !, and hands its output to the model after !!", async () => {
    const terminal = await room.open([{ text: "Nice." }]);
    await terminal.enter("!echo own-$((1+1))\r", "own-2");
    await terminal.enter("!!echo for-$((2+2))\r", "for-4");
    await terminal.enter("what was it?\r", "Nice.");
    expect(lastPrompt()).toContain("for-4");
    expect(lastPrompt()).not.toContain("own-2");
  });

  it("hands the outputs of all commands after !! to the model, in their order", async () => {
    const terminal = await room.open([{ text: "Nice." }]);
    await terminal.enter("!!echo one-$((1+1))\r", "one-2");
    await terminal.enter("!!echo two-$((2+2))\r", "two-4");
    await terminal.enter("what was it?\r", "Nice.");
    expect(lastPrompt()).toMatch(/one-2[\s\S]*two-4[\s\S]*what was it\?$/);
  });

  it("shows a command of the person's own while it runs, and does not say that a model works", async () => {
    const terminal = await room.open();
    await terminal.enter("!sleep 1; echo $((2+2))\r", "! sleep 1; echo $((2+2))\n\n> Ask anything");
    await terminal.shows(/^! sleep 1; echo \$\(\(2\+2\)\)\n4\n/m);
    expect(terminal.text().split("! sleep")).toHaveLength(2);
  });

  it("shows a command of the person's own as long as it runs, though a later one has ended, and escape stops it", async () => {
    const terminal = await room.open();
    const isStillShown = "! sleep 60\n\n> Ask anything";
    await terminal.enter("!sleep 60\r", isStillShown);
    await terminal.enter("!echo $((2+2))\r", /^4$/m);
    await terminal.shows(isStillShown);
    await terminal.enter("\u001b", /interrupted|cancelled/i);
    await terminal.until(() => !terminal.text().includes(isStillShown), "nothing runs");
  });

  it("P40 says of a long output of an own command how much is not shown, and of no key that it shows it", async () => {
    const terminal = await room.open();
    await terminal.enter("!seq 300\r", /^300$/m);
    expect(terminal.all().join("\n")).toContain("! seq 300\n… 102 more lines\n103\n");
    await terminal.enter("!seq 3000\r", /^3000$/m);
    expect(terminal.all().join("\n")).toContain("! seq 3000\n… 602+ more lines\n2803\n");
  });

  it("is remembered after #", async () => {
    const terminal = await room.open();
    await terminal.enter("#we indent with tabs\r", "# we indent with tabs");
    await terminal.until(() => terminal.text().split("tabs").length > 2, "what was done");
    const files = await Promise.all(
      [join(room.root, "AGENTS.md"), join(room.root, ".home", "AGENTS.md")].map((file) =>
        readFile(file, "utf8").catch(() => ""),
      ),
    );
    expect(files.join("")).toContain("we indent with tabs");
  });

  it.each(["# The bug\n\nIt is there.", "## Steps", "#42 is open again", "![a picture](b.png) and words"])(
    "P55 is no fact and no command where it is a page or names an issue: %j",
    async (text) => {
      const terminal = await room.open([{ text: "Seen." }]);
      await terminal.enter(`\u001b[200~${text}\u001b[201~`, `> ${text.split("\n", 1)}`);
      await terminal.enter("\r", "Seen.");
      expect(lastPrompt()).toContain(text);
    },
  );

  it("P54 says where a command of Claude Code has to be copied", async () => {
    await mkdir(join(room.root, ".claude/commands"), { recursive: true });
    await writeFile(join(room.root, ".claude/commands/fix-issue.md"), "Fix issue $1.\n");
    const terminal = await room.open();
    await terminal.enter("/fix-issue 12\r", "There is no command /fix-issue yet: copy");
    await terminal.shows(`${room.root}/.burin/commands.`);
  });

  it("says what a mistyped command may have been", async () => {
    const terminal = await room.open([], { rows: 60 });
    await terminal.enter("/helpp \r", "There is no command /helpp; did you mean /help?");
    await terminal.enter("/logout\r", "There is no command /logout. /help shows all.");
    await terminal.enter("/status\r", "Every settings file can be read.");
    expect(room.server.requests).toHaveLength(0);
  });
});

describe("words while the model works", () => {
  let release = (): void => {};
  /** Comes once it is released. */
  function held(text: string): FakeReply {
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    return () => released.then(() => ({ text }));
  }

  it("wait to be sent, are shown, and can be taken back", async () => {
    const terminal = await room.open([held("First."), { text: "Second." }]);
    await terminal.enter("one\r", "esc to interrupt");
    await terminal.enter("more words\r", "with the next turn: more words");
    await terminal.enter("\u001b[1;3A", /> more words\n/);
    expect(terminal.text()).not.toContain("next turn: ");
    await terminal.enter("\r", "with the next turn: more words");
    release();
    await terminal.shows("Second.");
    expect(terminal.all().filter((line) => line.startsWith("> more words"))).toHaveLength(1);
  });

  it("P41 have the files that they mention, in the order they were typed in", async () => {
    const terminal = await room.open([held("First."), { text: "Second." }]);
    await terminal.enter("one\r", "esc to interrupt");
    await terminal.enter("look at @a.txt\r", "with the next turn: look at @a.txt");
    await terminal.enter("then stop\r", "with the next turn: then stop");
    release();
    await terminal.shows("Second.");
    const asked = JSON.stringify(room.server.requests.at(-1)?.body.messages);
    expect(asked).toMatch(/look at @a\.txt\\n\\nWhat the @ mentions hold:.*alpha\\n.*then stop/);
    expect(terminal.text()).not.toContain("next turn: ");
  });

  it("P41 come back as they were typed, without the files that they mention", async () => {
    const terminal = await room.open([held("First."), { text: "Second." }]);
    await terminal.enter("one\r", "esc to interrupt");
    await terminal.enter("look at @a.txt\r", "with the next turn: look at @a.txt");
    await terminal.enter("@src/tally.js too\t", "when this is done: @src/tally.js too");
    await terminal.enter("\u001b[1;3A", /> look at @a\.txt\n\s+@src\/tally\.js too\n/);
    expect(terminal.text()).not.toContain("alpha");
    await terminal.enter("\r", "with the next turn: look at @a.txt");
    release();
    await terminal.shows("Second.");
    expect(lastPrompt().split("What the @ mentions hold:")).toHaveLength(2);
  });

  it("P11 a key interrupts, and what was waiting is back at the prompt", async () => {
    const terminal = await room.open([
      {
        raw: (_request, response) =>
          void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
      },
      { text: "Later." },
    ]);
    await terminal.enter("one\r", "esc to interrupt");
    await terminal.enter("two\t", "when this is done: two");
    await terminal.enter("\u001b", "Stopped.", /> two\n/);
    await terminal.enter("\r", "Later.");
  });
});
