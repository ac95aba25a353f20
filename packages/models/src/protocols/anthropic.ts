import type { FunctionDeclaration, Message, Part } from "@burin/contract/messages/message";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import { createCacheMark } from "../request/cache-mark.ts";
import type { TunedRequest, Tuning } from "../request/prepare-request.ts";
import type { Quirks } from "../request/quirks.ts";
import { readSignature } from "../request/thought-signature.ts";
import { MAX_OUTPUT_TOKENS, mergeBody, resolveEffort, resolveThinkingBudget } from "../request/tuning.ts";
import { groupTurns, isSupportedImage, isSupportedMedia, listUserItems } from "../request/user-items.ts";
import { serializeForWire, toWireId } from "../request/wire.ts";
import type { Protocol } from "./protocol.ts";

interface Block {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/** The output tokens that are reserved for the answer itself, because thinking counts as output. */
const MIN_ANSWER_TOKENS = 8_000;

/** Builds the request. Cache marks at its parts make the next request pay only for what is new. */
function buildBody(model: string, request: TunedRequest, quirks: Quirks): string[] {
  const { system, tools, tuning = {} } = request;
  const cache_control = createCacheMark(request, quirks);
  const mark = cache_control === null ? {} : { cache_control };
  const messages = formatMessages(request.history, quirks);
  const body = {
    model,
    ...buildGenerationOptions(tuning, quirks, messages),
    ...(tools.length > 0 ? { tools: formatTools(tools, system === "" ? mark : {}) } : {}),
    ...(system === "" ? {} : { system: [{ type: "text", text: system, ...mark }] }),
    messages,
    stream: true,
  };
  if (cache_control !== null) markUserMessages(body.messages, mark);
  return [serializeForWire(mergeBody(body, tuning.body, quirks))];
}

/** Sets the limits for output and thinking. A thinking model accepts no sampling options. */
function buildGenerationOptions(
  { reasoning, temperature, topP: top_p, maxOutput: max_tokens = MAX_OUTPUT_TOKENS }: Tuning,
  quirks: Quirks,
  messages: readonly WireMessage[],
): JsonRecord {
  if (reasoning === undefined || quirks.has("no-thinking")) return { max_tokens, temperature, top_p };
  const budget = resolveThinkingBudget(reasoning);
  if (budget === 0) return { thinking: { type: "disabled" }, max_tokens, temperature, top_p };
  if ((typeof reasoning === "string" || quirks.has("no-budget")) && !quirks.has("no-adaptive")) {
    const word = resolveEffort(reasoning);
    const effort = word === "minimal" ? "low" : word;
    return { max_tokens, thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } };
  }
  if (hasStartedWithoutThinking(messages)) return { max_tokens, temperature, top_p };
  const budget_tokens = Math.max(1024, Math.min(budget, max_tokens - MIN_ANSWER_TOKENS));
  const thinking = { type: "enabled", budget_tokens };
  return { max_tokens: Math.max(max_tokens, budget_tokens + 1), thinking };
}

/** Whether another model began the work without thinking. Until the next prompt, a thinking budget is rejected. */
function hasStartedWithoutThinking(messages: readonly WireMessage[]): boolean {
  const isPromptMessage = ({ role, content }: WireMessage): boolean =>
    role === "user" && !content.some(({ type }) => type === "tool_result");
  const first = messages[messages.findLastIndex(isPromptMessage) + 1]?.content[0];
  return first !== undefined && !first.type.includes("thinking");
}

function formatTools(tools: readonly FunctionDeclaration[], mark: object): object[] {
  return tools.map(({ name, description, parameters }, index) => ({
    name,
    description,
    input_schema: parameters,
    ...(index === tools.length - 1 ? mark : {}),
  }));
}

function markUserMessages(messages: readonly WireMessage[], mark: object): void {
  const asked = messages.filter(({ role }) => role === "user").slice(-2);
  for (const { content } of asked) {
    const last = content.pop();
    if (last) content.push({ ...last, ...mark });
  }
}

