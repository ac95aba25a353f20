import { describe, expect, it } from "vitest";
import { ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const room = new ScreenRoom({ "a.txt": "alpha\n", "AGENTS.md": "Say please.\n" });
const ESCAPE = "\u001b";

/** A yes-or-no question to the rows of a screen. */
type Check = readonly [question: string, isYes: (rows: readonly string[], columns: number) => boolean];

interface Screen {
  readonly keys: string;
  readonly wanted: string | RegExp;
  readonly checks: readonly [Check, Check, Check, Check, Check];
}

const fits: Check = [
  "no row is wider than the window",
  (rows, columns) => rows.every((row) => row.length < columns),
];
const saysHowToClose: Check = [
  "the last line inside says how to leave",
  (rows) => /esc closes/.test(rows.slice(-4).join(" ")),
];

/** The panels of the first minutes, each with five questions that must be answered with yes. */
const SCREENS: Readonly<Record<string, Screen>> = {
  keys: {
    keys: "?",
    wanted: /^ Keys/m,
    checks: [
      fits,
      saysHowToClose,
      ["what makes a prompt comes first", (rows) => /^@ /.test(rows[1] ?? "")],
      ["it starts at its top", (rows) => rows.every((row) => !/^[2-9]\d*–/.test(row))],
      ["no heading repeats the title", (rows) => !rows.slice(1).includes("Keys")],
    ],
  },
  help: {
    keys: "/help \r",
    wanted: /^ Help/m,
    checks: [
      fits,
      saysHowToClose,
      ["commands come first", (rows) => rows[1] === "Commands"],
      ["each command begins its row", (rows) => /^\/add-dir/.test(rows[2] ?? "")],
      ["it says how much there is", (rows) => /1–\d+ of \d+/.test(rows.join(" "))],
    ],
  },
  palette: {
    keys: "\u0010",
    wanted: /^ What do you want to do\?/m,
    checks: [
      fits,
      saysHowToClose,
      ["there is a line to type into", (rows) => /^> ?$/.test(rows[1] ?? "")],
      ["one row is chosen", (rows) => rows.filter((row) => row.startsWith("› ")).length === 1],
      [
        "a row is one line, and none is cut from 80 columns on",
        (rows, columns) =>
          rows.filter((row) => /^[› ] \//.test(row)).length >= 8 &&
          (columns < 80 || rows.every((row) => !row.endsWith("…"))),
      ],
    ],
  },
  theme: {
    keys: "/theme \r",
    wanted: /^ Which colours\?/m,
    checks: [
      fits,
      saysHowToClose,
      ["the present theme is chosen", (rows) => rows.some((row) => row.startsWith("› auto"))],
      ["a diff shows it", (rows) => rows.some((row) => /\+ .*total = round/.test(row))],
      ["the diff is readable without colour", (rows) => rows.some((row) => /- .*total = sum/.test(row))],
    ],
  },
  effort: {
    keys: "/effort \r",
    wanted: /^ How much should the model/m,
    checks: [
      fits,
      saysHowToClose,
      ["the least comes first", (rows) => rows.some((row) => row.startsWith("› off"))],
      [
        "there are four",
        (rows) => rows.filter((row) => /^[› ] (?:off|low|medium|high) /.test(row)).length === 4,
      ],
      ["each says what it is good for", (rows) => rows.some((row) => row.includes("for hard"))],
    ],
  },
  resume: {
    keys: "/resume \r",
    wanted: /^ Which session\?/m,
    checks: [
      fits,
      saysHowToClose,
      ["a session is named by its first words", (rows) => rows.some((row) => row.startsWith("› count"))],
      ["its time is how long ago", (rows) => /(?:now|seconds? ago|minutes? ago)/.test(rows.join(" "))],
      ["its last words are below", (rows) => rows.some((row) => row.startsWith("  answer  Twelve"))],
    ],
  },
};

/** The rows of the panel, its title first: between the line above it and the status. */
async function panelRows(terminal: ScreenTerminal): Promise<string[]> {
  await terminal.settled();
  const rows = terminal.rows();
  const from = rows.findLastIndex((row) => /^─+$/.test(row)) + 1;
  const end = rows.findIndex((row, index) => index > from && row.includes("fake-model · "));
  return rows.slice(from, end).map((row) => row.replace(/^ /, ""));
}

describe("P30: the panels of the first minutes", () => {
  it.each([50, 80, 120])(
    "P30: answer every question with yes in %d columns, and leave nothing behind",
    async (columns) => {
      const replies = [{ text: "Ten." }, { text: "Twelve." }, { text: "Answer." }];
      const terminal = await room.open(replies, { columns, rows: 28 });
      await terminal.enter("count the words\r", "Ten.", "? for keys");
      await terminal.enter("and the letters\r", "Twelve.", "? for keys");
      terminal.type("/clear \r");
      await terminal.until(() => !terminal.text().includes("Twelve."), "an empty window");
      await terminal.enter("ask\r", "Answer.", "? for keys");
      await terminal.settled();
      const before = terminal.all().join("\n").trim();
      const kept: string[] = [];
      for (const [name, { keys, wanted, checks }] of Object.entries(SCREENS)) {
        await terminal.enter(keys, wanted);
        const rows = await panelRows(terminal);
        for (const [question, isYes] of checks)
          expect(isYes(rows, columns), `${name}: ${question}`).toBe(true);
        kept.push(`=== ${name}\n${rows.join("\n").replace(/\d+ (?:seconds?|minutes?) ago|now$/gm, "AGO")}`);
        terminal.type(ESCAPE);
        await terminal.until(
          () => terminal.all().join("\n").trim() === before,
          `what was there before ${name}`,
        );
      }
      await expect(kept.join("\n\n")).toMatchFileSnapshot(`goldens/panels-${columns}.txt`);
    },
  );
});
