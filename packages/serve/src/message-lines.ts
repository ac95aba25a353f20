import type { Readable, Writable } from "node:stream";

const NEWLINE = 10;
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;

/** Splits data that arrives in pieces into lines, one message each. */
export class MessageLines {
  readonly #mostBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Yields the non-empty lines that end in this piece; null for one that is too long, which is not kept. */
  *endedBy(chunk: Buffer): Generator<string | null> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const isTooLong = this.#bytes > this.#mostBytes;
      const line = Buffer.concat(this.#parts).toString("utf8").trim();
      this.#parts = [];
      this.#bytes = 0;
      if (isTooLong) yield null;
      else if (line !== "") yield line;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#mostBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  get tooLong(): string {
    return `The message is longer than ${this.#mostBytes} bytes.`;
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
  const lines = new MessageLines(mostBytes);
  for await (const chunk of input) {
    for (const line of lines.endedBy(chunk)) {
      const message =
        line === null ? faultLine(INVALID_REQUEST, lines.tooLong) : messageOrFault<Message>(line);
      if (typeof message !== "string") yield message;
      else await writeLine(output, message);
    }
  }
}

function messageOrFault<Message>(line: string): Message | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return faultLine(
      PARSE_ERROR,
      `The message is not valid JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
  return isMessage(value)
    ? (value as Message)
    : faultLine(
        INVALID_REQUEST,
        "The message is not a JSON-RPC 2.0 request, notification or response.",
        value,
      );
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
