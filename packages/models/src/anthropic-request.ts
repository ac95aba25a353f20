import type { ModelRequest } from "@burin/contract/chat-model";
import type { FunctionDeclaration } from "@burin/contract/messages/function-call";
import type { Message } from "@burin/contract/messages/message";
import type { InlineData, Part } from "@burin/contract/messages/parts";
import { answerText, isErrorAnswer } from "./answer-text.ts";
import { isShownImage, mediaNote } from "./media.ts";
import { signatureOf } from "./thought-signature.ts";
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
/** Marks the end of what the service should keep for the next request. */
const CACHED = { cache_control: { type: "ephemeral" } };

/**
 * The body of a Messages request. Instructions and tools, and the last two messages of the user, are marked
 * as worth keeping, so that the next request pays only for what is new.
 */
export function anthropicBody(model: string, request: ModelRequest, quirks: ReadonlySet<string>): string[] {
  const isCaching = !quirks.has("no-cache-control");
  const mark = isCaching ? CACHED : {};
  const { system, tools } = request;
  const body = {
    model,
    max_tokens: outputLimit(quirks),
    ...(tools.length > 0 ? { tools: wireTools(tools, system === "" ? mark : {}) } : {}),
    ...(system === "" ? {} : { system: [{ type: "text", text: system, ...mark }] }),
    messages: wireMessages(request.history, !quirks.has("no-thinking")),
    stream: true,
  };
  if (isCaching) markUserMessages(body.messages);
  return [wireJson(body)];
}

/** What a refusal teaches: a lower limit of output, or a field that this service does not take. */
export function anthropicQuirk(refusal: string): string | undefined {
  const limit = /max_tokens\D{0,40}\d+\s*>\s*(\d+)/.exec(refusal)?.[1];
  if (limit !== undefined) return `max-tokens:${limit}`;
  if (/cache_control/i.test(refusal)) return "no-cache-control";
  return /thinking|signature/i.test(refusal) ? "no-thinking" : undefined;
}

function outputLimit(quirks: ReadonlySet<string>): number {
  const limits = [...quirks].map((quirk) => Number(/^max-tokens:(\d+)$/.exec(quirk)?.[1] ?? Number.NaN));
  return Math.min(MOST_OUTPUT_TOKENS, ...limits.filter((limit) => limit > 0));
}

function wireTools(tools: readonly FunctionDeclaration[], mark: object): object[] {
  return tools.map(({ name, description, parameters }, index) => ({
    name,
    description,
    input_schema: parameters,
    ...(index === tools.length - 1 ? mark : {}),
  }));
}

function markUserMessages(messages: readonly WireMessage[]): void {
  const asked = messages.filter(({ role }) => role === "user").slice(-2);
  for (const { content } of asked) {
    const last = content.pop();
    if (last) content.push({ ...last, ...CACHED });
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
