import type { Part } from "@burin/contract/messages/message";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import type { TunedRequest } from "../request/prepare-request.ts";
import type { Quirks } from "../request/quirks.ts";
import { readSignature } from "../request/thought-signature.ts";
import { mergeBody, resolveEffort } from "../request/tuning.ts";
import {
  formatAnswerText,
  isSupportedImage,
  isSupportedMedia,
  listUserItems,
} from "../request/user-items.ts";
import { serializeForWire, toWireId } from "../request/wire.ts";
import { normalizeOpenAiBase } from "./endpoint.ts";
import type { Protocol } from "./protocol.ts";

/** Builds the request. The service stores nothing, so it has the whole conversation, with encrypted reasoning. */
function buildBody(model: string, request: TunedRequest, quirks: Quirks): string[] {
  const { system, tools, history, tuning = {} } = request;
  const { maxOutput: max_output_tokens, reasoning, temperature, topP: top_p, cache } = tuning;
  const summary = quirks.has("no-summary") ? undefined : "auto";
  const body = {
    model,
    instructions: system || undefined,
    tools: tools.length > 0 ? tools.map((tool) => ({ type: "function", ...tool, strict: false })) : undefined,
    input: history.flatMap(({ role, parts }) =>
      role === "user" ? formatInput(parts) : formatModelItems(parts, quirks),
    ),
    stream: true,
    store: false,
    max_output_tokens,
    reasoning: reasoning === undefined ? undefined : { effort: resolveEffort(reasoning), summary },
    temperature,
    top_p,
    prompt_cache_retention: cache === "24h" ? cache : undefined,
    include: quirks.has("no-include") ? undefined : ["reasoning.encrypted_content"],
  };
  return [serializeForWire(mergeBody(body, tuning.body, quirks))];
}

/** Converts a user message: first the results, then a user message with the media. */
function formatInput(parts: readonly Part[]): JsonRecord[] {
  const answers: JsonRecord[] = [];
  const content: JsonRecord[] = [];
  for (const item of listUserItems(parts)) {
    if (item.type === "answer") {
      answers.push({
        type: "function_call_output",
        call_id: toWireId(item.id),
        output: formatAnswerText(item),
      });
    } else if (item.type === "text") content.push({ type: "input_text", text: item.text });
    else {
      const { mimeType, data, origin } = item;
      const url = `data:${mimeType};base64,${data}`;
      if (origin !== "") content.push({ type: "input_text", text: `File from ${origin}:` });
      content.push(
        isSupportedImage(mimeType)
          ? { type: "input_image", image_url: url, detail: "auto" }
          : { type: "input_file", filename: "document.pdf", file_data: url },
      );
    }
  }
  return content.length === 0 ? answers : [...answers, { type: "message", role: "user", content }];
}

function formatModelItems(parts: readonly Part[], quirks: Quirks): JsonRecord[] {
  const items: JsonRecord[] = [];
  for (const part of parts) {
    const { text = "", thought, functionCall } = part;
    const told = parseJson(readSignature("openai-responses-message", part) ?? "");
    const last = items.at(-1);
    if (functionCall) {
      const { id, name = "", args = {} } = functionCall;
      const call_id = toWireId(id ?? name);
      items.push({ type: "function_call", call_id, name, arguments: JSON.stringify(args) });
    } else if (isRecord(told)) {
      if (last?.type === "message" && !quirks.has("no-phase")) items[items.length - 1] = { ...last, ...told };
    } else if (thought) items.push(...(quirks.has("no-reasoning") ? [] : parseReasoningItem(part)));
    // Send it as plain text: a list would also need the id that the service gave it.
    else if (text !== "") items.push({ type: "message", role: "assistant", content: text });
  }
  // The service rejects reasoning with nothing after it, from a reply that broke off.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function parseReasoningItem(part: Part): JsonRecord[] {
  const item = parseJson(readSignature("openai-responses", part) ?? "");
  return isRecord(item) ? [{ type: "reasoning", ...item }] : [];
}

/** OpenAI's Responses API. The base URL usually ends in `/v1`. */
export const OPENAI_RESPONSES: Protocol = {
  name: "openai-responses",
  dialect: "full",
  root: normalizeOpenAiBase,
  path: (root) => `${root}/responses`,
  carries: isSupportedMedia,
  keyHeader: "authorization",
  body: buildBody,
  reply: async (to) => new (await import("./openai-responses-reply.ts")).ResponsesReply(to),
};
