import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";

const STAY_MS = 300_000;

/**
 * Builds a model that asks the next model if one fails before its first text or call. The model that answers is asked
 * first for a while.
 */
export function createFallbackChain(
  models: readonly [ChatModel, ...ChatModel[]],
  now = () => performance.now(),
): ChatModel {
  let first = 0;
  let until = 0;
  const getModel = (position: number): ChatModel => models[position % models.length] ?? models[0];
  const preferModel = (position: number): void => {
    if (position === first) return;
    first = position;
    until = now() + STAY_MS;
  };
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (now() >= until) first = 0;
    const begun = first;
    for (let step = 0; ; step += 1) {
      const model = getModel(begun + step);
      const preferAnsweringModel = () => preferModel((begun + step) % models.length);
      const failure = yield* passUntilAnswer(model.stream(request, signal), preferAnsweringModel);
      if (!failure) return;
      // A conversation that is too long is shortened, not sent to another model.
      const isOver = failure.type === "context_length" || step + 1 >= models.length;
      if (isOver || signal.aborted) return yield { type: "end", reason: "error", error: failure };
      const message = `${model.name} failed: ${failure.message} Now asking ${getModel(begun + step + 1).name}.`;
      yield { type: "notice", message, restart: true };
    }
  }
  return { name: models[0].name, stream };
}

/** Passes the events on. Returns a failure that comes before the first text or call. */
async function* passUntilAnswer(
  events: AsyncIterable<ModelEvent>,
  onAnswer: () => void,
): AsyncGenerator<ModelEvent, ModelFailure | undefined, undefined> {
  let isGiven = false;
  for await (const event of events) {
    if (event.type === "end" && event.reason === "error" && !isGiven) return event.error;
    if (event.type === "text" || event.type === "function_call" || event.type === "end") {
      isGiven = true;
      onAnswer();
    }
    yield event;
    if (event.type === "end") return undefined;
  }
  return undefined;
}
