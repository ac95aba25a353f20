import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { BURIN } from "./burin.ts";

export interface RawMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: Readonly<Record<string, unknown>>;
}

export interface RawServer {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<number | null>;
  /** A line as it stands, or a message. */
  readonly send: (line: string | object) => void;
  readonly next: () => Promise<RawMessage>;
  /** The next answer to the request of this id; what comes before it is dropped. */
  readonly answer: (id: number | string) => Promise<RawMessage>;
}

/** `burin serve` as it ships, for a client that need not keep the protocol. */
export function rawServer(root: string, args: readonly string[], env: object = {}): RawServer {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [BURIN, "serve", ...args], {
    cwd: root,
    env: { PATH, HOME: root, BURIN_HOME: `${root}/.home`, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const next = async (): Promise<RawMessage> => {
    const { done, value } = await lines.next();
    if (done) throw new Error("The server is gone.");
    return JSON.parse(value);
  };
  return {
    child,
    ended,
    send: (line) =>
      void child.stdin.write(
        `${typeof line === "string" ? line : JSON.stringify({ jsonrpc: "2.0", ...line })}\n`,
      ),
    next,
    answer: async (id) => {
      for (;;) {
        const message = await next();
        if (message.id === id && message.method === undefined) return message;
      }
    },
  };
}
