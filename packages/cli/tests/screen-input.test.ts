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
    terminal.type("one two three");
    await terminal.shows("> one two three");
    terminal.type(ctrl("w"));
    await terminal.shows(/> one two\s*\n/);
    terminal.type(`${ctrl("a")}${ctrl("y")} `);
    await terminal.shows("> three one two");
    expect(terminal.caret.column).toBe(8);
    terminal.type("\u001bf\u001bf\u001b\u007f");
    await terminal.shows("> three one");
    terminal.type("\u001f");
    await terminal.shows("> three one two");
    terminal.type("\u001b_");
    await terminal.shows(/> three one\s*\n/);
    terminal.type(`${ctrl("u")}left\u001b[D\u001b[DX`);
    await terminal.shows("> leXft");
    terminal.type(`${ctrl("k")}${ctrl("a")}${ctrl("d")}`);
    await terminal.shows(/> eX\n/);
  });

  it("P42 has the same keys in a Russian layout, however the terminal reports them", async () => {
    const terminal = await room.open();
    terminal.type("one two\u001b[1094::119;5u");
    await terminal.shows(/> one\s*\n/);
    terminal.type("\u001b[1092;5ux");
    await terminal.shows("> xone");
    terminal.type("\u001bаy\u001b\nz");
    await terminal.shows(/> xoney\n {2}z/);
    terminal.type("\u001b[1089::99;5u");
    await terminal.shows("> Ask anything");
    terminal.type("\u001b[1089::99999999;5u");
    await terminal.shows("Press ctrl+c again to quit");
  });

  it("P42 knows ctrl and a letter as the key that it is elsewhere, where the terminal reports both", async () => {
    await mkdir(join(room.root, ".home"));
    await writeFile(join(room.root, ".home/settings.json"), '{ "ui": { "vim": true } }');
    const terminal = await room.open([{ text: "Read." }]);
    terminal.type("one two\u001b[91;5u");
    await terminal.shows("NORMAL");
    terminal.type("cbx");
    await terminal.shows("> one xo");
    terminal.type("\u001b[104;5uy\u001b[109;5u");
    await terminal.shows("Read.");
    expect(lastPrompt()).toBe("one yo");
  });

  it("P42 has wide characters in their cells, the caret behind them, and loses one at a time", async () => {
    const terminal = await room.open();
    terminal.type("日本語 e\u0301 한");
    await terminal.shows("> 日本語 e\u0301 한");
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
    terminal.type("a👨‍👩‍👧b❤️c");
    await terminal.shows("c");
    await terminal.until(() => terminal.caretFollows("c"), "a caret behind the c");
  });

  it("may have several lines, and arrows move between them before they go through what was asked", async () => {
    const terminal = await room.open([{ text: "First." }]);
    terminal.type("asked before\r");
    await terminal.shows("First.");
    terminal.type("one\u001b\rtwo\\\rthree");
    await terminal.shows(/> one\n {2}two\n {2}three/);
    terminal.type("\u001b[A\u001b[AX");
    await terminal.shows(/> oneX\n/);
    terminal.type("\u001b[A");
    await terminal.shows(/> asked before\n/);
    terminal.type("\u001b[B");
    await terminal.shows(/> oneX\n {2}two\n {2}three/);
  });

  it("P43 takes a paste of 200 kB in odd pieces as one, folded, and sends it whole", async () => {
    const pasted = Array.from(
      { length: 4000 },
      (_, n) => `line ${n} of the paste, with some words äöü 日本\r`,
    ).join("");
    await mkdir(join(room.root, ".home"));
    await writeFile(join(room.root, ".home/settings.json"), '{ "model": { "contextWindow": 1000000 } }');
    const terminal = await room.open([{ text: "Read." }]);
    terminal.type("look: ");
    const whole = `\u001b[200~${pasted}\u001b[201~`;
    for (let at = 0; at < whole.length; at += 977) terminal.type(whole.slice(at, at + 977));
    await terminal.shows("> look: [pasted: 4001 lines]");
    terminal.type("\r");
    await terminal.shows("Read.");
    expect(lastPrompt()).toBe(`look: ${pasted.replace(/\r/g, "\n").trimEnd()}`);
  });

  it("P43 is not sent by new lines inside of a paste that is not marked as one", async () => {
    const terminal = await room.open([{ text: "Read." }]);
    terminal.type("first\rsecond\rthird");
    await terminal.shows(/> first\n {2}second\n {2}third/);
    expect(room.server.requests).toHaveLength(0);
    terminal.type("\r");
    await terminal.shows("Read.");
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
    first.type("the needle\r");
    await first.shows("One.");
    first.type("something else\r");
    await first.shows("Two.");
    first.type(ctrl("d"));
    expect(await first.ended()).toBe(0);
    await room.server.close();
    const terminal = await room.open();
    terminal.type(ctrl("r"));
    await terminal.shows("Earlier prompts");
    terminal.type("needle\r");
    await terminal.shows(/> the needle\n/);
  });

  it("completes a path after @, fuzzily and without what is ignored", async () => {
    const terminal = await room.open([{ text: "Seen." }]);
    terminal.type("see @stal");
    await terminal.shows("› src/tally.js");
    expect(terminal.text()).not.toContain("hidden");
    terminal.type("\t");
    await terminal.shows(/> see @src\/tally\.js\s*\n/);
    terminal.type("\r");
    await terminal.shows("Seen.");
    expect(lastPrompt()).toContain("export const one = 1;");
    expect(terminal.all()).toContain("> see @src/tally.js");
  });

  it("completes paths that came after the first look", async () => {
    const terminal = await room.open();
    terminal.type("@");
    await terminal.shows("  src/tally.js");
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
    terminal.type("a long draft\u0003");
    await terminal.shows("Press ctrl+c again to quit");
    terminal.type("\u001b[A");
    await terminal.shows("> a long draft");
    terminal.type(", and more");
    await terminal.shows("> a long draft, and more");
    terminal.type("\u001b\u001b");
    await terminal.shows("> Ask anything");
    terminal.type("\u001b[A");
    await terminal.shows("> a long draft, and more");
    await expect(readFile(join(room.root, ".home/history.jsonl"), "utf8")).rejects.toThrow("ENOENT");
  });

  it("P43 is whole again behind a look at earlier prompts, with its folded paste and what was changed in them", async () => {
    const pasted = Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n");
    const terminal = await room.open([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    terminal.type("first\r");
    await terminal.shows("One.");
    terminal.type("second\r");
    await terminal.shows("Two.");
    terminal.type(`look: \u001b[200~${pasted}\u001b[201~`);
    await terminal.shows("> look: [pasted: 30 lines]");
    terminal.type("\u001b[A and more\u001b[A");
    await terminal.shows(/> first\n/);
    terminal.type("\u001b[B");
    await terminal.shows("> second and more");
    terminal.type("\u001b[B");
    await terminal.shows("> look: [pasted: 30 lines]");
    terminal.type("\r");
    await terminal.shows("Three.");
    expect(lastPrompt()).toBe(`look: ${pasted}`);
  });

  it("runs a command of the person's own after !, and hands its output to the model after !!", async () => {
    const terminal = await room.open([{ text: "Nice." }]);
    terminal.type("!echo own-$((1+1))\r");
    await terminal.shows("own-2");
    terminal.type("!!echo for-$((2+2))\r");
    await terminal.shows("for-4");
    terminal.type("what was it?\r");
    await terminal.shows("Nice.");
    expect(lastPrompt()).toContain("for-4");
    expect(lastPrompt()).not.toContain("own-2");
  });

  it("is remembered after #", async () => {
    const terminal = await room.open();
    terminal.type("#we indent with tabs\r");
    await terminal.shows("# we indent with tabs");
    await terminal.until(() => terminal.text().split("tabs").length > 2, "what was done");
    const files = await Promise.all(
      [join(room.root, "AGENTS.md"), join(room.root, ".home", "AGENTS.md")].map((file) =>
        readFile(file, "utf8").catch(() => ""),
      ),
    );
    expect(files.join("")).toContain("we indent with tabs");
  });

  it("P54 says where a command of Claude Code has to be copied", async () => {
    await mkdir(join(room.root, ".claude/commands"), { recursive: true });
    await writeFile(join(room.root, ".claude/commands/fix-issue.md"), "Fix issue $1.\n");
    const terminal = await room.open();
    terminal.type("/fix-issue 12\r");
    await terminal.shows("There is no command /fix-issue yet: copy");
    await terminal.shows(`${room.root}/.burin/commands.`);
  });

  it("says what a mistyped command may have been", async () => {
    const terminal = await room.open();
    terminal.type("/helpp \r");
    await terminal.shows("There is no command /helpp; did you mean /help?");
    terminal.type("/login\r");
    await terminal.shows("There is no command /login. /help shows all.");
    terminal.type("/status\r");
    await terminal.shows("Every settings file can be read.");
    expect(room.server.requests).toHaveLength(0);
  });
});

describe("words while the model works", () => {
  const slow =
    (text: string): FakeReply =>
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { text };
    };

  it("wait to be sent, are shown, and can be taken back", async () => {
    const terminal = await room.open([slow("First."), slow("Second.")]);
    terminal.type("one\r");
    await terminal.shows("esc to interrupt");
    terminal.type("more words\r");
    await terminal.shows("with the next turn: more words");
    terminal.type("\u001b[1;3A");
    await terminal.shows(/> more words\n/);
    expect(terminal.text()).not.toContain("next turn: ");
    terminal.type("\r");
    await terminal.shows("Second.");
    expect(terminal.all().filter((line) => line.startsWith("> more words"))).toHaveLength(1);
  });

  it("P11 a key interrupts, and what was waiting is back at the prompt", async () => {
    const terminal = await room.open([
      {
        raw: (_request, response) =>
          void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
      },
      { text: "Later." },
    ]);
    terminal.type("one\r");
    await terminal.shows("esc to interrupt");
    terminal.type("two\t");
    await terminal.shows("when this is done: two");
    terminal.type("\u001b");
    await terminal.shows("Stopped.");
    await terminal.shows(/> two\n/);
    terminal.type("\r");
    await terminal.shows("Later.");
  });
});
