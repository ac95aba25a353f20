import type { FunctionDeclaration } from "../messages/function-call.ts";
import type { Message } from "../messages/message.ts";
import type { InlineData, Part } from "../messages/parts.ts";
import { markedAnswerText } from "./answer-text.ts";
import type { ModelRequest } from "./chat-model.ts";
import { isShownImage, mediaNote } from "./media.ts";

type UserContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

interface WireCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

type WireMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly UserContent[] }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly WireCall[];
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** The habits of services that this protocol has to follow, each learned from a refusal. */
export type ChatQuirk = "reasoning-wanted" | "reasoning-refused" | "no-stream-options";

/**
 * The body of a chat completions request as JSON. The same request gives the same bytes, and a longer
 * history begins with the bytes of the shorter one, so that the service can reuse what it has computed.
 */
export function chatCompletionsBody(
  model: string,
  request: ModelRequest,
  quirks: ReadonlySet<string> = new Set(),
): string {
  const knows = (quirk: ChatQuirk): boolean => quirks.has(quirk);
  const withReasoning = knows("reasoning-wanted") && !knows("reasoning-refused");
  return JSON.stringify({
    model,
    ...(request.tools.length > 0 ? { tools: request.tools.map(wireTool) } : {}),
    messages: wireMessages(request, withReasoning),
    stream: true,
    ...(knows("no-stream-options") ? {} : { stream_options: { include_usage: true } }),
  });
}

function wireTool(tool: FunctionDeclaration): unknown {
  const { name, description, parameters } = tool;
  return { type: "function", function: { name, description, parameters } };
}

function wireMessages(request: ModelRequest, withReasoning: boolean): WireMessage[] {
  const messages: WireMessage[] = [];
  if (request.system !== "") messages.push({ role: "system", content: request.system });
  let turn = new UserTurn();
  for (const message of request.history) {
    if (message.role === "user") {
      turn.add(message);
      continue;
    }
    const answer = assistantMessage(message.parts, withReasoning);
    if (!answer) continue;
    messages.push(...turn.messages(), answer);
    turn = new UserTurn();
  }
  messages.push(...turn.messages());
  return messages;
}

/**
 * All that stands between two replies of the model. A tool message can hold text only and every call must be
 * answered before anybody speaks, so media wait for the user message behind the answers.
 */
class UserTurn {
  readonly #answers: WireMessage[] = [];
  readonly #content: UserContent[] = [];

  add(message: Message): void {
    let answered = "";
    for (const part of message.parts) {
      const response = part.functionResponse;
      if (response) {
        answered = response.name ?? "";
        const tool_call_id = response.id ?? answered;
        this.#answers.push({ role: "tool", tool_call_id, content: markedAnswerText(response.response) });
      } else if (part.inlineData) {
        this.#content.push(...mediaContent(part.inlineData, answered));
      } else if (part.text) {
        this.#content.push({ type: "text", text: part.text });
        // What follows the person's own words is not the tool's.
        answered = "";
      }
    }
  }

  messages(): WireMessage[] {
    if (this.#content.length === 0) return this.#answers;
    return [...this.#answers, { role: "user", content: withTextsJoined(this.#content) }];
  }
}

function mediaContent(media: InlineData, answered: string): UserContent[] {
  const { mimeType, data = "" } = media;
  if (!isShownImage(mimeType)) return [{ type: "text", text: mediaNote(media, answered) }];
  const image: UserContent = { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } };
  return answered === "" ? [image] : [{ type: "text", text: `Image from ${answered}:` }, image];
}

/** Plain text as a plain string, which every server understands; a list only where there is an image. */
function withTextsJoined(content: readonly UserContent[]): string | UserContent[] {
  const joined: UserContent[] = [];
  for (const item of content) {
    const last = joined.at(-1);
    if (item.type === "text" && last?.type === "text") {
      joined[joined.length - 1] = { type: "text", text: `${last.text}\n${item.text}` };
    } else {
      joined.push(item);
    }
  }
  const [only] = joined;
  return joined.length === 1 && only?.type === "text" ? only.text : joined;
}

/** Undefined for a reply with neither text nor calls, which services refuse. */
function assistantMessage(parts: readonly Part[], withReasoning: boolean): WireMessage | undefined {
  let text = "";
  let thoughts = "";
  const calls: WireCall[] = [];
  for (const { functionCall, thought, text: piece = "" } of parts) {
    if (functionCall) calls.push(wireCall(functionCall));
    else if (thought) thoughts += piece;
    else text += piece;
  }
  if (calls.length === 0 && text === "") return undefined;
  const content = text === "" ? null : text;
  const made = calls.length > 0 ? { tool_calls: calls } : {};
  // Where reasoning is wanted at all, it is wanted of every reply, also of one that another model gave.
  return withReasoning
    ? { role: "assistant", content, reasoning_content: thoughts, ...made }
    : { role: "assistant", content, ...made };
}

function wireCall({ id, name = "", args = {} }: NonNullable<Part["functionCall"]>): WireCall {
  return { id: id ?? name, type: "function", function: { name, arguments: JSON.stringify(args) } };
}
