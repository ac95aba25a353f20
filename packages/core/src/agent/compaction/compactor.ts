import type { Message } from "../../messages/message.ts";
import type { ChatModel, ModelFailure, ModelRequest } from "../../models/chat-model.ts";
import type { AgentEvent } from "../agent-event.ts";
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
  readonly contextTexts: () => Promise<readonly string[]>;
}

/** The rest of the window is for the reply, and for what the estimate gets wrong. */
const MOST_FILLED = 0.8;
/** Clearing old answers is enough when it brings the request down to this part of what it may take. */
const ENOUGH = 0.6;
/** Of what may be taken: how much of the newest answers, and of the newest messages, stays as it is. */
const KEPT_ANSWERS = 0.25;
const KEPT_MESSAGES = 0.3;
/** Of the window: how long the record may be that the model is asked to summarize. */
const SUMMARIZED = 0.5;
/** Of the room of the new text: the digest, where there is no summary. */
const DIGEST = 0.4;
/** A service that refuses one request after the other as too long is not believed below this. */
const LEAST_WINDOW = 2048;

/** Keeps the requests within the model's window, by events that shorten the history. */
export class Compactor {
  readonly #needs: CompactorNeeds;
  #window: number;
  /** What the last compaction came to: without anything new the next one would come to the same. */
  #shortest = 0;

  constructor(needs: CompactorNeeds) {
    this.#needs = needs;
    this.#window = needs.window;
  }

  get isNeeded(): boolean {
    return this.#size() > Math.max(this.#limit, this.#shortest);
  }

  /** A service has refused the request as it stands now: what it says of its window is believed. */
  noteTooLong({ contextWindow }: ModelFailure): void {
    const known = Math.min(contextWindow ?? Number.POSITIVE_INFINITY, this.#window);
    // Where the estimate was too low, a smaller window in its measure comes to the same.
    const estimated = this.#size() <= known ? this.#size() - 1 : known;
    this.#window = Math.max(Math.min(known, estimated), LEAST_WINDOW);
  }

  /** Each event has to be in the history before the next one is asked for. Ends early when the signal does. */
  async *shorten(signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
    const before = this.#size();
    const { history } = this.#needs.request();
    const old = oldAnswers(history, this.#limit * KEPT_ANSWERS, this.#needs.size);
    if (old.callIds.length > 0) {
      yield { type: "cleared", callIds: old.callIds };
      if (this.#size() <= this.#limit * ENOUGH) return;
    }
    yield { type: "notice", message: noticeOf(before, this.#window) };
    yield* this.#summarized(before, signal);
  }

  async *#summarized(tokensBefore: number, signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
    const { record, size, request, contextTexts } = this.#needs;
    const { history, system, tools } = request();
    const room = Math.max(this.#limit - size.of({ system, tools, history: [] }), this.#limit / 4);
    const tail = newestMessages(history, room * KEPT_MESSAGES, size);
    const told: Told = { history: history.slice(0, history.length - tail.kept), summary: record.summary };
    const answer = yield* this.#summaryOf(told, signal);
    if (signal.aborted) return;
    const summary = answer.text === "" ? digest(told, room * DIGEST, size) : answer.text;
    const kept = { record, contextTexts: await contextTexts(), summary };
    const text = compactionText(kept, room * 0.9 - tail.tokens, size);
    const after = [asMessage(text), ...history.slice(told.history.length)];
    const tokensAfter = size.of({ system, tools, history: after });
    yield { type: "compaction", text, summary, kept: tail.kept, tokensBefore, tokensAfter };
    this.#shortest = this.#size();
  }

  /** A record that is itself too long is asked about once more, half as long. */
  async *#summaryOf(told: Told, signal: AbortSignal): AsyncGenerator<AgentEvent, Summary> {
    const { model, size } = this.#needs;
    let answer: Summary = { text: "" };
    for (const share of [SUMMARIZED, SUMMARIZED / 2]) {
      answer = yield* summarize(model, transcript(told, this.#window * share, size), signal);
      if (answer.failure?.type !== "context_length") break;
    }
    if (answer.failure && !signal.aborted) {
      const message = `No summary could be had (${answer.failure.message}) A plain list of what was done takes its place.`;
      yield { type: "notice", message };
    }
    return answer;
  }

  get #limit(): number {
    return Math.floor(this.#window * MOST_FILLED);
  }

  #size(): number {
    return this.#needs.size.of(this.#needs.request());
  }
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

function asMessage(text: string): Message {
  return { role: "user", parts: [{ text }] };
}

function noticeOf(tokens: number, window: number): string {
  return `The conversation (about ${tokens} tokens) nearly fills the model's window (${window}): it is being summarized.`;
}
