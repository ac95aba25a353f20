import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { running, ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const room = new ScreenRoom(
  {
    "src/tally.js": "export function tally(text) {\n  return text.split(/\\s+/).length;\n}\n",
  },
  { args: ["--approval-mode", "yolo"] },
);

/** What stands on the screen when the reply that ends so is there. */
async function answered(terminal: ScreenTerminal, last: string): Promise<string[]> {
  await terminal.enter("go\r", last, "? for keys");
  await terminal.settled();
  const lines = terminal.all();
  return lines.slice(
    lines.indexOf("> go"),
    lines.findLastIndex((line) => line.startsWith("> ")),
  );
}

/** A reply that comes in small pieces, a line each now and then. */
function streaming(lines: readonly string[]): FakeReply {
  return {
    raw: async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const line of lines) {
        for (const content of [line.slice(0, 7), `${line.slice(7)}\n`]) {
          response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      }
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
      );
    },
  };
}

const STYLE = new RegExp(`${"\u001b"}\\[([\\d;]*)m`, "g");
const MARKDOWN = `# A heading

Some words, \`code\` and a [link](https://example.org), and a line that is so long that it has to go on in the next row of a narrow window.

- one
  - inner one that is long enough to be wrapped in a window of forty columns
1. first

> quoted

| name | size |
| --- | ---: |
| a | 10 |
| 日本 | 2 |

\`\`\`js
const a = "x"; // why
\`\`\`
`;

