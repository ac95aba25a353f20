import { getOrCreate, rememberResults } from "@burin/contract/async/once";
import type { ModelRequest } from "@burin/contract/chat-model";
import type { Message, Part } from "@burin/contract/messages/message";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import { createCacheMark } from "../request/cache-mark.ts";
import type { TunedRequest } from "../request/prepare-request.ts";
import type { Quirks } from "../request/quirks.ts";
import { readSignature } from "../request/thought-signature.ts";
import { formatAnswerText, listUserItems } from "../request/user-items.ts";
import { SIGNED_ID_PATTERN, serializeForWire, toNineCharacters, toWireId } from "../request/wire.ts";

type UserContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

interface WireMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null | readonly UserContent[];
  readonly [field: string]: unknown;
}

/** Builds the body in pieces. A longer history begins with those of the shorter one, so that caches work. */
export function buildChatBody(
  model: string,
  request: TunedRequest & { readonly tune?: (fields: JsonRecord) => JsonRecord },
  quirks: Quirks = new Set(),
): string[] {
  const declared = request.tools.map((tool) => ({ type: "function", function: tool }));
  const tools = declared.length > 0 ? { tools: declared } : {};
  const usage = quirks.has("no-stream-options") ? {} : { stream_options: { include_usage: true } };
  const last = { stream: true, ...usage };
  // Gateways pass these marks on to Claude. All other models cache automatically.
  const mark = /claude/i.test(model) ? createCacheMark(request, quirks) : null;
  const pieces = serializeMessages(request, { quirks, mark });
  const [first = ""] = pieces;
  pieces[0] = `${serializeForWire({ model, ...tools }).slice(0, -1)},"messages":[${first.slice(1)}`;
  pieces.push(`],${serializeForWire(request.tune?.(last) ?? last).slice(1)}`);
  return pieces;
}

/** Messages that no longer change, serialized, so that a long history is not serialized again for each request. */
const selectMessageCache = rememberResults((_quirks: string) => new WeakMap<Message, string>());

interface WritingOptions {
  readonly quirks: Quirks;
  /** The mark at the end of what the service should cache; null if the service uses no such marks. */
  readonly mark: object | null;
}

/** Serializes the messages, each with a preceding comma. */
function serializeMessages({ system, history }: ModelRequest, { quirks, mark }: WritingOptions): string[] {
  const hasSystem = system !== "" && !quirks.has("no-system");
  const instructions: WireMessage = { role: "system", content: system };
  const written = hasSystem ? [`,${serializeForWire(markMessage(instructions, mark))}`] : [];
  const memory = selectMessageCache([...quirks].sort().join());
  const asking = history.filter(({ role }) => role === "user");
  const toMark = new Set(mark ? asking.slice(-2) : []);
  const opening = hasSystem || system === "" ? undefined : asking[0];
  let turn: readonly Message[] = [];
  const writeTurn = (): string => {
    const before = opening !== undefined && turn[0] === opening ? system : "";
    const wire = formatUserMessages(turn, before, quirks);
    const last = turn.some((message) => toMark.has(message)) ? wire.pop() : undefined;
    return joinJson(last ? [...wire, markMessage(last, mark)] : wire);
  };
  const writeAnswer = ({ parts }: Message): string => joinJson(formatAssistantMessages(parts, quirks));
  const writeMessageOnce = (message: Message, write: (message: Message) => string): string => {
    // Do not store the last message: more of the reply may be added to it, or the next prompt after a failed request.
    const isOwn = toMark.has(message) || message === opening || message === history.at(-1);
    return isOwn ? write(message) : getOrCreate(memory, message, write);
  };
  const writePendingTurn = (): string => {
    const [first] = turn;
    return first !== undefined && turn.length === 1 ? writeMessageOnce(first, writeTurn) : writeTurn();
  };
  for (const message of history) {
    if (message.role === "user") {
      turn = [...turn, message];
      continue;
    }
    const answer = writeMessageOnce(message, writeAnswer);
    if (answer === "") continue;
    const asked = writePendingTurn();
    if (asked !== "") written.push(asked);
    written.push(answer);
    turn = [];
  }
  const last = writePendingTurn();
  if (last !== "") written.push(last);
  return written;
}

function joinJson(wire: readonly object[]): string {
  return wire.length === 0 ? "" : `,${serializeForWire(wire).slice(1, -1)}`;
}

/** Puts a cache mark at the end of the message: everything up to it should be cached for the next request. */
function markMessage(message: WireMessage, mark: object | null): object {
  const { content } = message;
  // An empty text cannot have a mark.
  if (mark === null || content === "") return message;
  const parts: object[] =
    typeof content === "string" ? [{ type: "text", text: content }] : [...(content ?? [])];
  const last = parts.pop();
  return { ...message, content: [...parts, { ...last, cache_control: mark }] };
}

