import type { ChatModel } from "@burin/contract/chat-model";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { ModelProvider, ServiceName } from "@burin/contract/settings/settings";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { openAiBase, type Protocol, type ServiceOptions, serviceModel } from "./service-model.ts";
import { isShownImage } from "./user-items.ts";

/** A model that can be asked, named by settings and environment or by a program. */
export interface ModelChoice extends ServiceOptions {
  readonly provider: ModelProvider;
  /** The service by its name, where it was chosen by one. */
  readonly service?: ServiceName | undefined;
  /** Nobody has named a model: it is the general one of the service whose key is there. */
  readonly isGeneral?: boolean | undefined;
  /** The model's maker, whose key is there too, where OPENAI_BASE_URL has it asked elsewhere. */
  readonly passedOver?: ServiceName | undefined;
  /** How often a request that failed for a passing reason is sent again. */
  readonly retries?: number | undefined;
  /** In tokens, where somebody says so. */
  readonly window?: number | undefined;
}

const CHAT_COMPLETIONS: Protocol = {
  name: "openai",
  dialect: "full",
  path: (base) => `${openAiBase(base)}/chat/completions`,
  listing: (base) => `${openAiBase(base)}/models`,
  carries: isShownImage,
  keyHeader: "authorization",
  body: async (model, request, quirks) => {
    const { tuning } = request;
    if (!tuning) return chatCompletionsBody(model, request, quirks);
    const { tunedChat } = await import("./tuning.ts");
    const tune = (fields: JsonRecord) => tunedChat(fields, tuning, quirks);
    return chatCompletionsBody(model, { ...request, tune }, quirks);
  },
  reply: async (request, takenIds, isWriter) => {
    const [{ ChatCompletionsReply }, { TextCalls }, { isToldAlready }] = await Promise.all([
      import("./chat-completions-reply.ts"),
      import("./text-calls.ts"),
      import("./repeated-call.ts"),
    ]);
    const offered = new Set(isWriter ? request.tools.map(({ name }) => name) : []);
    const text = new TextCalls(offered, (call, written) => isToldAlready(call, written, request));
    return new ChatCompletionsReply(takenIds, text);
  },
  otherwise: responses,
};

async function responses(): Promise<Protocol> {
  return (await import("./openai-responses.ts")).RESPONSES;
}

/** The commonest one is there at once; the others are loaded with their first request. */
export const PROTOCOLS: Readonly<Record<ModelProvider, () => Promise<Protocol>>> = {
  openai: () => Promise.resolve(CHAT_COMPLETIONS),
  "openai-responses": responses,
  anthropic: async () => (await import("./anthropic.ts")).MESSAGES,
  gemini: async () => (await import("./gemini.ts")).GENERATE_CONTENT,
};

export function openModel(choice: ModelChoice): ChatModel {
  return serviceModel(PROTOCOLS[choice.provider], choice);
}

/** A model of any service that speaks streamed chat completions. */
export function openAiCompatible(options: ServiceOptions): ChatModel {
  return openModel({ ...options, provider: "openai" });
}
