import { basename } from "node:path";
import { withFallback } from "@burin/core/internal";
import type { InlineData } from "@burin/core/sessions";
import {
  type Conversation,
  type Fields,
  type Found,
  type MessageContent,
  type Step,
  toFields,
  toList,
  toText,
} from "./found.ts";
import {
  COMPRESSED_EXTENSIONS,
  listFilesBelow,
  readFirstLines,
  readForeignText,
  readJsonLines,
} from "./read-files.ts";

/**
 * How much of a record to read for its folder: first little, then more. The first lines are nearly always short, and
 * there may be thousands of records.
 */
const HEAD_BYTES = [16 * 1024, 1024 * 1024];

export interface Records {
  /** Matches the names of the record files. `depth` is how many folders deep they may be. */
  readonly named: RegExp;
  readonly depth?: number;
  /** The sessions' folder, if it follows from where the records are and not from their content. */
  readonly folder?: string;
  readonly talkIn: (lines: readonly Fields[]) => Conversation;
}

/** Adds the sessions that are recorded below a folder. */
export function addRecords(found: Found, place: string, { named, depth, folder, talkIn }: Records): void {
  const files = listFilesBelow(place, named, depth);
  for (const file of files) {
    // While Codex compresses a record, both files exist.
    if (file.endsWith(COMPRESSED_EXTENSIONS) && files.includes(file.slice(0, -COMPRESSED_EXTENSIONS.length)))
      continue;
    const id = basename(file).replace(/^rollout-.{19}-(?=.{36}\.)|\.jsonl?(?:\.zst)?$/g, "");
    const read = () => talkIn(readJsonLines(readForeignText(file, found) ?? ""));
    try {
      const held = folder ?? findStartFolder(file);
      // Some files next to the records contain only notes about them.
      if (held === "" && read().steps.length === 0) continue;
      found.sessions.push({ id, file, folder: held, read });
    } catch (error) {
      found.noteLeftOut(file, error);
    }
  }
}

/** Returns the first folder that a record names: the session started there. */
function findStartFolder(file: string): string {
  for (const bytes of HEAD_BYTES) {
    for (const { cwd, payload, content } of readFirstLines(file, bytes)) {
      const folder = toText(cwd ?? toFields(payload).cwd) || findMentionedFolder(content);
      if (folder !== "") return folder;
    }
  }
  return "";
}

/** Finds the folder in the text for the model: the oldest records of Codex name it only there. */
function findMentionedFolder(content: unknown): string {
  const [, folder = ""] =
    /<cwd>((?:(?!<\/?cwd>).)*)<\/cwd>/.exec(toText(toFields(toList(content)[0]).text)) ?? [];
  return folder;
}

/**
 * Reads records in which each line names its predecessor. Follows the branch that was continued last, and leaves out
 * what was undone and the messages of subagents.
 */
export function readBranches(all: readonly Fields[]): Conversation {
  const own = all.filter(({ isSidechain }) => isSidechain !== true);
  const lines = own.filter(({ uuid }) => typeof uuid === "string");
  const branch = findBranch(lines);
  const messages = new Set(lines.filter((line) => branch.has(line)).flatMap(readMessageId));
  const noted = listQueuedPrompts(own);
  const isLineKept = (line: Fields) =>
    branch.has(line) || readMessageId(line).some((id) => messages.has(id)) || isCallResult(line);
  let steps: Step[] = [];
  for (const line of own.filter((one) => (typeof one.uuid === "string" ? isLineKept(one) : noted.has(one)))) {
    const { type, subtype, message, systemPayload, timestamp, ...marks } = line;
    const at = toText(timestamp);
    const { content, parts } = toFields(message);
    const summed = toList(toFields(systemPayload).compressedHistory).map(toFields);
    if (subtype === "chat_compression") steps = summed.flatMap((one) => readSteps(one.parts, one.role, at));
    else if (noted.has(line)) steps.push(...readSteps(noted.get(line), "user", at));
    else if (isMessageType(type) && marks.isMeta !== true && marks.isApiErrorMessage !== true)
      steps.push(...readSteps(content ?? parts, type, at));
  }
  return { model: findLastModel(lines), steps };
}

/** Finds what the user said while Claude Code worked, which is stored apart, and by some versions twice. */
function listQueuedPrompts(lines: readonly Fields[]): ReadonlyMap<Fields, unknown> {
  const queued = lines.flatMap((line): [Fields, unknown][] => {
    const { type, commandMode = "prompt", prompt } = toFields(line.attachment);
    return type === "queued_command" && commandMode === "prompt" ? [[line, prompt]] : [];
  });
  const known = new Set(queued.map(([, prompt]) => prompt));
  const absorbed = lines.filter((line) => line.reason === "absorbed_mid_turn" && !known.has(line.content));
  return new Map([...queued, ...absorbed.map((line) => [line, line.content] as const)]);
}

function isMessageType(type: unknown): boolean {
  return type === "user" || type === "assistant" || type === "tool_result";
}

