import type { Readable, Writable } from "node:stream";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { MessageLines, writeLine } from "../message-lines.ts";

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
  readonly #lines = new MessageLines(MOST_BYTES, deserializeMessage);
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
    for (const message of this.#lines.endedBy(chunk)) {
      if (this.#isClosed) return;
      if (typeof message !== "string") this.onmessage?.(message);
      else this.#write(message).catch(() => {});
    }
  };

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
