import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import type { ServerProcess } from "@burin/machine/processes/server-processes";
import { isJSONRPCResponse, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { NOT_OF_PROTOCOL } from "./mcp-error.ts";

/** A message may be long, such as an image; one without an end must not fill the memory. */
export const MOST_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Messages handled in a row before other work has its turn. */
const MOST_AT_ONCE = 100;
const NEWLINE = 0x0a;

/** How much output of a server is kept that is not a message of the protocol. */
const MOST_GARBAGE_CHARACTERS = 500;

/**
 * Talks to a server over its input and output, one message per line. Used instead of the SDK's own transport,
 * because every process of Burin is started, recorded and ended in one place, with all that it has started.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #start: () => Promise<ServerProcess>;
  #server: ServerProcess | null = null;
  #pieces: Buffer[] = [];
  #length = 0;
  #garbage = "";
  #isClosed = false;

  constructor(start: () => Promise<ServerProcess>) {
    this.#start = start;
  }

  async start(): Promise<void> {
    const server = await this.#start();
    if (this.#isClosed) return server.end();
    this.#server = server;
    server.output.on("data", (bytes: Buffer) => this.#receive(bytes));
    server.output.once("close", () => void this.close());
    void server.ended.then(() => setImmediate(() => void this.close()));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#server?.input;
    if (this.#isClosed || input === undefined || !input.writable) throw new Error("The server has ended.");
    await new Promise<void>((resolve, reject) => {
      input.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.onclose?.();
    }
    await this.#server?.end();
  }

  /** What is known about the failure: the last lines on the error stream, and other output. */
  lastWords(): string {
    const words = this.#server?.errorTail().trim() ?? "";
    if (this.#garbage === "") return words;
    return `${words}\nNot an MCP message: ${this.#garbage}`.trim();
  }

  #receive(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    if (bytes.includes(NEWLINE)) this.#handleLines();
    else if (this.#length > MOST_MESSAGE_BYTES) {
      this.#garbage = `a line of more than ${MOST_MESSAGE_BYTES} bytes`;
      void this.close();
    }
  }

  /** A flood of messages takes turns with other work, and is not read faster than it is handled. */
  #handleLines(): void {
    const all = Buffer.concat(this.#pieces);
    let from = 0;
    for (let handled = 0; handled < MOST_AT_ONCE; handled += 1) {
      const end = all.indexOf(NEWLINE, from);
      if (end === -1) {
        this.#keep(all.subarray(from));
        this.#server?.output.resume();
        return;
      }
      this.#handle(all.toString("utf8", from, end));
      from = end + 1;
    }
    this.#keep(all.subarray(from));
    this.#server?.output.pause();
    setImmediate(() => this.#handleLines());
  }

  #keep(rest: Buffer): void {
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  #handle(line: string): void {
    if (this.#isClosed || line.trim() === "") return;
    const message = parsed(line);
    if (message !== null) this.onmessage?.(message);
    else if (this.#garbage === "") this.#garbage = line.slice(0, MOST_GARBAGE_CHARACTERS);
  }
}

/**
 * Programs print greetings and warnings where only messages belong; those are skipped. An answer that breaks the
 * protocol becomes a failure: the SDK would drop it, and the request would wait for its time limit.
 */
function parsed(line: string): JSONRPCMessage | null {
  const value = parseJson(line);
  if (!isRecord(value) || !("jsonrpc" in value)) {
    const [, id] = /^\{.{0,99}"id" ?: ?(\d+)/.exec(line.includes('"jsonrpc"') ? line : "") ?? [];
    return id === undefined ? null : unreadable(Number(id));
  }
  const isAnswer = !("method" in value) && typeof value.id === "number";
  return isAnswer && !isJSONRPCResponse(value) ? unreadable(Number(value.id)) : (value as JSONRPCMessage);
}

function unreadable(id: number): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: -32_603, message: NOT_OF_PROTOCOL } };
}
