import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "a.txt": "alpha\n" });

/** Lines in parts; each but the first comes when `next` is called. */
function inParts(lines: readonly string[], size: number): { reply: FakeReply; next: () => void } {
  let go = (): void => {};
  const raw = async (_request: unknown, response: ServerResponse): Promise<void> => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [index, content] of lines.entries()) {
      const isPause = index > 0 && index % size === 0;
      if (isPause) await new Promise<void>((resolve) => (go = resolve));
      const delta = { content: `${content}\n` };
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    }
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
  };
  return { reply: { raw }, next: () => go() };
}

const COLOR = new RegExp(`${"\u001b"}\\[[\\d;]*m`);

const marks = (count: number): string[] =>
  Array.from({ length: count }, (_, n) =>
    `mark${String(n).padStart(4, "0")} ${"and words ".repeat(n % 9)}`.trimEnd(),
  );

const marksIn = (lines: readonly string[]): string[] => lines.join("\n").match(/mark\d{4}/g) ?? [];

describe("terminals that are not as one would like", () => {
  it("P42 one that answers no question shows all the same", async () => {
    const terminal = await room.open(
      [{ text: "Emoji \u{1f600} and \u{1f468}\u200d\u{1f469}\u200d\u{1f467}." }],
      { isSilent: true },
    );
    await terminal.enter("go \u{1f600}\r", "Emoji");
    terminal.type("\u0004");
    expect(await terminal.ended()).toBe(0);
  });

  it("a dumb one gets no colours, and can be used", async () => {
    const env = { TERM: "dumb", NO_COLOR: "" };
    const terminal = await room.open([{ text: "It says **alpha**." }], { env });
    await terminal.enter("go\r", "It says **alpha**.");
    expect(terminal.written).not.toMatch(COLOR);
    terminal.type("\u0004");
    expect(await terminal.ended()).toBe(0);
  });

  it("P30 storms of resizes while a reply streams lose and double nothing", async () => {
    const lines = marks(400);
    const { reply, next } = inParts(lines, 100);
    const terminal = await room.open([reply], { columns: 100, rows: 30 });
    terminal.type("go\r");
    for (const last of [99, 199, 299]) {
      await terminal.shows(`mark${String(last).padStart(4, "0")}`);
      await terminal.settled();
      for (let n = 0; n < 60; n += 1) terminal.resize(40 + ((n * 37 + last) % 120), 10 + ((n * 7) % 30));
      next();
    }
    await terminal.shows("? for keys");
    await terminal.settled();
    expect(marksIn(terminal.all())).toEqual(lines.map((line) => line.slice(0, 8)));
  });

  it("P13 one that is closed in the middle of a reply leaves a session that can be resumed", async () => {
    const hanging: FakeReply = { raw: (_request, response) => void response.writeHead(200).flushHeaders() };
    const terminal = await room.open([{ text: "I know alpha." }, hanging, { text: "It was alpha." }]);
    await terminal.enter("remember alpha\r", "I know alpha.", "? for keys");
    await terminal.enter("and now?\r", "esc to interrupt");
    terminal.hangUp();
    // Not the signal with which Node would end for want of its terminal.
    expect(await terminal.ended()).toBe(129);
    const again = await room.start({ args: ["-c"] });
    await again.shows("I know alpha.");
    await again.enter("what was it?\r", "It was alpha.");
  });
});

describe("input that is not as one would like", () => {
  it("P43 a paste of megabytes, with sequences in it and cut anywhere, is text and nothing else", async () => {
    await room.set('{ "model": { "contextWindow": 10000000 } }');
    const terminal = await room.open([{ text: "So much." }]);
    const bomb = `${"0123456789 \u001b]0;owned\u0007\u001b[2J\u202e\n".repeat(40_000)}the end`;
    await terminal.enter(`\u001b[200~${bomb}\u001b[201~`, "[pasted: 40001 lines]");
    await terminal.enter(" what is it?", "what is it?");
    expect(terminal.written).not.toContain("owned");
    await terminal.enter("\r", "So much.");
    expect(terminal.written).not.toContain("owned\u0007");
    const sent = JSON.stringify(room.server.requests[0]?.body.messages);
    expect(sent).toContain("the end what is it?");
  });

  it("P43 bytes that are no text, reports that never end and unknown sequences do not stand in the way", async () => {
    const terminal = await room.open([{ text: "Fine." }]);
    terminal.send(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80]));
    terminal.type("\u001b[999999;99999;9999~\u001b[?1;2;3q\u001b[<0;10;10M\u001bP+q544e\u001b\\");
    terminal.type(`\u001b]52;c;${"A".repeat(5000)}\u0007\u001b]11;rgb:no/such/colour\u0007`);
    await terminal.enter("\u0015good words", "> good words");
    await terminal.enter("\r", "Fine.");
    expect(terminal.all()).toContain("> good words");
  });

  it("text of files, names, commands and titles that drives terminals is shown, not obeyed", async () => {
    const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e";
    await writeFile(
      join(room.root, "evil.txt"),
      Buffer.concat([Buffer.from(evil), Buffer.from([0xff, 0xfe])]),
    );
    await writeFile(join(room.root, `e${evil.replace("/", "")}.md`), "x");
    const calls = [
      { name: "run_shell_command", args: { command: "cat evil.txt; ls; exit 3" } },
      { name: "read_file", args: { absolute_path: join(room.root, `${evil}.md`) } },
      { name: "todo_write", args: { todos: [{ id: "1", content: evil, status: "pending" }] } },
      { name: "write_file", args: { file_path: join(room.root, "new.txt"), content: `${evil}\n` } },
      { name: evil, args: { a: evil } },
    ];
    const terminal = await room.open([{ text: evil, calls }, { text: "Done." }], {
      args: ["--approval-mode", "yolo"],
      rows: 50,
    });
    await terminal.enter("go\r", "Done.");
    await terminal.enter("\u000f", "esc closes");
    terminal.type("\u001b");
    await terminal.until(() => !terminal.text().includes("esc closes"), "the prompt");
    await terminal.enter("@e", "› ");
    for (const power of ["owned\u0007", "\u009b", "\u202e"]) expect(terminal.written).not.toContain(power);
    expect(terminal.written).not.toContain("\u001b[2J");
  });
});
