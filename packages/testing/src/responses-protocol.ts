import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { CallLedger, declaredProblem } from "./conversation.ts";
import {
  type FakeProtocol,
  type IssuedSecrets,
  list,
  pieces,
  secretOf,
  type WireError,
  type WireReply,
} from "./wire-reply.ts";

/** The Responses API of OpenAI without its store, as strict as the real one where clients make mistakes. */
export const responsesProtocol: FakeProtocol = {
  problem,
  returnsThoughts: true,
  eventsOf,
  documentOf: (reply) => response(reply, "completed"),
  errorBody,
  answeredCalls: (body) => list(body.input).filter(({ type }) => type === "function_call_output").length,
};

function problem(body: JsonRecord, issued: IssuedSecrets): string | undefined {
  if (typeof body.model !== "string" || body.model === "") return "model: a name is missing";
  if (body.store !== false) return "store: this fake keeps nothing";
  const tools = list(body.tools);
  if (tools.some(({ type }) => type !== "function")) return "tools: an entry is not a function";
  const found = declaredProblem(tools.map(({ name, parameters }) => ({ name, schema: parameters ?? null })));
  if (found !== undefined) return found;
  const items = list(body.input);
  if (items.length === 0) return "input: a list is missing";
  const ledger = new CallLedger();
  for (const [index, item] of items.entries()) {
    const before = items.slice(0, index);
    const wrong = itemProblem(item, before, ledger) ?? secretProblem(item, before, issued);
    if (wrong !== undefined) return `input[${index}]: ${wrong}`;
  }
  const last = items.at(-1);
  if (ledger.unanswered !== undefined) return `input: ${ledger.unanswered}`;
  const isAsked = last?.type === "function_call_output" || last?.role === "user";
  return isAsked ? undefined : "input: the last item is of the assistant";
}

function itemProblem(
  item: JsonRecord,
  before: readonly JsonRecord[],
  ledger: CallLedger,
): string | undefined {
  const last = before.at(-1);
  const isModels = item.type === "function_call" || item.role === "assistant";
  if (last?.type === "reasoning" && !isModels)
    return "reasoning was provided without its required following item";
  switch (item.type) {
    case "function_call":
      if (!isRecord(parseJson(String(item.arguments)))) return "the arguments are not JSON text of an object";
      return ledger.call(item.call_id, item.name);
    case "function_call_output":
      return typeof item.output === "string" ? ledger.answer(item.call_id) : "the output is not text";
    case "reasoning":
      return ledger.unanswered ?? reasoningProblem(item);
    case "message":
      return ledger.unanswered ?? messageProblem(item);
    default:
      return `an item of type ${String(item.type)} is not known`;
  }
}

function messageProblem({ role, content }: JsonRecord): string | undefined {
  if (role === "assistant" && typeof content === "string")
    return content === "" ? "a message is empty" : undefined;
  const parts = list(content);
  if (parts.length === 0) return "a message has no content";
  const isFit = (part: JsonRecord): boolean => {
    if (role === "assistant") return part.type === "output_text" && part.text !== "";
    if (part.type === "input_text") return typeof part.text === "string" && part.text !== "";
    if (part.type === "input_image") return /^data:image\/[a-z]+;base64,./.test(String(part.image_url));
    return part.type === "input_file" && /^data:application\/pdf;base64,./.test(String(part.file_data));
  };
  return parts.every(isFit) ? undefined : `a message of ${String(role)} has content that does not fit`;
}

function reasoningProblem({ summary, encrypted_content: secret }: JsonRecord): string | undefined {
  const text = list(summary)
    .map((part) => String(part.text))
    .join("");
  return secret === secretOf(text) ? undefined : "invalid_encrypted_content";
}

/** A call that came with reasoning must be sent back with it. */
function secretProblem(
  item: JsonRecord,
  before: readonly JsonRecord[],
  issued: IssuedSecrets,
): string | undefined {
  const secret = item.type === "function_call" ? issued.get(String(item.call_id)) : undefined;
  if (secret === undefined || before.some(({ encrypted_content }) => encrypted_content === secret))
    return undefined;
  return "a function_call was provided without its required reasoning item";
}

function errorBody({ message, type }: WireError): object {
  return { error: { message, type: type ?? "server_error", code: null, param: null } };
}

function response(reply: WireReply, status: string): object {
  const { inputTokens, outputTokens, cachedTokens } = reply.usage;
  return {
    id: "resp_1",
    object: "response",
    model: reply.model,
    status,
    output: status === "completed" ? itemsOf(reply) : [],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  };
}

function itemsOf({ thought, text, calls }: WireReply): JsonRecord[] {
  const status = "completed";
  const summary = [{ type: "summary_text", text: thought }];
  const content = [{ type: "output_text", text, annotations: [] }];
  return [
    ...(thought ? [{ id: "rs_1", type: "reasoning", summary, encrypted_content: secretOf(thought) }] : []),
    ...(text ? [{ id: "msg_1", type: "message", role: "assistant", status, content }] : []),
    ...calls.map(({ id, name, args }, index) => {
      const call = { type: "function_call", call_id: id, name, arguments: JSON.stringify(args) };
      return { id: `fc_${index}`, ...call, status };
    }),
  ];
}

function eventsOf(reply: WireReply): object[] {
  const { error } = reply;
  const ended = error ? "failed" : "completed";
  const failure = error && { error: { code: "server_error", message: error.message } };
  return [
    { type: "response.created", response: response(reply, "in_progress") },
    ...itemsOf(reply).flatMap((item, output_index) => {
      const [empty, kind, whole] = growing(item, reply);
      const at = { item_id: item.id, output_index };
      return [
        { type: "response.output_item.added", output_index, item: { ...item, ...empty } },
        ...pieces(whole).map((delta) => ({ type: `response.${kind}.delta`, ...at, delta })),
        ...(item.type === "function_call"
          ? [{ type: `response.${kind}.done`, ...at, arguments: whole }]
          : []),
        { type: "response.output_item.done", output_index, item },
      ];
    }),
    { type: `response.${ended}`, response: { ...response(reply, ended), ...failure } },
  ];
}

/** What of an item is empty when it is added, and which deltas fill it. */
function growing(
  item: JsonRecord,
  { thought, text }: WireReply,
): [empty: object, kind: string, whole: string] {
  if (item.type === "reasoning")
    return [{ summary: [], encrypted_content: null }, "reasoning_summary_text", thought];
  const status = "in_progress";
  if (item.type === "message") return [{ content: [], status }, "output_text", text];
  return [{ arguments: "", status }, "function_call_arguments", String(item.arguments)];
}
