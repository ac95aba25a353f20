import { basename } from "node:path";
import { orElse } from "@burin/core/internal";
import type { InlineData } from "@burin/core/sessions";
import { type Fields, type Found, fields, list, type Said, type Step, type Talk, text } from "./found.ts";
import { filesBelow, firstLinesOf, linesIn, PACKED, textOf } from "./read-files.ts";

/** The first lines are nearly always short, and there may be thousands of records. */
const HEAD_BYTES = [16 * 1024, 1024 * 1024];

export interface Records {
  /** The pattern of the file names below the folder, and how many folders deep they are. */
  readonly named: RegExp;
  readonly depth?: number;
  /** The folder of the sessions, if the place of the records says it and not their content. */
  readonly folder?: string;
  readonly talkIn: (lines: readonly Fields[]) => Talk;
}

/** Adds the sessions whose records are below a folder. */
export function addRecords(found: Found, place: string, { named, depth, folder, talkIn }: Records): void {
  const files = filesBelow(place, named, depth);
  for (const file of files) {
    // While Codex compresses a record, both are there.
    if (file.endsWith(PACKED) && files.includes(file.slice(0, -PACKED.length))) continue;
    const id = basename(file).replace(/^rollout-.{19}-(?=.{36}\.)|\.jsonl?(?:\.zst)?$/g, "");
    const read = () => talkIn(linesIn(textOf(file, found) ?? ""));
    try {
      const held = folder ?? folderIn(file);
      // Some files beside the records have only notes on them.
      if (held === "" && read().steps.length === 0) continue;
      found.sessions.push({ id, file, folder: held, read });
    } catch (error) {
      found.leave(file, error);
    }
  }
}

/** The first folder in a record is the one that the session started in. */
function folderIn(file: string): string {
  for (const bytes of HEAD_BYTES) {
    for (const { cwd, payload, content } of firstLinesOf(file, bytes)) {
      const folder = text(cwd ?? fields(payload).cwd) || folderSaidIn(content);
      if (folder !== "") return folder;
    }
  }
  return "";
}

/** The oldest records of Codex name it in what the model is told alone. */
function folderSaidIn(content: unknown): string {
  const [, folder = ""] = /<cwd>((?:(?!<\/?cwd>).)*)<\/cwd>/.exec(text(fields(list(content)[0]).text)) ?? [];
  return folder;
}

/**
 * For records whose lines each name their predecessor: follows the branch that was continued last. What was
 * undone, and the messages of subagents, are left out.
 */
export function talkOfBranches(all: readonly Fields[]): Talk {
  const own = all.filter(({ isSidechain }) => isSidechain !== true);
  const lines = own.filter(({ uuid }) => typeof uuid === "string");
  const branch = branchOf(lines);
  const messages = new Set(lines.filter((line) => branch.has(line)).flatMap(messageId));
  const noted = promptsNoted(own);
  const isKept = (line: Fields) =>
    branch.has(line) || messageId(line).some((id) => messages.has(id)) || isAnswer(line);
  let steps: Step[] = [];
  for (const line of own.filter((one) => (typeof one.uuid === "string" ? isKept(one) : noted.has(one)))) {
    const { type, subtype, message, systemPayload, timestamp, ...marks } = line;
    const at = text(timestamp);
    const { content, parts } = fields(message);
    const summed = list(fields(systemPayload).compressedHistory).map(fields);
    if (subtype === "chat_compression") steps = summed.flatMap((one) => stepsOf(one.parts, one.role, at));
    else if (noted.has(line)) steps.push(...stepsOf(noted.get(line), "user", at));
    else if (isSaid(type) && marks.isMeta !== true && marks.isApiErrorMessage !== true)
      steps.push(...stepsOf(content ?? parts, type, at));
  }
  return { model: lastModel(lines), steps };
}

/** What the user said while Claude Code worked is noted beside the messages, and by some versions twice. */
function promptsNoted(lines: readonly Fields[]): ReadonlyMap<Fields, unknown> {
  const queued = lines.flatMap((line): [Fields, unknown][] => {
    const { type, commandMode = "prompt", prompt } = fields(line.attachment);
    return type === "queued_command" && commandMode === "prompt" ? [[line, prompt]] : [];
  });
  const known = new Set(queued.map(([, prompt]) => prompt));
  const absorbed = lines.filter((line) => line.reason === "absorbed_mid_turn" && !known.has(line.content));
  return new Map([...queued, ...absorbed.map((line) => [line, line.content] as const)]);
}

function isSaid(type: unknown): boolean {
  return type === "user" || type === "assistant" || type === "tool_result";
}

