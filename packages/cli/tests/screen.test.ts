import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newFolder, removeFolder, type ScreenOptions, ScreenTerminal } from "./screen-terminal.ts";

let root = "";
let server: FakeModelServer | undefined;
let screen: ScreenTerminal | undefined;

beforeEach(async () => {
  root = await newFolder({ "a.txt": "alpha\n", "src/tally.js": "export const one = 1;\n" });
});

afterEach(async () => {
  screen?.close();
  await server?.close();
  await removeFolder(root);
});

async function open(
  replies: readonly FakeReply[],
  options: Partial<ScreenOptions> = {},
): Promise<ScreenTerminal> {
  server = await startFakeModelServer(replies);
  const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_MODEL: "fake-model", ...options.env };
  screen = new ScreenTerminal({ cwd: root, ...options, env });
  await screen.shows("fake-model · default");
  return screen;
}

describe("the screen", () => {
  it("answers a prompt, and leaves the terminal as it was found", async () => {
    const terminal = await open([{ text: "It says **alpha**.\n\n- one\n- two\n" }]);
    terminal.type("what does a.txt say?");
    await terminal.shows("> what does a.txt say?");
    expect(terminal.caret.column).toBe(22);
    terminal.type("\r");
    await terminal.shows("• two");
    await terminal.shows("? for keys");
    terminal.type("\u0003");
    await terminal.shows("Press ctrl+c again to quit");
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(0);
    expect(terminal.all().filter((line) => line !== "")).toEqual([
      `Burin works in ${root}`,
      "> what does a.txt say?",
      "It says **alpha**.",
      "• one",
      "• two",
      expect.stringMatching(/^To go on with this session: burin -r \d{8}T\d{6}-/),
    ]);
  });
});
