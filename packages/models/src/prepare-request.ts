import type { ModelRequest } from "@burin/contract/chat-model";
import type { FunctionDeclaration } from "@burin/contract/messages/function-call";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import type { Message } from "@burin/contract/messages/message";
import type { InlineData, Part } from "@burin/contract/messages/parts";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { Lessons } from "./lessons.ts";
import { isShownImage } from "./media.ts";
import { wireName } from "./wire-names.ts";

/** How much the model is to think: a word of the service, or how many tokens it may take for it. */
export type Reasoning = string | number;

/** How a model is asked, where somebody says so; what is left out the service decides. */
export interface Tuning {
  /** Tokens of one reply, thoughts included. */
  readonly maxOutput?: number;
  readonly reasoning?: Reasoning;
  readonly temperature?: number;
  readonly topP?: number;
  /** How long the service keeps what it has read; `off` marks nothing as worth keeping. */
  readonly cache?: "off" | "5m" | "1h" | "24h";
  /** More fields of the body; objects are joined with ours, null takes one of ours out. */
  readonly body?: JsonRecord;
}

/** What a body is made of. */
export interface TunedRequest extends ModelRequest {
  readonly tuning?: Tuning;
}

/** A request in a form that the provider takes, with the way back from its names to ours. */
export interface PreparedRequest extends TunedRequest {
  readonly ownName: (wireName: string) => string;
  /** The same object for each request of one conversation: the list that its history is kept in. */
  readonly conversation: object;
}

const PLAIN_KEYWORDS: ReadonlySet<string> = new Set(
  "type description properties required items enum minimum maximum minItems maxItems minLength maxLength pattern default additionalProperties".split(
    " ",
  ),
);

/** Whether every service takes the schema as it stands, so that nothing has to be loaded to write it anew. */
export function isPlain(schema: unknown, isTop = true): boolean {
  if (!isRecord(schema) || typeof schema.type !== "string") return false;
  const { properties = {}, items, required = [], type, additionalProperties } = schema;
  if (!Object.keys(schema).every((key) => PLAIN_KEYWORDS.has(key)) || isRecord(additionalProperties))
    return false;
  if (isTop ? type !== "object" || schema.enum !== undefined : false) return false;
  if (type === "array" ? !isPlain(items, false) : items !== undefined) return false;
  if (!isRecord(properties) || !Array.isArray(required)) return false;
  const isKnown = (name: unknown): boolean => Object.hasOwn(properties, String(name));
  return required.every(isKnown) && Object.values(properties).every((inner) => isPlain(inner, false));
}

/** The request without what the service is known to refuse, each tool under a name and a schema that it takes. */
export function prepareRequest(
  request: ModelRequest,
  lessons: Lessons,
  written: (schema: JsonSchema) => JsonSchema,
): PreparedRequest {
  const ownNames = new Map<string, string>();
  const tools: FunctionDeclaration[] = [];
  for (const tool of request.tools) {
    const name = wireName(tool.name);
    // Two tools of one name would have the service refuse all of them; the first one keeps it.
    if (lessons.tools.has(tool.name) || ownNames.has(name)) continue;
    ownNames.set(name, tool.name);
    const parameters = lessons.schemaOf(tool.name, written(tool.parameters));
    tools.push({ name, description: tool.description, parameters });
  }
  const { system } = request;
  const history = request.history.map((message) => preparedMessage(message, lessons));
  const conversation = request.history;
  return { system, history, tools, conversation, ownName: (name) => ownNames.get(name) ?? name };
}

/** The same object where nothing changes, which is nearly always. */
function preparedMessage(message: Message, lessons: Lessons): Message {
  let origin = "";
  let changed: Part[] | undefined;
  for (const [index, part] of message.parts.entries()) {
    if (part.functionResponse) origin = part.functionResponse.name ?? "";
    const prepared = preparedPart(part, origin, lessons);
    if (prepared === part) continue;
    changed ??= [...message.parts];
    changed[index] = prepared;
  }
  return changed ? { role: message.role, parts: changed } : message;
}

function preparedPart(part: Part, origin: string, lessons: Lessons): Part {
  const { functionCall, functionResponse, inlineData } = part;
  if (functionCall) {
    const name = wireName(functionCall.name ?? "");
    return name === functionCall.name ? part : { ...part, functionCall: { ...functionCall, name } };
  }
  if (functionResponse) {
    const name = wireName(functionResponse.name ?? "");
    return name === functionResponse.name
      ? part
      : { ...part, functionResponse: { ...functionResponse, name } };
  }
  const why = inlineData && reasonToLeaveOut(inlineData, lessons);
  if (why === undefined) return part;
  const from = origin === "" ? "" : ` from ${origin}`;
  return { text: `[A file${from} of type ${inlineData?.mimeType} ${why} and is left out.]` };
}

function reasonToLeaveOut(media: InlineData, lessons: Lessons): string | undefined {
  if (!media.data) return "was empty";
  if (lessons.isRefused(media)) return "was refused by the model's service";
  return lessons.showsNoImages && isShownImage(media.mimeType) ? "cannot be seen by this model" : undefined;
}
