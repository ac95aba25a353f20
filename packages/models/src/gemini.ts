import type { ChatModel } from "@burin/contract/chat-model";
import { GeminiReply } from "./gemini-reply.ts";
import { geminiBody, geminiQuirk } from "./gemini-request.ts";
import { type Protocol, type ServiceOptions, serviceModel } from "./service-model.ts";

const GENERATE_CONTENT: Protocol = {
  dialect: "plain",
  path: (base, model) => {
    const version = /\/v\d+\w*(?:\/|$)/.test(base) ? base : `${base}/v1beta`;
    const name = model.includes("/") ? model : `models/${model}`;
    return `${version}/${name}:streamGenerateContent`;
  },
  query: "alt=sse",
  headers: (key): Record<string, string> => (key === "" ? {} : { "x-goog-api-key": key }),
  body: geminiBody,
  reply: (_request, takenIds) => Promise.resolve(new GeminiReply(takenIds)),
  quirks: () => Promise.resolve(geminiQuirk),
};

/** A model of a service that speaks Gemini's generateContent. The base URL may end before `/v1beta`. */
export function gemini(options: ServiceOptions): ChatModel {
  return serviceModel(GENERATE_CONTENT, options);
}
