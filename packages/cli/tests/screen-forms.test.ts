import { fileURLToPath } from "node:url";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { answer, ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const SERVER = fileURLToPath(new URL("asking-server.mjs", import.meta.url));
const ASK: FakeReply = { calls: [{ name: "forms__ask", args: {} }] };
const room = new ScreenRoom({ "a.txt": "alpha\n" }, { columns: 90 });

/** The form of the server as it stands, heard already. */
async function form(): Promise<ScreenTerminal> {
  const mcpServers = { forms: { command: process.execPath, args: [SERVER] } };
  await room.set({ mcpServers });
  const terminal = await room.open([ASK, { text: "Booked." }], { args: ["--approval-mode", "yolo"] });
  await terminal.enter("go\r", "Whose seat is it");
  await answer(terminal, "\t", "› Name");
  await terminal.enter("\u001b[Z", "› Name");
  return terminal;
}

/** What the model was told that the server got. */
async function told(terminal: ScreenTerminal): Promise<unknown> {
  await terminal.shows("Booked.");
  const messages = room.server.requests.at(-1)?.body.messages as { role: string; content: string }[];
  const text = messages.findLast(({ role }) => role === "tool")?.content ?? "";
  return JSON.parse(/\{[\s\S]*\}/.exec(text)?.[0] ?? "{}");
}

describe("a form of an MCP server", () => {
  it("R24 is filled in: text, number, choices, several, yes and no; defaults are there already", async () => {
    const terminal = await form();
    await terminal.enter("Ada\r", "› Seats: 1");
    await terminal.enter("\u00152\r", "› Class");
    await terminal.enter("  ", "(•) Second");
    await terminal.enter("\r", "› Meals");
    await terminal.enter("\u001b[C\u001b[C ", "[ ] Breakfast  [x] Dinner");
    await terminal.enter("\r", "› At the window");
    await terminal.enter(" ", "(•) no");
    await terminal.enter("\r", "› Mail");
    await terminal.enter("\r", "› Send");
    terminal.type("\r");
    expect(await told(terminal)).toEqual({
      action: "accept",
      content: { name: "Ada", seats: 2, class: "second", meals: ["d"], window: false },
    });
  });

  it("R24 says what does not fit, beside its field, and sends nothing until it does", async () => {
    const terminal = await form();
    await terminal.enter("A\r", /"name" .*2/);
    await terminal.enter("da\r", "› Seats");
    await terminal.enter("0\r", /"seats" .*9/);
    await terminal.enter("\u0015\r", "› Class");
    await terminal.enter("\r", "This is required.");
    await terminal.enter(" ", "(•) First");
    await terminal.enter("\t\t\t", "› Mail");
    await terminal.enter("nobody\r", "This must be of the format email.");
    await terminal.enter("@example.org", "nobody@example.org");
    await terminal.enter("\r", "› Send");
    terminal.type("\r");
    expect(await told(terminal)).toMatchObject({
      action: "accept",
      content: { name: "Ada", class: "first", mail: "nobody@example.org" },
    });
  });

  it.each([
    ["decline", "\u001b[A\r"],
    ["cancel", "\u001b"],
  ])("R24 can be answered with %s", async (action, keys) => {
    const terminal = await form();
    terminal.type(keys);
    expect(await told(terminal)).toEqual({ action });
  });
});