function branchOf(lines: readonly Fields[]): ReadonlySet<Fields> {
  const byId = new Map(lines.map((line) => [line.uuid, line]));
  const kept = new Set<Fields>();
  let line = lines.findLast(({ type }) => isSaid(type));
  while (line !== undefined && !kept.has(line)) {
    kept.add(line);
    line = byId.get(line.parentUuid);
  }
  return kept;
}

/** Parallel calls are lines of one message, and only one of them is on the path from the end. */
function messageId({ type, message }: Fields): unknown[] {
  const { id } = fields(message);
  return type === "assistant" && id !== undefined ? [id] : [];
}

/** If a call is left out, so is its answer. */
function isAnswer({ message }: Fields): boolean {
  return list(fields(message).content).some((block) => fields(block).type === "tool_result");
}

/**
 * Of a record that is one list of items, in which the history was now and then replaced or cut back. In the oldest
 * ones each line is an item, and only the first has a time.
 */
export function talkOfItems(lines: readonly Fields[]): Talk {
  let steps: Step[] = [];
  let at = "";
  for (const line of lines) {
    const { type, timestamp, payload = line } = line;
    const item = fields(payload);
    at = text(timestamp) || at;
    if (type === "response_item" || item === line) steps.push(...stepsOfItem(item, at));
    if (type === "compacted") steps = stepsAfterSummary(item, at) ?? steps;
    if (item.type === "thread_rolled_back") steps = withoutTurns(steps, Number(item.num_turns));
  }
  return { model: lastModel(lines.filter(({ type }) => type === "turn_context")), steps };
}

/** Null for a summary that only the service which wrote it can read: then what it replaced is still needed. */
function stepsAfterSummary({ replacement_history, message }: Fields, at: string): Step[] | null {
  const history = list(replacement_history).map(fields);
  if (history.some(({ type }) => text(type).startsWith("compaction"))) return null;
  const kept = history.flatMap((one) => stepsOfItem(one, at));
  const steps = kept.length > 0 ? kept : stepsOf(message, "user", at);
  return steps.length > 0 ? steps : null;
}

function stepsOfItem(item: Fields, at: string): Step[] {
  const { type, role, content } = item;
  if (type !== "message")
    return stepsOf(item, "model", at).filter(({ kind }) => kind === "call" || kind === "answer");
  return role === "user" || role === "assistant" ? stepsOf(content, role, at) : [];
}

function withoutTurns(steps: readonly Step[], count: number): Step[] {
  const begins = steps.flatMap(({ kind }, index) => (kind === "user" ? [index] : []));
  return count > 0 ? steps.slice(0, begins.at(-count) ?? 0) : [...steps];
}

/** For records that are rewritten as they grow: a message replaces an earlier one of the same id. */
export function talkOfMessages(lines: readonly Fields[]): Talk {
  const messages = new Map<unknown, Fields>();
  if (lines.some(({ kind }) => kind === "subagent")) return { model: "", steps: [] };
  for (const line of lines) {
    const all = line.messages ?? fields(line.$set).messages;
    if (all !== undefined) messages.clear();
    for (const message of list(all).map(fields)) messages.set(message.id, message);
    if (line.type !== undefined) messages.set(line.id, line);
    if (!messages.has(line.$rewindTo)) continue;
    const ids = [...messages.keys()];
    for (const id of ids.slice(ids.indexOf(line.$rewindTo))) messages.delete(id);
  }
  const kept = [...messages.values()];
  return { model: lastModel(kept), steps: kept.flatMap(stepsOfMessage) };
}

function stepsOfMessage({ type, content, timestamp, toolCalls }: Fields): Step[] {
  const at = text(timestamp);
  // Answers that also stand beside the calls of the message before find those answered.
  if (type === "user") return stepsOf(content, "user", at);
  if (type !== "gemini" && type !== "qwen") return [];
  const pairs = list(toolCalls).map((call) => callAndAnswer(fields(call), at));
  return [...stepsOf(content, "model", at), ...pairs.map(([call]) => call), ...pairs.map(([, own]) => own)];
}

function lastModel(lines: readonly Fields[]): string {
  const names = lines.map(({ model, message, payload }) =>
    text(model ?? fields(message).model ?? fields(payload).model),
  );
  return names.findLast((name) => name !== "") ?? "";
}

