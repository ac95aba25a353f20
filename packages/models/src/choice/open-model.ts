import type { ChatModel } from "@burin/contract/chat-model";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { ModelProvider, ServiceName } from "@burin/contract/settings/settings";
import { chatCompletionsBody } from "../protocols/chat-completions-request.ts";
import { openAiBase, type Protocol, type ServiceOptions, serviceModel } from "../protocols/service-model.ts";
import { isShownImage } from "../request/user-items.ts";

export interface ModelChoice extends ServiceOptions {
  readonly provider: ModelProvider;
  readonly service?: ServiceName | undefined;
  /** No model was named: it is the default model of the service whose key is set. */
  readonly isGeneral?: boolean | undefined;
  /** The model's maker, whose key is set too, although OPENAI_BASE_URL sends the request elsewhere. */
  readonly passedOver?: ServiceName | undefined;
  readonly retries?: number | undefined;
  /** In tokens, if it is configured. */
  readonly window?: number | undefined;
}

const CHAT_COMPLETIONS: Protocol = {
  name: "openai",
  dialect: "full",
  root: openAiBase,
  path: (root) => `${root}/chat/completions`,
  carries: isShownImage,
  keyHeader: "authorization",
  body: async (model, request, quirks) => {
    const { tuning } = request;
    if (!tuning) return chatCompletionsBody(model, request, quirks);
    const { tunedChat } = await import("../request/tuning.ts");
    const tune = (fields: JsonRecord) => tunedChat(fields, tuning, quirks);
    return chatCompletionsBody(model, { ...request, tune }, quirks);
  },
  reply: async (to) => new (await import("../protocols/chat-completions-reply.ts")).ChatCompletionsReply(to),
  otherwise: responses,
};

async function responses(): Promise<Protocol> {
  return (await import("../protocols/openai-responses.ts")).RESPONSES;
}

/** The most common one is loaded at once; the others with their first request. */
export const PROTOCOLS: Readonly<Record<ModelProvider, () => Promise<Protocol>>> = {
  openai: () => Promise.resolve(CHAT_COMPLETIONS),
  "openai-responses": responses,
  anthropic: async () => (await import("../protocols/anthropic.ts")).MESSAGES,
  gemini: async () => (await import("../protocols/gemini.ts")).GENERATE_CONTENT,
};

export function openModel(choice: ModelChoice): ChatModel {
  return serviceModel(PROTOCOLS[choice.provider], choice);
}

/** A model of any service that offers streamed chat completions. */
export function openAiCompatible(options: ServiceOptions): ChatModel {
  return openModel({ ...options, provider: "openai" });
}
