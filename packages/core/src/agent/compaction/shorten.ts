import { type AgentEvent, notice } from "@burin/contract/agent-event";
import type { ChatModel, ModelFailure, ModelRequest } from "@burin/contract/chat-model";
import type { Message, Part } from "@burin/contract/messages/message";
import type { ContextSize } from "../context-size.ts";
import type { WorkRecord } from "../history.ts";
import { answerOnce, asUser, EMPTY } from "../reply.ts";
import { compactionText, digest, type Told, transcript } from "./compaction-text.ts";

export interface CompactorNeeds {
  /** They write the summaries: each one is asked if the one before it failed. */
  readonly models: readonly ChatModel[];
  readonly size: ContextSize;
  /** In tokens. */
  readonly window: number;
  readonly record: WorkRecord;
  readonly request: () => ModelRequest;
  readonly contextTexts: (signal: AbortSignal) => Promise<readonly string[]>;
}

/** Adds an event to the history, and resolves when its reader has it. */
export type Say = (event: AgentEvent) => Promise<void>;

interface ShortenNeeds extends CompactorNeeds {
  readonly limit: number;
  /** Set when the user wants it: nothing is kept as it is, and the summary follows these words. */
  readonly wish: string | undefined;
}

/** Clearing old answers is enough if it brings the request down to this share of the limit. */
const ENOUGH = 0.6;
/** The shares of the limit that the newest answers, and the newest messages, may keep unchanged. */
const KEPT_ANSWERS = 0.25;
const KEPT_MESSAGES = 0.3;
/** The share of the window that the record to be summarized may have. */
const SUMMARIZED = 0.5;
/** The share of the new text that the digest may have when there is no summary. */
const DIGEST = 0.4;

/** A smaller answer is not worth replacing by a note. */
const LEAST_TOKENS = 100;

/** Explains why a first request cannot be shortened when it is little more than instructions and tools. */
export function tooSmall(request: ModelRequest, size: ContextSize): string | undefined {
  const fixed = size.of({ ...request, history: [] });
  const isFirst = !request.history.some(({ role }) => role === "model");
  if (!isFirst || fixed * 2 < size.of(request)) return undefined;
  return `Nothing can be left out: the instructions and tools alone take about ${fixed} tokens. Start the model's server with a larger window (Ollama: OLLAMA_CONTEXT_LENGTH), raise the limit at the service, or choose another model.`;
}

/** Clears old answers; if that is not enough, replaces all messages but the newest, unless that would be longer. */
export async function shorten(needs: ShortenNeeds, say: Say, signal: AbortSignal): Promise<void> {
  const { size, request, limit, window, wish } = needs;
  const isAll = wish !== undefined;
  if (!isAll && tooSmall(request(), size)) return;
  const before = size.of(request());
  const callIds = oldAnswers(request().history, limit * KEPT_ANSWERS, size);
  if (callIds.length > 0) {
    await say({ type: "cleared", callIds });
    if (!isAll && size.of(request()) <= limit * ENOUGH) return;
  }
  if (isAll && request().history.length < 2) return;
  if (!isAll)
    await say(
      notice(
        `The conversation (about ${before} tokens) nearly fills the model's window (${window}): it is being summarized.`,
      ),
    );
  const { history, system, tools } = request();
  const room = Math.max(limit - size.of({ system, tools, history: [] }), limit / 4);
  const tail = isAll ? { kept: 0, tokens: 0 } : newestMessages(history, room * KEPT_MESSAGES, size);
  const told: Told = { history: history.slice(0, history.length - tail.kept), summary: needs.record.summary };
  const contextTexts = await needs.contextTexts(signal);
  const shortened = (summary: string): Shortened => {
    const kept = { record: needs.record, contextTexts, summary };
    const text = compactionText(kept, room * 0.9 - tail.tokens, size);
    const after: Message[] = [{ role: "user", parts: [{ text }] }, ...history.slice(told.history.length)];
    return { text, summary, tokensAfter: size.of({ system, tools, history: after }) };
  };
  const now = size.of(request());
  // What is kept word for word may alone be as long; then no model is asked.
  if (isAll && shortened("").tokensAfter >= now) return;
  const answer = await summaryOf(told, needs, signal);
  if (signal.aborted) return;
  if (typeof answer !== "string") {
    const message = `No summary could be made (${answer.message}) A plain list of what was done takes its place.`;
    await say(notice(message));
  }
  const found = shortened(typeof answer === "string" ? answer : digest(told, room * DIGEST, size));
  if (isAll && found.tokensAfter >= now) return;
  await say({ type: "compaction", ...found, kept: tail.kept, tokensBefore: before });
}

