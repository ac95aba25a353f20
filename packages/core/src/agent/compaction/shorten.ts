import type { AgentEvent } from "@burin/contract/agent-event";
import type { ChatModel, ModelRequest } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import type { ContextSize } from "../context-size.ts";
import type { WorkRecord } from "../work-record.ts";
import { compactionText } from "./compaction-text.ts";
import { oldAnswers } from "./old-answers.ts";
import { type Summary, summarize } from "./summarize.ts";
import { digest, type Told, transcript } from "./transcript.ts";

export interface CompactorNeeds {
  readonly model: ChatModel;
  readonly size: ContextSize;
  /** In tokens. */
  readonly window: number;
  readonly record: WorkRecord;
  /** The request as it would be sent now. */
  readonly request: () => ModelRequest;
  /** The context files that the model was told of, as they are now. */
  readonly contextTexts: (signal: AbortSignal) => Promise<readonly string[]>;
}

interface ShortenNeeds extends CompactorNeeds {
  /** What a request may take, in tokens. */
  readonly limit: number;
  /** Nothing stays as it is. */
  readonly isAll: boolean;
}

/** Clearing old answers is enough when it brings the request down to this part of what it may take. */
const ENOUGH = 0.6;
/** Of what may be taken: how much of the newest answers, and of the newest messages, stays as it is. */
const KEPT_ANSWERS = 0.25;
const KEPT_MESSAGES = 0.3;
/** Of the window: how long the record may be that the model is asked to summarize. */
const SUMMARIZED = 0.5;
/** Of the room of the new text: the digest, where there is no summary. */
const DIGEST = 0.4;

/** Clears old answers; where that is not enough, replaces all but the newest messages. */
export async function* shorten(needs: ShortenNeeds, signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
  const { size, request, limit, window, isAll } = needs;
  const before = size.of(request());
  const { callIds } = oldAnswers(request().history, limit * KEPT_ANSWERS, size);
  if (callIds.length > 0) {
    yield { type: "cleared", callIds };
    if (!isAll && size.of(request()) <= limit * ENOUGH) return;
  }
  if (isAll && request().history.length < 2) return;
  if (!isAll) yield { type: "notice", message: noticeOf(before, window) };
  const { history, system, tools } = request();
  const room = Math.max(limit - size.of({ system, tools, history: [] }), limit / 4);
  const tail = isAll ? { kept: 0, tokens: 0 } : newestMessages(history, room * KEPT_MESSAGES, size);
  const told: Told = {
    history: history.slice(0, history.length - tail.kept),
    summary: needs.record.summary,
  };
  const answer = yield* summaryOf(told, needs, signal);
  if (signal.aborted) return;
  const summary = answer.text === "" ? digest(told, room * DIGEST, size) : answer.text;
  const kept = { record: needs.record, contextTexts: await needs.contextTexts(signal), summary };
  const text = compactionText(kept, room * 0.9 - tail.tokens, size);
  const after: Message[] = [{ role: "user", parts: [{ text }] }, ...history.slice(told.history.length)];
  const tokensAfter = size.of({ system, tools, history: after });
  yield { type: "compaction", text, summary, kept: tail.kept, tokensBefore: before, tokensAfter };
}

/** A record that is itself too long is asked about once more, half as long. */
async function* summaryOf(
  told: Told,
  { model, size, window }: ShortenNeeds,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Summary> {
  let answer: Summary = { text: "" };
  for (const share of [SUMMARIZED, SUMMARIZED / 2]) {
    answer = yield* summarize(model, transcript(told, window * share, size), signal);
    if (answer.failure?.type !== "context_length") break;
  }
  if (answer.failure && !signal.aborted) {
    const message = `No summary could be had (${answer.failure.message}) A plain list of what was done takes its place.`;
    yield { type: "notice", message };
  }
  return answer;
}

/** The longest run of messages at the end that begins with a reply, stays within the turn and fits. */
function newestMessages(
  history: readonly Message[],
  mostTokens: number,
  size: ContextSize,
): { readonly kept: number; readonly tokens: number } {
  let newest = { kept: 0, tokens: 0 };
  let tokens = 0;
  for (const [index, message] of [...history].reverse().entries()) {
    tokens += size.ofMessage(message);
    const isPrompt = message.role === "user" && !message.parts.some((part) => part.functionResponse);
    if (isPrompt || tokens > mostTokens) break;
    if (message.role === "model") newest = { kept: index + 1, tokens };
  }
  return newest;
}

function noticeOf(tokens: number, window: number): string {
  return `The conversation (about ${tokens} tokens) nearly fills the model's window (${window}): it is being summarized.`;
}
