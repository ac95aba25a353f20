import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { answer, ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const ROWS = 40;
const room = new ScreenRoom({
  "app/cart.js": `// Adds up what is in a cart.
export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
}
`,
  "app/package.json": '{ "name": "cart", "scripts": { "test": "node -e console.log(1)" } }\n',
  "shop/prices.js": "export const price = 2;\n",
});
const COMMAND = "npm install left-pad && rm -rf build && rm -rf ~/old-notes && git push origin main";
const ANSWER =
  "The total is **rounded** now.\n\n| items | after |\n| --- | ---: |\n| 3 | 0.3 |\n\n```js\nconst cents = 1;\n```\n";

/** A yes-or-no question to the rows of a window. */
type Check = readonly [question: string, isYes: (rows: readonly string[], columns: number) => boolean];
type Checks = readonly [Check, Check, Check, Check, Check];

const has = (pattern: RegExp) => (rows: readonly string[]) => pattern.test(rows.join("\n"));
const isFitting = (rows: readonly string[], columns: number) => rows.every((row) => row.length <= columns);
const isRuled = (rows: readonly string[], columns: number) => rows.includes("─".repeat(columns));
const isCalm = (max: number) => (rows: readonly string[]) => rows.filter((row) => row !== "").length <= max;
const findRow = (rows: readonly string[], words: string) => rows.findIndex((row) => row.includes(words));

/** The screens that people see most, each with five questions that must be answered with yes in every width. */
const CHECKS = {
  "first start": [
    ["no row is wider than the window", isFitting],
    ["it says that nothing is sent before a choice", has(/nothing is sent/)],
    ["one way is chosen", (rows) => rows.filter((row) => /^ › /.test(row)).length === 1],
    ["the demo needs neither model nor key", has(/Try the demo +no model, no key/)],
    ["it says nothing of a mode, as there is no model", (rows) => !has(/asks before/)(rows)],
  ],
  idle: [
    ["no row is wider than the window", isFitting],
    ["it has eight rows at most", isCalm(8)],
    [
      "folder, branch, tests, model and mode are said",
      has(/~\/app[\s\S]*main[\s\S]*npm test[\s\S]*fake-model · asks before/),
    ],
    ["three things to ask first have a number each", has(/1 \S.*2 \S.*3 \S/)],
    ["the last line says how to find the keys", (rows) => /\? for keys$/.test(rows.at(-1) ?? "")],
  ],
  waiting: [
    ["no row is wider than the window", isFitting],
    ["it says who is waited for, and for how long", has(/Waiting for fake-model · N s/)],
    ["esc is named where it stops something", has(/esc stops/)],
    ["the prompt says what enter and tab do now", has(/> enter: send now · tab: send when finished/)],
    ["the words of the user stand above", has(/> round the totals/)],
  ],
  "a change": [
    ["the question has a rule as wide as the window", isRuled],
    ["the file and the counts come first", (rows) => has(/Make this change\?\n+ cart\.js {2}\+2 -2/)(rows)],
    [
      "the change is readable without colour",
      has(/5 - +sum \+= item\.price[\s\S]*5 \+ +sum \+= Math\.round/),
    ],
    [
      "old and new are side by side only from 140 columns",
      (rows, columns) => has(/5 - .*│ *5 \+/)(rows) === columns >= 140,
    ],
    [
      "each answer has a row, and one is chosen",
      has(/ › y {3}yes\n {3}n {3}no, and say why\n {3}a {3}don't ask again for: edits of cart\.js/),
    ],
  ],
  "a command": [
    ["the question has a rule as wide as the window", isRuled],
    [
      "the worst part is the first",
      (rows) => findRow(rows, "! ask  rm -rf ~") < findRow(rows, "! ask  rm -rf build"),
    ],
    [
      "what destroys or leaves is marked without colour",
      has(/⚠ 2 of 4 parts[\s\S]*! ask[\s\S]*! ask[\s\S]*! ask[\s\S]* {2}ask {2}npm/),
    ],
    [
      "the limits and what undo can do come before the answers",
      has(/Sandbox: writes only here[\s\S]*can be undone: no[\s\S]*› y/),
    ],
    [
      "with and without the network are two answers",
      has(/y {3}yes, with network\n {3}s {3}yes, without network/),
    ],
  ],
  "a folder outside": [
    ["the question has a rule as wide as the window", isRuled],
    ["it names the folder by its whole path", has(/^ ABOVE\/shop$/m)],
    ["it says what is wanted there", has(/Read \.\.\/shop\/prices\.js/)],
    [
      "it says what a yes allows, and for how long",
      has(/Only reading[\s\S]*y {3}yes, until this session ends/),
    ],
    ["always is not offered", (rows) => !has(/don't ask again/)(rows)],
  ],
  finished: [
    ["no row is wider than the window", isFitting],
    ["no marks of Markdown that draw nothing are left", (rows) => !has(/\| ---/)(rows)],
    ["numbers stand at the right of their column", has(/items.*after\n.*\n3 .* 0\.3/)],
    ["code can be copied without anything in front of it", has(/^const cents = 1;$/m)],
    [
      "the receipt counts the change and says how to take it back",
      has(/✓ 1 file changed {2}\+2 -2 +\/undo takes it back/),
    ],
  ],
} as const satisfies Record<string, Checks>;

/** The rows of the window, without what differs from run to run. */
async function readRows(terminal: ScreenTerminal): Promise<string[]> {
  await terminal.settled();
  const text = terminal
    .text()
    .replaceAll(room.root, "ABOVE")
    .replace(/only registry\.\S+/, "only HOST")
    .replace(/\b\d+ s\b/g, "N s")
    .replace(/ (?:·| ) N s(?= {2}|$)/gm, "");
  return text.split("\n");
}

describe("P30: the screens that people see most", () => {
  it.each([80, 120, 200])(
    "P30 answer every question with yes in %d columns",
    requirePrograms("bwrap"),
    async (columns) => {
      const cwd = join(room.root, "app");
      const kept: string[] = [];
      const check = async (name: keyof typeof CHECKS, terminal: ScreenTerminal) => {
        const rows = await readRows(terminal);
        kept.push(`=== ${name}\n${rows.join("\n")}`);
        for (const [question, isYes] of CHECKS[name] as Checks)
          expect(isYes(rows, columns), `${name}: ${question}\n${rows.join("\n")}`).toBe(true);
      };
      const git = (...words: string[]) => execFileSync("git", words, { cwd, stdio: "ignore" });
      git("init", "-q", "-b", "main");
      const how = {
        cwd,
        columns,
        rows: ROWS,
        env: { HOME: room.root, BURIN_HOME: join(room.root, ".burin") },
      };
      const first = room.begin(how);
      await first.shows("Which model service?");
      await check("first start", first);
      first.close();
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const edits = [
        { old_string: "item.price * item.count", new_string: "Math.round(item.price * 100) * item.count" },
        { old_string: "return sum;", new_string: "return sum / 100;" },
      ];
      const edit = { calls: [{ name: "edit", args: { file_path: join(cwd, "cart.js"), edits } }] };
      const late = async () => {
        await held;
        return edit;
      };
      const terminal = await room.open(
        [
          late as FakeReply,
          { calls: [{ name: "run_shell_command", args: { command: COMMAND } }] },
          { calls: [{ name: "read_file", args: { path: join(room.root, "shop/prices.js") } }] },
          { text: ANSWER },
        ],
        how,
      );
      await terminal.shows("explain this project");
      await terminal.shows(/main · 2 files changed · tests: npm test[\s\S]*asks before changes · main {2}/);
      await check("idle", terminal);
      await terminal.enter("round the totals\r", /Waiting for fake-model · \d+ s/);
      await check("waiting", terminal);
      release();
      await terminal.shows("Make this change?");
      await terminal.shows("esc no, and stop");
      await check("a change", terminal);
      await answer(terminal, "y", "Make this change?");
      await terminal.shows("Run this command?");
      await check("a command", terminal);
      await answer(terminal, "n", "y   yes, with network");
      await terminal.enter("\r", "Read in a folder outside the project?");
      await check("a folder outside", terminal);
      await answer(terminal, "y", "Read in a folder outside the project?");
      await terminal.shows("const cents");
      await terminal.shows("? for keys");
      await check("finished", terminal);
      await expect(kept.join("\n\n")).toMatchFileSnapshot(`goldens/screens-${columns}.txt`);
    },
  );

  it("P30 the page that /export writes answers every question with yes", async () => {
    const args = {
      file_path: join(room.root, "app/cart.js"),
      old_string: "let sum = 0;",
      new_string: "let sum = 1;",
    };
    const terminal = await room.open([{ calls: [{ name: "edit", args }] }, { text: ANSWER }], {
      cwd: join(room.root, "app"),
      args: ["--approval-mode", "auto-edit"],
    });
    await terminal.enter("begin at one\r", "const cents", "? for keys");
    await terminal.enter("/export page.html\r", "Written: ");
    const page = await readFile(join(room.root, "app/page.html"), "utf8");
    const body = page.slice(page.indexOf("<header>"));
    const questions: Readonly<Record<string, boolean>> = {
      "it is one file that loads nothing": !/(?:src|href)=/.test(page) && page.includes("default-src 'none'"),
      "it is light and dark": page.includes("prefers-color-scheme:dark"),
      "Markdown is rendered": /<td class="right">0\.3<\/td>/.test(body) && !body.includes("**rounded**"),
      "changes are drawn as on the screen":
        /is-removed">3 -[\s\S]*class="\w* ?removedWord">0<[\s\S]*is-added">3 \+/.test(body),
      "no internal line is in the user's words": !/\[(?:Not committed|Plan mode)/.test(body),
    };
    for (const [question, isYes] of Object.entries(questions))
      expect(isYes, `${question}\n${body}`).toBe(true);
  });
});
