import type { Readable, Writable } from "node:stream";

const NEWLINE = 10;
const INVALID_MESSAGE = "The message is not a JSON-RPC 2.0 request, notification or response.";
const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;

/** The error answer to a line that is not a valid message; the sender of a request with an id waits for it. */
export function formatErrorLine(code: number, message: string, sent?: unknown): string {
  const { id, method } = (typeof sent === "object" && sent !== null ? sent : {}) as Record<string, unknown>;
  const isAwaited = method !== undefined && (typeof id === "string" || Number.isSafeInteger(id));
  return `${JSON.stringify({ jsonrpc: "2.0", id: isAwaited ? id : null, error: { code, message } })}\n`;
}

/** Writes a message. Resolves when there is room for more. */
export function writeLine(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** The maximum number of bytes that may wait until the other side reads them. */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/** Resolves when enough has been read that more may be written, or when nothing will ever be read. */
export async function waitUntilRead(output: Writable): Promise<void> {
  if (output.writableLength > MAX_UNREAD_BYTES) await writeLine(output, "").catch(() => {});
}

/** Reads and writes JSON-RPC messages line by line. */
export function createMessageStream<Message>(input: Readable, output: Writable, maxBytes: number) {
  const parseLine = (line: string): Message => {
    const value: unknown = JSON.parse(line);
    if (!isMessage(value)) throw new TypeError(INVALID_MESSAGE);
    return value as Message;
  };
  return {
    readable: ReadableStream.from(
      readMessages(input, output, { maxBytes, read: parseLine }),
    ) as ReadableStream<Message>,
    writable: new WritableStream<Message>({
      write: (message) => writeLine(output, `${JSON.stringify(message)}\n`),
    }),
  };
}

interface MessageFormat<Message> {
  readonly maxBytes: number;
  /** Parses a message. Throws for a line that is none. */
  readonly read: (line: string) => Message;
}

/** Yields the messages, one a line; each line that is too long, or not a message, is answered with one error. */
export async function* readMessages<Message>(
  input: Readable,
  output: Writable,
  { maxBytes, read }: MessageFormat<Message>,
): AsyncGenerator<Message> {
  for await (const line of splitLines(input, maxBytes)) {
    if (line === "") continue;
    const message =
      line === null
        ? formatErrorLine(INVALID_REQUEST, `The message is longer than ${maxBytes} bytes.`)
        : parseMessage(line, read);
    if (typeof message !== "string") yield message;
    else await writeLine(output, message);
    await waitUntilRead(output);
  }
}

/** Splits data that arrives in pieces into lines; null stands for one that is too long. */
async function* splitLines(input: Readable, maxBytes: number): AsyncGenerator<string | null> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const bufferPart = (part: Buffer) => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      bufferPart(chunk.subarray(start, end));
      start = end + 1;
      yield bytes > maxBytes ? null : Buffer.concat(parts).toString("utf8").trim();
      parts = [];
      bytes = 0;
    }
    bufferPart(chunk.subarray(start));
  }
}

/** Returns the message in a line, or the error to answer with. */
function parseMessage<Message>(line: string, read: (line: string) => Message): Message | string {
  try {
    return read(line);
  } catch (error) {
    return error instanceof SyntaxError
      ? formatErrorLine(PARSE_ERROR, `The message is not valid JSON: ${error.message}`)
      : formatErrorLine(INVALID_REQUEST, INVALID_MESSAGE, JSON.parse(line));
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
