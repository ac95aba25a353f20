import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach } from "vitest";
import { BURIN, buildEnvironment, waitForExit } from "./burin.ts";
import { put } from "./project.ts";

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

const open: RawServer[] = [];

beforeEach(() => void put("a.txt", "one\n"));

/** All servers are ended as their clients end them. */
afterEach(async () => {
  for (const { child, ended } of open.splice(0)) {
    child.stdin.destroy();
    await ended;
  }
});

/** `burin serve` as it ships, for a client that need not keep the protocol. */
export function rawServer(folder: string, args: readonly string[], env: object = {}): RawServer {
  const child = spawn(process.execPath, [BURIN, "serve", ...args], {
    cwd: folder,
    env: buildEnvironment(folder, env),
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
  const server: RawServer = {
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
  open.push(server);
  return server;
}

export async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(20);
}

/** Returns the processes with exactly this command line. */
export async function findProcesses(command: string): Promise<string> {
  return (await waitForExit(spawn("pgrep", ["-f", "-x", command]))).stdout;
}

/** Starts a server for a client with these capabilities. */
export async function serveMcp(folder: string, capabilities: object, ...args: string[]): Promise<RawServer> {
  const server = rawServer(folder, ["mcp", ...args]);
  const params = { protocolVersion: "2025-06-18", capabilities, clientInfo: { name: "raw", version: "1" } };
  server.send({ id: "start", method: "initialize", params });
  await server.answer("start");
  server.send({ method: "notifications/initialized" });
  return server;
}

export const toolCall = (id: number, name: string, args: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

/** Waits for the server's next request of this method. */
export async function waitForRequest(server: RawServer, method: string): Promise<RawMessage> {
  for (;;) {
    const message = await server.next();
    if (message.method === method) return message;
  }
}

export function formatMessage({ result, error }: RawMessage): string {
  return JSON.stringify(error ?? result);
}
