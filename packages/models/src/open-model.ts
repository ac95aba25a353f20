import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { ModelProvider } from "@burin/contract/settings/settings";
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
      return changingProtocol(openAiCompatible(choice), responses(choice));
    case "openai-responses":
      return responses(choice);
    case "anthropic":
      return lazy(choice.name, async () => (await import("./anthropic.ts")).anthropic(choice));
    case "gemini":
      return lazy(choice.name, async () => (await import("./gemini.ts")).gemini(choice));
  }
}

/** A model whose code is loaded with its first request. */
export function lazy(name: string, load: () => Promise<ChatModel>): ChatModel {
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

function responses(choice: ModelChoice): ChatModel {
  const baseUrl = choice.baseUrl.trim().replace(/\/chat\/completions\/*$/, "");
  return lazy(choice.name, async () =>
    (await import("./openai-responses.ts")).openAiResponses({ ...choice, baseUrl }),
  );
}

/** Asks over Responses from the moment on when the service says that this model speaks nothing else. */
function changingProtocol(chat: ChatModel, other: ChatModel): ChatModel {
  let speaking = chat;
  const stream = async function* (
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    for await (const event of speaking.stream(request, signal)) {
      const isOther =
        event.type === "end" && event.reason === "error" && event.error.type === "wrong_protocol";
      if (!isOther || speaking === other) {
        yield event;
        continue;
      }
      speaking = other;
      const message = `${chat.name} speaks the Responses protocol only; it is asked that way. Set model.provider to openai-responses to begin so.`;
      yield { type: "notice", message };
      yield* other.stream(request, signal);
      return;
    }
  };
  return { name: chat.name, stream };
}
