import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { CallLedger, declaredProblem, firstProblem, toolNameProblem } from "./call-ledger.ts";
import { list } from "./wire-reply.ts";

/** What a strict chat completions service would refuse in this request body, or undefined when it is valid. */
export function chatRequestProblem(body: unknown): string | undefined {
  if (!isRecord(body)) return "the body is not a JSON object";
  if (typeof body.model !== "string" || body.model === "") return "model: a name is missing";
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "messages: a list is missing";
  const problem = toolsProblem(body.tools);
  if (problem !== undefined) return problem;
  const conversation = new Conversation();
  for (const [index, message] of body.messages.entries()) {
    const found = isRecord(message) ? conversation.add(message) : "is not an object";
    if (found !== undefined) return `messages[${index}] ${found}`;
  }
  return conversation.end();
}

function toolsProblem(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.length === 0) return "tools: must be a list with at least one tool";
  const declared = list(tools).map((tool) => (tool.type === "function" ? tool.function : undefined));
  if (declared.length < tools.length || !declared.every(isRecord)) return "tools: an entry is not a function";
  const silent = declared.find(({ description }) => typeof description !== "string");
  if (silent) return `tools: "${String(silent.name)}" has no description`;
  return declaredProblem(declared.map(({ name, parameters }) => ({ name, schema: parameters ?? null })));
}

/** Follows the roles and the calls of a conversation, message by message. */
class Conversation {
  /** Here an id may be any text. */
  readonly #calls = new CallLedger(/./s);
  #last = "start";

  add(message: JsonRecord): string | undefined {
    const problem = this.#problem(message);
    this.#last = String(message.role);
    return problem;
  }

  end(): string | undefined {
    if (this.#last === "user" || this.#last === "tool") return this.#calls.unanswered;
    return this.#calls.unanswered ?? `messages: the last is of ${this.#last}`;
  }

  #problem(message: JsonRecord): string | undefined {
    const { role, content } = message;
    if (role === "tool") {
      const isFit = isWords(content);
      return this.#calls.answer(message.tool_call_id) ?? (isFit ? undefined : "has content that is not text");
    }
    if (this.#calls.unanswered !== undefined) return `comes before it: ${this.#calls.unanswered}`;
    switch (role) {
      case "system":
        if (this.#last !== "start") return "is a system message out of order";
        return isWords(content) && content !== "" ? undefined : "has no content";
      case "user":
        if (this.#last === "user") return "is a second user message in a row";
        return isUserContent(content) ? undefined : "has no usable content";
      case "assistant":
        if (this.#last !== "user" && this.#last !== "tool")
          return `is an assistant message after ${this.#last}`;
        return this.#reply(message);
      default:
        return `has the unknown role "${String(role)}"`;
    }
  }

  #reply({ content, tool_calls: calls }: JsonRecord): string | undefined {
    const hasText = typeof content === "string" && content !== "";
    if (calls === undefined) return hasText ? undefined : "has neither content nor tool calls";
    if (content !== null && !hasText) return "must have null or text as content";
    if (!Array.isArray(calls) || calls.length === 0) return "has an empty list of tool calls";
    return firstProblem(calls.map((call) => this.#call(call)));
  }

  #call(call: unknown): string | undefined {
    const called: unknown = isRecord(call) && call.type === "function" ? call.function : undefined;
    if (!isRecord(call) || !isRecord(called)) return "has a tool call that is not a function";
    const { name, arguments: given } = called;
    if (typeof given !== "string" || !isRecord(parseJson(given))) {
      return `has arguments in the tool call ${String(call.id)} that are not JSON text of an object`;
    }
    return this.#calls.call(call.id) ?? toolNameProblem(name);
  }
}

/** Text, or a list of texts, which services with cache marks accept. */
function isWords(content: unknown): boolean {
  if (typeof content === "string") return true;
  return (
    Array.isArray(content) &&
    content.length > 0 &&
    content.every((part) => isRecord(part) && part.type === "text")
  );
}

function isUserContent(content: unknown): boolean {
  if (typeof content === "string") return content !== "";
  return Array.isArray(content) && content.length > 0 && content.every(isUserPart);
}

function isUserPart(part: unknown): boolean {
  if (!isRecord(part)) return false;
  if (part.type === "text") return typeof part.text === "string" && part.text !== "";
  if (part.type !== "image_url" || !isRecord(part.image_url)) return false;
  const { url } = part.image_url;
  return typeof url === "string" && /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/.test(url);
}
