import type { ModelProvider } from "../settings/settings.ts";
import type { ChatModel, ModelEvent, ModelRequest } from "./chat-model.ts";
import { openAiCompatible } from "./openai-compatible.ts";
import type { ServiceOptions } from "./service-model.ts";

/** A model that can be asked, named by settings and environment or by a program. */
export interface ModelChoice extends ServiceOptions {
  readonly provider: ModelProvider;
}

/** The model of the choice. The code of all providers but the commonest is loaded with their first request. */
export function openModel(choice: ModelChoice): ChatModel {
  switch (choice.provider) {
    case "openai":
      return openAiCompatible(choice);
    case "openai-responses":
      return lazy(choice.name, async () => (await import("./openai-responses.ts")).openAiResponses(choice));
    case "anthropic":
      return lazy(choice.name, async () => (await import("./anthropic.ts")).anthropic(choice));
    case "gemini":
      return lazy(choice.name, async () => (await import("./gemini.ts")).gemini(choice));
  }
}

function lazy(name: string, load: () => Promise<ChatModel>): ChatModel {
  let loading: Promise<ChatModel> | undefined;
  const stream = async function* (
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    loading ??= load();
    yield* (await loading).stream(request, signal);
  };
  return { name, stream };
}
