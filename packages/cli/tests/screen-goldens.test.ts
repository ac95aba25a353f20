import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Confirmation, ToolDisplay } from "@burin/core";
import type { FakeReply } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { en } from "../src/locales/en.ts";
import ja from "../src/locales/ja.json" with { type: "json" };
import { answer, ScreenRoom } from "./screen-room.ts";
import type { ScreenTerminal } from "./screen-terminal.ts";

const SERVER = new URL("asking-server.mjs", import.meta.url);
const CONTRACT = ["tools.ts", "tool-result.ts"].map(
  (name) => new URL(`../../contract/src/${name}`, import.meta.url),
);
/** Keys that came too early for a question are at the prompt. */
const CLEAR = "\u0015";
const ROWS = Array.from({ length: 30 }, (_, n) => `line ${n}`);
const room = new ScreenRoom({
  "src/tally.js": "export function tally(text) {\n  return text.split(/\\s+/).length;\n}\n",
  "rows.txt": `${ROWS.join("\n")}\n`,
});

type Call = { readonly name: string; readonly args: Record<string, unknown> };
type Kind = Confirmation["kind"];
type DisplayKind = "text" | Extract<ToolDisplay, object>["kind"];

/** For each kind of question a call that leads to it, and the keys that answer it. */
const QUESTIONS = {
  edit: [
    () => ({
      name: "edit",
      args: {
        file_path: join(room.root, "rows.txt"),
        edits: [
          { old_string: "line 3\n", new_string: "line three\n" },
          {
            old_string: "line 25\n",
            new_string: "line twenty-five, which is now so long that it does not fit\n",
          },
        ],
      },
    }),
    "y",
  ],
  exec: [() => running("mkdir -p made && touch made/one.txt && rm -f rows.bak"), "y"],
  mcp: [() => ({ name: "forms__note", args: { text: "A seat, please.", count: 2 } }), "y"],
  info: [
    () => ({ name: "web_fetch", args: { url: "https://example.org/news", prompt: "What is new?" } }),
    "n",
  ],
  form: [() => ({ name: "forms__ask", args: {} }), "\u001b"],
  discovered: [() => ({ name: "add", args: { a: 1 } }), "y"],
  plan: [
    () => ({ name: "exit_plan_mode", args: { plan: "# Plan\n\n1. Look at `src/tally.js`\n2. Change it" } }),
    "a",
  ],
} as const satisfies Record<Kind, readonly [() => Call, string]>;

/** For each kind of display a call that gives it. */
const DISPLAYS = {
  text: () => ({ name: "read_file", args: { absolute_path: join(room.root, "src/tally.js") } }),
  file_diff: () => ({
    name: "edit",
    args: {
      file_path: join(room.root, "src/tally.js"),
      old_string: "text.split(/\\s+/).length",
      new_string: "text.split(/\\s+/).filter(Boolean).length",
    },
  }),
  todo_list: () => ({
    name: "todo_write",
    args: {
      todos: [
        { id: "1", content: "look for the fault", status: "completed" },
        {
          id: "2",
          content: "change 日本語 and more words than fit in a narrow window",
          status: "in_progress",
        },
        { id: "3", content: "test it", status: "pending" },
      ],
    },
  }),
  progress: () => ({
    name: "task",
    args: { description: "count words", prompt: "count", subagent_type: "general" },
  }),
} as const satisfies Record<DisplayKind, () => Call>;

/** Further calls whose look depends on how they ended. */
const MORE = [
  () => running("echo one; echo two"),
  () => running("echo wrong >&2; exit 3"),
  () => ({ name: "read_file", args: { absolute_path: join(room.root, "missing.js") } }),
  () => ({ name: "list_directory", args: { path: room.root } }),
  () => ({ name: "glob", args: { pattern: "**/*.js" } }),
  () => ({ name: "search_file_content", args: { pattern: "split", path: join(room.root, "src") } }),
  () => ({ name: "write_file", args: { file_path: join(room.root, "new.txt"), content: "one\ntwo\n" } }),
];

const MODES = {
  english: { texts: en, ui: { language: "en" } },
  japanese: { texts: ja, ui: { language: "ja" } },
  reader: { texts: en, ui: { language: "en", screenReader: true } },
} as const;

function running(command: string): Call {
  return { name: "run_shell_command", args: { command } };
}

async function configure(mode: keyof typeof MODES): Promise<void> {
  const declared = [
    { name: "add", description: "Adds.", parameters: { type: "object", properties: { a: {} } } },
  ];
  const settings = {
    ui: MODES[mode].ui,
    tools: { toolDiscoveryCommand: `echo '${JSON.stringify(declared)}'`, toolCallCommand: "cat; echo" },
    // By names that are the same on every machine: what "always" allows is shown with a hash of them.
    mcpServers: { forms: { command: "node", args: ["server.mjs"] } },
    model: { contextWindow: 1_000_000 },
  };
  await writeFile(join(room.root, "server.mjs"), `import ${JSON.stringify(SERVER.href)};`);
  await room.set(settings);
}

