import { once } from "node:events";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ClientHello, readClientHello } from "./client-hello.ts";

/** The maximum number of bytes to read for a ClientHello: more than one with a long session ticket has. */
const MAX_HELLO_BYTES = 64 * 1024;

/** A fatal TLS alert, so that the program reports an unrecognized name instead of a broken connection. */
export const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** Reads enough bytes to tell what the connection carries. They are consumed from the socket. */
export async function readHello(
  socket: Duplex,
  { headMs }: { readonly headMs: number },
): Promise<{ readonly hello: ClientHello; readonly bytes: Buffer }> {
  const late = setTimeout(() => socket.destroy(), headMs);
  let bytes = Buffer.alloc(0);
  try {
    for (;;) {
      const piece = socket.read() as Buffer | null;
      if (piece !== null) bytes = Buffer.concat([bytes, piece]);
      const hello = readClientHello(bytes);
      if (hello.kind !== "more") return { hello, bytes };
      if (socket.readableEnded || socket.destroyed || bytes.length > MAX_HELLO_BYTES) {
        return { hello: { kind: "other" }, bytes };
      }
      if (piece === null) await waitForReadable(socket);
    }
  } finally {
    clearTimeout(late);
  }
}

async function waitForReadable(socket: Duplex): Promise<void> {
  const over = new AbortController();
  const heard = ["readable", "end", "close"].map((event) => once(socket, event, { signal: over.signal }));
  try {
    await Promise.race(heard);
  } finally {
    over.abort();
    await Promise.allSettled(heard);
  }
}

/** Relays both directions until one side ends, is idle for too long or sends too much. */
export function joinSockets(
  client: Duplex,
  target: Socket,
  { idleMs, maxBytes }: { readonly idleMs: number; readonly maxBytes: number },
): void {
  let bytes = 0;
  const closeBoth = () => {
    client.destroy();
    target.destroy();
  };
  const countTunnelBytes = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes) closeBoth();
  };
  target.setTimeout(idleMs, closeBoth);
  for (const side of [client, target]) {
    side.on("data", countTunnelBytes);
    side.on("error", closeBoth);
    side.once("close", closeBoth);
  }
  client.pipe(target);
  target.pipe(client);
}
