import type { Readable, Writable } from "node:stream";

const NEWLINE = 10;
const NO_MESSAGE = "The message is not a JSON-RPC 2.0 request, notification or response.";
const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;

/** Splits data that arrives in pieces into lines, one message each. */
export class MessageLines<Message> {
  readonly #mostBytes: number;
  readonly #read: (line: string) => Message;
  #parts: Buffer[] = [];
  #bytes = 0;

  /** `read` throws for a line that is not a message. */
  constructor(mostBytes: number, read: (line: string) => Message) {
    this.#mostBytes = mostBytes;
    this.#read = read;
  }

  /** Yields the messages that end in this piece; for a line that is too long, or none, the error to answer with. */
  *endedBy(chunk: Buffer): Generator<Message | string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const isTooLong = this.#bytes > this.#mostBytes;
      const line = Buffer.concat(this.#parts).toString("utf8").trim();
      this.#parts = [];
      this.#bytes = 0;
      if (isTooLong) yield faultLine(INVALID_REQUEST, `The message is longer than ${this.#mostBytes} bytes.`);
      else if (line !== "") yield this.#messageIn(line);
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#mostBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #messageIn(line: string): Message | string {
    try {
      return this.#read(line);
    } catch (error) {
      return error instanceof SyntaxError
        ? faultLine(PARSE_ERROR, `The message is not valid JSON: ${error.message}`)
        : faultLine(INVALID_REQUEST, NO_MESSAGE, JSON.parse(line));
    }
  }
}

/** The error answer to a line that is not a valid message; the sender of a request with an id waits for it. */
export function faultLine(code: number, message: string, sent?: unknown): string {
  const { id, method } = (typeof sent === "object" && sent !== null ? sent : {}) as Record<string, unknown>;
  const isAwaited = method !== undefined && (typeof id === "string" || Number.isSafeInteger(id));
  return `${JSON.stringify({ jsonrpc: "2.0", id: isAwaited ? id : null, error: { code, message } })}\n`;
}

/** Resolves when there is room for more. */
export function writeLine(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reads and writes messages line by line; each line that is not a message is answered with one error. */
export function messageStream<Message>(input: Readable, output: Writable, mostBytes: number) {
  return {
    readable: ReadableStream.from(messagesIn<Message>(input, output, mostBytes)) as ReadableStream<Message>,
    writable: new WritableStream<Message>({
      write: (message) => writeLine(output, `${JSON.stringify(message)}\n`),
    }),
  };
}

async function* messagesIn<Message>(
  input: Readable,
  output: Writable,
  mostBytes: number,
): AsyncGenerator<Message> {
  const lines = new MessageLines(mostBytes, (line) => {
    const value: unknown = JSON.parse(line);
    if (!isMessage(value)) throw new TypeError(NO_MESSAGE);
    return value as Message;
  });
  for await (const chunk of input) {
    for (const message of lines.endedBy(chunk)) {
      if (typeof message !== "string") yield message;
      else await writeLine(output, message);
    }
  }
}

function isMessage(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { jsonrpc, id, method, params, result, error } = value as Record<string, unknown>;
  const hasId = typeof id === "string" || Number.isSafeInteger(id);
  if (jsonrpc !== "2.0" || (!hasId && id !== undefined && id !== null)) return false;
  if (method === undefined) return hasId && (result === undefined) !== (error === undefined);
  return (
    typeof method === "string" && (params === undefined || (typeof params === "object" && params !== null))
  );
}
