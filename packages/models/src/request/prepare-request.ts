import type { ModelRequest } from "@burin/contract/chat-model";
import type {
  FunctionDeclaration,
  InlineData,
  JsonSchema,
  Message,
  ObjectSchema,
  Part,
} from "@burin/contract/messages/message";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import type { ModelEntry } from "@burin/contract/settings/settings";
import { createWordSet } from "@burin/contract/text/words";
import type { Lessons } from "./lessons.ts";
import type { SchemaDialect } from "./tool-schema.ts";
import { isSupportedImage } from "./user-items.ts";
import { toWireName, WIRE_KEY_PATTERN } from "./wire.ts";

/** Options for the model. The service decides about those that are not set. */
export type Tuning = Pick<ModelEntry, "maxOutput" | "reasoning" | "temperature" | "topP" | "cache" | "body">;
export type Reasoning = NonNullable<Tuning["reasoning"]>;

export interface TunedRequest extends ModelRequest {
  readonly tuning?: Tuning;
}

/** A request that the provider accepts, with a function that maps its tool names to ours. */
export interface PreparedRequest extends TunedRequest {
  readonly ownName: (wireName: string) => string;
  /** Identifies the conversation: the same object, its history list, in each of its requests. */
  readonly conversation: object;
}

const PLAIN_KEYWORDS = createWordSet(
  "type description properties required items enum minimum maximum minItems maxItems minLength maxLength default additionalProperties",
);

const PLAIN_TYPES = createWordSet("string number integer boolean object array");

/** Whether every service accepts the schema unchanged, so that no code must be loaded to rewrite it. */
function isPlainSchema(schema: unknown, isTop = true): boolean {
  if (!isRecord(schema) || !PLAIN_TYPES.has(String(schema.type))) return false;
  const { properties = {}, items, required = [], type, additionalProperties } = schema;
  if (!Object.keys(schema).every((key) => PLAIN_KEYWORDS.has(key)) || isRecord(additionalProperties))
    return false;
  if (isTop && (type !== "object" || schema.enum !== undefined || !schema.properties)) return false;
  if (isTop && !Object.keys(properties ?? {}).every((key) => WIRE_KEY_PATTERN.test(key))) return false;
  if (type === "array" ? !isPlainSchema(items, false) : items !== undefined) return false;
  if (!isRecord(properties) || !Array.isArray(required)) return false;
  const isKnownProperty = (name: unknown): boolean => Object.hasOwn(properties, String(name));
  return (
    required.every(isKnownProperty) && Object.values(properties).every((inner) => isPlainSchema(inner, false))
  );
}

export interface MediaSupport {
  readonly dialect: SchemaDialect;
  carries(mimeType: string): boolean;
}

/** Prepares a request: leaves out what the service rejects, and gives tools names and schemas that it accepts. */
export async function prepareRequest(
  request: TunedRequest,
  lessons: Lessons,
  taker: MediaSupport,
): Promise<PreparedRequest> {
  const written = await createSchemaWriter(taker, request);
  const ownNames = new Map<string, string>();
  const tools: FunctionDeclaration[] = [];
  for (const tool of request.tools) {
    const name = toWireName(tool.name);
    // The service would reject all tools if two had the same name, so only the first one is kept.
    if (lessons.tools.has(tool.name) || ownNames.has(name)) continue;
    ownNames.set(name, tool.name);
    const parameters = lessons.stripRefusedKeywords(tool.name, written(tool.parameters)) as ObjectSchema;
    tools.push({ name, description: tool.description.slice(0, lessons.maxDescription), parameters });
  }
  const history = request.history.map((message) => prepareMessage(message, lessons, taker));
  const { maxServiceOutput: maxOutput, effort: reasoning } = lessons;
  const learned = { ...(maxOutput && { maxOutput }), ...(reasoning && { reasoning }) };
  const tuning = maxOutput || reasoning ? { tuning: { ...request.tuning, ...learned } } : {};
  const conversation = request.history;
  return {
    ...request,
    ...tuning,
    history,
    tools,
    conversation,
    ownName: (name) => ownNames.get(name) ?? name,
  };
}

/** Returns the function that converts schemas. Those of our own tools need no change for most services. */
async function createSchemaWriter(
  { dialect }: MediaSupport,
  { tools }: ModelRequest,
): Promise<(schema: JsonSchema) => JsonSchema> {
  if (dialect === "full" && tools.every(({ parameters }) => isPlainSchema(parameters)))
    return (schema) => schema;
  const { formatToolSchema } = await import("./tool-schema.ts");
  return (schema) =>
    dialect === "full" && isPlainSchema(schema) ? schema : formatToolSchema(schema, dialect);
}

/** Returns the same object if nothing changes, which is nearly always so. */
function prepareMessage(message: Message, lessons: Lessons, taker: MediaSupport): Message {
  // Services reject an empty message, and leaving it out would put two replies next to each other.
  if (message.role === "user" && !message.parts.some(hasContent))
    return { ...message, parts: [{ text: "(empty)" }] };
  let origin = "";
  let changed: Part[] | undefined;
  for (const [index, part] of message.parts.entries()) {
    if (part.functionResponse) origin = part.functionResponse.name ?? "";
    const prepared = part.inlineData
      ? prepareMedia(part, findReasonToOmit(part.inlineData, lessons, taker), origin)
      : useWireName(lessons.dropRefusedSignature(part));
    if (prepared === part) continue;
    changed ??= [...message.parts];
    changed[index] = prepared;
  }
  return changed ? { role: message.role, parts: changed } : message;
}

function hasContent({ text = "", inlineData, functionResponse }: Part): boolean {
  return functionResponse !== undefined || inlineData !== undefined || /\S/.test(text);
}

function useWireName(part: Part): Part {
  const { functionCall, functionResponse } = part;
  const { name = "" } = functionCall ?? functionResponse ?? {};
  const wire = functionCall || functionResponse ? toWireName(name) : name;
  if (wire === name) return part;
  return functionCall
    ? { ...part, functionCall: { ...functionCall, name: wire } }
    : { ...part, functionResponse: { ...functionResponse, name: wire } };
}

function prepareMedia(part: Part, why: string | undefined, origin: string): Part {
  if (why === undefined) return part;
  const from = origin === "" ? "" : ` from ${origin}`;
  const { mimeType = "" } = part.inlineData ?? {};
  // Keep it a file part, so that what follows is still known to come from the same tool.
  return { text: `[A file${from} of type ${mimeType} ${why} and is left out.]`, inlineData: { mimeType } };
}

function findReasonToOmit(media: InlineData, lessons: Lessons, taker: MediaSupport): string | undefined {
  const { mimeType = "", data } = media;
  if (!data) return "was empty";
  if (lessons.wasMediaRefused(media)) return "was refused by the model's service";
  if (lessons.showsNoImages && isSupportedImage(mimeType)) return "cannot be seen by this model";
  if (taker.carries(mimeType)) return undefined;
  return `of ${Buffer.byteLength(data, "base64")} bytes cannot be sent to this model`;
}

/** Plain loops, as everywhere that each part of a history is visited: it may have thousands of turns. */
export function collectCallIds({ history }: ModelRequest): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of history) {
    for (const { functionCall } of parts) if (functionCall?.id !== undefined) ids.add(functionCall.id);
  }
  return ids;
}
