import assert from "node:assert/strict";
import { filterRecords, isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { CallLedger, checkDeclaredTools, checkWithPlace } from "./conversation.ts";
import { createSecret, type FakeProtocol, splitIntoPieces, type WireReply } from "./wire-reply.ts";

/** The Responses API of OpenAI without its store, as strict as the real one where clients make mistakes. */
export const responsesProtocol: FakeProtocol = {
  check,
  returnsThoughts: true,
  buildEvents,
  buildDocument: (reply) => buildResponse(reply, "completed"),
  buildErrorBody: ({ message, type }) => ({
    error: { message, type: type ?? "server_error", code: null, param: null },
  }),
  countAnsweredCalls: (body) =>
    filterRecords(body.input).filter(({ type }) => type === "function_call_output").length,
};

function check(body: JsonRecord, issued: ReadonlyMap<string, string>): void {
  assert(typeof body.model === "string" && body.model !== "", "model: a name is missing");
  assert(body.store === false, "store: this fake keeps nothing");
  const tools = filterRecords(body.tools);
  assert(
    tools.every(({ type }) => type === "function"),
    "tools: an entry is not a function",
  );
  checkDeclaredTools(tools.map(({ name, parameters }) => ({ name, schema: parameters ?? null })));
  const items = filterRecords(body.input);
  assert(items.length > 0, "input: a list is missing");
  const ledger = new CallLedger();
  for (const [index, item] of items.entries()) {
    checkWithPlace(`input[${index}]: `, () => {
      const isModels = item.type === "function_call" || item.role === "assistant";
      assert(
        isModels || items[index - 1]?.type !== "reasoning",
        "reasoning was provided without its required following item",
      );
      checkItem(item, ledger);
      // A call that came with reasoning must be sent back with it.
      const secret = item.type === "function_call" ? issued.get(String(item.call_id)) : undefined;
      const isReturned = items.slice(0, index).some(({ encrypted_content }) => encrypted_content === secret);
      assert(
        secret === undefined || isReturned,
        "a function_call was provided without its required reasoning item",
      );
    });
  }
  checkWithPlace("input: ", () => ledger.checkAnswered());
  const last = items.at(-1);
  const isAsked = last?.type === "function_call_output" || last?.role === "user";
  assert(isAsked, "input: the last item is of the assistant");
}

function checkItem(item: JsonRecord, ledger: CallLedger): void {
  if (item.type === "function_call") {
    assert(isRecord(parseJson(String(item.arguments))), "the arguments are not JSON text of an object");
    ledger.call(item.call_id, item.name);
  } else if (item.type === "function_call_output") {
    assert(typeof item.output === "string", "the output is not text");
    ledger.answer(item.call_id);
  } else if (item.type === "reasoning") {
    ledger.checkAnswered();
    const texts = filterRecords(item.summary).map((part) => String(part.text));
    assert(item.encrypted_content === createSecret(texts.join("")), "invalid_encrypted_content");
  } else {
    assert(item.type === "message", `an item of type ${String(item.type)} is not known`);
    ledger.checkAnswered();
    checkMessage(item);
  }
}

function checkMessage({ role, content }: JsonRecord): void {
  if (role === "assistant" && typeof content === "string") {
    assert(content !== "", "a message is empty");
    return;
  }
  const parts = filterRecords(content);
  assert(parts.length > 0, "a message has no content");
  const isFit = (part: JsonRecord): boolean => {
    if (role === "assistant") return part.type === "output_text" && part.text !== "";
    if (part.type === "input_text") return typeof part.text === "string" && part.text !== "";
    if (part.type === "input_image") return /^data:image\/[a-z]+;base64,./.test(String(part.image_url));
    return part.type === "input_file" && /^data:application\/pdf;base64,./.test(String(part.file_data));
  };
  assert(parts.every(isFit), `a message of ${String(role)} has content that does not fit`);
}

function buildResponse(reply: WireReply, status: string): object {
  const { inputTokens, outputTokens, cachedTokens } = reply.usage;
  return {
    id: "resp_1",
    object: "response",
    model: reply.model,
    status,
    output: status === "completed" ? buildItems(reply) : [],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  };
}

function buildItems({ thought, text, calls }: WireReply): JsonRecord[] {
  const status = "completed";
  const summary = [{ type: "summary_text", text: thought }];
  const content = [{ type: "output_text", text, annotations: [] }];
  return [
    ...(thought
      ? [{ id: "rs_1", type: "reasoning", summary, encrypted_content: createSecret(thought) }]
      : []),
    ...(text ? [{ id: "msg_1", type: "message", role: "assistant", status, content }] : []),
    ...calls.map(({ id, name, args }, index) => {
      const call = { type: "function_call", call_id: id, name, arguments: JSON.stringify(args) };
      return { id: `fc_${index}`, ...call, status };
    }),
  ];
}

function buildEvents(reply: WireReply): object[] {
  const { error } = reply;
  const ended = error ? "failed" : "completed";
  const failure = error && { error: { code: "server_error", message: error.message } };
  return [
    { type: "response.created", response: buildResponse(reply, "in_progress") },
    ...buildItems(reply).flatMap((item, output_index) => {
      const [empty, kind, whole] = splitItem(item, reply);
      const at = { item_id: item.id, output_index };
      return [
        { type: "response.output_item.added", output_index, item: { ...item, ...empty } },
        ...splitIntoPieces(whole).map((delta) => ({ type: `response.${kind}.delta`, ...at, delta })),
        ...(item.type === "function_call"
          ? [{ type: `response.${kind}.done`, ...at, arguments: whole }]
          : []),
        { type: "response.output_item.done", output_index, item },
      ];
    }),
    { type: `response.${ended}`, response: { ...buildResponse(reply, ended), ...failure } },
  ];
}

/** Returns an item as it is added, with empty fields, and the deltas that fill them. */
function splitItem(
  item: JsonRecord,
  { thought, text }: WireReply,
): [empty: object, kind: string, whole: string] {
  if (item.type === "reasoning")
    return [{ summary: [], encrypted_content: null }, "reasoning_summary_text", thought];
  const status = "in_progress";
  if (item.type === "message") return [{ content: [], status }, "output_text", text];
  return [{ arguments: "", status }, "function_call_arguments", String(item.arguments)];
}
