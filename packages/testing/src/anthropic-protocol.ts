import assert from "node:assert/strict";
import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { CallLedger, checkDeclaredTools, checkWithPlace } from "./conversation.ts";
import { createSecret, type FakeProtocol, splitIntoPieces, type WireReply } from "./wire-reply.ts";

/** The Messages API of Anthropic, as strict as the real one where clients make mistakes. */
export const anthropicProtocol: FakeProtocol = {
  check,
  returnsThoughts: true,
  buildEvents,
  buildDocument: (reply) => ({
    ...buildMessage(reply),
    content: buildBlocks(reply),
    usage: buildUsage(reply),
  }),
  buildErrorBody: ({ message, type }) => ({ type: "error", error: { type: type ?? "api_error", message } }),
  countAnsweredCalls: (body) => listBlocks(body).filter(({ type }) => type === "tool_result").length,
};

function listBlocks(body: JsonRecord): JsonRecord[] {
  return filterRecords(body.messages).flatMap(({ content }) => filterRecords(content));
}

function check(body: JsonRecord, issued: ReadonlyMap<string, string>): void {
  assert(typeof body.model === "string" && body.model !== "", "model: a name is missing");
  assert(Number(body.max_tokens) > 0, "max_tokens: Field required");
  const messages = filterRecords(body.messages);
  assert(messages.length > 0, "messages: a list is missing");
  const tools = filterRecords(body.tools);
  checkDeclaredTools(tools.map(({ name, input_schema }) => ({ name, schema: input_schema ?? null })));
  const { system } = body;
  const texts = filterRecords(system);
  const marked = [...tools, ...texts, ...listBlocks(body)].filter((block) => block.cache_control).length;
  assert(marked <= 4, `cache_control: ${marked} blocks are marked, and four are allowed`);
  const isSaid = typeof system === "string" ? system !== "" : texts.length > 0 && texts.every(isText);
  assert(system === undefined || isSaid, "system: has no usable text");
  const ledger = new CallLedger();
  for (const [index, { role, content }] of messages.entries()) {
    checkWithPlace(`messages.${index}: `, () => {
      assert(role === (index % 2 === 0 ? "user" : "assistant"), `the role ${role} is out of turn`);
      const blocks = typeof content === "string" ? [{ type: "text", text: content }] : filterRecords(content);
      assert(blocks.length > 0, "there is no content");
      if (role === "user") checkUser(blocks, ledger);
      else checkAssistant(blocks, ledger, issued);
    });
  }
  assert(messages.at(-1)?.role === "user", "messages: the last is of the assistant");
  if (isRecord(body.thinking) && body.thinking.type === "enabled") assertThinksFirst(messages);
}

/** Checks that the model has thought first, if tools have answered since the user's last prompt. */
function assertThinksFirst(messages: readonly JsonRecord[]): void {
  const isAsked = ({ role, content }: JsonRecord): boolean =>
    role === "user" && filterRecords(content).every(({ type }) => type !== "tool_result");
  const [first] = filterRecords(messages[messages.findLastIndex(isAsked) + 1]?.content);
  const type = String(first?.type ?? "thinking");
  assert(type.includes("thinking"), `Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\``);
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

function checkUser(blocks: readonly JsonRecord[], ledger: CallLedger): void {
  const answers = blocks.filter(({ type }) => type === "tool_result");
  assert(
    answers.every((answer, index) => blocks[index] === answer),
    "tool_result blocks must come first",
  );
  for (const { tool_use_id: id } of answers) ledger.answer(id);
  ledger.checkAnswered();
  const failed = answers.filter(({ is_error: isError }) => isError === true);
  const told = failed.flatMap(({ content }) => filterRecords(content));
  assert(
    told.every(({ type }) => type === "text"),
    "all content must be type `text` if `is_error` is true",
  );
  const shown = blocks.flatMap((block) =>
    block.type === "tool_result" ? filterRecords(block.content) : [block],
  );
  for (const block of shown)
    assert(isText(block) || isMedia(block), `a block of type ${String(block.type)} is not usable`);
}

function checkAssistant(
  blocks: readonly JsonRecord[],
  ledger: CallLedger,
  issued: ReadonlyMap<string, string>,
): void {
  assert(!String(blocks.at(-1)?.type).includes("thinking"), "the final block cannot be `thinking`");
  for (const block of blocks) {
    const { type, thinking, signature, id, name, input } = block;
    if (type === "tool_use") {
      ledger.call(id, name);
      assert(isRecord(input), "the input of a tool_use is not an object");
      const secret = issued.get(String(id));
      const isReturned = secret === undefined || blocks.some((other) => other.signature === secret);
      assert(isReturned, "Expected the `thinking` block that came with the tool_use");
    } else if (type === "thinking")
      assert(signature === createSecret(String(thinking)), "Invalid `signature` in `thinking` block");
    else assert(isText(block), `a block of type ${String(type)} is not usable`);
  }
}

function buildMessage({ model, calls }: WireReply) {
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const head = { id: "msg_1", type: "message", role: "assistant", model };
  return { ...head, content: [], stop_reason, stop_sequence: null };
}

function buildUsage({ usage: { inputTokens, outputTokens, cachedTokens, cacheWrites } }: WireReply): object {
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

function buildBlocks({ thought, text, calls }: WireReply): JsonRecord[] {
  return [
    ...(thought ? [{ type: "thinking", thinking: thought, signature: createSecret(thought) }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
  ];
}

function buildEvents(reply: WireReply): object[] {
  const { error } = reply;
  const usage = buildUsage(reply);
  const whole = buildMessage(reply);
  const events = [
    { type: "message_start", message: { ...whole, stop_reason: null, usage } },
    { type: "ping" },
    ...buildBlocks(reply).flatMap(buildBlockEvents),
  ];
  if (error) return [...events, anthropicProtocol.buildErrorBody(error)];
  const { stop_reason, stop_sequence } = whole;
  return [
    ...events,
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage },
    { type: "message_stop" },
  ];
}

function buildBlockEvents(block: JsonRecord, index: number): object[] {
  const [empty, deltas] = splitBlock(block);
  return [
    { type: "content_block_start", index, content_block: { ...block, ...empty } },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** Returns a block as it starts, with empty fields, and the deltas that fill them. */
function splitBlock({
  type,
  thinking,
  signature,
  text,
  input,
}: JsonRecord): [empty: object, deltas: object[]] {
  if (type === "thinking") {
    const thoughts = splitIntoPieces(String(thinking)).map((piece) => ({
      type: "thinking_delta",
      thinking: piece,
    }));
    return [{ thinking: "", signature: "" }, [...thoughts, { type: "signature_delta", signature }]];
  }
  if (type === "text")
    return [
      { text: "" },
      splitIntoPieces(String(text)).map((piece) => ({ type: "text_delta", text: piece })),
    ];
  const json = splitIntoPieces(JSON.stringify(input));
  return [{ input: {} }, json.map((partial_json) => ({ type: "input_json_delta", partial_json }))];
}