function formatMessages(history: readonly Message[], quirks: Quirks): WireMessage[] {
  const formatBlocks = ({ role, parts }: Message): Block[] =>
    role === "user" ? formatUserBlocks(parts) : formatAssistantBlocks(parts, quirks);
  return groupTurns(history, formatBlocks).map(({ role, items }) => ({
    role: role === "user" ? role : "assistant",
    content: moveAnswersFirst(items),
  }));
}

/** Puts tool results first: they must be at the start of the message that follows the reply. */
function moveAnswersFirst(content: readonly Block[]): Block[] {
  const isToolResult = (block: Block): boolean => block.type === "tool_result";
  return [...content.filter(isToolResult), ...content.filter((block) => !isToolResult(block))];
}

function formatUserBlocks(parts: readonly Part[]): Block[] {
  const blocks: Block[] = [];
  /** The position for a file that came with the last result. */
  let beside = blocks;
  for (const item of listUserItems(parts)) {
    if (item.type === "text") blocks.push(...formatTextBlocks(item.text));
    else if (item.type === "media") (item.origin === "" ? blocks : beside).push(formatMediaBlock(item));
    else {
      const { id, isError, text } = item;
      const content = formatTextBlocks(isError && text.trim() === "" ? "The tool failed." : text);
      const failed = isError ? { is_error: true } : {};
      blocks.push({ type: "tool_result", tool_use_id: toWireId(id), content, ...failed });
      // A failed result may contain only text.
      beside = isError ? blocks : content;
    }
  }
  return blocks;
}

function formatMediaBlock({ mimeType, data }: { readonly mimeType: string; readonly data: string }): Block {
  const source = { type: "base64", media_type: mimeType, data };
  return { type: isSupportedImage(mimeType) ? "image" : "document", source };
}

/** Leaves out blank text, because of which the service would reject the whole request. */
function formatTextBlocks(text: string): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function formatAssistantBlocks(parts: readonly Part[], quirks: Quirks): Block[] {
  const isRefused = quirks.has("no-thinking");
  const isWanted = quirks.has("thinking-wanted") && !isRefused;
  const blocks = parts.flatMap((part): Block[] => {
    const { text = "", thought, functionCall } = part;
    if (functionCall) {
      const { id, name = "", args = {} } = functionCall;
      return [{ type: "tool_use", id: toWireId(id ?? name), name, input: args }];
    }
    if (!thought) return formatTextBlocks(text);
    return isRefused ? [] : formatThinkingBlocks(part, isWanted);
  });
  const lacksThoughts = !blocks.some(({ type }) => type.includes("thinking"));
  // A single space, because an empty text is rejected as well.
  if (isWanted && lacksThoughts && blocks.length > 0) blocks.unshift({ type: "thinking", thinking: " " });
  // Thoughts at the end, from a reply that broke off, are rejected.
  while (blocks.at(-1)?.type.includes("thinking")) blocks.pop();
  return blocks;
}

/** Sends back only the thoughts that the service has signed, unless it wants all of them. */
function formatThinkingBlocks(part: Part, isWanted: boolean): Block[] {
  const data = readSignature("anthropic-redacted", part);
  if (data !== undefined) return [{ type: "redacted_thinking", data }];
  const signature = readSignature("anthropic", part);
  const thinking = part.text ?? "";
  if (signature === undefined) return isWanted && thinking !== "" ? [{ type: "thinking", thinking }] : [];
  return [{ type: "thinking", thinking, signature }];
}

/** Anthropic's Messages API. The base URL may end before `/v1`. Vertex uses a different path. */
export const ANTHROPIC_MESSAGES: Protocol = {
  name: "anthropic",
  dialect: "full",
  root: (base) => {
    const start = base.replace(/\/messages$/, "");
    return /\/(?:v\d+|publishers\/anthropic)$/.test(start) ? start : `${start}/v1`;
  },
  path: (root, model) =>
    root.endsWith("/anthropic") ? `${root}/models/${model}:streamRawPredict` : `${root}/messages`,
  carries: isSupportedMedia,
  keyHeader: "x-api-key",
  headers: { "anthropic-version": "2023-06-01" },
  body: buildBody,
  reply: async (to) => new (await import("./anthropic-reply.ts")).AnthropicReply(to),
};
