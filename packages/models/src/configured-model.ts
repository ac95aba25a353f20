import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { ModelSettings, NamedModel } from "@burin/contract/settings/settings";
import { chooseModel } from "./choose-model.ts";
import { openModel } from "./open-model.ts";
import { retrying } from "./retry.ts";

/**
 * The model that settings and environment name, asked again when a failure passes, and behind it those of
 * `model.fallbacks`. Null when none is named.
 */
export function configuredModel(settings: ModelSettings, environment: NodeJS.ProcessEnv): ChatModel | null {
  const first = chooseModel(settings, environment);
  if (!first) return null;
  const { fallbacks = [], timeoutSeconds, callsInText } = settings;
  const shared = {
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(callsInText === undefined ? {} : { callsInText }),
  };
  const models = fallbacks.map((entry) => {
    const named: NamedModel = typeof entry === "string" ? { name: entry } : entry;
    const choice = chooseModel({ ...named, ...shared }, environment);
    return choice ? retrying(openModel(choice)) : missing(named.name ?? "");
  });
  const model = retrying(openModel(first));
  if (models.length === 0) return model;
  let chain: ChatModel | undefined;
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    chain ??= (await import("./fallback.ts")).fallbackChain([model, ...models]);
    yield* chain.stream(request, signal);
  }
  return { name: model.name, stream };
}

/** Stands for a fallback that names no service; it is heard of only when it is needed. */
function missing(name: string): ChatModel {
  const message = `The fallback model "${name}" has no service: set its API key or its baseUrl.`;
  return {
    name,
    async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
      yield { type: "end", reason: "error", error: { type: "unauthorized", message } };
    },
  };
}
