import type { ChatModel } from "@burin/contract/chat-model";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { ModelProvider, ServiceName } from "@burin/contract/settings/settings";
import { buildChatBody } from "../protocols/chat-completions-request.ts";
import { normalizeOpenAiBase } from "../protocols/endpoint.ts";
import type { Protocol, ServiceOptions } from "../protocols/protocol.ts";
import { createServiceModel } from "../protocols/service-model.ts";
import { isSupportedImage } from "../request/user-items.ts";

/** Which model to ask: the protocol, the name, the address and the key. */
export interface ModelChoice extends ServiceOptions {
  readonly provider: ModelProvider;
  readonly service?: ServiceName | undefined;
  /** No model was named, so this is the default model of the service whose key is set. */
  readonly isGeneral?: boolean | undefined;
  /** The model's maker, if its key is set although OPENAI_BASE_URL sends the request elsewhere. */
  readonly passedOver?: ServiceName | undefined;
  readonly retries?: number | undefined;
  /** The configured size of the context window in tokens. */
  readonly window?: number | undefined;
}

const CHAT_COMPLETIONS: Protocol = {
  name: "openai",
  dialect: "full",
  root: normalizeOpenAiBase,
  path: (root) => `${root}/chat/completions`,
  carries: isSupportedImage,
  keyHeader: "authorization",
  body: async (model, request, quirks) => {
    const { tuning } = request;
    if (!tuning) return buildChatBody(model, request, quirks);
    const { addChatTuning } = await import("../request/tuning.ts");
    const addTuningFields = (fields: JsonRecord) => addChatTuning(fields, tuning, quirks);
    return buildChatBody(model, { ...request, tune: addTuningFields }, quirks);
  },
  reply: async (to) => new (await import("../protocols/chat-completions-reply.ts")).ChatCompletionsReply(to),
  otherwise: loadResponses,
};

async function loadResponses(): Promise<Protocol> {
  return (await import("../protocols/openai-responses.ts")).OPENAI_RESPONSES;
}

/** The protocols. The most common one is loaded at once, the others with their first request. */
export const PROTOCOLS: Readonly<Record<ModelProvider, () => Promise<Protocol>>> = {
  openai: () => Promise.resolve(CHAT_COMPLETIONS),
  "openai-responses": loadResponses,
  anthropic: async () => (await import("../protocols/anthropic.ts")).ANTHROPIC_MESSAGES,
  gemini: async () => (await import("../protocols/gemini.ts")).GENERATE_CONTENT,
};

/**
 * Opens a model of a service by its protocol. Sends nothing before the first request.
 *
 * @example
 * const model = openModel({ provider: "openai", name: "qwen3", baseUrl: "http://127.0.0.1:8000/v1" });
 */
export function openModel(choice: ModelChoice): ChatModel {
  return createServiceModel(PROTOCOLS[choice.provider], choice);
}

/** Opens a model of any service with streamed chat completions. */
export function openAiCompatible(options: ServiceOptions): ChatModel {
  return openModel({ ...options, provider: "openai" });
}
