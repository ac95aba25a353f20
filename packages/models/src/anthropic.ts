import type { FunctionDeclaration } from "@burin/contract/messages/function-call";
import type { Message } from "@burin/contract/messages/message";
import type { InlineData, Part } from "@burin/contract/messages/parts";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import { answerText, isErrorAnswer } from "./answer-text.ts";
import { AnthropicReply } from "./anthropic-reply.ts";
import { isShownImage, mediaNote } from "./media.ts";
import type { TunedRequest, Tuning } from "./prepare-request.ts";
import type { Protocol } from "./service-model.ts";
import { signatureOf } from "./thought-signature.ts";
import { budgetOf, mergedBody } from "./tuning.ts";
import { wireJson } from "./wire-json.ts";
import { wireId } from "./wire-names.ts";

interface Block {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/** The service wants a limit; this one is the least of what its current models allow. */
const MOST_OUTPUT_TOKENS = 32_000;
/** Thinking counts as output; so much is left for the answer itself. */
const LEAST_ANSWER_TOKENS = 8_000;

/** Marks the end of what the service should keep for the next request. */
function cacheMark({ cache }: Tuning): object {
  const ttl = cache === "1h" ? { ttl: cache } : {};
  return { cache_control: { type: "ephemeral", ...ttl } };
}

/**
 * The body of a Messages request. Instructions and tools, and the last two messages of the user, are marked
 * as worth keeping, so that the next request pays only for what is new.
 */
function anthropicBody(model: string, request: TunedRequest, quirks: ReadonlySet<string>): string[] {
  const { system, tools, tuning = {} } = request;
  const isCaching = !quirks.has("no-cache-control") && tuning.cache !== "off";
  const mark = isCaching ? cacheMark(tuning) : {};
  const body = {
    model,
    ...generation(tuning, quirks),
    ...(tools.length > 0 ? { tools: wireTools(tools, system === "" ? mark : {}) } : {}),
    ...(system === "" ? {} : { system: [{ type: "text", text: system, ...mark }] }),
    messages: wireMessages(request.history, !quirks.has("no-thinking")),
    stream: true,
  };
  if (isCaching) markUserMessages(body.messages, mark);
  return [wireJson(mergedBody(body, tuning.body))];
}

/** How much the model may say and think. While it thinks, it takes no other say in how it speaks. */
function generation(tuning: Tuning, quirks: ReadonlySet<string>): JsonRecord {
  const { reasoning, temperature, topP } = tuning;
  const most = Math.min(tuning.maxOutput ?? MOST_OUTPUT_TOKENS, ...toldLimits(quirks));
  const budget = reasoning === undefined || quirks.has("no-thinking") ? 0 : budgetOf(reasoning);
  if (budget === 0) {
    const isOff = reasoning !== undefined && !quirks.has("no-thinking");
    return {
      ...(isOff ? { thinking: { type: "disabled" } } : {}),
      max_tokens: most,
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { top_p: topP }),
    };
  }
  if (typeof reasoning === "string" && !quirks.has("no-adaptive")) {
    const effort = reasoning === "minimal" ? "low" : reasoning;
    return {
      max_tokens: most,
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort },
    };
  }
  const budget_tokens = Math.max(1024, Math.min(budget, most - LEAST_ANSWER_TOKENS));
  return { max_tokens: Math.max(most, budget_tokens + 1), thinking: { type: "enabled", budget_tokens } };
}

/** What a refusal teaches: a lower limit of output, or a field that this service does not take. */
function anthropicQuirk(refusal: string): string | undefined {
  const limit = /max_tokens\D{0,40}\d+\s*>\s*(\d+)/.exec(refusal)?.[1];
  if (limit !== undefined) return `max-tokens:${limit}`;
  if (/cache_control/i.test(refusal)) return "no-cache-control";
  if (/adaptive|output_config|\beffort\b/i.test(refusal)) return "no-adaptive";
  return /thinking|signature/i.test(refusal) ? "no-thinking" : undefined;
}

function toldLimits(quirks: ReadonlySet<string>): number[] {
  const limits = [...quirks].map((quirk) => Number(/^max-tokens:(\d+)$/.exec(quirk)?.[1] ?? Number.NaN));
  return limits.filter((limit) => limit > 0);
}

