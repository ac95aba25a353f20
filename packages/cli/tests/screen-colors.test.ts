import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";

const room = new ScreenRoom({ "tally.js": "export function tally(text) {\n  return text.length;\n}\n" });

const REPLY = `# A heading

Text that is **strong**, *stressed*, \`code\`, ~~struck~~ and a [link](https://example.org).

> What somebody said

\`\`\`js
// counts
const count = "one" + 2;
\`\`\`
`;

const TODOS = ["completed", "in_progress", "pending"].map((status, at) => ({
  id: String(at),
  content: status,
  status,
}));

describe("how many colours a terminal has", () => {
  it.each([
    ["24-bit", { TERM: "xterm-256color", COLORTERM: "truecolor" }],
    ["256", { TERM: "xterm-256color" }],
    ["16", { TERM: "xterm" }],
    ["none", { TERM: "xterm-256color", NO_COLOR: "1" }],
  ] as const)("shows in all that has a colour: %s", async (name, environment) => {
    const calls = [
      { name: "todo_write", args: { todos: TODOS } },
      { name: "run_shell_command", args: { command: "echo wrong >&2; exit 3" } },
      {
        name: "edit",
        args: {
          file_path: join(room.root, "tally.js"),
          old_string: "text.length",
          new_string: "text.trim().length",
        },
      },
    ];
    const env = { NO_COLOR: "", ...environment };
    const terminal = await room.open([{ text: REPLY, calls }], { env, rows: 45 });
    await terminal.enter("go\r", "Make this change?");
    await terminal.settled();
    const rows = terminal.styledRows();
    // Not in the name of the folder, which is made up.
    const from = rows.findIndex((row) => /> (?:<1>)?go(?:<>)?$/.test(row));
    const shown = rows.slice(from).filter((row) => !row.includes("fake-model"));
    const text = shown.join("\n").replaceAll(room.root, "ROOT").trimEnd();
    await expect(text).toMatchFileSnapshot(`goldens/colors-${name}.txt`);
  });
});
