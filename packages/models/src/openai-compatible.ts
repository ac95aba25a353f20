import type { ChatModel } from "@burin/contract/chat-model";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { type Protocol, type ServiceOptions, serviceModel } from "./service-model.ts";

const CHAT_COMPLETIONS: Protocol = {
  dialect: "full",
  path: (base) => (base.endsWith("/chat/completions") ? base : `${base}/chat/completions`),
  headers: (key): Record<string, string> => (key === "" ? {} : { authorization: `Bearer ${key}` }),
  body: chatCompletionsBody,
  reply: async (request, takenIds, isAllowed) => {
    const [{ ChatCompletionsReply }, { isToldAlready }] = await Promise.all([
      import("./chat-completions-reply.ts"),
      import("./repeated-call.ts"),
    ]);
    const offered = new Set(request.tools.map(({ name }) => name));
    return new ChatCompletionsReply(takenIds, offered, {
      isAllowed,
      isRepeated: (call, written) => isToldAlready(call, written, request),
    });
  },
  quirks: async () => (await import("./chat-quirks.ts")).chatQuirk,
};

/**
 * A model of any service that speaks streamed chat completions. Whether reasoning has to go back with a
 * reply is learned from the service's first refusal: some demand it, others refuse a request that holds it.
 */
export function openAiCompatible(options: ServiceOptions): ChatModel {
  return serviceModel(CHAT_COMPLETIONS, options);
}
