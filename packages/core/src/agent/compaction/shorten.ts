import { type AgentEvent, createNotice } from "@burin/contract/agent-event";
import type { ChatModel, ModelFailure, ModelRequest } from "@burin/contract/chat-model";
import type { Message, Part } from "@burin/contract/messages/message";
import type { ContextSize } from "../context-size.ts";
import type { WorkRecord } from "../history.ts";
import { askModelOnce, EMPTY, wrapAsUserMessage } from "../reply.ts";
import {
  buildCompactionText,
  type ConversationRecord,
  formatDigest,
  formatTranscript,
} from "./compaction-text.ts";

export interface CompactorOptions {
  /** The models that write summaries. Each one is asked if the one before it failed. */
  readonly models: readonly ChatModel[];
  readonly size: ContextSize;
  /** The model's window in tokens. */
  readonly window: number;
  readonly record: WorkRecord;
  readonly request: () => ModelRequest;
  readonly contextTexts: (signal: AbortSignal) => Promise<readonly string[]>;
}

/** Adds an event to the history, and resolves when its reader has it. */
export type Say = (event: AgentEvent) => Promise<void>;

interface ShortenOptions extends CompactorOptions {
  readonly limit: number;
  /** Set when the user asked for a compaction: no message is kept, and the summary follows these words. */
  readonly wish: string | undefined;
}

/** Clearing old answers is enough if it brings the request below this share of the limit. */
const ENOUGH = 0.6;
/** The shares of the limit that the newest answers and the newest messages may fill unchanged. */
const KEPT_ANSWERS = 0.25;
const KEPT_MESSAGES = 0.3;
/** The share of the window that the transcript to be summarized may fill. */
const SUMMARIZED = 0.5;
/** The share of the new text that the digest may fill when there is no summary. */
const DIGEST = 0.4;

/** Replacing a smaller answer by a note is not worth it. */
const MIN_TOKENS = 100;

/** Explains that a first request cannot be shortened, being mostly instructions and tools; else undefined. */
export function explainTooSmall(request: ModelRequest, size: ContextSize): string | undefined {
  const fixed = size.estimateRequest({ ...request, history: [] });
  const isFirst = !request.history.some(({ role }) => role === "model");
  if (!isFirst || fixed * 2 < size.estimateRequest(request)) return undefined;
  return [
    `Nothing can be left out: the instructions and tools alone take about ${fixed} tokens.`,
    "Start the model's server with a larger window (Ollama: OLLAMA_CONTEXT_LENGTH),",
    "raise the limit at the service, or choose another model.",
  ].join(" ");
}

/** Clears old answers. If that is not enough, replaces all messages except the newest, unless that is longer. */
export async function shorten(needs: ShortenOptions, say: Say, signal: AbortSignal): Promise<void> {
  const { size, request, limit, window, wish } = needs;
  const isAll = wish !== undefined;
  if (!isAll && explainTooSmall(request(), size)) return;
  const before = size.estimateRequest(request());
  const callIds = findOldAnswers(request().history, limit * KEPT_ANSWERS, size);
  if (callIds.length > 0) {
    await say({ type: "cleared", callIds });
    if (!isAll && size.estimateRequest(request()) <= limit * ENOUGH) return;
  }
  if (isAll && request().history.length < 2) return;
  if (!isAll)
    await say(
      createNotice(
        `The conversation (about ${before} tokens) nearly fills the model's window (${window}): it is being summarized.`,
      ),
    );
  const { history, system, tools } = request();
  const room = Math.max(limit - size.estimateRequest({ system, tools, history: [] }), limit / 4);
  const tail = isAll ? { kept: 0, tokens: 0 } : findNewestMessages(history, room * KEPT_MESSAGES, size);
  const told: ConversationRecord = {
    history: history.slice(0, history.length - tail.kept),
    summary: needs.record.summary,
  };
  const contextTexts = await needs.contextTexts(signal);
  const measureShortened = (summary: string): ShortenResult => {
    const kept = { record: needs.record, contextTexts, summary };
    const text = buildCompactionText(kept, room * 0.9 - tail.tokens, size);
    const after: Message[] = [{ role: "user", parts: [{ text }] }, ...history.slice(told.history.length)];
    return { text, summary, tokensAfter: size.estimateRequest({ system, tools, history: after }) };
  };
  const now = size.estimateRequest(request());
  // The parts that are kept word for word may already be this long. Then do not ask a model.
  if (isAll && measureShortened("").tokensAfter >= now) return;
  const answer = await writeSummary(told, needs, signal);
  if (signal.aborted) return;
  if (typeof answer !== "string") {
    const message = `No summary could be made. ${answer.message} A plain list of what was done takes its place.`;
    await say(createNotice(message));
  }
  const found = measureShortened(
    typeof answer === "string" ? answer : formatDigest(told, room * DIGEST, size),
  );
  if (isAll && found.tokensAfter >= now) return;
  await say({ type: "compaction", ...found, kept: tail.kept, tokensBefore: before });
}

