import type { ChatModel } from "../models/chat-model.ts";
import type { CorrectEdit, FailedEdit } from "../text/correct-edit.ts";

const INSTRUCTION = `A text replacement in a file failed, because the old text does not match the file exactly once.
Find the one place that was meant and answer with a JSON object only:
{"old_string": "<the text exactly as the file has it, long enough to be unique>", "new_string": "<what shall stand there>"}
Keep everything that was not meant to change as the file has it. If no place is clearly meant, answer {"old_string": ""}.`;

/** More of a file than this is not sent; the part around the closest region is. */
const MOST_EXCERPT_CHARACTERS = 24_000;

/**
 * Asks the model to repair a replacement that no deterministic stage could place. What it proposes is only
 * a proposal: the edit tool takes it when it matches the file as often as expected, and never otherwise.
 */
export function editCorrector(model: ChatModel): CorrectEdit {
  return async (failed, signal) => {
    const history = [{ role: "user" as const, parts: [{ text: question(failed) }] }];
    let answer = "";
    for await (const event of model.stream({ system: INSTRUCTION, history, tools: [] }, signal)) {
      if (event.type === "text") answer += event.text;
      if (event.type === "end" && event.reason !== "stop") return null;
    }
    return proposalIn(answer);
  };
}

function question({ content, oldText, newText, reason, line }: FailedEdit): string {
  return [
    reason,
    `The old text that was given:\n${fenced(oldText)}`,
    `The new text that was given:\n${fenced(newText)}`,
    `The file${content.length > MOST_EXCERPT_CHARACTERS ? ", the part in question" : ""}:\n${fenced(excerpt(content, line))}`,
  ].join("\n\n");
}

function excerpt(content: string, line: number): string {
  if (content.length <= MOST_EXCERPT_CHARACTERS) return content;
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) start = content.indexOf("\n", start) + 1;
  const from = Math.max(0, start - MOST_EXCERPT_CHARACTERS / 2);
  const wholeLine = from === 0 ? 0 : content.indexOf("\n", from) + 1;
  return content.slice(wholeLine, wholeLine + MOST_EXCERPT_CHARACTERS);
}

/** A fence that the text itself does not hold. */
function fenced(text: string): string {
  let fence = "```";
  while (text.includes(fence)) fence += "`";
  return `${fence}\n${text}\n${fence}`;
}

/** Where an object such as was asked for begins; a model may well write something before and after it. */
const PROPOSAL = /\{\s*"(?:old|new)_string"\s*:/g;

function proposalIn(answer: string): { oldText: string; newText: string } | null {
  const end = answer.lastIndexOf("}") + 1;
  for (const { index } of answer.matchAll(PROPOSAL)) {
    const { old_string: oldText, new_string: newText } = parsed(answer.slice(index, end));
    if (typeof oldText === "string" && typeof newText === "string" && oldText !== "")
      return { oldText, newText };
  }
  return null;
}

function parsed(json: string): { readonly [key: string]: unknown } {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}
