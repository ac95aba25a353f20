import type { ChatModel } from "@burin/contract/chat-model";
import { AnthropicReply } from "./anthropic-reply.ts";
import { anthropicBody, anthropicQuirk } from "./anthropic-request.ts";
import { type Protocol, type ServiceOptions, serviceModel } from "./service-model.ts";

const MESSAGES: Protocol = {
  dialect: "full",
  path: (base) => (/\/v\d+$/.test(base) ? `${base}/messages` : `${base}/v1/messages`),
  headers: (key) => ({ "anthropic-version": "2023-06-01", ...(key === "" ? {} : { "x-api-key": key }) }),
  body: anthropicBody,
  reply: (_request, takenIds) => Promise.resolve(new AnthropicReply(takenIds)),
  quirks: () => Promise.resolve(anthropicQuirk),
};

/** A model of a service that speaks Anthropic's Messages API. The base URL may end before `/v1`. */
export function anthropic(options: ServiceOptions): ChatModel {
  return serviceModel(MESSAGES, options);
}
