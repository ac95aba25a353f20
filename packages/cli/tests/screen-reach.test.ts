import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { answer, running, ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "a.txt": "alpha\n" }, { columns: 90 });

/** What the model was told of its last call. */
function lastAnswer(): string {
  const messages = room.server.requests.at(-1)?.body.messages as { role: string; content: string }[];
  return messages.filter(({ role }) => role === "tool").at(-1)?.content ?? "";
}

describe("a question that shows its reach", () => {
  it(
    "P22 says first what is worst, marked also without colour, and what the sandbox allows",
    requirePrograms("bwrap"),
    async () => {
      const command = "npm install left-pad && git push origin main && rm -rf ~/old-notes";
      const terminal = await room.open([running(command)]);
      await terminal.enter("go\r", "Run this command?");
      const text = terminal.text();
      expect(text).toContain("⚠ 2 of 3 parts leave the project");
      const order = [
        "! ask  rm -rf ~/old-notes",
        "! ask  git push origin main",
        "  ask  npm install left-pad",
      ];
      expect(order.map((part) => text.indexOf(part))).toEqual(
        order.map((part) => text.indexOf(part)).sort((a, b) => a - b),
      );
      for (const part of order) expect(text).toContain(part);
      expect(text).toContain("deletes ~/old-notes, outside this project");
      expect(text).toMatch(/Sandbox: writes only here · \S/);
    },
  );

  it("P22 gives each answer a line of its own, which arrows and enter choose", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    await terminal.enter(
      "go\r",
      /\n › y {3}yes\n {3}n {3}no, and say why\n {3}a {3}don't ask again for: touch …\n/,
    );
    await pause(400);
    await terminal.enter("\u001b[B", "› n   no, and say why");
    await terminal.enter("\u001b[A", "› y   yes");
    await terminal.enter("\r", "Done.");
    await expect(readFile(join(room.root, "made.txt"), "utf8")).resolves.toBe("");
  });

  it("R31 takes another command, which is judged again and never run by the old answer", async () => {
    const made = running("touch made.txt");
    const terminal = await room.open([made, made, { text: "Done." }]);
    await terminal.enter("go\r", "\n   touch made.txt");
    await answer(terminal, "e", "y   yes");
    terminal.type("\u0015rm a.txt\r");
    await terminal.shows(/\n {3}rm a\.txt[\s\S]*y {3}yes/);
    await answer(terminal, "n", "y   yes");
    terminal.type("\r");
    await terminal.shows(/\n {3}touch made\.txt[\s\S]*y {3}yes/);
    expect(lastAnswer()).toContain("The user changed the command to:\nrm a.txt");
    await answer(terminal, "e", "y   yes");
    terminal.type("\u0015cat a.txt\r");
    await terminal.shows("Done.");
    expect(lastAnswer()).toContain("alpha");
    await expect(readFile(join(room.root, "made.txt"), "utf8")).rejects.toThrow("ENOENT");
  });

  it("P11 takes no enter while the prompt holds words, unless an answer was chosen", async () => {
    const terminal = await room.open([running("touch made.txt"), { text: "Done." }]);
    terminal.type("go\r");
    await terminal.until(() => room.server.requests.length === 1, "the request");
    await terminal.enter("and more", "Run this command?");
    await pause(400);
    terminal.type("\r\r");
    await pause(400);
    expect(terminal.text()).toContain("Run this command?");
    await expect(readFile(join(room.root, "made.txt"), "utf8")).rejects.toThrow("ENOENT");
    await terminal.enter("\u001b[B\u001b[A\r", "Done.");
  });

  it(
    "P53 offers a command that needs the network to run with it and without it",
    requirePrograms("bwrap"),
    async () => {
      const command = "echo it ran; curl -sS -m 9 http://does-not-exist.invalid/";
      const terminal = await room.open([running(command), { text: "Done." }]);
      await terminal.enter("go\r", "Run this command?");
      expect(terminal.text()).toContain("needs the network: does-not-exist.invalid");
      expect(terminal.text()).toContain("y   yes, with network");
      await answer(terminal, "s", "y   yes");
      await terminal.shows("Done.");
      expect(lastAnswer()).toContain("it ran");
      expect(lastAnswer()).toContain("The sandbox has no network.");
    },
  );

  it("P22 keeps what an always is about in view while its duration is chosen", async () => {
    const terminal = await room.open([running("npm test")]);
    await terminal.enter("go\r", "a   don't ask again for: npm test …");
    await answer(terminal, "a", "y   yes");
    await terminal.shows("s   this session");
    expect(terminal.text()).toMatch(/1 exactly npm test\n/);
    expect(terminal.text()).toMatch(/› 2 npm test …\n/);
  });

  it("P22 gives a long change the whole window after ctrl+f, and its answers back", async () => {
    const content = Array.from({ length: 60 }, (_, n) => `new ${n}`).join("\n");
    const write = { name: "write_file", args: { file_path: join(room.root, "new.txt"), content } };
    const terminal = await room.open([{ calls: [write] }, { text: "Written." }]);
    await terminal.enter("go\r", "Make this change?");
    const rows = (): number => terminal.text().match(/\+ new \d+/g)?.length ?? 0;
    const before = rows();
    await pause(400);
    terminal.type("\u0006");
    await terminal.until(() => rows() > before + 4, "more of it");
    expect(terminal.text()).not.toContain("y   yes");
    await terminal.enter("y", "back to the answers");
    await terminal.enter("\u0006", "y   yes");
    await answer(terminal, "y", "Make this change?");
    await terminal.shows("Written.");
  });

  it("P22 is whole in a low window, and its rules are there before they are stored", async () => {
    const command = 'node x.js "" && node x.js "two words" && touch made.txt';
    const terminal = await room.open([running(command)], { columns: 40, rows: 12 });
    await terminal.enter("go\r", " Run this command?", "\n   node x.js");
    expect(terminal.text()).toContain("a don't ask again for: …");
    await terminal.until(() => {
      terminal.type("\u001b[6~");
      return terminal.text().includes("may change files");
    }, "what it would do");
    await answer(terminal, "a", "y yes");
    expect(terminal.text()).toContain("\n touch …");
    expect(terminal.text()).toContain("─\n Run this command?");
  });

  it("P22 begins with what is asked in a window that is too low for its answers", async () => {
    const terminal = await room.open([running("touch made.txt && rm -rf a.txt")], { columns: 40, rows: 8 });
    await terminal.enter("go\r", " Run this command?", /\n {3}touch made\.txt && rm -rf\s+a\.txt/);
    await terminal.until(() => {
      terminal.type("\u001b[B");
      return terminal.text().includes("esc no, and stop");
    }, "the answers");
  });
});
