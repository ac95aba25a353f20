import type { FunctionDeclaration } from "../messages/function-call.ts";
import type { Message } from "../messages/message.ts";
import type { InlineData, Part } from "../messages/parts.ts";
import { markedAnswerText } from "./answer-text.ts";
import type { ModelRequest } from "./chat-model.ts";
import { isShownImage, mediaNote } from "./media.ts";
import { wireJson } from "./wire-json.ts";

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
 * The body of a chat completions request as JSON, in pieces. The same request gives the same bytes, and a
 * longer history begins with the pieces of the shorter one, so that the service can reuse what it has computed.
 */
export function chatCompletionsBody(
  model: string,
  request: ModelRequest,
  quirks: ReadonlySet<string> = new Set(),
): string[] {
  const knows = (quirk: ChatQuirk): boolean => quirks.has(quirk);
  const withReasoning = knows("reasoning-wanted") && !knows("reasoning-refused");
  const tools = request.tools.length > 0 ? { tools: request.tools.map(wireTool) } : {};
  const rest = knows("no-stream-options") ? {} : { stream_options: { include_usage: true } };
  const [first = "", ...further] = writtenMessages(request, withReasoning);
  return [
    `${wireJson({ model, ...tools }).slice(0, -1)},"messages":[${first.slice(1)}`,
    ...further,
    `],${wireJson({ stream: true, ...rest }).slice(1)}`,
  ];
}

function wireTool(tool: FunctionDeclaration): unknown {
  const { name, description, parameters } = tool;
  return { type: "function", function: { name, description, parameters } };
}

/** The JSON of messages that do not change any more: a long history is not written anew for each request. */
const WRITTEN: Readonly<Record<"with" | "without", WeakMap<Message, string>>> = {
  with: new WeakMap(),
  without: new WeakMap(),
};

/** Each with a comma before it. */
function writtenMessages({ system, history }: ModelRequest, withReasoning: boolean): string[] {
  const written = system === "" ? [] : [`,${wireJson({ role: "system", content: system })}`];
  const memory = WRITTEN[withReasoning ? "with" : "without"];
  let turn: Message[] = [];
  for (const message of history) {
    if (message.role === "user") {
      turn.push(message);
      continue;
    }
    const write = (): string => writtenReply(message, withReasoning);
    // The last message may still grow.
    const answer = message === history.at(-1) ? write() : remembered(memory, message, write);
    if (answer === "") continue;
    const [first] = turn;
    const asked = (): string => writtenTurn(turn);
    const words = first && turn.length === 1 ? remembered(memory, first, asked) : asked();
    written.push(...[words, answer].filter((json) => json !== ""));
    turn = [];
  }
  const last = writtenTurn(turn);
  return last === "" ? written : [...written, last];
}

function remembered(memory: WeakMap<Message, string>, message: Message, write: () => string): string {
  let json = memory.get(message);
  if (json === undefined) {
    json = write();
    memory.set(message, json);
  }
  return json;
}

function writtenTurn(messages: readonly Message[]): string {
  const turn = new UserTurn();
  for (const message of messages) turn.add(message);
  const wire = turn.messages();
  return wire.length === 0 ? "" : `,${wireJson(wire).slice(1, -1)}`;
}

function writtenReply({ parts }: Message, withReasoning: boolean): string {
  const answer = assistantMessage(parts, withReasoning);
  return answer ? `,${wireJson(answer)}` : "";
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