interface Shortened {
  readonly text: string;
  readonly summary: string;
  readonly tokensAfter: number;
}

const INSTRUCTION = `You are given the record of a coding agent's work with a user. It is too long to be kept; your summary replaces it, and the agent continues with nothing else.
Write, in short lines under these headings: Goal. Decisions and what the user wants or forbids. Done so far (files by path, commands, results). Learned (facts, names, places in the code, values that will be needed again). Tried without success, and why. Next steps.
Keep exact names, paths, commands and error texts. State nothing that is not in the record. Do not carry on with the work, call no tool and speak to nobody.`;

/** Before the user's own words about a summary. */
const WISH = "The user asks this of the summary, and it comes before the headings above:";

/** Returns the model's summary, or why there is none. A record that is too long is tried again at half length. */
async function summaryOf(
  told: Told,
  { models, size, window, wish = "" }: ShortenNeeds,
  signal: AbortSignal,
): Promise<string | ModelFailure> {
  let failure: ModelFailure = EMPTY;
  const system = wish.trim() === "" ? INSTRUCTION : `${INSTRUCTION}\n${WISH} ${wish.trim()}`;
  for (const model of models) {
    const most = Math.min(window, model.contextWindow ?? window);
    for (const share of [SUMMARIZED, SUMMARIZED / 2]) {
      const history = asUser(`The record:\n\n${transcript(told, most * share, size)}`);
      const { text, end } = await answerOnce(model, { system, history }, signal);
      if (end.reason !== "error" && text.trim() !== "") return text.trim();
      if (signal.aborted) return EMPTY;
      failure = end.reason === "error" ? end.error : EMPTY;
      if (failure.type !== "context_length") break;
    }
  }
  return failure;
}

/**
 * The longest sequence of messages at the end that starts with a reply, stays within the turn and fits; or a prompt
 * whose images the model has not seen yet.
 */
function newestMessages(
  history: readonly Message[],
  mostTokens: number,
  size: ContextSize,
): { readonly kept: number; readonly tokens: number } {
  let newest = { kept: 0, tokens: 0 };
  let tokens = 0;
  for (const [index, message] of [...history].reverse().entries()) {
    tokens += size.ofMessage(message);
    if (tokens > mostTokens) break;
    const isPrompt = message.role === "user" && !message.parts.some((part) => part.functionResponse);
    const isUnseen = index === 0 && isPrompt && message.parts.some((part) => part.inlineData);
    if (message.role === "model" || isUnseen) newest = { kept: index + 1, tokens };
    if (isPrompt) break;
  }
  return newest;
}

/** The answers that can be cleared: those older than the newest `keptTokens`, never those of the last message. */
function oldAnswers(history: readonly Message[], keptTokens: number, size: ContextSize): string[] {
  const callIds: string[] = [];
  let passed = 0;
  for (const message of history.slice(0, -1).reverse()) {
    if (message.role !== "user") continue;
    for (const [id, parts] of answersOf(message)) {
      const taken = size.ofMessage({ role: "user", parts });
      passed += taken;
      if (passed > keptTokens && taken >= LEAST_TOKENS) callIds.push(id);
    }
  }
  return callIds.reverse();
}

function answersOf({ parts }: Message): [string, Part[]][] {
  const answers: [string, Part[]][] = [];
  for (const part of parts) {
    const id = part.functionResponse?.id;
    if (id !== undefined) answers.push([id, [part]]);
    else if (part.inlineData) answers.at(-1)?.[1].push(part);
  }
  return answers;
}