function findBranch(lines: readonly Fields[]): ReadonlySet<Fields> {
  const byId = new Map(lines.map((line) => [line.uuid, line]));
  const kept = new Set<Fields>();
  let line = lines.findLast(({ type }) => isMessageType(type));
  while (line !== undefined && !kept.has(line)) {
    kept.add(line);
    line = byId.get(line.parentUuid);
  }
  return kept;
}

/** Returns the message's id. A message's parallel calls are separate lines, of which only one is on the branch. */
function readMessageId({ type, message }: Fields): unknown[] {
  const { id } = toFields(message);
  return type === "assistant" && id !== undefined ? [id] : [];
}

/** Whether a line is the answer to a call. Keep all answers: one whose call is left out is dropped later. */
function isCallResult({ message }: Fields): boolean {
  return toList(toFields(message).content).some((block) => toFields(block).type === "tool_result");
}

/**
 * Reads records that are one list of items, in which the history was sometimes replaced or cut back. In the oldest ones
 * each line is an item, and only the first has a time.
 */
export function readItems(lines: readonly Fields[]): Conversation {
  let steps: Step[] = [];
  let at = "";
  for (const line of lines) {
    const { type, timestamp, payload = line } = line;
    const item = toFields(payload);
    at = toText(timestamp) || at;
    if (type === "response_item" || item === line) steps.push(...readItemSteps(item, at));
    if (type === "compacted") steps = readStepsAfterSummary(item, at) ?? steps;
    if (item.type === "thread_rolled_back") steps = removeTurns(steps, Number(item.num_turns));
  }
  return { model: findLastModel(lines.filter(({ type }) => type === "turn_context")), steps };
}

/**
 * Returns the steps that replace the history after a summary. Returns null if only the service that wrote the summary
 * can read it: the replaced steps are then still needed.
 */
function readStepsAfterSummary({ replacement_history, message }: Fields, at: string): Step[] | null {
  const history = toList(replacement_history).map(toFields);
  if (history.some(({ type }) => toText(type).startsWith("compaction"))) return null;
  const kept = history.flatMap((one) => readItemSteps(one, at));
  const steps = kept.length > 0 ? kept : readSteps(message, "user", at);
  return steps.length > 0 ? steps : null;
}

function readItemSteps(item: Fields, at: string): Step[] {
  const { type, role, content } = item;
  if (type !== "message")
    return readSteps(item, "model", at).filter(({ kind }) => kind === "call" || kind === "answer");
  return role === "user" || role === "assistant" ? readSteps(content, role, at) : [];
}

function removeTurns(steps: readonly Step[], count: number): Step[] {
  const begins = steps.flatMap(({ kind }, index) => (kind === "user" ? [index] : []));
  return count > 0 ? steps.slice(0, begins.at(-count) ?? 0) : [...steps];
}

/** Reads records that are rewritten as they grow: a message replaces an earlier one with the same id. */
export function readMessages(lines: readonly Fields[]): Conversation {
  const messages = new Map<unknown, Fields>();
  if (lines.some(({ kind }) => kind === "subagent")) return { model: "", steps: [] };
  for (const line of lines) {
    const all = line.messages ?? toFields(line.$set).messages;
    if (all !== undefined) messages.clear();
    for (const message of toList(all).map(toFields)) messages.set(message.id, message);
    if (line.type !== undefined) messages.set(line.id, line);
    if (!messages.has(line.$rewindTo)) continue;
    const ids = [...messages.keys()];
    for (const id of ids.slice(ids.indexOf(line.$rewindTo))) messages.delete(id);
  }
  const kept = [...messages.values()];
  return { model: findLastModel(kept), steps: kept.flatMap(readMessageSteps) };
}

function readMessageSteps({ type, content, timestamp, toolCalls }: Fields): Step[] {
  const at = toText(timestamp);
  // An answer may also be stored with its call in the previous message; the second one then finds its call already
  // answered.
  if (type === "user") return readSteps(content, "user", at);
  if (type !== "gemini" && type !== "qwen") return [];
  const pairs = toList(toolCalls).map((call) => readCallAndAnswer(toFields(call), at));
  return [...readSteps(content, "model", at), ...pairs.map(([call]) => call), ...pairs.map(([, own]) => own)];
}

function findLastModel(lines: readonly Fields[]): string {
  const names = lines.map(({ model, message, payload }) =>
    toText(model ?? toFields(message).model ?? toFields(payload).model),
  );
  return names.findLast((name) => name !== "") ?? "";
}

