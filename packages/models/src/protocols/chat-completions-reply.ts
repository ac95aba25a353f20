import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { createWithheldFailure, ReplyReader, readCount, readOpenAiUsage } from "../replies/reply-reader.ts";
import { tagSignature } from "../request/thought-signature.ts";

const LIMITED = /^(?:\w*length|max_\w*(?:tokens?|output)|\w*token_limit|model_context_window_exceeded)$/;
/** The reasons for withholding a reply, including those of other protocols. A reason may be followed by details. */
const WITHHELD = /^(?:content_?filter|safety|sensitive|recitation|blocklist|prohibited_content|spii|refusal)/;
const BROKEN =
  /^(?:error|network_error|insufficient_system_resource|abort|cancell?ed|timeout|malformed|unexpected_tool|too_many_tool|missing_thought|function_call_filter)/;

/** The fields that grow from chunk to chunk; all others arrive once. */
const GROWING = ["text", "summary", "data", "thinking"];

export class ChatCompletionsReply extends ReplyReader {
  /** The reasoning in OpenRouter's format. All pieces are sent back unchanged and in order. */
  readonly #details: Record<string, unknown>[] = [];
  /** The thoughts of Claude behind LiteLLM, which rejects calls that come back without them. */
  readonly #blocks: Record<string, unknown>[] = [];
  /** The thoughts of Claude at Databricks, which are part of the content. */
  readonly #summary: Record<string, unknown>[] = [];
  /** Whether text has arrived in pieces. */
  #isInPieces = false;
  /** Whether the last usage came in its own chunk, which means the end. Some services send it with every chunk. */
  #isUsageLast = false;
  /** Fields of the whole message that Gemini and Copilot want back. */
  #extra: unknown;
  #opaque: unknown;

  protected get isLimited(): boolean {
    return LIMITED.test(this.finishReason);
  }

  protected override get areCallsComplete(): boolean {
    return this.isComplete || this.#isUsageLast;
  }

  protected override get hasTold(): boolean {
    return this.finishReason !== "" || this.#isUsageLast;
  }

  protected override findError(chunk: JsonRecord): unknown {
    const { error } = listRecords(chunk).find((place) => place.error) ?? {};
    if (error || chunk.object === "error") return error ?? chunk;
    const { base_resp: minimax } = chunk;
    return isRecord(minimax) && readCount(minimax.status_code) > 0 ? minimax : undefined;
  }

  protected readUsage(chunk: JsonRecord): Usage | undefined {
    const { prompt_eval_count: prompt_tokens, eval_count: completion_tokens } = chunk;
    const ollama = completion_tokens && { prompt_tokens, completion_tokens };
    return readOpenAiUsage([...listRecords(chunk).map(({ usage }) => usage), ollama].find(isRecord));
  }

