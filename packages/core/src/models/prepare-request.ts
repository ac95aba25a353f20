import type { FunctionDeclaration } from "../messages/function-call.ts";
import type { JsonSchema } from "../messages/json-schema.ts";
import type { Message } from "../messages/message.ts";
import type { InlineData, Part } from "../messages/parts.ts";
import { isRecord } from "../messages/untrusted-json.ts";
import type { ModelRequest } from "./chat-model.ts";
import { type SchemaDialect, schemaFor } from "./clean-schema.ts";
import type { Lessons } from "./lessons.ts";
import { isShownImage } from "./media.ts";
import { wireName } from "./wire-names.ts";

/** A request in a form that the provider takes, with the way back from its names to ours. */
export interface PreparedRequest extends ModelRequest {
  readonly ownName: (wireName: string) => string;
  /** The same object for each request of one conversation: the list that its history is kept in. */
  readonly conversation: object;
}

interface Schemas {
  readonly dialect: SchemaDialect;
  /** Loaded where a schema has need of it. */
  readonly narrow: ((schema: JsonSchema) => JsonSchema) | undefined;
}

/** Whether a service of a narrow dialect would refuse this schema: see `narrow-schema.ts`. */
export function isWide(schema: unknown): boolean {
  if (!isRecord(schema) || !schema.type || schema.anyOf || schema.oneOf || schema.allOf || schema.$ref)
    return true;
  const { properties = {}, items, required, type } = schema;
  if (type === "array" ? isWide(items) : items) return true;
  const inner = isRecord(properties) ? properties : {};
  const isUnknown = (name: unknown): boolean => !(String(name) in inner);
  return Object.values(inner).some(isWide) || (Array.isArray(required) && required.some(isUnknown));
}

/** The request without what the service is known to refuse, each tool under a name and a schema that it takes. */
export function prepareRequest(
  request: ModelRequest,
  lessons: Lessons,
  { dialect, narrow }: Schemas,
): PreparedRequest {
  const ownNames = new Map<string, string>();
  const tools: FunctionDeclaration[] = [];
  for (const tool of request.tools) {
    const name = wireName(tool.name);
    // Two tools of one name would have the service refuse all of them; the first one keeps it.
    if (lessons.tools.has(tool.name) || ownNames.has(name)) continue;
    ownNames.set(name, tool.name);
    const clean = schemaFor(tool.parameters, dialect);
    const parameters = lessons.schemaOf(tool.name, narrow ? narrow(clean) : clean);
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
