import type { Usage } from "@burin/contract/chat-model";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { ScriptLine } from "@burin/models/scripted";

/** A reply and the ids of its calls. */
export interface WireReply {
  readonly line: ScriptLine;
  readonly model: string;
  readonly callIds: readonly string[];
}

/** What the fake has sent with its calls and wants back with them: call id to secret. */
export type IssuedSecrets = Map<string, string>;

/** How the fake service speaks one protocol. */
export interface FakeProtocol {
  /** What a strict service would refuse in this request body, or undefined when it is valid. */
  problem(body: JsonRecord, issued: IssuedSecrets): string | undefined;
  isStreamed(body: JsonRecord): boolean;
  /** The reply as server-sent events, in order, as a streaming service sends them. */
  streamed(reply: WireReply, issued: IssuedSecrets): string[];
  /** The same reply as the one JSON document that answers a request without `stream`. */
  whole(reply: WireReply): object;
  errorBody(error: NonNullable<ScriptLine["error"]>): object;
  /** The number of answered calls in the conversation. */
  answeredCalls(body: JsonRecord): number;
}

/** Small, so that texts and arguments of any length need several chunks. */
const PIECE_CHARACTERS = 7;

/** Splits only between whole characters, as a service does that sends token by token. */
export function pieces(text: string): string[] {
  const characters = Array.from(text);
  const cut: string[] = [];
  for (let start = 0; start < characters.length; start += PIECE_CHARACTERS) {
    cut.push(characters.slice(start, start + PIECE_CHARACTERS).join(""));
  }
  return cut;
}

export function dataEvent(data: unknown): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** The event with its name, as in protocols whose events have types. */
export function namedEvent(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\n${dataEvent(data)}`;
}

/** A value that only the service itself can have made from a thought. */
export function secretOf(thought: string): string {
  return Buffer.from(`signed ${thought}`).toString("base64");
}

/** The usage of the reply, as the script says. */
export function usageOf({ usage }: ScriptLine): Usage {
  return { inputTokens: 0, outputTokens: 0, cachedTokens: 0, ...usage };
}

/** Remembers the thought of the first call: it must be sent back with it. */
export function issueSecret({ line, callIds }: WireReply, issued: IssuedSecrets): void {
  const [firstId] = callIds;
  if (line.thought && firstId !== undefined) issued.set(firstId, secretOf(line.thought));
}

/** The objects in a list; none if it is not a list. */
export function list(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
