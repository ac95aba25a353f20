import {
  deserializeMessage,
  type JSONRPCMessage,
  type McpRequestContext,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type ServeOptions, waitForAbort } from "../ground.ts";
import { readMessages, waitUntilRead, writeLine } from "../message-lines.ts";
import { ToolsHost } from "./place.ts";
import { PlainCalls } from "./plain-calls.ts";
import { createToolServer, notifyOfChanges } from "./tool-server.ts";

/** The limit of the protocol's own library for one message. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Serves the client at the other end of stdin and stdout until it disconnects or the user interrupts. */
export async function serveMcp(ground: ServeOptions): Promise<void> {
  const place = new ToolsHost(ground, () => waitUntilRead(process.stdout));
  const { version, signal, isRootFixed } = ground;
  const onerror = ({ message }: Error) => ground.note(message);
  const ended = new Promise<void>((resolve) => {
    const transport = new StdioTransport(place, resolve);
    const { calls } = transport;
    const createServer = ({ era }: McpRequestContext) => {
      const server = createToolServer({ version, place, followsRoots: !isRootFixed, calls });
      notifyOfChanges(server, place);
      if (era === "legacy") calls.useServer(server);
      return server;
    };
    serveStdio(createServer, { transport, onerror });
  });
  await Promise.race([ended, waitForAbort(signal)]);
  await place.close();
}

/** Reads and writes one message per line. Unlike the protocol's library, it answers each line that is not a message. */
class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly calls: PlainCalls;
  readonly #onEnd: () => void;
  #isClosed = false;

  /** `onEnd` is called when the client is gone or the connection was closed. */
  constructor(place: ToolsHost, onEnd: () => void) {
    this.calls = new PlainCalls(place, this);
    this.#onEnd = onEnd;
  }

  async start(): Promise<void> {
    const end = () => void this.close();
    process.stdout.on("error", end);
    void this.#handleMessages().then(end, end);
  }

  async #handleMessages(): Promise<void> {
    const form = { maxBytes: MAX_BYTES, read: deserializeMessage };
    for await (const message of readMessages(process.stdin, process.stdout, form)) {
      if (this.#isClosed) return;
      await this.calls.receiveMessage(message);
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("The connection is closed.");
    await writeLine(process.stdout, serializeMessage(message));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    process.stdin.destroy();
    this.calls.close();
    this.onclose?.();
    this.#onEnd();
  }
}