/** Converts user messages. `before` are instructions. Media follow the results, which can only be text. */
function formatUserMessages(turn: readonly Message[], before: string, quirks: Quirks): WireMessage[] {
  const answers: WireMessage[] = [];
  const content: UserContent[] = before === "" ? [] : [{ type: "text", text: `${before}\n` }];
  for (const item of turn.flatMap(({ parts }) => listUserItems(parts))) {
    if (item.type === "answer") {
      const text = formatAnswerText(item);
      const said = text === "" && quirks.has("content-wanted") ? "(empty)" : text;
      const named = quirks.has("named-answers") ? { name: item.name } : {};
      answers.push({ role: "tool", tool_call_id: formatCallId(item.id, quirks), ...named, content: said });
    } else if (item.type === "media") {
      const { mimeType, data, origin } = item;
      if (origin !== "") content.push({ type: "text", text: `Image from ${origin}:` });
      content.push({ type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } });
    } else content.push(item);
  }
  if (content.length === 0) return answers;
  const isBridged = answers.length > 0 && quirks.has("reply-before-user");
  const bridge: WireMessage[] = isBridged ? [{ role: "assistant", content: "I have read the results." }] : [];
  return [...answers, ...bridge, { role: "user", content: joinTexts(content) }];
}

/** Joins texts. Text alone becomes a string, which every server accepts; a list is used only with media. */
function joinTexts(content: readonly UserContent[]): string | UserContent[] {
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

/** The placeholder that Google documents for calls that another model made. */
const UNSIGNED = { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } };

/** Converts a reply. Returns no message if it has neither text nor calls, because services reject that. */
function formatAssistantMessages(parts: readonly Part[], quirks: Quirks): WireMessage[] {
  let text = "";
  let thoughts = "";
  const calls: object[] = [];
  const extras: Record<string, unknown> = {};
  for (const part of parts) {
    const { functionCall, thought, text: piece = "" } = part;
    if (functionCall) {
      // Only the first call of a reply is signed.
      const standIn = calls.length === 0 && quirks.has("signature-wanted") ? UNSIGNED : {};
      calls.push({ ...formatCall(functionCall, quirks), ...standIn, ...readExtraFields(part, quirks) });
    } else if (thought) {
      thoughts += piece;
      Object.assign(extras, readExtraFields(part, quirks));
    } else text += piece;
  }
  if (calls.length === 0 && text === "") return [];
  const said = calls.length > 0 && quirks.has("calls-alone") ? "" : text;
  const spoken = said === "" && !quirks.has("content-wanted") ? null : said || "(calling tools)";
  const withReasoning = quirks.has("reasoning-wanted") && !quirks.has("reasoning-refused");
  // The service wants reasoning in every reply, even in another model's. DeepSeek V4 Pro rejects an empty text.
  const reasoning = withReasoning ? { reasoning_content: thoughts.padEnd(1) } : {};
  const made = calls.length > 0 ? { tool_calls: calls } : {};
  const content = prependThoughts(spoken, extras.content);
  return [{ role: "assistant", ...reasoning, ...extras, content, ...made }];
}

/** Adds Claude's signed thoughts, which Databricks expects as the first part of the content. */
function prependThoughts(spoken: string | null, parts: unknown): WireMessage["content"] {
  if (!Array.isArray(parts)) return spoken;
  return spoken === null ? parts : [...parts, { type: "text", text: spoken }];
}

/** Returns the fields that the service sent with this part and wants back. */
function readExtraFields(part: Part, quirks: Quirks): Record<string, unknown> {
  const given = quirks.has("no-extras") ? undefined : readSignature("chat", part);
  return given === undefined ? {} : (JSON.parse(given) as Record<string, unknown>);
}

function formatCall({ id, name = "", args = {} }: NonNullable<Part["functionCall"]>, quirks: Quirks): object {
  const called = { name, arguments: JSON.stringify(args) };
  return { id: formatCallId(id ?? name, quirks), type: "function", function: called };
}

const MAX_ID_CHARACTERS = 40;

/** Converts an id, perhaps another model's, to a format that the service accepts; always to the same result. */
function formatCallId(id: string, quirks: Quirks): string {
  if (quirks.has("nine-ids")) return /^[A-Za-z0-9]{9}$/.test(id) ? id : toNineCharacters(id);
  return id.length <= MAX_ID_CHARACTERS || id.includes(SIGNED_ID_PATTERN)
    ? id
    : toWireId(id, MAX_ID_CHARACTERS);
}