describe("the transcript", () => {
  it.each([40, 80, 120])("draws Markdown in %d columns", async (columns) => {
    const terminal = await room.open([{ text: MARKDOWN }], { columns, rows: 50 });
    expect((await answered(terminal, "const a =")).join("\n")).toMatchSnapshot();
  });

  it("draws calls by what they gave: a file, a diff, steps, a command, a fault", async () => {
    const file = join(room.root, "src/tally.js");
    const old_string = "text.split(/\\s+/).length";
    const calls = [
      { name: "read_file", args: { absolute_path: file } },
      {
        name: "edit",
        args: { file_path: file, old_string, new_string: "text.split(/\\s+/).filter(Boolean).length" },
      },
      {
        name: "todo_write",
        args: {
          todos: [
            { id: "1", content: "look", status: "completed" },
            { id: "2", content: "mend", status: "in_progress" },
          ],
        },
      },
      { name: "run_shell_command", args: { command: "echo one; echo two" } },
      { name: "read_file", args: { absolute_path: join(room.root, "missing.js") } },
    ];
    const terminal = await room.open([{ text: "I look.", calls }, { text: "Done." }], {
      columns: 100,
      rows: 40,
    });
    const lines = await answered(terminal, "Done.");
    expect(lines.join("\n").replaceAll(room.root, "ROOT")).toMatchSnapshot();
    await terminal.enter("\u000f", "Results of the last calls", "esc closes");
    expect(terminal.text()).toContain("two");
    terminal.type("\u001b");
    await terminal.until(() => !terminal.text().includes("Results of the last calls"), "the prompt");
  });

  it("P40 says that a command wrote more lines than are kept for the screen", async () => {
    const terminal = await room.open([running("seq 3000; echo end"), { text: "Done." }]);
    await terminal.enter("go\r", "Done.");
    expect(terminal.text()).toMatch(/Run seq 3000; echo end {2}\d{3}\+ lines/);
  });

  it("P30 writes each line once, and clears neither screen nor scrollback", async () => {
    const lines = Array.from(
      { length: 1000 },
      (_, n) => `line ${String(n).padStart(4, "0")} of a long reply with words`,
    );
    const terminal = await room.open([streaming(lines)]);
    const before = terminal.written.length;
    const drawn = (await answered(terminal, "line 0999")).filter((line) => line.startsWith("line "));
    expect(drawn).toEqual(lines);
    for (const clearing of ["[2J", "[3J", "[H", "c", "[?1049h"])
      expect(terminal.written).not.toContain(`\u001b${clearing}`);
    for (const line of lines) expect(terminal.written.split(line).length, line).toBeLessThanOrEqual(2);
    expect((terminal.written.length - before) / lines.join("\n").length).toBeLessThan(3);
  });

  it("P30 leaves it to the terminal to wrap a long line of code, so that it is copied as one", async () => {
    const command = `./a-script-with-a-name-that-fills-more-than-one-row.sh '?q=日本' ${Array.from({ length: 30 }, (_, n) => `--header 'X-${n}: ${n}'`).join(" ")}`;
    const pieces = command.match(/[\s\S]{1,30}/g) ?? [];
    const reply: FakeReply = {
      raw: async (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const send = (choice: object): unknown =>
          response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
        for (const content of [
          "Run:\n\n```sh\n",
          "cd a\n",
          ...pieces,
          "\nls\n",
          "```\n\nThat is ",
          "all.\n",
        ]) {
          send({ delta: { content } });
          await new Promise((resolve) => setTimeout(resolve, 30));
        }
        send({ delta: {}, finish_reason: "stop" });
        response.end("data: [DONE]\n\n");
      },
    };
    const lines = await answered(await room.open([reply], { columns: 40 }), "That is all.");
    expect(lines.slice(2, -1)).toEqual([
      "Run:",
      "",
      "```sh",
      "cd a",
      command,
      "ls",
      "```",
      "",
      "That is all.",
    ]);
  });

  it("P30 has every line once and in order after resizes while it streams", async () => {
    const lines = Array.from({ length: 400 }, (_, n) =>
      `mark${String(n).padStart(4, "0")} ${"some more words ".repeat(n % 7)}`.trimEnd(),
    );
    const terminal = await room.open([streaming(lines)], { columns: 120, rows: 30 });
    terminal.type("go\r");
    for (const [at, columns] of [40, 80, 120, 160, 200, 240, 280].map(
      (mark, index) => [mark, [80, 160, 60, 120, 70, 200, 120][index] ?? 80] as const,
    )) {
      const mark = `mark${String(at).padStart(4, "0")}`;
      // The line may have gone out of the window before anybody looks.
      await terminal.until(() => terminal.all().join("\n").includes(mark), mark);
      terminal.resize(columns, 30);
    }
    await terminal.shows("? for keys");
    const found = terminal
      .all()
      .join("\n")
      .match(/mark\d{4}/g);
    expect(found).toEqual(lines.map((line) => line.slice(0, 8)));
  });

  it.each([
    ["no", { NO_COLOR: "1" }, /^$/],
    ["16", { NO_COLOR: "", FORCE_COLOR: "1" }, /^(?!.*[34]8;)/],
    ["256", { NO_COLOR: "", FORCE_COLOR: "2" }, /^(?!.*[34]8;2)/],
    ["all", { NO_COLOR: "", FORCE_COLOR: "3" }, /^(?!.*[34]8;5)/],
  ])("uses %s colours where the environment says so", async (name, env, wanted) => {
    const file = join(room.root, "src/tally.js");
    const edit = { name: "edit", args: { file_path: file, old_string: "(text)", new_string: "(words)" } };
    const terminal = await room.open([{ calls: [edit] }, { text: "Done." }], { env });
    await answered(terminal, "Done.");
    const styles = [...terminal.written.matchAll(STYLE)].map(([, codes = ""]) => codes);
    expect(styles.length > 0).toBe(name !== "no");
    expect(styles.filter((codes) => !wanted.test(codes))).toEqual([]);
    const many = { "256": "48;5", all: "48;2" }[name];
    if (many !== undefined) expect(styles.some((codes) => codes.includes(many))).toBe(true);
  });

  it("can be used in windows of one column and one row, and comes back from them", async () => {
    const terminal = await room.open([{ text: "All of it." }], { columns: 60, rows: 20 });
    terminal.type("words");
    for (const [columns, rows] of [
      [1, 1],
      [3, 2],
      [300, 3],
      [60, 20],
    ] as const) {
      terminal.resize(columns, rows);
      terminal.type("x");
    }
    await terminal.shows("> wordsxxxx");
    await terminal.enter("\r", "All of it.");
  });

  it.each(["talk.md", "talk.html"])("P19 leaves no password in %s when it is exported", async (file) => {
    const terminal = await room.open([{ text: "Cloned." }]);
    await terminal.enter("clone https://ada:hunter22@example.org/a.git\r", "Cloned.", "? for keys");
    await terminal.enter(`/export ${file}\r`, "Written: ");
    const written = await readFile(join(room.root, file), "utf8");
    expect(written).toContain("https://ada:[redacted: password]@example.org/a.git");
    expect(written).not.toContain("hunter22");
  });

  it("shows a session of thousands of events when it is taken up", async () => {
    const text = Array.from({ length: 3000 }, (_, n) => `row ${n}`).join("\n");
    await room.set('{ "model": { "contextWindow": 1000000 } }');
    const terminal = await room.open([{ text }]);
    await answered(terminal, "row 2999");
    terminal.type("\u0004");
    await terminal.ended();
    const again = await room.start({ args: ["-c"] });
    await again.shows("row 2999");
    expect(again.all().filter((line) => /^row \d+$/.test(line))).toEqual(text.split("\n"));
  });
});
