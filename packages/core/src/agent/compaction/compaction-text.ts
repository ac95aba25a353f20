import type { Message, Part } from "@burin/contract/messages/message";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import type { ContextSize } from "../context-size.ts";
import type { ChangedFile, WorkRecord } from "../history.ts";

interface CompactionContent {
  readonly record: WorkRecord;
  /** The texts of the context files in their current state. */
  readonly contextTexts: readonly string[];
  readonly summary: string;
}

const HEAD = [
  "[The conversation so far was too long for the model's window.",
  "This text, written by the program, replaces it.",
  "Continue the task from here; do not repeat what is done.]",
].join(" ");

/** Writes the text that replaces the history. Cuts what does not fit, the user's last prompt last. */
export function buildCompactionText(
  { record, contextTexts, summary }: CompactionContent,
  maxTokens: number,
  size: ContextSize,
): string {
  let left = Math.max(maxTokens - size.estimateText(HEAD), 0);
  const takeShare = (text: string, shareOfRest: number): string => {
    const taken = truncateToTokens(text, Math.floor(left * shareOfRest), size);
    left = Math.max(left - size.estimateText(taken), 0);
    return taken;
  };
  const task = takeShare(record.prompts.at(-1) ?? "", 0.7);
  const todos = takeShare(
    record.openTodos.map((todo) => `- [${todo.status}] ${todo.content}`).join("\n"),
    0.5,
  );
  const files = takeShare(record.changedFiles.map(formatFileLine).join("\n"), 0.5);
  const instructions = takeShare(contextTexts.join("\n\n"), 0.6);
  const account = takeShare(summary, 0.8);
  const earlier: string[] = [];
  for (const prompt of record.prompts.slice(0, -1).reverse()) {
    const text = `- ${prompt}`;
    if (size.estimateText(text) > left) break;
    earlier.unshift(takeShare(text, 1));
  }
  const sections = [
    instructions,
    formatSection("What happened so far", account),
    formatSection("Files changed so far", files),
    formatSection("Todos", todos),
    formatSection("What the user said before, word for word, the oldest first", earlier.join("\n")),
    formatSection("The user's last words, which are the task", task),
  ];
  return [HEAD, ...sections.filter((text) => text !== "")].join("\n\n");
}

function formatSection(title: string, text: string): string {
  return text === "" ? "" : `# ${title}\n${text}`;
}

function formatFileLine({ name, isNew, addedLines, removedLines }: ChangedFile): string {
  return `- ${name} (${isNew ? "new, " : ""}+${addedLines} -${removedLines} lines)`;
}

/** The maximum number of characters of each piece in a transcript. */
interface DetailLevel {
  readonly text: number;
  readonly args: number;
  readonly answer: number;
}

/** The limits from the finest to the coarsest: the first with which the transcript fits is used. */
const GRAINS: readonly DetailLevel[] = [
  { text: 8000, args: 1500, answer: 2000 },
  { text: 2000, args: 400, answer: 400 },
  { text: 600, args: 150, answer: 120 },
];
const COARSEST: DetailLevel = { text: 300, args: 120, answer: 80 };

export interface ConversationRecord {
  readonly history: readonly Message[];
  /** Replaces the first text of the history if that text itself comes from a compaction. Empty otherwise. */
  readonly summary: string;
}

export function formatTranscript(told: ConversationRecord, maxTokens: number, size: ContextSize): string {
  for (const grain of GRAINS) {
    const text = formatRecord(told, grain);
    if (size.estimateText(text) <= maxTokens) return text;
  }
  return formatDigest(told, maxTokens, size);
}

/** Summarizes without a model: prompts, replies and calls, in a line or two each. */
export function formatDigest(told: ConversationRecord, maxTokens: number, size: ContextSize): string {
  return truncateToTokens(formatRecord(told, COARSEST), maxTokens, size);
}

function truncateToTokens(text: string, maxTokens: number, size: ContextSize): string {
  let cut = text;
  let max = text.length;
  while (size.estimateText(cut) > maxTokens && max > 200) {
    max = Math.floor(Math.min(max * 0.9, (max * maxTokens) / size.estimateText(cut)));
    cut = keepHeadAndTail(text, max, "there was no room for more");
  }
  return cut;
}

function formatRecord({ history, summary }: ConversationRecord, grain: DetailLevel): string {
  const lines: string[] = summary === "" ? [] : [`Summary of what was before:\n${summary}`];
  for (const [index, { role, parts }] of history.entries()) {
    for (const [place, part] of parts.entries()) {
      const isReplaced = summary !== "" && index === 0 && place === 0;
      const line = isReplaced ? "" : formatPart(part, role, grain);
      if (line !== "") lines.push(line);
    }
  }
  return lines.join("\n\n");
}

function formatPart(part: Part, role: Message["role"], grain: DetailLevel): string {
  const { text, thought, inlineData, functionCall, functionResponse } = part;
  if (functionCall) {
    return `Call of ${functionCall.name}: ${shortenText(JSON.stringify(functionCall.args ?? {}), grain.args)}`;
  }
  if (functionResponse) {
    const { output, error } = functionResponse.response ?? {};
    const said = shortenText(String(output ?? error ?? ""), grain.answer);
    return `${error === undefined ? "Answer" : "Error"} of ${functionResponse.name}: ${said}`;
  }
  if (inlineData) return `(a file of type ${inlineData.mimeType})`;
  if (thought || !text?.trim()) return "";
  return `${role === "user" ? "User" : "Assistant"}: ${shortenText(text, grain.text)}`;
}

function shortenText(text: string, maxCharacters: number): string {
  return keepHeadAndTail(text, maxCharacters, "left out here");
}