  protected readChunk(chunk: JsonRecord): ModelEvent[] | undefined {
    const isKnown = Array.isArray(chunk.choices) || isRecord(chunk.usage) || isRecord(chunk.message);
    const choices: readonly unknown[] = Array.isArray(chunk.choices)
      ? chunk.choices
      : [readOllamaChoice(chunk)];
    this.#isUsageLast = isRecord(chunk.usage) && choices.length === 0;
    // Copilot spreads one complete reply over several choices.
    const read = filterRecords(choices).filter(({ message }, place) => place === 0 || isRecord(message));
    return read.length > 0 || isKnown ? read.flatMap((choice) => this.#readChoice(choice)) : undefined;
  }

  protected override buildEventsAfterText(): ModelEvent[] {
    const blocks = this.#blocks.filter(({ signature, data }) => signature || data);
    const isSigned = this.#summary.some(({ signature }) => signature);
    const signature = encodeFieldsAsSignature({
      content: isSigned ? [{ type: "reasoning", summary: this.#summary }] : undefined,
      reasoning_details: this.#details.length > 0 ? this.#details : undefined,
      thinking_blocks: blocks.length > 0 ? blocks : undefined,
      extra_content: this.#extra,
      reasoning_opaque: this.#opaque,
    });
    return signature === undefined ? [] : [{ type: "thought", text: "", signature }];
  }

  #readChoice(choice: JsonRecord): ModelEvent[] {
    this.finishReason = readFinishReason(choice) || this.finishReason;
    const isWhole = !isRecord(choice.delta);
    const { message = { content: choice.text } } = choice;
    const delta = isWhole ? message : choice.delta;
    if (!isRecord(delta)) return [];
    // Some services send the whole text again after the pieces.
    const isRepeated = isWhole && this.#isInPieces;
    this.#isInPieces ||= !isWhole && readText(delta.content) !== "";
    const events: ModelEvent[] = [];
    const detailed = addDetailsAndReadText(delta.reasoning_details, this.#details);
    addDetailsAndReadText(delta.thinking_blocks, this.#blocks);
    for (const part of filterRecords(delta.content)) addDetailsAndReadText(part.summary, this.#summary);
    const { reasoning_content, reasoning, reasoning_text, thinking } = delta;
    // Some services send the same reasoning in several fields.
    const named = [reasoning_content, reasoning, reasoning_text, thinking].map(readText).find(Boolean);
    const thought = named ?? (readThinking(delta.content) || detailed);
    if (thought !== "" && !isRepeated) events.push({ type: "thought", text: thought });
    this.#extra = delta.extra_content ?? this.#extra;
    this.#opaque = delta.reasoning_opaque ?? this.#opaque;
    // An audio reply has its words in the transcript.
    const spoken = isRecord(delta.audio) ? delta.audio.transcript : "";
    const text = readText(delta.content) || readText(delta.refusal) || readText(spoken);
    events.push(...this.addText(isRepeated ? "" : text));
    if (delta.tool_calls) this.calls.add(delta.tool_calls, readCallSignature);
    if (delta.function_call) this.calls.add([{ index: "legacy", function: delta.function_call }]);
    const { type, tool_use_id: id, name, input } = delta;
    // Snowflake has its own format.
    if (type === "tool_use") this.calls.add([{ id, name, arguments: input }]);
    return events;
  }

  protected explainFault(isEmpty: boolean): ModelFailure | undefined {
    const reason = this.finishReason;
    if (WITHHELD.test(reason)) return createWithheldFailure(reason);
    if (BROKEN.test(reason)) {
      const message = `The service broke off its reply (${reason}): try again.`;
      return { type: "server_error", message, isPassing: true };
    }
    // With these reasons an empty reply is not normal. "load" means that Ollama has only loaded the model.
    const isUnfit = /^(?:|tool_(?:calls?|use)|function_call|(?:un)?load)$/.test(reason);
    return isEmpty && isUnfit ? this.describeEmpty() : undefined;
  }
}

/** Returns the objects that may contain usage and errors: the chunk, a choice (Moonshot), or a separate part (Groq). */
function listRecords(chunk: JsonRecord): JsonRecord[] {
  const [choice]: unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
  return filterRecords([chunk, choice, chunk.x_groq]);
}

/** Returns the reason for the end. A router may say "stop" although the service behind it failed. */
function readFinishReason({ finish_reason: told, native_finish_reason: native }: JsonRecord): string {
  const reason = typeof told === "string" ? told.toLowerCase() : "";
  const behind = String(native).toLowerCase();
  return reason !== "" && (BROKEN.test(behind) || WITHHELD.test(behind)) ? behind : reason;
}

/** Returns the fields that the service wants back, if there are any. */
function encodeFieldsAsSignature(fields: JsonRecord): string | undefined {
  const given = JSON.stringify(fields);
  return given === "{}" ? undefined : tagSignature("chat", given);
}

/** Returns Gemini's signature of a call, in its own format or as LiteLLM passes it on. */
function readCallSignature({
  extra_content,
  provider_specific_fields: passed,
}: JsonRecord): string | undefined {
  const isSigned = isRecord(passed) && passed.thought_signature;
  return encodeFieldsAsSignature({ extra_content, provider_specific_fields: isSigned ? passed : undefined });
}

/** Converts Ollama's own format: one chunk per line, with complete calls. */
function readOllamaChoice({
  message,
  done,
  done_reason: reason,
  created_at,
}: JsonRecord): JsonRecord | undefined {
  if (!isRecord(message)) return undefined;
  const calls = filterRecords(message.tool_calls).map((call, place) => ({
    ...call,
    index: `${created_at} ${place}`,
  }));
  const delta = { ...message, tool_calls: calls };
  return { delta, finish_reason: done === true ? (reason ?? "stop") : null };
}

/** Returns the text of a string or a list of parts. Some services wrap thoughts into an object with content. */
function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (isRecord(content)) return readText([content]);
  const texts = filterRecords(content).map(({ text, content: inner }) => text ?? inner);
  return texts.filter((text) => typeof text === "string").join("");
}

function readThinking(content: unknown): string {
  return filterRecords(content)
    .map((part) => readText(part.thinking ?? part.summary))
    .join("");
}

function addDetailsAndReadText(given: unknown, known: Record<string, unknown>[]): string {
  let words = "";
  for (const detail of filterRecords(given)) {
    const said = detail.text ?? detail.summary;
    if (typeof said === "string") words += said;
    const last = known.at(-1);
    if (last && isContinuation(last, detail)) appendDetail(last, detail);
    else known.push({ ...detail });
  }
  return words;
}

function isContinuation(last: JsonRecord, { type, index, id }: JsonRecord): boolean {
  const isSameId = (id ?? last.id ?? null) === (last.id ?? id ?? null);
  // A part with neither index nor id ends with its signature.
  const isOver = /encrypted|redacted/.test(String(type)) || (index === undefined && Boolean(last.signature));
  return !isOver && last.type === type && last.index === index && isSameId;
}

function appendDetail(last: Record<string, unknown>, detail: JsonRecord): void {
  for (const [key, value] of Object.entries(detail)) {
    const before = last[key];
    const isText = typeof value === "string" && typeof before === "string";
    if (isText && GROWING.includes(key)) last[key] = before + value;
    else if (value !== null && value !== undefined && value !== "") last[key] = value;
  }
}
