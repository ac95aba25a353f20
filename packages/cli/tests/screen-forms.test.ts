import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  await mkdir(join(room.root, ".home"));
  const mcpServers = { forms: { command: process.execPath, args: [SERVER] } };
  await writeFile(join(room.root, ".home/settings.json"), JSON.stringify({ mcpServers }));
  const terminal = await room.open([ASK, { text: "Booked." }], { args: ["--approval-mode", "yolo"] });
  terminal.type("go\r");
  await terminal.shows("Whose seat is it");
  await answer(terminal, "\t", "› Name");
  terminal.type("\u001b[Z");
  await terminal.shows("› Name");
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
    terminal.type("Ada\r");
    await terminal.shows("› Seats: 1");
    terminal.type("\u00152\r");
    await terminal.shows("› Class");
    terminal.type("  ");
    await terminal.shows("(•) Second");
    terminal.type("\r");
    await terminal.shows("› Meals");
    terminal.type("\u001b[C\u001b[C ");
    await terminal.shows("[ ] Breakfast  [x] Dinner");
    terminal.type("\r");
    await terminal.shows("› At the window");
    terminal.type(" ");
    await terminal.shows("(•) no");
    terminal.type("\r");
    await terminal.shows("› Mail");
    terminal.type("\r");
    await terminal.shows("› Send");
    terminal.type("\r");
    expect(await told(terminal)).toEqual({
      action: "accept",
      content: { name: "Ada", seats: 2, class: "second", meals: ["d"], window: false },
    });
  });

  it("R24 says what does not fit, beside its field, and sends nothing until it does", async () => {
    const terminal = await form();
    terminal.type("A\r");
    await terminal.shows(/"name" .*2/);
    terminal.type("da\r");
    await terminal.shows("› Seats");
    terminal.type("0\r");
    await terminal.shows(/"seats" .*9/);
    terminal.type("\u0015\r");
    await terminal.shows("› Class");
    terminal.type("\r");
    await terminal.shows("This is required.");
    terminal.type(" ");
    await terminal.shows("(•) First");
    terminal.type("\t\t\t");
    await terminal.shows("› Mail");
    terminal.type("nobody\r");
    await terminal.shows("This must be of the format email.");
    terminal.type("@example.org");
    await terminal.shows("nobody@example.org");
    terminal.type("\r");
    await terminal.shows("› Send");
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
