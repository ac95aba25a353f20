import type { ChatModel } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import type { CorrectEdit, FailedEdit } from "../text/correct-edit.ts";
import { askModelOnce, wrapAsUserMessage } from "./reply.ts";

const INSTRUCTION = `A text replacement in a file failed, because the old text does not match the file exactly once.
Find the one place that was meant and answer with a JSON object only:
{"old_string": "<the text exactly as the file has it, long enough to be unique>", "new_string": "<what to put there>"}
The words of the user and of the model before the call say what was meant.
Keep everything that was not meant to change as the file has it. If no place is clearly meant, answer {"old_string": ""}.`;

/** The maximum number of characters of a file that are sent. Of a larger file, only the part around the closest match is sent. */
const MAX_EXCERPT_CHARACTERS = 24_000;

/** The text before the call: the user's prompt and the model's own words. */
export interface EditContext {
  readonly prompt: string;
  readonly reply: string;
}

const MAX_WORDS = 4_000;

/** Returns the latest text of the user and of the model in a history. */
export function readEditContext(history: readonly Message[]): EditContext {
  const findLastText = (role: Message["role"]) => {
    const texts = history.map((one) =>
      one.role === role ? one.parts.map(({ text }) => text ?? "").join("") : "",
    );
    return (texts.findLast((text) => text.trim() !== "") ?? "").slice(-MAX_WORDS);
  };
  return { prompt: findLastText("user"), reply: findLastText("model") };
}

/** Returns a function that asks the model to correct a failed edit. The edit tool checks what it proposes. */
export function createEditCorrector(model: ChatModel, words: () => EditContext): CorrectEdit {
  return async (failed, signal) => {
    const around = words();
    const history = wrapAsUserMessage(buildQuestion(failed, around));
    const { text, end } = await askModelOnce(model, { system: INSTRUCTION, history }, signal);
    if (end.reason !== "stop") return null;
    const proposal = parseProposal(text);
    if (proposal === null || failed.places === undefined) return proposal;
    return identifiesPlace(failed, proposal.oldText, around) ? proposal : null;
  };
}

/** How many lines away from a place a name may be to identify it. */
const LINES_AROUND = 15;

/** Whether the text names something near the chosen place, and nothing near any other place. */
function identifiesPlace(failed: FailedEdit, chosen: string, { prompt, reply }: EditContext): boolean {
  const { content, newText, places = [] } = failed;
  const lines = content.split("\n");
  const start = content.indexOf(chosen);
  const first = content.slice(0, start).split("\n").length;
  const last = first + chosen.split("\n").length - 1;
  const said = new Set(listNames(`${prompt}\n${reply}\n${newText}`));
  const around = places.map((place, at) => {
    const { [at - 1]: above = Number.NEGATIVE_INFINITY, [at + 1]: below = Number.POSITIVE_INFINITY } = places;
    const from = Math.max(place - LINES_AROUND, Math.floor((above + place) / 2) + 1);
    const to = Math.min(place + LINES_AROUND, Math.floor((place + below) / 2));
    return new Set([String(place), ...listNames(lines.slice(Math.max(0, from - 1), to).join("\n"))]);
  });
  const named = around.map((own) =>
    [...own].some((name) => said.has(name) && around.every((other) => other === own || !other.has(name))),
  );
  const isInChosenPlace = (place: number) => place >= first && place <= last;
  return (
    start !== -1 && places.length > 0 && places.every((place, at) => named[at] === isInChosenPlace(place))
  );
}

function listNames(text: string): string[] {
  return text.match(/[\p{L}\p{N}_$]+/gu) ?? [];
}

function buildQuestion({ content, oldText, newText, reason, line }: FailedEdit, said: EditContext): string {
  return [
    reason,
    ...(said.prompt === "" ? [] : [`What the user asked for:\n${wrapInFence(said.prompt)}`]),
    ...(said.reply === "" ? [] : [`What the model wrote before the call:\n${wrapInFence(said.reply)}`]),
    `The old text that was given:\n${wrapInFence(oldText)}`,
    `The new text that was given:\n${wrapInFence(newText)}`,
    `The file${content.length > MAX_EXCERPT_CHARACTERS ? ", the part in question" : ""}:\n${wrapInFence(cutExcerpt(content, line))}`,
  ].join("\n\n");
}

function cutExcerpt(content: string, line: number): string {
  if (content.length <= MAX_EXCERPT_CHARACTERS) return content;
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) start = content.indexOf("\n", start) + 1;
  const from = Math.max(0, start - MAX_EXCERPT_CHARACTERS / 2);
  const wholeLine = from === 0 ? 0 : content.indexOf("\n", from) + 1;
  return content.slice(wholeLine, wholeLine + MAX_EXCERPT_CHARACTERS);
}

/** Puts the text in a fence that it does not contain. */
function wrapInFence(text: string): string {
  let fence = "```";
  while (text.includes(fence)) fence += "`";
  return `${fence}\n${text}\n${fence}`;
}

/** The start of a JSON object in the requested form. A model may write text before and after it. */
const PROPOSAL = /\{\s*"(?:old|new)_string"\s*:/g;

function parseProposal(answer: string): { oldText: string; newText: string } | null {
  const end = answer.lastIndexOf("}") + 1;
  for (const { index } of answer.matchAll(PROPOSAL)) {
    const found = parseJson(answer.slice(index, end));
    const { old_string: oldText, new_string: newText } = isRecord(found) ? found : {};
    if (typeof oldText === "string" && typeof newText === "string" && oldText !== "")
      return { oldText, newText };
  }
  return null;
}
