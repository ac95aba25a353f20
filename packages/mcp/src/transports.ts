import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { allowListeners } from "@burin/commands/processes/allow-listeners";
import type { ServerProcess } from "@burin/commands/processes/server-processes";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { type HttpRequest, sendHttpRequest } from "@burin/net/http-request";
import {
  type FetchLike,
  isJSONRPCResponse,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { PROTOCOL_VIOLATION } from "./mcp-error.ts";

/** The largest message. A message may be long, such as an image, but one without an end must not fill the memory. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** The maximum number of messages that are handled in a row before other work gets its turn. */
const MAX_AT_ONCE = 100;
const NEWLINE = 0x0a;

/** How much output of a server is kept that is not a protocol message. */
const MAX_GARBAGE_CHARACTERS = 500;
const PROGRESS_MS = 50;
/** The maximum number of answers over HTTP that a server has not accepted yet. */
const MAX_UNTAKEN = 100;

/** Passes on only the latest progress of each call, at intervals: a server may report each byte. */
export function throttleProgress(transport: Transport): void {
  const { onmessage } = transport;
  const latest = new Map<unknown, () => void>();
  const passLatest = () => {
    for (const hand of latest.values()) hand();
    latest.clear();
  };
  transport.onmessage = (message, extra) => {
    const passMessage = () => onmessage?.(message, extra);
    if (!("method" in message) || message.method !== "notifications/progress") return passMessage();
    if (latest.size === 0) setTimeout(passLatest, PROGRESS_MS);
    latest.set(message.params?.progressToken, passMessage);
  };
}

/** Closes the connection to a server that keeps asking and accepts no answers. */
export function limitAnswers<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport);
  let untaken = 0;
  transport.send = async (message, options) => {
    if ("method" in message) return send(message, options);
    if (untaken === MAX_UNTAKEN) return transport.close();
    untaken += 1;
    return send(message, options).finally(() => void untaken--);
  };
  return transport;
}

/**
 * Talks to a server over its stdin and stdout, one message per line. It replaces the SDK's own transport, because Burin
 * starts, records and ends all its processes in one place, together with their child processes.
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
    if (this.#isClosed || input === undefined || !input.writable) throw new Error("it has ended");
    if (input.writableLength > MAX_MESSAGE_BYTES) {
      this.#garbage = "questions, and it reads no answers";
      void this.close();
      throw new Error("it reads nothing");
    }
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

  /** Returns what is known about a failure: the last lines of stderr, and other output. */
  readLastOutput(): string {
    const words = this.#server?.readErrorTail().trim() ?? "";
    if (this.#garbage === "") return words;
    return `${words}\nNot an MCP message: ${this.#garbage}`.trim();
  }

  #receive(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    if (bytes.includes(NEWLINE)) this.#handleLines();
    else if (this.#length > MAX_MESSAGE_BYTES) {
      this.#garbage = `a line of more than ${MAX_MESSAGE_BYTES} bytes`;
      void this.close();
    }
  }

  /** Handles the received lines. Takes turns with other work, and reads no faster than it handles them. */
  #handleLines(): void {
    const all = Buffer.concat(this.#pieces);
    let from = 0;
    for (let handled = 0; handled < MAX_AT_ONCE; handled += 1) {
      const end = all.indexOf(NEWLINE, from);
      if (end === -1) {
        this.#keepRest(all.subarray(from));
        this.#server?.output.resume();
        return;
      }
      this.#handle(all.toString("utf8", from, end));
      from = end + 1;
    }
    this.#keepRest(all.subarray(from));
    this.#server?.output.pause();
    setImmediate(() => this.#handleLines());
  }

  #keepRest(rest: Buffer): void {
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  #handle(line: string): void {
    const message = parseMessage(line);
    if (message === null) this.#garbage ||= line.trim().slice(0, MAX_GARBAGE_CHARACTERS);
    else if (!this.#isClosed) this.onmessage?.(message);
  }
}

/**
 * Parses a line. Other output of programs, such as greetings, is skipped (null). An answer that breaks the protocol
 * becomes an error, because the SDK would drop it and the request would wait for its time limit.
 */
function parseMessage(line: string): JSONRPCMessage | null {
  const value = parseJson(line);
  if (!isRecord(value) || !("jsonrpc" in value)) {
    const [, id] = /^\{.{0,99}"id" ?: ?(\d+)/.exec(line.includes('"jsonrpc"') ? line : "") ?? [];
    return id === undefined ? null : createUnreadableError(Number(id));
  }
  const isAnswer = !("method" in value) && typeof value.id === "number";
  return isAnswer && !isJSONRPCResponse(value)
    ? createUnreadableError(Number(value.id))
    : (value as JSONRPCMessage);
}

function createUnreadableError(id: number): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: -32_603, message: PROTOCOL_VIOLATION } };
}

/** An error code that the protocol does not use, for responses that never arrived. */
export const ANSWER_LOST_CODE = -32_099;

type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/** Fails a request if its response stream ends without a response. The SDK alone would wait for the time limit. */
export class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const id = !Array.isArray(message) && "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return super.send(message, options);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      // If the response has already arrived, the SDK drops this one.
      const error = { code: ANSWER_LOST_CODE, message: "the connection ended before the answer" };
      this.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * Returns a `fetch` for the SDK that uses Burin's own requests, with the proxy that the environment names, and without
 * a limit for silence. It does not follow redirects; the SDK decides about them. It connects to `addresses`, if given.
 */
export const createHttpFetch =
  (environment: NodeJS.ProcessEnv, addresses?: readonly string[]): FetchLike =>
  async (address, init = {}) => {
    const url = new URL(address);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const sent = readBodyText(init.body ?? "");
    const body = sent === "" ? {} : { body: [Buffer.from(sent)] };
    const method = (init.method ?? "GET") as HttpRequest["method"];
    const signal = init.signal ?? new AbortController().signal;
    // The signal may be that of the whole connection, which many requests share.
    allowListeners(signal);
    const checked = addresses === undefined ? {} : { addresses };
    const answer = await sendHttpRequest({ url, method, headers, environment, ...body, ...checked }, signal);
    const entries = Object.entries(answer.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    const isStream = /^text\/event-stream/i.test(String(answer.headers["content-type"]));
    const received = Readable.from(limitBody(answer.body, isStream));
    const content = WITHOUT_BODY.has(answer.status) ? null : (Readable.toWeb(received) as ReadableStream);
    return new Response(content, { status: answer.status, headers: entries });
  };

function readBodyText(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string" || body instanceof URLSearchParams) return body.toString();
  throw new Error("Only text is sent to MCP servers.");
}

/** Passes the body on. Fails when a message, or in an event stream an event, is too long. */
async function* limitBody(body: AsyncIterable<Uint8Array>, isStream: boolean): AsyncGenerator<Uint8Array> {
  let length = 0;
  let before = "";
  for await (const bytes of body) {
    length += bytes.length;
    if (isStream) {
      const text = before + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
      if (/\n\r?\n|\r\r/.test(text)) length = 0;
      before = text.slice(-2);
    }
    if (length > MAX_MESSAGE_BYTES)
      throw new Error(`it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`);
    yield bytes;
  }
}
