import type { ChatModel, ModelEvent, ModelRequest, Usage } from "@burin/contract/chat-model";
import { describeFaults } from "@burin/contract/messages/check-schema";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import type { Message } from "@burin/contract/messages/message";
import type { Part } from "@burin/contract/messages/parts";
import { schemaFaults } from "@burin/contract/messages/schema-faults";
import { isRecord, parseOutsideJson } from "@burin/contract/messages/untrusted-json";
import { messageOf } from "@burin/contract/text/error-message";

export interface ScriptedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One reply of a scripted model: first the thought, then the text, then the calls; or a failure after these. */
export interface ScriptLine {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: Partial<Usage>;
  /** Ends the reply as a failure. A `status` makes it an HTTP error where the reply travels over HTTP. */
  readonly error?: { readonly type?: string; readonly message: string; readonly status?: number };
}

export interface ScriptedModel extends ChatModel {
  /** The lines that no request has asked for yet; a run that played the whole script leaves none. */
  unusedLines(): readonly ScriptLine[];
}

/**
 * A model that plays a script, one line a request, the same way each time. It is strict: a history in which
 * a call is not answered exactly once, an answer without a call, or a request after the last line ends as an
 * error of the type `script`.
 */
export function scriptedModel(script: readonly ScriptLine[]): ScriptedModel {
  const lines = [...script];
  let played = 0;
  const nextReply = (request: ModelRequest): ModelEvent[] => {
    const fault = historyFault(request.history);
    if (fault !== undefined) return [scriptFailure(fault)];
    const line = lines[played];
    if (!line)
      return [scriptFailure(`The script has ${lines.length} lines, and one more reply was asked for.`)];
    played += 1;
    return eventsOf(line, callIdsOf(request.history));
  };
  return {
    name: "scripted",
    unusedLines: () => lines.slice(played),
    stream: (request, signal) => playEvents(() => nextReply(request), signal),
  };
}

async function* playEvents(
  reply: () => readonly ModelEvent[],
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  if (!signal.aborted) {
    for (const event of reply()) {
      // A real model never answers in the same turn of the event loop; an abort gets its chance here.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) break;
      yield event;
      if (event.type === "end") return;
    }
  }
  yield { type: "end", reason: "cancelled" };
}

function eventsOf(line: ScriptLine, taken: Set<string>): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (line.thought) events.push({ type: "thought", text: line.thought });
  if (line.text) events.push({ type: "text", text: line.text });
  const { error } = line;
  for (const { name, args } of error ? [] : (line.calls ?? [])) {
    const id = freshId(taken);
    events.push({ type: "function_call", call: { id, name, args: structuredClone(args) } });
  }
  if (line.usage) {
    events.push({
      type: "usage",
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, ...line.usage },
    });
  }
  if (error) events.push({ type: "end", reason: "error", error: { type: "server_error", ...error } });
  else events.push({ type: "end", reason: "stop" });
  return events;
}

function scriptFailure(message: string): ModelEvent {
  return { type: "end", reason: "error", error: { type: "script", message } };
}

function freshId(taken: Set<string>): string {
  let number = taken.size + 1;
  while (taken.has(`call_${number}`)) number += 1;
  const id = `call_${number}`;
  taken.add(id);
  return id;
}

function callIdsOf(history: readonly Message[]): Set<string> {
  const ids = history.flatMap((message) => message.parts.map((part) => part.functionCall?.id ?? ""));
  return new Set(ids.filter((id) => id !== ""));
}

/** What is wrong with the calls and answers of the history, if anything. */
function historyFault(history: readonly Message[]): string | undefined {
  const ledger = new CallLedger();
  for (const message of history) {
    const fault = message.role === "model" ? ledger.unanswered() : undefined;
    if (fault !== undefined) return fault;
    for (const part of message.parts) {
      const found = ledger.enter(message.role, part);
      if (found !== undefined) return found;
    }
  }
  return ledger.unanswered();
}

/** Which calls were made, and which of them still wait for their answer. */
class CallLedger {
  readonly #names = new Map<string, string>();
  readonly #open = new Set<string>();

  unanswered(): string | undefined {
    return this.#open.size > 0 ? `No answer was given to the call ${[...this.#open].join(", ")}.` : undefined;
  }

  enter(role: Message["role"], { functionCall, functionResponse }: Part): string | undefined {
    if (functionCall) return this.#enterCall(role, functionCall);
    return functionResponse ? this.#enterAnswer(role, functionResponse) : undefined;
  }

  #enterCall(
    role: Message["role"],
    { id, name = "" }: NonNullable<Part["functionCall"]>,
  ): string | undefined {
    if (role !== "model") return "A message of the user holds a call.";
    if (!id) return "A call has no id.";
    if (this.#names.has(id)) return `Two calls have the id ${id}.`;
    this.#names.set(id, name);
    this.#open.add(id);
    return undefined;
  }

  #enterAnswer(role: Message["role"], answer: NonNullable<Part["functionResponse"]>): string | undefined {
    const { id = "", name = "" } = answer;
    if (role !== "user") return `A message of the model holds the answer ${id}.`;
    const asked = this.#names.get(id);
    if (asked === undefined) return `The answer "${id}" (${name}) belongs to no call.`;
    if (!this.#open.delete(id)) return `The call ${id} was answered twice.`;
    return asked === name ? undefined : `The answer ${id} is from ${name}, and the call was to ${asked}.`;
  }
}

/**
 * Reads a script file: JSON Lines, one reply a line, blank lines left out. Throws with the number of the
 * line and what is wrong in it.
 */
export function parseScript(text: string): ScriptLine[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  return lines.flatMap((line, index) => (line.trim() === "" ? [] : [readLine(line, index + 1)]));
}

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };

function object(properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

const LINE = object({
  thought: TEXT,
  text: TEXT,
  calls: { type: "array", items: object({ name: TEXT, args: { type: "object" } }, ["name", "args"]) },
  usage: object({ inputTokens: COUNT, outputTokens: COUNT, cachedTokens: COUNT }),
  error: object({ type: TEXT, message: TEXT, status: COUNT }, ["message"]),
});

function readLine(line: string, number: number): ScriptLine {
  let value: unknown;
  try {
    value = parseOutsideJson(line);
  } catch (error) {
    throw new Error(`Line ${number} of the script is not valid JSON (${messageOf(error)}).`);
  }
  const isEmpty = isRecord(value) && Object.keys(value).length === 0;
  const problem = isEmpty ? "it is empty" : describeFaults(schemaFaults(LINE, value), "the line");
  if (problem !== "") throw new Error(`Line ${number} of the script cannot be used: ${problem}.`);
  return value as ScriptLine;
}