/** Without what differs from run to run: places, times, and the line of the model. */
function steady(lines: readonly string[]): string {
  return lines
    .map((line) => line.replaceAll(room.root, "ROOT").replace(/ {2}\d+ s$/, ""))
    .filter((line) => !/fake-model ·|esc (?:to|で)/.test(line))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** As much of a title as the narrowest window shows. */
function begin(title: string): string {
  return title.slice(0, /^[ -~]*$/.test(title) ? 20 : 12);
}

/** The question as it stands, from its title on. */
async function shownQuestion(terminal: ScreenTerminal, title: string): Promise<string> {
  const start = begin(title);
  await terminal.shows(start);
  await terminal.settled();
  const rows = terminal.rows();
  return steady(rows.slice(rows.findLastIndex((row) => row.includes(start))));
}

/** The kinds of a union in the contract, as its source lists them. */
async function kindsIn(name: string): Promise<string[]> {
  const source = (await Promise.all(CONTRACT.map((file) => readFile(file, "utf8")))).join("\n\n");
  const [, type = ""] = new RegExp(`export type ${name} =([\\s\\S]*?);\\n\\n`).exec(source) ?? [];
  const direct = [...type.matchAll(/readonly kind: "(\w+)"/g)];
  const named = [...type.matchAll(/\b[A-Z]\w+\b/g)].flatMap(([other]) => {
    const [, body = ""] = new RegExp(`interface ${other} \\{([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
    return [...body.matchAll(/readonly kind: "(\w+)"/g)];
  });
  return (direct.length > 0 ? direct : named).map(([, kind = ""]) => kind);
}

describe("the screen, kept as text", () => {
  it("has every kind of question and of display that the contract knows", async () => {
    expect(Object.keys(QUESTIONS).sort()).toEqual((await kindsIn("Confirmation")).sort());
    expect(Object.keys(DISPLAYS).sort()).toEqual([...(await kindsIn("ToolDisplay")), "text"].sort());
  });

  const sizes = [35, 80, 120].flatMap((columns) =>
    (Object.keys(MODES) as (keyof typeof MODES)[]).map((mode) => [mode, columns] as const),
  );

  it.each(sizes)("asks every question: %s, %d columns", requirePrograms("bwrap"), async (mode, columns) => {
    await configure(mode);
    const { texts } = MODES[mode];
    const { plan, ...others } = QUESTIONS;
    const calls = Object.values(others).map(([make]) => ({ calls: [make()] }));
    const replies: FakeReply[] = [
      ...calls,
      { text: "見ました。" },
      { calls: [plan[0]()] },
      { text: "始めます。" },
    ];
    const terminal = await room.open(replies, { columns, rows: 30 });
    const kept: string[] = [];
    const ask = async (kind: Kind): Promise<void> => {
      const title = texts[`question.${kind}`];
      kept.push(`=== ${kind}\n${await shownQuestion(terminal, title)}`);
      const gone = begin(title);
      const [, keys] = QUESTIONS[kind];
      await answer(terminal, keys, keys === "n" ? texts["question.why"].slice(0, 10) : gone);
      if (keys === "n") terminal.type("\r");
    };
    terminal.type("go\r");
    for (const kind of Object.keys(others) as Kind[]) {
      if (kind === "form") {
        await terminal.shows("forms: ask");
        await answer(terminal, "y", "forms: ask");
      }
      await ask(kind);
    }
    await terminal.shows("見ました。");
    await terminal.enter(`${CLEAR}/approval plan\r`, /· (?:plan|まず計画)|^Approval mode: plan$/m);
    terminal.type("go on\r");
    await ask("plan");
    await terminal.shows("始めます。");
    await terminal.settled();
    const rows = terminal.rows();
    const approved = rows.slice(rows.lastIndexOf("> go on") + 1, rows.lastIndexOf("始めます。"));
    kept.push(`=== a plan that was approved\n${steady(approved)}`);
    await expect(kept.join("\n\n")).toMatchFileSnapshot(`goldens/questions-${mode}-${columns}.txt`);
  });

  it.each(sizes)("draws every result by its kind: %s, %d columns", async (mode, columns) => {
    await configure(mode);
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { progress, ...others } = DISPLAYS;
    const helping: FakeReply = async () => {
      await released;
      return { text: "Three words.\n\nThey are in one line." };
    };
    const calls = [...Object.values(others), ...MORE].map((make) => make());
    const replies: FakeReply[] = [
      { text: "見ました。", calls },
      { calls: [progress()] },
      { calls: [running("echo looked")] },
      helping,
      { text: "Done." },
    ];
    const args = ["--approval-mode", "yolo"];
    const terminal = await room.open(replies, { columns, rows: 60, args });
    terminal.type("go\r");
    // Nothing that changes by itself is shown to a screen reader.
    if (mode === "reader") await terminal.until(() => room.server.requests.length === 4, "the subagent");
    else await terminal.shows("Run echo looked");
    await terminal.settled();
    const rows = terminal.rows();
    const task = rows.findLastIndex((row) => row.includes("Task for general"));
    const live = mode === "reader" ? "" : steady(rows.slice(task));
    release();
    await terminal.shows("Done.");
    await terminal.shows(mode === "reader" ? en["spoken.end"] : MODES[mode].texts["status.keys"]);
    await terminal.settled();
    const lines = terminal.all();
    const drawn = lines.slice(
      lines.indexOf("> go"),
      lines.findLastIndex((line) => line.startsWith("> ")),
    );
    const text = `=== progress\n${live}\n\n=== in the end\n${steady(drawn)}`;
    await expect(text).toMatchFileSnapshot(`goldens/displays-${mode}-${columns}.txt`);
  });
});
