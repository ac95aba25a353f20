import { rejectOnAbort } from "@burin/contract/async/wait";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import { isPlainJson, isRecord } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import { ReplyLimit } from "./replies/reply-limit.ts";

/** A model that ignores an abort is abandoned after this time. */
const GRACE_MS = 1000;

/** Makes any model's reply follow the contract: it never throws, and it ends with exactly one `end`. */
export async function* enforceReplyContract(
  model: ChatModel,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  let iterator: AsyncIterator<ModelEvent> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const patience = new AbortController();
  const limit = new ReplyLimit();
  const startGracePeriod = (): void => {
    timer = setTimeout(() => patience.abort(), GRACE_MS);
  };
  signal.addEventListener("abort", startGracePeriod, { once: true });
  if (signal.aborted) startGracePeriod();
  try {
    iterator = model.stream(request, signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = await rejectOnAbort(iterator.next(), patience.signal);
      if (next.done) return yield createFailedEnd("The model's reply ended without a reason for its end.");
      const event = next.value;
      const fault = findEventFault(event);
      if (fault !== null) return yield createFailedEnd(`The model's reply cannot be used: ${fault}.`);
      for (const one of limit.limitEvent(event)) {
        yield one;
        if (one.type === "end") return;
      }
    }
  } catch (error) {
    if (signal.aborted) yield { type: "end", reason: "cancelled" };
    else yield createFailedEnd(`The model failed: ${describeError(error)}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", startGracePeriod);
    // The iterator's result is no longer used.
    (async () => iterator?.return?.())().catch(() => {});
  }
}

function createFailedEnd(message: string): ModelEvent {
  return { type: "end", reason: "error", error: { type: "bad_reply", message } };
}

type Fields = Readonly<Record<string, unknown>>;

const USABLE: Readonly<Record<string, readonly [isUsable: (event: Fields) => boolean, fault: string]>> = {
  text: [({ text }) => typeof text === "string", 'an event "text" has no text'],
  thought: [({ text }) => typeof text === "string", 'an event "thought" has no text'],
  notice: [({ message }) => typeof message === "string", "a notice has no message"],
  function_call: [({ call }) => isCall(call), "a call needs an id, a name, and args of plain JSON"],
  usage: [({ usage }) => isUsage(usage), "its usage holds no numbers"],
  end: [isEnd, "its end gives no known reason"],
};

function findEventFault(event: unknown): string | null {
  if (!isRecord(event)) return "an event of it is not an object";
  const type = String(event.type).slice(0, 50);
  const known = Object.hasOwn(USABLE, type) ? USABLE[type] : undefined;
  if (!known) return `it holds an event of the unknown type ${JSON.stringify(type)}`;
  const [isUsable, fault] = known;
  return isUsable(event) ? null : fault;
}

function isCall(call: unknown): boolean {
  if (!isRecord(call) || typeof call.id !== "string" || typeof call.name !== "string") return false;
  return isRecord(call.args) && isPlainJson(call.args);
}

function isUsage(usage: unknown): boolean {
  const { inputTokens, outputTokens, cachedTokens } = isRecord(usage) ? usage : {};
  return [inputTokens, outputTokens, cachedTokens].every(Number.isFinite);
}

function isEnd({ reason, error }: Fields): boolean {
  if (reason !== "error") return ["stop", "length", "cancelled"].includes(String(reason));
  return isRecord(error) && typeof error.type === "string" && typeof error.message === "string";
}
