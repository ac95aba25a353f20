import { wait } from "@burin/contract/async/wait";
import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";

export interface RetryOptions {
  readonly mostAttempts?: number;
  /** The pause after the first attempt; each further one is twice as long, up to half a minute. */
  readonly firstDelayMs?: number;
}

const MOST_ATTEMPTS = 6;
/** If nothing answers at all, a user who mistyped the address should not wait long. */
const MOST_FRUITLESS_ATTEMPTS = 3;
const NOTHING_SAID: ModelFailure = {
  type: "empty_reply",
  message: "The model's reply had neither text nor a call.",
  isPassing: true,
};
/** Behind the answers of tools there may be nothing to say; a model that thought about it is asked once more. */
const ONLY_THOUGHT: ModelFailure = {
  ...NOTHING_SAID,
  message: "The model thought about the answers of its tools and said nothing.",
};
const FIRST_DELAY_MS = 1000;
const MOST_DELAY_MS = 30_000;
/** A longer pause than this is not waited for. */
const MOST_ASKED_DELAY_MS = 300_000;

/** Never retries after the first text or call, so nothing is said or done twice. An abort ends the waiting. */
export function retrying(model: ChatModel, options: RetryOptions = {}): ChatModel {
  return { name: model.name, stream: (request, signal) => attempts({ model, options, request }, signal) };
}

interface Task {
  readonly model: ChatModel;
  readonly options: RetryOptions;
  readonly request: ModelRequest;
}

async function* attempts(
  { model, options, request }: Task,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (let attempt = 1; ; attempt += 1) {
    let said: Said = "nothing";
    let failure: ModelFailure | undefined;
    for await (const event of model.stream(request, signal)) {
      said = saidWith(event, said);
      failure = failureIn(event, request, said);
      if (!failure) yield event;
      if (event.type === "end") break;
    }
    if (!failure) return;
    const delay = said === "answer" ? undefined : delayBefore(attempt, failure, options);
    if (delay === undefined) return yield endWith(failure, attempt);
    const next = `Attempt ${attempt + 1} of ${mostAttempts(failure, options)}`;
    const message = `${whatFailed(failure)} ${next} follows in ${Math.ceil(delay / 100) / 10} s.`;
    yield { type: "notice", message, restart: true };
    await wait(delay, signal);
    if (signal.aborted) return yield { type: "end", reason: "cancelled" };
  }
}

type Said = "nothing" | "thoughts" | "answer";

function saidWith(event: ModelEvent, said: Said): Said {
  if (event.type === "text" || event.type === "function_call") return "answer";
  return event.type === "thought" && event.text !== "" && said === "nothing" ? "thoughts" : said;
}

function endWith(failure: ModelFailure, attempt: number): ModelEvent {
  if (failure === ONLY_THOUGHT) return { type: "end", reason: "stop" };
  return { type: "end", reason: "error", error: toldWith(failure, attempt) };
}

/** A normal end without text is a valid reply to tool results, but not to a user. */
function failureIn(event: ModelEvent, { history }: ModelRequest, said: Said): ModelFailure | undefined {
  if (event.type !== "end") return undefined;
  if (event.reason === "error") return event.error;
  if (event.reason !== "stop" || said === "answer") return undefined;
  if (!history.at(-1)?.parts.some((part) => part.functionResponse)) return NOTHING_SAID;
  return said === "thoughts" ? ONLY_THOUGHT : undefined;
}

function mostAttempts(failure: ModelFailure, { mostAttempts: most = MOST_ATTEMPTS }: RetryOptions): number {
  if (failure === ONLY_THOUGHT) return Math.min(most, 2);
  const { type } = failure;
  const few = type === "unreachable" || type === NOTHING_SAID.type;
  return few ? Math.min(most, MOST_FRUITLESS_ATTEMPTS) : most;
}

/** Undefined when there is no further attempt. */
function delayBefore(attempt: number, failure: ModelFailure, options: RetryOptions): number | undefined {
  const { isPassing, retryAfterMs } = failure;
  const isTooLate = (retryAfterMs ?? 0) > MOST_ASKED_DELAY_MS;
  if (!isPassing || isTooLate || attempt >= mostAttempts(failure, options)) return undefined;
  const { firstDelayMs = FIRST_DELAY_MS } = options;
  const backoff = Math.min(firstDelayMs * 2 ** (attempt - 1), MOST_DELAY_MS);
  // Clients that were refused at the same time should not all come back at the same time.
  const own = backoff * (0.5 + Math.random() / 2);
  // A pause that did not help is not repeated: of three requests a minute, none is free a second later.
  return attempt > 1 ? Math.max(retryAfterMs ?? 0, own) : (retryAfterMs ?? own);
}

function whatFailed({ status, message, type }: ModelFailure): string {
  if (status === 429) return "The model's service limits the rate of requests (HTTP 429).";
  if (status === 503 || status === 529) return `The model's service is overloaded (HTTP ${status}).`;
  if (status !== undefined) return `The model's service failed (HTTP ${status}).`;
  const what = type === "unreachable" ? `The model's service cannot be reached: ${message}` : message;
  return what.replace(/\w$/, "$&.");
}

function toldWith(failure: ModelFailure, attempt: number): ModelFailure {
  const { message, retryAfterMs = 0 } = failure;
  const minutes = Math.ceil(retryAfterMs / 60_000);
  const pause = minutes > 120 ? `${Math.ceil(minutes / 60)} hours` : `${minutes} minutes`;
  const asked = retryAfterMs > MOST_ASKED_DELAY_MS ? ` It asks to wait ${pause}.` : "";
  const tried = attempt > 1 ? ` (${attempt} attempts)` : "";
  return { ...failure, message: `${message}${asked}${tried}` };
}
