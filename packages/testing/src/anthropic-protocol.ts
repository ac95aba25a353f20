import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { CallLedger, declaredProblem, firstProblem } from "./conversation.ts";
import {
  type FakeProtocol,
  type IssuedSecrets,
  list,
  pieces,
  secretOf,
  type WireError,
  type WireReply,
} from "./wire-reply.ts";

/** The Messages API of Anthropic, as strict as the real one where clients make mistakes. */
export const anthropicProtocol: FakeProtocol = {
  problem,
  returnsThoughts: true,
  eventsOf,
  documentOf: (reply) => ({ ...message(reply), content: blocksOf(reply), usage: usageIn(reply) }),
  errorBody,
  answeredCalls: (body) => blocksIn(body).filter(({ type }) => type === "tool_result").length,
};

function errorBody({ message, type }: WireError): object {
  return { type: "error", error: { type: type ?? "api_error", message } };
}

function blocksIn(body: JsonRecord): JsonRecord[] {
  return list(body.messages).flatMap(({ content }) => list(content));
}

function problem(body: JsonRecord, issued: IssuedSecrets): string | undefined {
  if (typeof body.model !== "string" || body.model === "") return "model: a name is missing";
  if (!(Number(body.max_tokens) > 0)) return "max_tokens: Field required";
  const messages = list(body.messages);
  if (messages.length === 0) return "messages: a list is missing";
  const declared = list(body.tools).map(({ name, input_schema }) => ({ name, schema: input_schema ?? null }));
  const found = declaredProblem(declared) ?? cacheProblem(body) ?? systemProblem(body.system);
  if (found !== undefined) return found;
  const ledger = new CallLedger();
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? "user" : "assistant"))
      return `messages.${index}: the role ${role} is out of turn`;
    const blocks = list(content);
    if (blocks.length === 0) return `messages.${index}: there is no content`;
    const wrong = role === "user" ? userProblem(blocks, ledger) : assistantProblem(blocks, ledger, issued);
    if (wrong !== undefined) return `messages.${index}: ${wrong}`;
  }
  return messages.at(-1)?.role === "user" ? undefined : "messages: the last is of the assistant";
}

function systemProblem(system: unknown): string | undefined {
  if (system === undefined || (typeof system === "string" && system !== "")) return undefined;
  const texts = list(system);
  return texts.length > 0 && texts.every(isText) ? undefined : "system: has no usable text";
}

function cacheProblem(body: JsonRecord): string | undefined {
  const marked = [...list(body.tools), ...list(body.system), ...blocksIn(body)].filter(
    (block) => block.cache_control,
  );
  return marked.length > 4
    ? `cache_control: ${marked.length} blocks are marked, and four are allowed`
    : undefined;
}

function isText({ type, text }: JsonRecord): boolean {
  return type === "text" && typeof text === "string" && text.trim() !== "";
}

function isMedia({ type, source }: JsonRecord): boolean {
  if (!isRecord(source) || source.type !== "base64" || typeof source.data !== "string" || source.data === "")
    return false;
  if (type === "document") return source.media_type === "application/pdf";
  return type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(String(source.media_type));
}

function userProblem(blocks: readonly JsonRecord[], ledger: CallLedger): string | undefined {
  const answers = blocks.filter(({ type }) => type === "tool_result");
  if (answers.some((answer, index) => blocks[index] !== answer)) return "tool_result blocks must come first";
  const given = firstProblem(answers, ({ tool_use_id: id }) => ledger.answer(id)) ?? ledger.unanswered;
  if (given !== undefined) return given;
  const failed = answers.filter(({ is_error: isError }) => isError === true);
  if (failed.flatMap(({ content }) => list(content)).some(({ type }) => type !== "text")) {
    return "all content must be type `text` if `is_error` is true";
  }
  const shown = blocks.flatMap((block) => (block.type === "tool_result" ? list(block.content) : [block]));
  const odd = shown.find((block) => !isText(block) && !isMedia(block));
  return odd && `a block of type ${String(odd.type)} is not usable`;
}

function assistantProblem(
  blocks: readonly JsonRecord[],
  ledger: CallLedger,
  issued: IssuedSecrets,
): string | undefined {
  if (String(blocks.at(-1)?.type).includes("thinking")) return "the final block cannot be `thinking`";
  return firstProblem(blocks, (block) => {
    const { type, thinking, signature } = block;
    if (type === "tool_use") return toolUseProblem(block, ledger) ?? missingThought(block, blocks, issued);
    if (type === "thinking")
      return signature === secretOf(String(thinking)) ? undefined : "Invalid `signature` in `thinking` block";
    return isText(block) ? undefined : `a block of type ${String(type)} is not usable`;
  });
}

function toolUseProblem({ id, name, input }: JsonRecord, ledger: CallLedger): string | undefined {
  const wrong = ledger.call(id, name);
  return wrong ?? (isRecord(input) ? undefined : "the input of a tool_use is not an object");
}

function missingThought(
  { id }: JsonRecord,
  blocks: readonly JsonRecord[],
  issued: IssuedSecrets,
): string | undefined {
  const secret = issued.get(String(id));
  return secret === undefined || blocks.some(({ signature }) => signature === secret)
    ? undefined
    : "Expected the `thinking` block that came with the tool_use";
}

function message({ model, calls }: WireReply) {
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const head = { id: "msg_1", type: "message", role: "assistant", model };
  return { ...head, content: [], stop_reason, stop_sequence: null };
}

function usageIn({ usage: { inputTokens, outputTokens, cachedTokens, cacheWrites } }: WireReply): object {
  const { tokens: written = 0, hour } = cacheWrites ?? {};
  const kinds = { ephemeral_5m_input_tokens: written - (hour ?? 0), ephemeral_1h_input_tokens: hour };
  return {
    input_tokens: inputTokens - cachedTokens - written,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: written,
    ...(hour === undefined ? {} : { cache_creation: kinds }),
    output_tokens: outputTokens,
  };
}

function blocksOf({ thought, text, calls }: WireReply): JsonRecord[] {
  return [
    ...(thought ? [{ type: "thinking", thinking: thought, signature: secretOf(thought) }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
  ];
}

function eventsOf(reply: WireReply): object[] {
  const { error } = reply;
  const usage = usageIn(reply);
  const whole = message(reply);
  const events = [
    { type: "message_start", message: { ...whole, stop_reason: null, usage } },
    { type: "ping" },
    ...blocksOf(reply).flatMap(blockEvents),
  ];
  if (error) return [...events, errorBody(error)];
  const { stop_reason, stop_sequence } = whole;
  return [
    ...events,
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage },
    { type: "message_stop" },
  ];
}

function blockEvents(block: JsonRecord, index: number): object[] {
  const [empty, deltas] = growing(block);
  return [
    { type: "content_block_start", index, content_block: { ...block, ...empty } },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** What of a block is empty at its start, and the deltas that fill it. */
function growing({ type, thinking, signature, text, input }: JsonRecord): [empty: object, deltas: object[]] {
  if (type === "thinking") {
    const thoughts = pieces(String(thinking)).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    return [{ thinking: "", signature: "" }, [...thoughts, { type: "signature_delta", signature }]];
  }
  if (type === "text")
    return [{ text: "" }, pieces(String(text)).map((piece) => ({ type: "text_delta", text: piece }))];
  const json = pieces(JSON.stringify(input));
  return [{ input: {} }, json.map((partial_json) => ({ type: "input_json_delta", partial_json }))];
}