/** Text that the agents themselves put into user messages. */
const NOT_SAID =
  /^\s*(?:<(?:(?:command|local-command|bash)-|(?:environment_context|session_context|user_instructions|INSTRUCTIONS|turn_aborted|skill|permissions|user_shell_command|task-notification)\b)|# AGENTS\.md)/;
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\s*|(?<unclosed><system-reminder>[\s\S]*)/g;
/** No agent nests its messages deeper, but a record may be damaged. */
const MOST_DEPTH = 20;
const CALLS = /^(?:tool_use|function_call|custom_tool_call|local_shell_call)$/;
const ANSWERS = /^(?:tool_result|function_call_output|custom_tool_call_output)$/;

/** Splits a message into steps: its content is a text, or parts in the format of any of the four agents. */
function stepsOf(content: unknown, role: unknown, at: string): Step[] {
  const kind = role === "assistant" || role === "model" ? "model" : "user";
  const parts = partsOf(content);
  // Beside an answer in Gemini's words stands what it has brought, and never what the user said.
  const hasAnswer = parts.some(({ functionResponse }) => functionResponse !== undefined);
  const steps = parts.flatMap((part): Step[] => {
    const { type, functionCall, functionResponse, thought } = part;
    if (functionCall !== undefined || CALLS.test(text(type)))
      return [callOf(fields(functionCall ?? part), at)];
    if (functionResponse !== undefined || ANSWERS.test(text(type)))
      return [answerOf(fields(functionResponse ?? part), at)];
    const said = saidIn(part);
    const isOwn = thought !== true && !(kind === "user" && !hasAnswer && NOT_SAID.test(said.text));
    return isOwn && (said.text.trim() !== "" || said.media.length > 0) ? [{ at, kind, ...said }] : [];
  });
  return steps.reduce<Step[]>((all, step) => withStep(all, step, hasAnswer), []);
}

/** What a user says in one message is one prompt; what an answer has brought is a part of it. */
function withStep(steps: Step[], step: Step, isBrought: boolean): Step[] {
  const last = steps.at(-1);
  const isOne = last?.kind === "user" || (isBrought && last?.kind === "answer");
  if (step.kind !== "user" || !isOne) steps.push(step);
  else {
    const text = last.text && step.text ? `${last.text}\n${step.text}` : last.text || step.text;
    steps[steps.length - 1] = { ...last, text, media: [...(last.media ?? []), ...(step.media ?? [])] };
  }
  return steps;
}

/** A call listed in a model's message next to its content, and its answer. */
function callAndAnswer(call: Fields, at: string): [call: Step, answer: Step] {
  const { id, result, status } = call;
  // The answers of all calls of a message may stand beside each of them.
  const own = stepsOf(result, "user", at).find((step) => step.kind === "answer" && step.id === id);
  const said = own?.kind === "answer" ? own : saidIn(result);
  const answer = { ...said, kind: "answer", at, id: text(id), isError: status !== "success" } as const;
  return [callOf(call, at), answer];
}

function partsOf(content: unknown): Fields[] {
  return [content].flat().map((part) => (typeof part === "string" ? { text: part } : fields(part)));
}

function callOf(call: Fields, at: string): Step {
  const { call_id, id, name, type, args, input, arguments: written, action } = call;
  const command = fields(action).command;
  const parsed = orElse(written, () => (typeof written === "string" ? JSON.parse(written) : written));
  const given = args ?? input ?? parsed ?? (command === undefined ? {} : { command });
  const own = typeof given === "string" ? { input: given } : fields(given);
  const called = text(name) || text(type).replace(/_call$/, "");
  return { at, kind: "call", id: text(call_id ?? id), name: called, args: own };
}

function answerOf(answer: Fields, at: string): Step {
  const { tool_use_id, call_id, id, is_error, response, output, content } = answer;
  const isError =
    is_error === true || fields(response).error !== undefined || fields(output).success === false;
  const said = saidIn(response ?? output ?? content);
  return { at, kind: "answer", id: text(tool_use_id ?? call_id ?? id), ...said, isError };
}

/** The text and images of a string, a part, or nested parts. */
function saidIn(given: unknown, depth = 0): Required<Said> {
  const { output, error, content, functionResponse, text: own } = fields(given);
  const held = fields(functionResponse).response ?? output ?? error ?? content;
  if (depth > MOST_DEPTH) return { text: "", media: [] };
  if (held !== undefined) return saidIn(held, depth + 1);
  const inner = list(given).map((one) => saidIn(one, depth + 1));
  const words = [text(own ?? given).replace(REMINDER, "$<unclosed>"), ...inner.map((one) => one.text)];
  const media = [...mediaIn(fields(given)), ...inner.flatMap((one) => one.media)];
  return { text: words.filter((one) => one !== "").join("\n"), media };
}

function mediaIn({ inlineData, source, image_url }: Fields): InlineData[] {
  const { type, data, media_type, mimeType } = fields(inlineData ?? source);
  if (inlineData !== undefined || type === "base64")
    return [{ data: text(data), mimeType: text(media_type ?? mimeType) }];
  const [, ofUrl, ofData] = /^data:([^;,]+);base64,(.+)$/s.exec(text(image_url)) ?? [];
  return ofUrl === undefined || ofData === undefined ? [] : [{ mimeType: ofUrl, data: ofData }];
}
