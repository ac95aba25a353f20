import type { ChatModel, ModelEvent, ModelRequest, Usage } from "@burin/contract/chat-model";
import { describeFaults } from "@burin/contract/messages/check-schema";
import type { JsonSchema, Message } from "@burin/contract/messages/message";
import { findSchemaFaults } from "@burin/contract/messages/schema-faults";
import { isRecord, parseUntrustedJson } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";

/** A call of a tool in a scripted reply. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One reply of a scripted model: the thought, then the text, then the calls, and last a failure if there is one. */
export interface ScriptLine {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: Partial<Usage>;
  /** Ends the reply as a failure. A `status` makes it an HTTP error if the reply is sent over HTTP. */
  readonly error?: { readonly type?: string; readonly message: string; readonly status?: number };
}

/** A model that plays a script. */
export interface ScriptedModel extends ChatModel {
  /** Returns the lines that no request has used yet; none after a run that played the whole script. */
  unusedLines(): readonly ScriptLine[];
}

/**
 * Creates a model that plays a script. It is strict: a call that is not answered exactly once, an answer without a call
 * and a request after the last line are errors.
 */
export function scriptedModel(script: readonly ScriptLine[]): ScriptedModel {
  const lines = [...script];
  let played = 0;
  const nextReply = ({ history }: ModelRequest): ModelEvent[] => {
    try {
      checkHistory(history);
      const line = lines[played];
      assertSound(line, `The script has ${lines.length} lines, and one more reply was asked for.`);
      played += 1;
      const parts = history.flatMap((message) => message.parts);
      return buildEvents(line, new Set(parts.flatMap(({ functionCall }) => functionCall?.id || [])));
    } catch (error) {
      return [{ type: "end", reason: "error", error: { type: "script", message: describeError(error) } }];
    }
  };
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for (const event of signal.aborted ? [] : nextReply(request)) {
      // Wait one turn of the event loop, as with a real model, so that an abort can take effect.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) break;
      yield event;
      if (event.type === "end") return;
    }
    yield { type: "end", reason: "cancelled" };
  }
  return { name: "scripted", unusedLines: () => lines.slice(played), stream };
}

function buildEvents(line: ScriptLine, taken: Set<string>): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (line.thought) events.push({ type: "thought", text: line.thought });
  if (line.text) events.push({ type: "text", text: line.text });
  const { error } = line;
  for (const { name, args } of error ? [] : (line.calls ?? [])) {
    let number = taken.size + 1;
    while (taken.has(`call_${number}`)) number += 1;
    const id = `call_${number}`;
    taken.add(id);
    events.push({ type: "function_call", call: { id, name, args: structuredClone(args) } });
  }
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, ...line.usage };
  if (line.usage) events.push({ type: "usage", usage });
  if (error) events.push({ type: "end", reason: "error", error: { type: "server_error", ...error } });
  else events.push({ type: "end", reason: "stop" });
  return events;
}

function assertSound(isSound: unknown, fault: string): asserts isSound {
  if (!isSound) throw new Error(fault);
}

function checkHistory(history: readonly Message[]): void {
  const names = new Map<string, string>();
  const open = new Set<string>();
  const checkAnswered = () =>
    assertSound(open.size === 0, `No answer was given to the call ${[...open].join(", ")}.`);
  for (const { role, parts } of history) {
    if (role === "model") checkAnswered();
    for (const { functionCall: call, functionResponse: answer } of parts) {
      const { id = "", name = "" } = call ?? answer ?? {};
      if (call) {
        assertSound(!names.has(id), `Two calls have the id ${id}.`);
        names.set(id, name);
        open.add(id);
      } else if (answer) {
        assertSound(names.has(id), `The answer "${id}" (${name}) belongs to no call.`);
        assertSound(open.delete(id), `The call ${id} was answered twice.`);
        const called = names.get(id);
        assertSound(called === name, `The answer ${id} is from ${name}, and the call was to ${called}.`);
      }
    }
  }
  checkAnswered();
}

/** Parses a script in JSON Lines, one reply per line. Throws an error that names the line and what is wrong in it. */
export function parseScript(text: string): ScriptLine[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  return lines.flatMap((line, index) => (line.trim() === "" ? [] : [readLine(line, index + 1)]));
}

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };

function objectSchema(properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

const LINE = objectSchema({
  thought: TEXT,
  text: TEXT,
  calls: { type: "array", items: objectSchema({ name: TEXT, args: { type: "object" } }, ["name", "args"]) },
  usage: objectSchema({ inputTokens: COUNT, outputTokens: COUNT, cachedTokens: COUNT }),
  error: objectSchema({ type: TEXT, message: TEXT, status: COUNT }, ["message"]),
});

function readLine(line: string, number: number): ScriptLine {
  let value: unknown;
  try {
    value = parseUntrustedJson(line);
  } catch (error) {
    throw new Error(`Line ${number} of the script is not valid JSON (${describeError(error)}).`);
  }
  const isEmpty = isRecord(value) && Object.keys(value).length === 0;
  const problem = isEmpty ? "it is empty" : describeFaults(findSchemaFaults(LINE, value), "the line");
  if (problem !== "") throw new Error(`Line ${number} of the script cannot be used: ${problem}.`);
  return value as ScriptLine;
}
