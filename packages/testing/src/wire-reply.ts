import type { Usage } from "@burin/contract/chat-model";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { ScriptedCall, ScriptLine } from "@burin/models/scripted";

type WireError = NonNullable<ScriptLine["error"]>;

/** A line of the script with all that a protocol sends; one that fails has no calls. */
export interface WireReply {
  readonly model: string;
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly (ScriptedCall & { readonly id: string })[];
  readonly usage: Usage;
  readonly error: WireError | undefined;
}

/** How the fake service speaks one protocol. */
export interface FakeProtocol {
  /**
   * Throws the reason why a strict service would refuse this request body. `issued`: what came with a call, by its id.
   */
  check(body: JsonRecord, issued: ReadonlyMap<string, string>): void;
  /** Whether a call that came with a thought must be sent back with it. */
  readonly returnsThoughts: boolean;
  /** Returns the data of the server-sent events in order, as a streaming service sends them. */
  buildEvents(reply: WireReply): (object | string)[];
  /** Returns the reply as one JSON document, for a request without `stream`; missing if there is no such request. */
  buildDocument?(reply: WireReply): object;
  buildErrorBody(error: WireError): object;
  /** The number of answered calls in the conversation. */
  countAnsweredCalls(body: JsonRecord): number;
}

/** The length of a chunk: small, so that texts and arguments of any length need several. */
const PIECE_CHARACTERS = 7;

/** Splits only between whole characters, as a service does that sends token by token. */
export function splitIntoPieces(text: string): string[] {
  const characters = Array.from(text);
  const cut: string[] = [];
  for (let start = 0; start < characters.length; start += PIECE_CHARACTERS) {
    cut.push(characters.slice(start, start + PIECE_CHARACTERS).join(""));
  }
  return cut;
}

/** Creates a value that only the service itself can have made from a thought. */
export function createSecret(thought: string): string {
  return Buffer.from(`signed ${thought}`).toString("base64");
}
