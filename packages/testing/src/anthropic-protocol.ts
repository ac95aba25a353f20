import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { ScriptLine } from "@burin/models/scripted";
import { CallLedger, declaredProblem, firstProblem, toolNameProblem } from "./call-ledger.ts";
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

/** The Messages API of Anthropic, as strict as the real one where clients make mistakes. */
export const anthropicProtocol: FakeProtocol = {
  problem,
  isStreamed: (body) => body.stream === true,
  streamed,
  whole: (reply) => ({ ...message(reply), content: blocksOf(reply), usage: wireUsage(reply.line) }),
  errorBody,
  answeredCalls: (body) => blocksIn(body).filter(({ type }) => type === "tool_result").length,
};

function errorBody({ message, type }: NonNullable<ScriptLine["error"]>): object {
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
  const given = firstProblem(answers.map(({ tool_use_id }) => ledger.answer(tool_use_id)));
  if (given !== undefined) return given;
  if (ledger.unanswered !== undefined) return ledger.unanswered;
  const failed = answers.filter(({ is_error: isError }) => isError === true);
  if (failed.flatMap(({ content }) => list(content)).some(({ type }) => type !== "text")) {
    return "all content must be type `text` if `is_error` is true";
  }
  const inner = answers.flatMap(({ content }) => list(content));
  const others = blocks.filter(({ type }) => type !== "tool_result");
  const odd = [...inner, ...others].find((block) => !isText(block) && !isMedia(block));
  return odd && `a block of type ${String(odd.type)} is not usable`;
}

function assistantProblem(
  blocks: readonly JsonRecord[],
  ledger: CallLedger,
  issued: IssuedSecrets,
): string | undefined {
  if (blocks.every(({ type }) => String(type).includes("thinking"))) return "there is nothing but thinking";
  return (
    firstProblem(
      blocks.map((block) => {
        if (block.type === "tool_use") return toolUseProblem(block, ledger);
        if (block.type !== "thinking") {
          return isText(block) ? undefined : `a block of type ${String(block.type)} is not usable`;
        }
        const isSigned = block.signature === secretOf(String(block.thinking));
        return isSigned ? undefined : "Invalid `signature` in `thinking` block";
      }),
    ) ?? missingThought(blocks, issued)
  );
}

function toolUseProblem({ id, name, input }: JsonRecord, ledger: CallLedger): string | undefined {
  const wrong = ledger.call(id) ?? toolNameProblem(name);
  return wrong ?? (isRecord(input) ? undefined : "the input of a tool_use is not an object");
}

/** A call that came with a thought must be sent back with it. */
function missingThought(blocks: readonly JsonRecord[], issued: IssuedSecrets): string | undefined {
  const secrets = blocks.flatMap(({ type, id }) =>
    type === "tool_use" ? (issued.get(String(id)) ?? []) : [],
  );
  const isThere = (secret: string): boolean => blocks.some(({ signature }) => signature === secret);
  return secrets.every(isThere) ? undefined : "Expected the `thinking` block that came with the tool_use";
}

function message({ line, model }: WireReply): object {
  const told = { stop_reason: stopReason(line), stop_sequence: null };
  return { id: "msg_1", type: "message", role: "assistant", model, content: [], ...told };
}

function stopReason({ calls = [] }: ScriptLine): string {
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function wireUsage(line: ScriptLine): object {
  const { inputTokens, outputTokens, cachedTokens, cacheWrites } = usageOf(line);
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

function blocksOf({ line, callIds }: WireReply): JsonRecord[] {
  const { thought, text, calls = [] } = line;
  return [
    ...(thought ? [{ type: "thinking", thinking: thought, signature: secretOf(thought) }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map(({ name, args }, index) => ({ type: "tool_use", id: callIds[index], name, input: args })),
  ];
}

function streamed(reply: WireReply, issued: IssuedSecrets): string[] {
  const { line } = reply;
  issueSecret(reply, issued);
  const start = {
    type: "message_start",
    message: { ...message(reply), stop_reason: null, usage: wireUsage(line) },
  };
  const events = [namedEvent(start), namedEvent({ type: "ping" })];
  const blocks = blocksOf(reply).filter(({ type }) => !line.error || type !== "tool_use");
  for (const [index, block] of blocks.entries()) events.push(...blockEvents(block, index));
  if (line.error) return [...events, namedEvent({ type: "error", ...errorBody(line.error) })];
  const delta = { stop_reason: stopReason(line), stop_sequence: null };
  const last = { type: "message_delta", delta, usage: wireUsage(line) };
  return [...events, namedEvent(last), namedEvent({ type: "message_stop" })];
}

function blockEvents(block: JsonRecord, index: number): string[] {
  const delta = (fields: object): string => namedEvent({ type: "content_block_delta", index, delta: fields });
  const start = (content_block: object): string =>
    namedEvent({ type: "content_block_start", index, content_block });
  const stop = namedEvent({ type: "content_block_stop", index });
  const { type } = block;
  if (type === "thinking") {
    const thoughts = pieces(String(block.thinking)).map((thinking) =>
      delta({ type: "thinking_delta", thinking }),
    );
    const signed = delta({ type: "signature_delta", signature: block.signature });
    return [start({ type, thinking: "", signature: "" }), ...thoughts, signed, stop];
  }
  if (type === "text") {
    const texts = pieces(String(block.text)).map((text) => delta({ type: "text_delta", text }));
    return [start({ type, text: "" }), ...texts, stop];
  }
  const { id, name, input } = block;
  const json = pieces(JSON.stringify(input)).map((partial_json) =>
    delta({ type: "input_json_delta", partial_json }),
  );
  return [start({ type, id, name, input: {} }), ...json, stop];
}
