import type { Message, Part } from "@burin/contract/messages/message";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import type { ContextSize } from "../context-size.ts";
import type { ChangedFile, WorkRecord } from "../history.ts";

interface Kept {
  readonly record: WorkRecord;
  /** The context files in their current state. */
  readonly contextTexts: readonly string[];
  readonly summary: string;
}

const HEAD =
  "[The conversation so far was too long for the model's window. This text, written by the program, replaces it. Continue the task from here; do not repeat what is done.]";

/** What does not fit is cut, with a note about it; the user's last prompt is cut last. */
export function compactionText(
  { record, contextTexts, summary }: Kept,
  mostTokens: number,
  size: ContextSize,
): string {
  let left = Math.max(mostTokens - size.ofText(HEAD), 0);
  const take = (text: string, shareOfRest: number): string => {
    const taken = cutTo(text, Math.floor(left * shareOfRest), size);
    left = Math.max(left - size.ofText(taken), 0);
    return taken;
  };
  const task = take(record.prompts.at(-1) ?? "", 0.7);
  const todos = take(record.openTodos.map((todo) => `- [${todo.status}] ${todo.content}`).join("\n"), 0.5);
  const files = take(record.changedFiles.map(fileLine).join("\n"), 0.5);
  const instructions = take(contextTexts.join("\n\n"), 0.6);
  const account = take(summary, 0.8);
  const earlier: string[] = [];
  for (const prompt of record.prompts.slice(0, -1).reverse()) {
    const text = `- ${prompt}`;
    if (size.ofText(text) > left) break;
    earlier.unshift(take(text, 1));
  }
  const sections = [
    instructions,
    section("What happened so far", account),
    section("Files changed so far", files),
    section("Todos", todos),
    section("What the user said before, word for word, the oldest first", earlier.join("\n")),
    section("The user's last words, which are the task", task),
  ];
  return [HEAD, ...sections.filter((text) => text !== "")].join("\n\n");
}

function section(title: string, text: string): string {
  return text === "" ? "" : `# ${title}\n${text}`;
}

function fileLine({ name, isNew, addedLines, removedLines }: ChangedFile): string {
  return `- ${name} (${isNew ? "new, " : ""}+${addedLines} -${removedLines} lines)`;
}

/** How much of each piece is shown, in characters. */
interface Grain {
  readonly text: number;
  readonly args: number;
  readonly answer: number;
}

/** From the finest to the coarsest; the first one that fits is used. */
const GRAINS: readonly Grain[] = [
  { text: 8000, args: 1500, answer: 2000 },
  { text: 2000, args: 400, answer: 400 },
  { text: 600, args: 150, answer: 120 },
];
const COARSEST: Grain = { text: 300, args: 120, answer: 80 };

export interface Told {
  readonly history: readonly Message[];
  /** Replaces the first text of the history when that is itself the result of a compaction. */
  readonly summary: string;
}

export function transcript(told: Told, mostTokens: number, size: ContextSize): string {
  for (const grain of GRAINS) {
    const text = written(told, grain);
    if (size.ofText(text) <= mostTokens) return text;
  }
  return digest(told, mostTokens, size);
}

/** The same without a model: prompts, replies and calls, in a line or two each. */
export function digest(told: Told, mostTokens: number, size: ContextSize): string {
  return cutTo(written(told, COARSEST), mostTokens, size);
}

function cutTo(text: string, mostTokens: number, size: ContextSize): string {
  let cut = text;
  let most = text.length;
  while (size.ofText(cut) > mostTokens && most > 200) {
    most = Math.floor(Math.min(most * 0.9, (most * mostTokens) / size.ofText(cut)));
    cut = keepHeadAndTail(text, most, "there was no room for more");
  }
  return cut;
}

function written({ history, summary }: Told, grain: Grain): string {
  const lines: string[] = summary === "" ? [] : [`Summary of what was before:\n${summary}`];
  for (const [index, { role, parts }] of history.entries()) {
    for (const [place, part] of parts.entries()) {
      const isReplaced = summary !== "" && index === 0 && place === 0;
      const line = isReplaced ? "" : writtenPart(part, role, grain);
      if (line !== "") lines.push(line);
    }
  }
  return lines.join("\n\n");
}

function writtenPart(part: Part, role: Message["role"], grain: Grain): string {
  const { text, thought, inlineData, functionCall, functionResponse } = part;
  if (functionCall) {
    return `Call of ${functionCall.name}: ${shortened(JSON.stringify(functionCall.args ?? {}), grain.args)}`;
  }
  if (functionResponse) {
    const { output, error } = functionResponse.response ?? {};
    const said = shortened(String(output ?? error ?? ""), grain.answer);
    return `${error === undefined ? "Answer" : "Error"} of ${functionResponse.name}: ${said}`;
  }
  if (inlineData) return `(a file of type ${inlineData.mimeType})`;
  if (thought || !text?.trim()) return "";
  return `${role === "user" ? "User" : "Assistant"}: ${shortened(text, grain.text)}`;
}

function shortened(text: string, most: number): string {
  return keepHeadAndTail(text, most, "left out here");
}
