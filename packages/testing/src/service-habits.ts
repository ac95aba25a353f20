import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";

/** How a service refuses a request. */
export interface Refusal {
  readonly status: number;
  readonly body: object;
}

function createRefusal(status: number, message: string, more: object = {}): Refusal {
  return { status, body: { error: { message, type: "invalid_request_error", ...more } } };
}

function checkMistral(body: JsonRecord): Refusal | undefined {
  const messages = filterRecords(body.messages);
  const order = { object: "error", type: "invalid_request_message_order", param: null, code: "3230" };
  const after = messages.findIndex(({ role }, at) => role === "user" && messages[at - 1]?.role === "tool");
  if (after !== -1) {
    return { status: 400, body: { ...order, message: "Unexpected role 'user' after role 'tool'" } };
  }
  const ids = messages.flatMap(({ tool_calls: calls }) => filterRecords(calls).map(({ id }) => String(id)));
  const odd = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(id));
  if (odd === undefined) return undefined;
  const message = `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return { status: 400, body: { ...order, message, type: "invalid_function_call", code: "3280" } };
}

/** Returns where a schema is not valid for Kimi, and why. */
function findKimiFault(schema: unknown, path: string): string | undefined {
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
    ...Object.entries(properties).map(([name, value]) => findKimiFault(value, `${path}.properties.${name}`)),
    ...filterRecords(schema.anyOf).map((value, at) => findKimiFault(value, `${path}.anyOf.${at}`)),
    findKimiFault(schema.items, `${path}.items`),
  ];
  return inner.find((fault) => fault !== undefined);
}

function checkKimi(body: JsonRecord): Refusal | undefined {
  for (const { function: declared } of filterRecords(body.tools)) {
    const fault = isRecord(declared) ? findKimiFault(declared.parameters, "root") : undefined;
    if (fault === undefined) continue;
    return createRefusal(
      400,
      `Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <${fault}>`,
    );
  }
  return undefined;
}

/**
 * Checks the input as vLLM and the specification require it: a text, or items with all fields that the service itself
 * would send.
 */
function checkVllm(body: JsonRecord): Refusal | undefined {
  const wrong = filterRecords(body.input).some(({ type, role, content, id, status }) => {
    if (type === "message" && role === "assistant" && Array.isArray(content)) {
      const isWhole = typeof id === "string" && typeof status === "string";
      return !isWhole || !filterRecords(content).every(({ annotations }) => Array.isArray(annotations));
    }
    return filterRecords(content).some((part) => part.type === "input_image" && part.detail === undefined);
  });
  const faults = { object: "error", message: "19 validation errors for ValidatorIterator", code: 400 };
  return wrong ? { status: 400, body: faults } : undefined;
}

/** A chat template with only two roles, like Gemma's. */
function checkGemmaTemplate(body: JsonRecord): Refusal | undefined {
  if (!filterRecords(body.messages).some(({ role }) => role === "system")) return undefined;
  return createRefusal(500, "Jinja Exception: System role not supported", {
    code: 500,
    type: "server_error",
  });
}

/** Refuses images, for a model that only reads text. */
function createImageCheck(status: number, message: string, more?: object) {
  return ({ messages }: JsonRecord) =>
    JSON.stringify(messages).includes('"image_url"') ? createRefusal(status, message, more) : undefined;
}

const HABITS = {
  mistral: checkMistral,
  kimi: checkKimi,
  vllm: checkVllm,
  gemma: checkGemmaTemplate,
  openrouter: createImageCheck(404, "No endpoints found that support image input", {
    code: 404,
    type: undefined,
  }),
  "llama.cpp": createImageCheck(
    500,
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
    { code: 500, type: "server_error" },
  ),
  groq: createImageCheck(400, "messages[1].content must be a string"),
  deepseek: createImageCheck(
    400,
    "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`",
  ),
  codex: (_body: JsonRecord, path: string) =>
    path.endsWith("/chat/completions")
      ? createRefusal(404, "This model is only supported in v1/responses and not in v1/chat/completions.")
      : undefined,
};

export type ServiceName = keyof typeof HABITS;

/**
 * Returns why this service refuses a request that others accept, in its own words; undefined when it accepts the
 * request.
 */
export function findRefusal(service: ServiceName, path: string, body: JsonRecord): Refusal | undefined {
  return HABITS[service](body, path);
}
