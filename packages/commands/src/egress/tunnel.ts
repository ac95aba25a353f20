import { once } from "node:events";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Hello, readClientHello } from "./client-hello.ts";

/** More than any ClientHello with a long session ticket. */
const MOST_HELLO_BYTES = 64 * 1024;

/** A fatal alert: a program then says that the name was not recognized, instead of that the connection broke. */
export const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** Reads as many bytes as it takes to know what the connection is used for. They are no longer in the socket. */
export async function readHello(
  socket: Duplex,
  { headMs }: { readonly headMs: number },
): Promise<{ readonly hello: Hello; readonly bytes: Buffer }> {
  const late = setTimeout(() => socket.destroy(), headMs);
  let bytes = Buffer.alloc(0);
  try {
    for (;;) {
      const piece = socket.read() as Buffer | null;
      if (piece !== null) bytes = Buffer.concat([bytes, piece]);
      const hello = readClientHello(bytes);
      if (hello.kind !== "more") return { hello, bytes };
      if (socket.readableEnded || socket.destroyed || bytes.length > MOST_HELLO_BYTES) {
        return { hello: { kind: "other" }, bytes };
      }
      if (piece === null) await readableOrOver(socket);
    }
  } finally {
    clearTimeout(late);
  }
}

async function readableOrOver(socket: Duplex): Promise<void> {
  const over = new AbortController();
  const heard = ["readable", "end", "close"].map((event) => once(socket, event, { signal: over.signal }));
  try {
    await Promise.race(heard);
  } finally {
    over.abort();
    await Promise.allSettled(heard);
  }
}

/** Passes everything on in both directions, until one side ends it, is silent for too long or sends too much. */
export function joinSockets(
  client: Duplex,
  target: Socket,
  { idleMs, mostBytes }: { readonly idleMs: number; readonly mostBytes: number },
): void {
  let bytes = 0;
  const end = () => {
    client.destroy();
    target.destroy();
  };
  const count = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > mostBytes) end();
  };
  target.setTimeout(idleMs, end);
  for (const side of [client, target]) {
    side.on("data", count);
    side.on("error", end);
    side.once("close", end);
  }
  client.pipe(target);
  target.pipe(client);
}
