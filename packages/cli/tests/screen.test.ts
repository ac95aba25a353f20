import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "a.txt": "alpha\n", "src/tally.js": "export const one = 1;\n" });

describe("the screen", () => {
  it("answers a prompt, and leaves the terminal as it was found", async () => {
    const terminal = await room.open([{ text: "It says **alpha**.\n\n- one\n- two\n" }]);
    await terminal.enter("what does a.txt say?", "> what does a.txt say?");
    expect(terminal.caret.column).toBe(22);
    await terminal.enter("\r", "• two", "? for keys");
    await terminal.enter("\u0003", "Press ctrl+c again to quit");
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(0);
    const lines = terminal.all().filter((line) => line !== "");
    expect(lines[0]).toContain(room.root);
    // How much of the card was known when the prompt was sent depends on git.
    expect(lines.slice(lines.indexOf("> what does a.txt say?"))).toEqual([
      "> what does a.txt say?",
      "It says **alpha**.",
      "• one",
      "• two",
      expect.stringMatching(/^To continue this session: burin -r \d{8}T\d{6}-/),
    ]);
  });
});
