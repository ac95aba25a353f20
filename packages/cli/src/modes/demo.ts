import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type AgentEvent,
  type Confirmation,
  createSession,
  questionView,
  scriptedModel,
  type ToolCall,
} from "@burin/core";
import { EXIT, type ExitCode } from "../terminal/exit-code.ts";
import type { Output } from "../terminal/output.ts";
import { howToConnect } from "./how-to-connect.ts";
import { type Io, nothingAfter, type SubcommandRequest } from "./subcommand.ts";

const PROMPT = "tally counts an empty text as one word. Find out why, mend it and try it.";

const SAMPLE: Readonly<Record<string, string>> = {
  "README.md": "# tally\n\nCounts the words of a text.\n",
  "src/tally.js":
    "export function tally(text) {\n  const words = text.split(/\\s+/);\n  return words.length;\n}\n\nif (process.argv[2] !== undefined) console.log(tally(process.argv[2]));\n",
  "package.json": '{ "name": "tally", "type": "module" }\n',
  ".gitignore": "build/\n",
  "build/tally.min.js": "export const tally=t=>t.split(/\\s+/).length\n",
};

/** What the model of the demo says; everything else in it is real. */
function script(root: string) {
  const file = join(root, "src", "tally.js");
  return [
    {
      text: "I look at what is there and search for where it is counted.",
      calls: [
        { name: "list_directory", args: { path: root } },
        { name: "search_file_content", args: { pattern: "split\\(", include: "*.js" } },
      ],
    },
    { text: "One file; I read it.", calls: [{ name: "read_file", args: { absolute_path: file } }] },
    {
      text: "An empty text splits into one empty word. It must not count.",
      calls: [
        {
          name: "edit",
          args: {
            file_path: file,
            // With blanks where the file has its own: the place is found all the same.
            old_string: "    const words = text.split(/\\s+/);",
            new_string: "    const words = text.split(/\\s+/).filter(Boolean);",
          },
        },
      ],
    },
    {
      text: "Now I try it.",
      calls: [
        {
          name: "run_shell_command",
          args: { command: 'node src/tally.js "" && node src/tally.js "two words"' },
        },
      ],
    },
    { text: "An empty text counts 0 words now, and two words count 2." },
  ];
}

/** Plays a scripted model against the real agent, scheduler and tools, in a folder made for it. */
export async function runDemo(request: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  nothingAfter("demo", request);
  const root = await realpath(await mkdtemp(join(tmpdir(), "burin-demo-")));
  try {
    for (const [name, text] of Object.entries(SAMPLE)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    output.out(`A scripted model, the real agent and the real tools, in ${root}\n\n`);
    await play(root, output);
    output.out(`\nTo connect a real model: ${(await howToConnect()).replace(/^no model.* Name/, "name")}\n`);
    return EXIT.done;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function play(root: string, output: Output): Promise<void> {
  const model = scriptedModel(script(root));
  const confirm = async (question: Confirmation) => {
    const { title, lines } = questionView(question);
    output.out(`${label(output, "ask")}${title}\n`);
    if (question.kind === "edit") output.out(indented(lines.join("\n"), output));
    output.out(`${label(output, "you")}yes (the demo answers for you)\n`);
    return { outcome: "once" as const };
  };
  const session = createSession({ cwd: root, model, confirm });
  try {
    for await (const event of session.run(PROMPT)) show(event, output);
  } finally {
    await session.close();
  }
  const unused = model.unusedLines().length;
  if (unused > 0) throw new Error(`The demo ended with ${unused} lines of its script unused.`);
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
