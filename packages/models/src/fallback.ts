import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";

/** How long the fallback model stays the first choice. */
const STAY_MS = 300_000;

/**
 * Several models as one: when a model fails permanently before it has said anything, the next one is asked, and the
 * user gets a notice. The one that answered stays first for a while, so that not every request has to fail first.
 */
export function fallbackChain(
  models: readonly [ChatModel, ...ChatModel[]],
  now: () => number = Date.now,
): ChatModel {
  const chain = new Chain(models, now);
  return { name: models[0].name, stream: (request, signal) => chain.stream(request, signal) };
}

class Chain {
  readonly #models: readonly [ChatModel, ...ChatModel[]];
  readonly #now: () => number;
  #first = 0;
  #until = 0;

  constructor(models: readonly [ChatModel, ...ChatModel[]], now: () => number) {
    this.#models = models;
    this.#now = now;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    if (this.#now() >= this.#until) this.#first = 0;
    const begun = this.#first;
    for (let step = 0; ; step += 1) {
      const model = this.#at(begun + step);
      const failure = yield* firstWord(model.stream(request, signal), () => this.#stayAt(begun + step));
      if (!failure) return;
      // A conversation that is too long is shortened, not sent to another model.
      const isOver = failure.type === "context_length" || step + 1 >= this.#models.length;
      if (isOver || signal.aborted) return yield { type: "end", reason: "error", error: failure };
      const next = this.#at(begun + step + 1).name;
      const message = `${model.name} failed: ${failure.message} Now asking ${next}.`;
      yield { type: "notice", message, restart: true };
    }
  }

  #at(index: number): ChatModel {
    return this.#models[index % this.#models.length] ?? this.#models[0];
  }

  #stayAt(index: number): void {
    const position = index % this.#models.length;
    if (position === this.#first) return;
    this.#first = position;
    this.#until = this.#now() + STAY_MS;
  }
}

/** Passes the events on; returns a failure that comes before the first text or call. */
async function* firstWord(
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
