import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type AgentEvent,
  type ChatModel,
  type Confirmation,
  type ModelRequest,
  openSession,
  questionView,
  scriptedModel,
  type ToolCall,
} from "@burin/core";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode } from "../terminal/exit-code.ts";
import type { Output } from "../terminal/output.ts";
import { howToConnect } from "./print/how-to-connect.ts";

const PROMPT = "tally counts an empty text as one word. Find out why, fix it and try it.";

const SAMPLE: Readonly<Record<string, string>> = {
  "README.md": "# tally\n\nCounts the words of a text.\n",
  "src/tally.js":
    "export function tally(text) {\n  const words = text.split(/\\s+/);\n  return words.length;\n}\n\nif (process.argv[2] !== undefined) console.log(tally(process.argv[2]));\n",
  "package.json": '{ "name": "tally", "type": "module" }\n',
  ".gitignore": "build/\n",
  "build/tally.min.js": "export const tally=t=>t.split(/\\s+/).length\n",
};

const PLAN = "1. Leave empty words out in src/tally.js.\n2. Try it with an empty text and with two words.";

function todos(done: number) {
  const steps = ["find where words are counted", "fix it", "try it"];
  const status = (index: number) => (index < done ? "completed" : index === done ? "in_progress" : "pending");
  const list = steps.map((content, index) => ({ id: `${index + 1}`, content, status: status(index) }));
  return { name: "todo_write", args: { todos: list } };
}

/** The replies of the demo's models; everything else in it is real. */
function scripts(root: string) {
  const file = join(root, "src", "tally.js");
  const exploring = {
    description: "find the counter",
    prompt: `Where in ${root} are the words of a text counted?`,
    subagent_type: "explore",
  };
  const fixing = {
    file_path: file,
    // With spaces where the file has tabs: the place is found all the same.
    old_string: "    const words = text.split(/\\s+/);",
    new_string: "    const words = text.split(/\\s+/).filter(Boolean);",
  };
  const trying = { command: 'node src/tally.js "" && node src/tally.js "two words"' };
  return {
    explorer: [
      {
        calls: [
          { name: "list_directory", args: { path: root } },
          { name: "search_file_content", args: { pattern: "split\\(", include: "*.js" } },
        ],
      },
      { text: "In src/tally.js, line 2: text.split(/\\s+/)." },
    ],
    session: [
      {
        text: "Three steps; the first one I hand to a subagent.",
        calls: [todos(0), { name: "task", args: exploring }],
      },
      { text: "I read it.", calls: [{ name: "read_file", args: { absolute_path: file } }] },
      {
        text: "An empty text splits into one empty word. That is the plan:",
        calls: [{ name: "exit_plan_mode", args: { plan: PLAN } }],
      },
      { calls: [todos(1), { name: "edit", args: fixing }] },
      { text: "Now I try it.", calls: [todos(2), { name: "run_shell_command", args: trying }] },
      { text: "An empty text counts 0 words now, and two words count 2." },
    ],
  };
}

/** Plays scripted models against the real agent, scheduler and tools, in a temporary folder. */
export async function run(_request: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const demo = await makeDemo();
  const { root } = demo;
  try {
    output.out(`Scripted models, the real agent and the real tools, in ${root}\n\n`);
    await play(demo, output);
    output.out(`\nTo connect a real model: ${(await howToConnect()).replace(/^no model.* Name/, "name")}\n`);
    return EXIT.done;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

type Demo = Awaited<ReturnType<typeof makeDemo>>;

/** Makes a small project in a temporary folder, to be removed at the end, and models that can work in it. */
export async function makeDemo() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "burin-demo-")));
  for (const [name, text] of Object.entries(SAMPLE)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const { explorer, session: lines } = scripts(root);
  const models = { session: scriptedModel(lines), explorer: scriptedModel(explorer) };
  const model: ChatModel = {
    name: "demo",
    stream: (request, signal) =>
      (isForExplorer(request) ? models.explorer : models.session).stream(request, signal),
  };
  /** Lines of the scripts that were not used. */
  const unusedLines = () => models.session.unusedLines().length + models.explorer.unusedLines().length;
  return { root, model, prompt: PROMPT, unusedLines };
}

async function play({ root, model, prompt, unusedLines }: Demo, output: Output): Promise<void> {
  const confirm = async (question: Confirmation) => {
    const { title, lines } = questionView(question);
    output.out(`${label(output, "ask")}${title}\n`);
    output.out(indented(lines.join("\n"), output));
    output.out(`${label(output, "you")}yes (the demo answers for you)\n`);
    return { outcome: "once" as const };
  };
  const session = openSession({ root, model, confirm, approvalMode: "plan" });
  try {
    for await (const event of session.run(prompt)) show(event, output);
  } finally {
    await session.close();
  }
  const unused = unusedLines();
  if (unused > 0) throw new Error(`The demo ended with ${unused} lines of its script unused.`);
}

/** A subagent gets its task as the first text of its own history. */
function isForExplorer({ history }: ModelRequest): boolean {
  return history[0]?.parts.some((part) => part.text?.startsWith("Where in ")) ?? false;
}

function show(event: AgentEvent, output: Output): void {
  if (event.type === "text")
    output.out(`${label(output, event.role === "user" ? "you" : "model")}${event.text}\n`);
  if (event.type === "tool_call") showCall(event.call, output);
  if (event.type === "done") output.out(`${label(output, "done")}${event.status}, ${event.turns} turns\n`);
}

function showCall(call: ToolCall, output: Output): void {
  if (call.status === "executing" && call.display === undefined) {
    output.out(`${label(output, "call")}${call.description}\n`);
  }
  if (call.status === "executing" && typeof call.display === "object" && call.display.kind === "progress") {
    output.out(indented(`> ${call.display.lines.at(-1)}`, output));
  }
  if (call.status !== "success" && call.status !== "error") return;
  const text = typeof call.llmContent === "string" ? call.llmContent : JSON.stringify(call.llmContent);
  output.out(indented(text, output));
}

function label(output: Output, name: string): string {
  return `${output.styled("bold", name.padEnd(5))}  `;
}

function indented(text: string, output: Output): string {
  const lines = text.trimEnd().split("\n");
  return lines.map((line) => `         ${output.styled("dim", line)}\n`).join("");
}
