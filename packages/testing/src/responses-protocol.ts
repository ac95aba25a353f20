import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import type { ScriptLine } from "@burin/models/scripted";
import { CallLedger, declaredProblem, toolNameProblem } from "./call-ledger.ts";
import {
  type FakeProtocol,
  type IssuedSecrets,
  issueSecret,
  list,
  namedEvent,
  pieces,
  secretOf,
  usageOf,
  type WireReply,
} from "./wire-reply.ts";

/** The Responses API of OpenAI without its store, as strict as the real one where clients make mistakes. */
export const responsesProtocol: FakeProtocol = {
  problem,
  isStreamed: (body) => body.stream === true,
  streamed,
  whole: (reply) => response(reply, "completed"),
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
    const wrong =
      itemProblem(item, items.slice(0, index), ledger) ?? secretProblem(item, items.slice(0, index), issued);
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
      return ledger.call(item.call_id) ?? toolNameProblem(item.name);
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

function errorBody({ message, type }: NonNullable<ScriptLine["error"]>): object {
  return { error: { message, type: type ?? "server_error", code: null, param: null } };
}

function response(reply: WireReply, status: string): object {
  const { inputTokens, outputTokens, cachedTokens } = usageOf(reply.line);
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

function itemsOf({ line, callIds }: WireReply): JsonRecord[] {
  const { thought, text, calls = [] } = line;
  const summary = thought ? [{ type: "summary_text", text: thought }] : [];
  const content = [{ type: "output_text", text, annotations: [] }];
  return [
    ...(thought ? [{ id: "rs_1", type: "reasoning", summary, encrypted_content: secretOf(thought) }] : []),
    ...(text ? [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content }] : []),
    ...calls.map(({ name, args }, index) => ({
      id: `fc_${index}`,
      type: "function_call",
      call_id: callIds[index],
      name,
      arguments: JSON.stringify(args),
      status: "completed",
    })),
  ];
}

function streamed(reply: WireReply, issued: IssuedSecrets): string[] {
  const { line } = reply;
  issueSecret(reply, issued);
  const events = [namedEvent({ type: "response.created", response: response(reply, "in_progress") })];
  const items = itemsOf(reply).filter(({ type }) => !line.error || type !== "function_call");
  for (const [output_index, item] of items.entries()) events.push(...itemEvents(item, output_index));
  if (line.error) {
    const failed = {
      ...response(reply, "failed"),
      error: { code: "server_error", message: line.error.message },
    };
    return [...events, namedEvent({ type: "response.failed", response: failed })];
  }
  return [...events, namedEvent({ type: "response.completed", response: response(reply, "completed") })];
}

function itemEvents(item: JsonRecord, output_index: number): string[] {
  const { id: item_id, type } = item;
  const at = { item_id, output_index };
  const deltas = (kind: string, text: unknown): string[] =>
    pieces(String(text)).map((delta) => namedEvent({ type: kind, ...at, delta }));
  const added = (empty: object): string =>
    namedEvent({ type: "response.output_item.added", output_index, item: { ...item, ...empty } });
  const done = namedEvent({ type: "response.output_item.done", output_index, item });
  if (type === "reasoning") {
    const [summary] = list(item.summary);
    const thoughts = deltas("response.reasoning_summary_text.delta", summary?.text);
    return [added({ summary: [], encrypted_content: null }), ...thoughts, done];
  }
  if (type === "message") {
    const [content] = list(item.content);
    return [
      added({ content: [], status: "in_progress" }),
      ...deltas("response.output_text.delta", content?.text),
      done,
    ];
  }
  const { arguments: whole } = item;
  return [
    added({ arguments: "", status: "in_progress" }),
    ...deltas("response.function_call_arguments.delta", whole),
    namedEvent({ type: "response.function_call_arguments.done", ...at, arguments: whole }),
    done,
  ];
}
