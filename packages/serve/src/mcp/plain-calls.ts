import { setImmediate as untilNextTurn } from "node:timers/promises";
import {
  type CallToolRequestParams,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  isInputRequiredResult,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Notification,
  ProtocolErrorCode,
  type RequestId,
  type Server,
  type Transport,
} from "@modelcontextprotocol/server";
import type { ToolsHost } from "./place.ts";
import type { ServedCallOptions } from "./served-tools.ts";

/** The prefix of `_meta` keys that the protocol's library itself reads. */
const LIBRARY_KEYS = "io.modelcontextprotocol/";
const NO_ANSWERS = { state: undefined, responses: undefined };

/**
 * Answers calls of the 2025 protocol without its library, which validates each call and each response several times;
 * that takes longer than reading a file. The library handles all other messages, calls that it would do more than
 * validate, and calls whose user must be asked.
 */
export class PlainCalls {
  readonly #place: ToolsHost;
  readonly #wire: Transport;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #questions = new Map<RequestId, InputRequiredResult>();
  #server: Server | null = null;

  constructor(place: ToolsHost, wire: Transport) {
    this.#place = place;
    this.#wire = wire;
  }

  /** Sets the server for the client. Before this call, it is not known which protocol the client speaks. */
  useServer(server: Server): void {
    this.#server = server;
  }

  async receiveMessage(message: JSONRPCMessage): Promise<void> {
    if (this.#server !== null && isPlainCall(message)) return void this.#answerCall(message, this.#server);
    if ("method" in message && message.method === "notifications/cancelled")
      this.#running.get(message.params?.requestId as RequestId)?.abort();
    this.#wire.onmessage?.(message);
    // Messages that may say what the client can do, and name its folders: the library has seen such a message before
    // the next call.
    await untilNextTurn();
  }

  async #answerCall(message: PlainCall, server: Server): Promise<void> {
    const { id, params } = message;
    const stop = new AbortController();
    this.#running.set(id, stop);
    const answer = await callTool(this.#place, params, {
      signal: stop.signal,
      canAsk: canFillForms(server.getClientCapabilities()),
      answers: NO_ANSWERS,
      notify: (notification) => this.#wire.send({ jsonrpc: "2.0", ...notification }),
    }).then(
      (result) => ({ result }),
      ({ message: why }: Error) => ({ error: { code: ProtocolErrorCode.InternalError, message: why } }),
    );
    if (this.#running.get(id) === stop) this.#running.delete(id);
    if (stop.signal.aborted) return;
    if ("result" in answer && isInputRequiredResult(answer.result)) {
      this.#questions.set(id, answer.result);
      this.#wire.onmessage?.(message);
    } else await this.#wire.send({ jsonrpc: "2.0", id, ...answer }).catch(() => {});
  }

  /** Returns the question of a call that was passed to the library because it needs an answer. */
  takeQuestion(id: RequestId): InputRequiredResult | undefined {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    return question;
  }

  close(): void {
    for (const stop of this.#running.values()) stop.abort();
  }
}

interface PlainCall extends JSONRPCRequest {
  readonly params: CallToolRequestParams;
}

/** Whether the library would do nothing with the call but validate it. */
function isPlainCall(message: JSONRPCMessage): message is PlainCall {
  if (!("method" in message) || !("id" in message) || message.method !== "tools/call") return false;
  const { name, arguments: args = {}, _meta: meta = {}, ...more } = message.params ?? {};
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  const isOfLibrary = Object.keys(meta).some((key) => key.startsWith(LIBRARY_KEYS));
  return typeof name === "string" && isObject && Object.keys(more).length === 0 && !isOfLibrary;
}

interface CallOptions extends Omit<ServedCallOptions, "onProgress"> {
  readonly notify: (notification: Notification) => Promise<void>;
}

export async function callTool(
  place: ToolsHost,
  { name, arguments: args = {}, _meta: meta }: CallToolRequestParams,
  { notify, ...manner }: CallOptions,
): Promise<CallToolResult | InputRequiredResult> {
  const progressToken = meta?.progressToken;
  let progress = 0;
  const onProgress = (message: string): void => {
    if (progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message };
    void notify({ method: "notifications/progress", params }).catch(() => {});
  };
  return (await place.getTools()).call(name, args, { ...manner, onProgress });
}

/** Clients from before there were several kinds of questions send no details about them. */
export function canFillForms(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
