import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What a strict chat completions service would refuse in this request body, or undefined when it is right. */
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
  const names = new Set<string>();
  for (const tool of tools) {
    const declared: unknown = isRecord(tool) && tool.type === "function" ? tool.function : undefined;
    if (!isRecord(declared)) return "tools: an entry is no function";
    const { name, description, parameters } = declared;
    if (typeof name !== "string" || !TOOL_NAME.test(name))
      return `tools: the name "${String(name)}" is not allowed`;
    if (names.has(name)) return `tools: "${name}" is there twice`;
    if (typeof description !== "string") return `tools: "${name}" has no description`;
    if (!isRecord(parameters)) return `tools: the parameters of "${name}" are no schema`;
    names.add(name);
  }
  return undefined;
}

/** Follows the roles and the calls of a conversation, message by message. */
class Conversation {
  readonly #known = new Set<string>();
  readonly #open = new Set<string>();
  #last = "start";

  add(message: JsonRecord): string | undefined {
    const problem = this.#problem(message);
    this.#last = String(message.role);
    return problem;
  }

  end(): string | undefined {
    if (this.#open.size > 0) return this.#unanswered();
    return this.#last === "user" || this.#last === "tool"
      ? undefined
      : `messages: the last is of ${this.#last}`;
  }

  #problem(message: JsonRecord): string | undefined {
    if (message.role === "tool") return this.#answer(message);
    if (this.#open.size > 0) return this.#unanswered();
    switch (message.role) {
      case "system":
        if (this.#last !== "start") return "is a system message out of order";
        return isWords(message.content) && message.content !== "" ? undefined : "has no content";
      case "user":
        if (this.#last === "user") return "is a second user message in a row";
        return isUserContent(message.content) ? undefined : "has no usable content";
      case "assistant":
        if (this.#last !== "user" && this.#last !== "tool")
          return `is an assistant message after ${this.#last}`;
        return this.#reply(message);
      default:
        return `has the unknown role "${String(message.role)}"`;
    }
  }

  #unanswered(): string {
    return `comes before an answer to the tool call ${[...this.#open].join(", ")}`;
  }

  #answer(message: JsonRecord): string | undefined {
    const id = message.tool_call_id;
    if (typeof id !== "string" || !this.#known.has(id))
      return `answers "${String(id)}", which no tool call has`;
    if (!this.#open.delete(id)) return `answers the tool call ${id} once more or too late`;
    return isWords(message.content) ? undefined : "has content that is no text";
  }

  #reply({ content, tool_calls: calls }: JsonRecord): string | undefined {
    const hasText = typeof content === "string" && content !== "";
    if (calls === undefined) return hasText ? undefined : "has neither content nor tool calls";
    if (content !== null && !hasText) return "must have null or text as content";
    if (!Array.isArray(calls) || calls.length === 0) return "has an empty list of tool calls";
    for (const call of calls) {
      const problem = this.#call(call);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #call(call: unknown): string | undefined {
    const called: unknown = isRecord(call) && call.type === "function" ? call.function : undefined;
    if (!isRecord(call) || !isRecord(called)) return "has a tool call that is no function";
    const { id } = call;
    if (typeof id !== "string" || id === "") return "has a tool call without an id";
    if (this.#known.has(id)) return `has a second tool call with the id ${id}`;
    if (typeof called.name !== "string" || !TOOL_NAME.test(called.name)) {
      return `calls a tool by the name "${String(called.name)}", which is not allowed`;
    }
    const { arguments: given } = called;
    if (typeof given !== "string" || !isRecord(parseJson(given))) {
      return `has arguments in the tool call ${id} that are no JSON text of an object`;
    }
    this.#known.add(id);
    this.#open.add(id);
    return undefined;
  }
}

/** Text, or a list of texts, which services take that are told what to keep. */
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
