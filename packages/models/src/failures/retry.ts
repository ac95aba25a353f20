import { wait } from "@burin/contract/async/wait";
import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";

/** How often and after which time a request is sent again. */
export interface RetryOptions {
  /** How often a request is sent, the first time included. */
  readonly mostAttempts?: number;
  /** The pause after the first attempt. Each further pause is twice as long, up to half a minute. */
  readonly firstDelayMs?: number;
}

const MAX_ATTEMPTS = 6;
/** If nothing answers at all, the URL may be mistyped, and the user should not wait long. */
const MAX_FRUITLESS_ATTEMPTS = 3;
const NOTHING_SAID: ModelFailure = {
  type: "empty_reply",
  message: "The model's reply had neither text nor a call.",
  isPassing: true,
};
/** After tool results a model may have nothing to say, but one that only thought about them is asked once more. */
const ONLY_THOUGHT: ModelFailure = {
  ...NOTHING_SAID,
  message: "The model thought about the answers of its tools and said nothing.",
};
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;
/** The longest pause that is waited for. */
const MAX_ASKED_DELAY_MS = 300_000;

/** Retries failed requests, but never after the first text or call, so nothing is said twice. An abort ends it. */
export function withRetries(model: ChatModel, options: RetryOptions = {}): ChatModel {
  return { name: model.name, stream: (request, signal) => runAttempts({ model, options, request }, signal) };
}

interface Task {
  readonly model: ChatModel;
  readonly options: RetryOptions;
  readonly request: ModelRequest;
}

async function* runAttempts(
  { model, options, request }: Task,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (let attempt = 1; ; attempt += 1) {
    let said: ReplyProgress = "nothing";
    let failure: ModelFailure | undefined;
    for await (const event of model.stream(request, signal)) {
      said = updateProgress(event, said);
      failure = findFailure(event, request, said);
      if (!failure) yield event;
      if (event.type === "end") break;
    }
    if (!failure) return;
    const delay = said === "answer" ? undefined : computeDelay(attempt, failure, options);
    if (delay === undefined) return yield buildEnd(failure, attempt);
    const max = resolveAttempts(failure, options);
    const seconds = Math.ceil(delay / 100) / 10;
    const message = `${describeFailure(failure)} Attempt ${attempt + 1} of ${max} follows in ${seconds} s.`;
    const status = failure.status === undefined ? {} : { status: failure.status };
    const retry = { attempt: attempt + 1, mostAttempts: max, seconds, ...status };
    yield { type: "notice", message, restart: true, retry };
    await wait(delay, signal);
    if (signal.aborted) return yield { type: "end", reason: "cancelled" };
  }
}

type ReplyProgress = "nothing" | "thoughts" | "answer";

function updateProgress(event: ModelEvent, said: ReplyProgress): ReplyProgress {
  if (event.type === "text" || event.type === "function_call") return "answer";
  return event.type === "thought" && event.text !== "" && said === "nothing" ? "thoughts" : said;
}

function buildEnd(failure: ModelFailure, attempt: number): ModelEvent {
  if (failure === ONLY_THOUGHT) return { type: "end", reason: "stop" };
  return { type: "end", reason: "error", error: addAttempts(failure, attempt) };
}

/** Returns why a reply failed, if it did. A reply without text is valid for tool results, but not for a user. */
function findFailure(
  event: ModelEvent,
  { history }: ModelRequest,
  said: ReplyProgress,
): ModelFailure | undefined {
  if (event.type !== "end") return undefined;
  if (event.reason === "error") return event.error;
  if (event.reason !== "stop" || said === "answer") return undefined;
  if (!history.at(-1)?.parts.some((part) => part.functionResponse)) return NOTHING_SAID;
  return said === "thoughts" ? ONLY_THOUGHT : undefined;
}

function resolveAttempts(failure: ModelFailure, { mostAttempts: max = MAX_ATTEMPTS }: RetryOptions): number {
  if (failure === ONLY_THOUGHT) return Math.min(max, 2);
  const { type } = failure;
  const few = type === "unreachable" || type === NOTHING_SAID.type;
  return few ? Math.min(max, MAX_FRUITLESS_ATTEMPTS) : max;
}

/** Returns the pause before the next attempt; undefined if there is none. */
function computeDelay(attempt: number, failure: ModelFailure, options: RetryOptions): number | undefined {
  const { isPassing, retryAfterMs } = failure;
  const isTooLate = (retryAfterMs ?? 0) > MAX_ASKED_DELAY_MS;
  if (!isPassing || isTooLate || attempt >= resolveAttempts(failure, options)) return undefined;
  const { firstDelayMs = FIRST_DELAY_MS } = options;
  const backoff = Math.min(firstDelayMs * 2 ** (attempt - 1), MAX_DELAY_MS);
  // Randomise the pause: clients that were rejected at the same time should not all return at the same time.
  const own = backoff * (0.5 + Math.random() / 2);
  // Do not rely again on a pause that did not help: with three requests a minute, none is free a second later.
  return attempt > 1 ? Math.max(retryAfterMs ?? 0, own) : (retryAfterMs ?? own);
}

function describeFailure({ status, message, type }: ModelFailure): string {
  if (status === 429) return "The model's service limits the rate of requests (HTTP 429).";
  if (status === 503 || status === 529) return `The model's service is overloaded (HTTP ${status}).`;
  if (status !== undefined) return `The model's service failed (HTTP ${status}).`;
  const what = type === "unreachable" ? `The model's service cannot be reached: ${message}` : message;
  return what.replace(/\w$/, "$&.");
}

function addAttempts(failure: ModelFailure, attempt: number): ModelFailure {
  const { message, retryAfterMs = 0 } = failure;
  const minutes = Math.ceil(retryAfterMs / 60_000);
  const pause = minutes > 120 ? `${Math.ceil(minutes / 60)} hours` : `${minutes} minutes`;
  const asked = retryAfterMs > MAX_ASKED_DELAY_MS ? ` It asks to wait ${pause}.` : "";
  const tried = attempt > 1 ? ` (${attempt} attempts)` : "";
  return { ...failure, message: `${message}${asked}${tried}` };
}