function wireTools(tools: readonly FunctionDeclaration[], mark: object): object[] {
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

function wireMessages(history: readonly Message[], withThinking: boolean): WireMessage[] {
  const messages: WireMessage[] = [];
  for (const { role, parts } of history) {
    const content = role === "user" ? userBlocks(parts) : assistantBlocks(parts, withThinking);
    if (content.length === 0) continue;
    const wireRole = role === "user" ? "user" : "assistant";
    const last = messages.at(-1);
    if (last?.role === wireRole) last.content.push(...content);
    else messages.push({ role: wireRole, content });
  }
  for (const message of messages) answersFirst(message);
  return messages;
}

/** The answers to a reply have to stand at the start of the message behind it. */
function answersFirst({ content }: WireMessage): void {
  const isAnswer = (block: Block): boolean => block.type === "tool_result";
  const sorted = [...content.filter(isAnswer), ...content.filter((block) => !isAnswer(block))];
  content.splice(0, content.length, ...sorted);
}

function userBlocks(parts: readonly Part[]): Block[] {
  const blocks: Block[] = [];
  let answer: { readonly name: string; readonly content: Block[] | undefined } | undefined;
  for (const { text, inlineData, functionResponse } of parts) {
    if (functionResponse) {
      const { id, name = "", response } = functionResponse;
      const said = answerText(response);
      const isError = isErrorAnswer(response);
      const content = textBlocks(isError && said.trim() === "" ? "The tool failed." : said);
      blocks.push({
        type: "tool_result",
        tool_use_id: wireId(id ?? name),
        content,
        ...(isError ? { is_error: true } : {}),
      });
      // The result of a failure may hold text only; what else came stands beside it.
      answer = { name, content: isError ? undefined : content };
    } else if (inlineData) {
      (answer?.content ?? blocks).push(mediaBlock(inlineData, answer?.name ?? ""));
    } else if (text !== undefined) {
      blocks.push(...textBlocks(text));
      // What follows the person's own words is not the tool's.
      answer = undefined;
    }
  }
  return blocks;
}

function mediaBlock(media: InlineData, origin: string): Block {
  const { mimeType, data = "" } = media;
  const source = { type: "base64", media_type: mimeType, data };
  if (isShownImage(mimeType)) return { type: "image", source };
  if (mimeType === "application/pdf") return { type: "document", source };
  return { type: "text", text: mediaNote(media, origin) };
}

/** A text of nothing but blanks has the whole request refused. */
function textBlocks(text: string): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function assistantBlocks(parts: readonly Part[], withThinking: boolean): Block[] {
  const blocks = parts.flatMap((part): Block[] => {
    const { text = "", thought, functionCall } = part;
    if (functionCall) {
      const { id, name = "", args = {} } = functionCall;
      return [{ type: "tool_use", id: wireId(id ?? name), name, input: args }];
    }
    if (!thought) return textBlocks(text);
    return withThinking ? thinkingBlocks(part) : [];
  });
  return blocks.every((block) => block.type.includes("thinking")) ? [] : blocks;
}

/** Only what the service has signed goes back to it; the thoughts of another model mean nothing to it. */
function thinkingBlocks(part: Part): Block[] {
  const data = signatureOf("anthropic-redacted", part);
  if (data !== undefined) return [{ type: "redacted_thinking", data }];
  const signature = signatureOf("anthropic", part);
  return signature === undefined ? [] : [{ type: "thinking", thinking: part.text ?? "", signature }];
}

/** Anthropic's Messages API. The base URL may end before `/v1`; Vertex has a path of its own. */
export const MESSAGES: Protocol = {
  dialect: "full",
  path: (base, model) => {
    if (base.endsWith("/publishers/anthropic")) return `${base}/models/${model}:streamRawPredict`;
    return /\/v\d+$/.test(base) ? `${base}/messages` : `${base}/v1/messages`;
  },
  keyHeader: "x-api-key",
  headers: { "anthropic-version": "2023-06-01" },
  body: anthropicBody,
  reply: (_request, takenIds) => Promise.resolve(new AnthropicReply(takenIds)),
  quirks: () => Promise.resolve(anthropicQuirk),
};