interface ShortenResult {
  readonly text: string;
  readonly summary: string;
  readonly tokensAfter: number;
}

const INSTRUCTION = [
  [
    "You are given the record of a coding agent's work with a user. It is too long to be kept;",
    "your summary replaces it, and the agent continues with nothing else.",
  ],
  [
    "Write, in short lines under these headings:",
    "Goal.",
    "Decisions and what the user wants or forbids.",
    "Done so far (files by path, commands, results).",
    "Learned (facts, names, places in the code, values that will be needed again).",
    "Tried without success, and why.",
    "Next steps.",
  ],
  [
    "Keep exact names, paths, commands and error texts. State nothing that is not in the record.",
    "Do not carry on with the work, call no tool and speak to nobody.",
  ],
]
  .map((sentences) => sentences.join(" "))
  .join("\n");

/** Introduces the user's own words about the summary. */
const WISH = "The user asks this of the summary, and it comes before the headings above:";

/** Returns the model's summary, or why there is none. If the transcript is too long, tries again with half of it. */
async function writeSummary(
  told: ConversationRecord,
  { models, size, window, wish = "" }: ShortenOptions,
  signal: AbortSignal,
): Promise<string | ModelFailure> {
  let failure: ModelFailure = EMPTY;
  const system = wish.trim() === "" ? INSTRUCTION : `${INSTRUCTION}\n${WISH} ${wish.trim()}`;
  for (const model of models) {
    let room = Math.min(window, model.contextWindow ?? window) * SUMMARIZED;
    for (let tries = 0; tries < 2; tries += 1) {
      const transcript = formatTranscript(told, room, size);
      const history = wrapAsUserMessage(`The record:\n\n${transcript}`);
      const { text, end } = await askModelOnce(model, { system, history }, signal);
      if (end.reason !== "error" && text.trim() !== "") return text.trim();
      if (signal.aborted) return EMPTY;
      failure = end.reason === "error" ? end.error : EMPTY;
      if (failure.type !== "context_length") break;
      room = Math.min(room, size.estimateText(transcript)) / 2;
    }
  }
  return failure;
}

/**
 * Finds the longest sequence of messages at the end that starts with a reply, stays within the turn and fits. A last
 * prompt whose images the model has not seen yet also counts.
 */
function findNewestMessages(
  history: readonly Message[],
  maxTokens: number,
  size: ContextSize,
): { readonly kept: number; readonly tokens: number } {
  let newest = { kept: 0, tokens: 0 };
  let tokens = 0;
  for (const [index, message] of [...history].reverse().entries()) {
    tokens += size.estimateOneMessage(message);
    if (tokens > maxTokens) break;
    const isPrompt = message.role === "user" && !message.parts.some((part) => part.functionResponse);
    const isUnseen = index === 0 && isPrompt && message.parts.some((part) => part.inlineData);
    if (message.role === "model" || isUnseen) newest = { kept: index + 1, tokens };
    if (isPrompt) break;
  }
  return newest;
}

/** Returns the answers to clear: those before the newest `keptTokens`, but never those of the last message. */
function findOldAnswers(history: readonly Message[], keptTokens: number, size: ContextSize): string[] {
  const callIds: string[] = [];
  let passed = 0;
  for (const message of history.slice(0, -1).reverse()) {
    if (message.role !== "user") continue;
    for (const [id, parts] of groupAnswers(message)) {
      const taken = size.estimateOneMessage({ role: "user", parts });
      passed += taken;
      if (passed > keptTokens && taken >= MIN_TOKENS) callIds.push(id);
    }
  }
  return callIds.reverse();
}

function groupAnswers({ parts }: Message): [string, Part[]][] {
  const answers: [string, Part[]][] = [];
  for (const part of parts) {
    const id = part.functionResponse?.id;
    if (id !== undefined) answers.push([id, [part]]);
    else if (part.inlineData) answers.at(-1)?.[1].push(part);
  }
  return answers;
}
