import type { Readable, Writable } from "node:stream";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { faultLine, INVALID_REQUEST, MessageLines, PARSE_ERROR, writeLine } from "../message-lines.ts";

/** The limit of the protocol's own library for one message. */
const MOST_BYTES = 10 * 1024 * 1024;

/** One message per line. Unlike the protocol's library, it answers each line that is not a message. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #onEnd: () => void;
  readonly #lines = new MessageLines(MOST_BYTES);
  #isClosed = false;

  /** `onEnd` is called when the client is gone or the connection was closed. */
  constructor(input: Readable, output: Writable, onEnd: () => void) {
    this.#input = input;
    this.#output = output;
    this.#onEnd = onEnd;
  }

  async start(): Promise<void> {
    const end = () => void this.close();
    this.#input.on("data", this.#take).on("end", end).on("close", end).on("error", end);
    this.#output.on("error", end);
  }

  readonly #take = (chunk: Buffer): void => {
    for (const line of this.#lines.endedBy(chunk)) {
      if (this.#isClosed) return;
      if (line === null) this.#answer(faultLine(INVALID_REQUEST, this.#lines.tooLong));
      else this.#takeLine(line);
    }
  };

  #takeLine(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      const fault =
        error instanceof SyntaxError
          ? faultLine(PARSE_ERROR, `The message is not valid JSON: ${error.message}`)
          : faultLine(
              INVALID_REQUEST,
              "The message is not a JSON-RPC 2.0 request, notification or response.",
              JSON.parse(line),
            );
      this.#answer(fault);
      return;
    }
    this.onmessage?.(message);
  }

  #answer(fault: string): void {
    this.#write(fault).catch(() => {});
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#write(serializeMessage(message));
  }

  #write(text: string): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The connection is closed."));
    return writeLine(this.#output, text);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off("data", this.#take).pause();
    this.onclose?.();
    this.#onEnd();
  }
}