/** Prefixes of user messages that the imported agent wrote itself, and not the user. */
const NOT_SAID = /^\s*(?:<(?:command|local-command|bash)-|# AGENTS\.md)/;
const NOT_SAID_TAGS = new Set(
  `
  environment_context session_context user_instructions INSTRUCTIONS turn_aborted skill permissions
  user_shell_command task-notification`
    .trim()
    .split(/\s+/),
);

function isGeneratedText(text: string): boolean {
  return NOT_SAID.test(text) || NOT_SAID_TAGS.has(/^\s*<([\w-]+)/.exec(text)?.[1] ?? "");
}

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\s*|(?<unclosed><system-reminder>[\s\S]*)/g;
/** No agent nests its messages deeper, but a record may be damaged. */
const MAX_DEPTH = 20;
const CALLS = /^(?:tool_use|function_call|custom_tool_call|local_shell_call)$/;
const ANSWERS = /^(?:tool_result|function_call_output|custom_tool_call_output)$/;

/** Splits a message into steps. Its content is a text, or parts in the format of any of the four agents. */
function readSteps(content: unknown, role: unknown, at: string): Step[] {
  const kind = role === "assistant" || role === "model" ? "model" : "user";
  const parts = listParts(content);
  // In Gemini's format, other parts beside an answer belong to that answer; they are never the user's words.
  const hasAnswer = parts.some(({ functionResponse }) => functionResponse !== undefined);
  const steps = parts.flatMap((part): Step[] => {
    const { type, functionCall, functionResponse, thought } = part;
    if (functionCall !== undefined || CALLS.test(toText(type)))
      return [readCall(toFields(functionCall ?? part), at)];
    if (functionResponse !== undefined || ANSWERS.test(toText(type)))
      return [readAnswer(toFields(functionResponse ?? part), at)];
    const said = readContent(part);
    const isOwn = thought !== true && !(kind === "user" && !hasAnswer && isGeneratedText(said.text));
    return isOwn && (said.text.trim() !== "" || said.media.length > 0) ? [{ at, kind, ...said }] : [];
  });
  return steps.reduce<Step[]>((all, step) => addStep(all, step, hasAnswer), []);
}

/** Adds a step. Texts of one user message become one prompt; with `isBrought`, they join the answer before. */
function addStep(steps: Step[], step: Step, isBrought: boolean): Step[] {
  const last = steps.at(-1);
  const isOne = last?.kind === "user" || (isBrought && last?.kind === "answer");
  if (step.kind !== "user" || !isOne) steps.push(step);
  else {
    const text = last.text && step.text ? `${last.text}\n${step.text}` : last.text || step.text;
    steps[steps.length - 1] = { ...last, text, media: [...(last.media ?? []), ...(step.media ?? [])] };
  }
  return steps;
}

/** Reads a call that is listed in a model's message next to its content, and its answer. */
function readCallAndAnswer(call: Fields, at: string): [call: Step, answer: Step] {
  const { id, result, status } = call;
  // Each call of a message may list the answers of all of them.
  const own = readSteps(result, "user", at).find((step) => step.kind === "answer" && step.id === id);
  const said = own?.kind === "answer" ? own : readContent(result);
  const answer = { ...said, kind: "answer", at, id: toText(id), isError: status !== "success" } as const;
  return [readCall(call, at), answer];
}

function listParts(content: unknown): Fields[] {
  return [content].flat().map((part) => (typeof part === "string" ? { text: part } : toFields(part)));
}

function readCall(call: Fields, at: string): Step {
  const { call_id, id, name, type, args, input, arguments: written, action } = call;
  const command = toFields(action).command;
  const parsed = withFallback(written, () => (typeof written === "string" ? JSON.parse(written) : written));
  const given = args ?? input ?? parsed ?? (command === undefined ? {} : { command });
  const own = typeof given === "string" ? { input: given } : toFields(given);
  const called = toText(name) || toText(type).replace(/_call$/, "");
  return { at, kind: "call", id: toText(call_id ?? id), name: called, args: own };
}

function readAnswer(answer: Fields, at: string): Step {
  const { tool_use_id, call_id, id, is_error, response, output, content } = answer;
  const isError =
    is_error === true || toFields(response).error !== undefined || toFields(output).success === false;
  const said = readContent(response ?? output ?? content);
  return { at, kind: "answer", id: toText(tool_use_id ?? call_id ?? id), ...said, isError };
}

/** Returns the text and the images of a string, a part, or nested parts. */
function readContent(given: unknown, depth = 0): Required<MessageContent> {
  const { output, error, content, functionResponse, text: own } = toFields(given);
  const held = toFields(functionResponse).response ?? output ?? error ?? content;
  if (depth > MAX_DEPTH) return { text: "", media: [] };
  if (held !== undefined) return readContent(held, depth + 1);
  const inner = toList(given).map((one) => readContent(one, depth + 1));
  const words = [toText(own ?? given).replace(REMINDER, "$<unclosed>"), ...inner.map((one) => one.text)];
  const media = [...readMedia(toFields(given)), ...inner.flatMap((one) => one.media)];
  return { text: words.filter((one) => one !== "").join("\n"), media };
}

function readMedia({ inlineData, source, image_url }: Fields): InlineData[] {
  const { type, data, media_type, mimeType } = toFields(inlineData ?? source);
  if (inlineData !== undefined || type === "base64")
    return [{ data: toText(data), mimeType: toText(media_type ?? mimeType) }];
  const [, ofUrl, ofData] = /^data:([^;,]+);base64,(.+)$/s.exec(toText(image_url)) ?? [];
  return ofUrl === undefined || ofData === undefined ? [] : [{ mimeType: ofUrl, data: ofData }];
}
