import { isRecord, type JsonRecord, recordsIn } from "@burin/contract/messages/untrusted-json";

/** How a service refuses a request. */
export interface Refusal {
  readonly status: number;
  readonly body: object;
}

function refusal(status: number, message: string, more: object = {}): Refusal {
  return { status, body: { error: { message, type: "invalid_request_error", ...more } } };
}

function mistral(body: JsonRecord): Refusal | undefined {
  const messages = recordsIn(body.messages);
  const order = { object: "error", type: "invalid_request_message_order", param: null, code: "3230" };
  const after = messages.findIndex(({ role }, at) => role === "user" && messages[at - 1]?.role === "tool");
  if (after !== -1) {
    return { status: 400, body: { ...order, message: "Unexpected role 'user' after role 'tool'" } };
  }
  const ids = messages.flatMap(({ tool_calls: calls }) => recordsIn(calls).map(({ id }) => String(id)));
  const odd = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(id));
  if (odd === undefined) return undefined;
  const message = `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return { status: 400, body: { ...order, message, type: "invalid_function_call", code: "3280" } };
}

/** Where a schema is not valid for Kimi, and why. */
function kimiFault(schema: unknown, path: string): string | undefined {
  if (!isRecord(schema)) return undefined;
  const isUnion = Array.isArray(schema.anyOf);
  if (isUnion && schema.type !== undefined) {
    return `At path '${path}': when using anyOf, type should be defined in anyOf items instead of the parent schema`;
  }
  if (!isUnion && schema.type === undefined) return `At path '${path}': type is not defined`;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const lost = required.find((name) => !Object.hasOwn(properties, String(name)));
  if (lost !== undefined) return `At path '${path}': required property ${String(lost)} is not defined`;
  const inner = [
    ...Object.entries(properties).map(([name, value]) => kimiFault(value, `${path}.properties.${name}`)),
    ...recordsIn(schema.anyOf).map((value, at) => kimiFault(value, `${path}.anyOf.${at}`)),
    kimiFault(schema.items, `${path}.items`),
  ];
  return inner.find((fault) => fault !== undefined);
}

function kimi(body: JsonRecord): Refusal | undefined {
  for (const { function: declared } of recordsIn(body.tools)) {
    const fault = isRecord(declared) ? kimiFault(declared.parameters, "root") : undefined;
    if (fault === undefined) continue;
    return refusal(
      400,
      `Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <${fault}>`,
    );
  }
  return undefined;
}

/**
 * Input items as vLLM and the specification require them: text alone, or everything that the service itself would
 * send.
 */
function vllm(body: JsonRecord): Refusal | undefined {
  const wrong = recordsIn(body.input).some(({ type, role, content, id, status }) => {
    if (type === "message" && role === "assistant" && Array.isArray(content)) {
      const isWhole = typeof id === "string" && typeof status === "string";
      return !isWhole || !recordsIn(content).every(({ annotations }) => Array.isArray(annotations));
    }
    return recordsIn(content).some((part) => part.type === "input_image" && part.detail === undefined);
  });
  const faults = { object: "error", message: "19 validation errors for ValidatorIterator", code: 400 };
  return wrong ? { status: 400, body: faults } : undefined;
}

/** A chat template with only two roles, like Gemma's. */
function gemmaTemplate(body: JsonRecord): Refusal | undefined {
  if (!recordsIn(body.messages).some(({ role }) => role === "system")) return undefined;
  return refusal(500, "Jinja Exception: System role not supported", { code: 500, type: "server_error" });
}

/** Refuses images, for a model that only reads text. */
function imageless(status: number, message: string, more?: object) {
  return ({ messages }: JsonRecord) =>
    JSON.stringify(messages).includes('"image_url"') ? refusal(status, message, more) : undefined;
}

const HABITS = {
  mistral,
  kimi,
  vllm,
  gemma: gemmaTemplate,
  openrouter: imageless(404, "No endpoints found that support image input", { code: 404, type: undefined }),
  "llama.cpp": imageless(
    500,
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
    { code: 500, type: "server_error" },
  ),
  groq: imageless(400, "messages[1].content must be a string"),
  deepseek: imageless(
    400,
    "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`",
  ),
  codex: (_body: JsonRecord, path: string) =>
    path.endsWith("/chat/completions")
      ? refusal(404, "This model is only supported in v1/responses and not in v1/chat/completions.")
      : undefined,
};

export type PlayedService = keyof typeof HABITS;

/** What a service refuses that others accept, in its own words; undefined when it accepts the request. */
export function refusalOf(service: PlayedService, path: string, body: JsonRecord): Refusal | undefined {
  return HABITS[service](body, path);
}
