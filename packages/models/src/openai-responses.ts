import type { ChatModel } from "@burin/contract/chat-model";
import { ResponsesReply } from "./openai-responses-reply.ts";
import { responsesBody, responsesQuirk } from "./openai-responses-request.ts";
import { type Protocol, type ServiceOptions, serviceModel } from "./service-model.ts";

const RESPONSES: Protocol = {
  dialect: "full",
  path: (base) => (base.endsWith("/responses") ? base : `${base}/responses`),
  headers: (key): Record<string, string> => (key === "" ? {} : { authorization: `Bearer ${key}` }),
  body: responsesBody,
  reply: ({ history }, takenIds) => {
    const isAfterAnswers = history.at(-1)?.parts.some((part) => part.functionResponse) ?? false;
    return Promise.resolve(new ResponsesReply(takenIds, isAfterAnswers));
  },
  quirks: () => Promise.resolve(responsesQuirk),
};

/** A model of a service that speaks OpenAI's Responses API. The base URL usually ends in `/v1`. */
export function openAiResponses(options: ServiceOptions): ChatModel {
  return serviceModel(RESPONSES, options);
}
