import type { Readable, Writable } from "node:stream";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";

/** As much as the protocol's own library takes in one message. */
const MOST_BYTES = 10 * 1024 * 1024;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const NEWLINE = 10;

/** One message a line. Unlike that of the protocol's library it answers each line that is no message. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #onEnd: () => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The line is too long and is skipped to its end. */
  #isSkipping = false;
  #isClosed = false;

  /** `onEnd` hears that the client is gone or the connection was closed. */
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
    let start = 0;
    for (
      let end = chunk.indexOf(NEWLINE);
      end !== -1 && !this.#isClosed;
      end = chunk.indexOf(NEWLINE, start)
    ) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      this.#endLine();
    }
    this.#keep(chunk.subarray(start));
  };

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes > MOST_BYTES) {
      if (!this.#isSkipping) this.#fault(INVALID_REQUEST, `The message is longer than ${MOST_BYTES} bytes.`);
      this.#isSkipping = true;
      this.#parts = [];
    } else this.#parts.push(part);
  }

  #endLine(): void {
    const line = Buffer.concat(this.#parts).toString("utf8").trim();
    const isSkipped = this.#isSkipping;
    this.#parts = [];
    this.#bytes = 0;
    this.#isSkipping = false;
    if (isSkipped || line === "") return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      if (error instanceof SyntaxError)
        this.#fault(PARSE_ERROR, `The message is not valid JSON: ${error.message}`);
      else
        this.#fault(INVALID_REQUEST, "The message is not a JSON-RPC 2.0 request, notification or response.");
      return;
    }
    this.onmessage?.(message);
  }

  #fault(code: number, message: string): void {
    this.#write(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })}\n`).catch(
      () => {},
    );
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#write(serializeMessage(message));
  }

  /** Resolves when there is room for more. */
  #write(text: string): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The connection is closed."));
    return new Promise((resolve, reject) => {
      this.#output.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off("data", this.#take).pause();
    this.onclose?.();
    this.#onEnd();
  }
}
