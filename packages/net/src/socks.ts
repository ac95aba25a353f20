import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";

export interface Target {
  readonly host: string;
  readonly port: number;
}

const VERSION = 5;
const AUTH_NONE = 0;
const AUTH_PASSWORD = 2;
const COMMAND_CONNECT = 1;
const ADDRESS_TYPE_NAME = 3;
const ADDRESS_LENGTHS: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
const REFUSALS = [
  "failed",
  "does not allow the connection",
  "cannot reach the network",
  "cannot reach the host",
  "was refused by the host",
  "timed out",
  "does not know the command",
  "does not know the kind of address",
];

/** Connects to the target through a SOCKS5 proxy, which also looks the name up. Rejects with the proxy's reason. */
export async function dialBySocks(proxy: URL, target: Target, maxWaitMs: number): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(proxy.port || 1080) });
  socket.setTimeout(maxWaitMs, () => socket.destroy(new Error("did not answer")));
  try {
    await once(socket, "connect");
    const hasLogin = proxy.username !== "";
    socket.write(Buffer.from(hasLogin ? [VERSION, 2, AUTH_NONE, AUTH_PASSWORD] : [VERSION, 1, AUTH_NONE]));
    const [version, way] = await readExactly(socket, 2);
    if (version !== VERSION) throw new Error("does not speak SOCKS5");
    if (way === AUTH_PASSWORD && hasLogin) await authenticate(socket, proxy);
    else if (way !== AUTH_NONE) throw new Error("requires a user name and a password");
    socket.write(Buffer.concat([Buffer.from([VERSION, COMMAND_CONNECT, 0]), encodeAddress(target)]));
    const [, status = 1, , kind = 0, length = 0] = await readExactly(socket, 5);
    if (status !== 0) throw new Error(REFUSALS[status - 1] ?? `answered ${status}`);
    // Skip the rest of the local address, of which one byte has been read, and its port of two bytes.
    await readExactly(socket, (kind === ADDRESS_TYPE_NAME ? length : (ADDRESS_LENGTHS[kind] ?? 4) - 1) + 2);
    return socket.setTimeout(0);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function authenticate(socket: Socket, { username, password }: URL): Promise<void> {
  socket.write(Buffer.concat([Buffer.of(1), encodeWithLength(username), encodeWithLength(password)]));
  const [, status] = await readExactly(socket, 2);
  if (status !== 0) throw new Error("rejected the user name or the password");
}

function encodeWithLength(text: string): Buffer {
  const bytes = Buffer.from(decodeURIComponent(text));
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

/** The target goes to the proxy by name, and the proxy resolves it. */
function encodeAddress({ host, port }: Target): Buffer {
  const place = Buffer.alloc(2);
  place.writeUInt16BE(port);
  const four = isIP(host) === 4 ? Buffer.from([1, ...host.split(".").map(Number)]) : null;
  const name = Buffer.from(host);
  return Buffer.concat([four ?? Buffer.concat([Buffer.from([ADDRESS_TYPE_NAME, name.length]), name]), place]);
}

/** Reads exactly this many bytes and puts the rest back into the stream. */
async function readExactly(socket: Socket, count: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    // Read everything: leftover data would trigger a new listener at once.
    bytes = Buffer.concat([bytes, (socket.read() as Buffer | null) ?? Buffer.alloc(0)]);
    if (bytes.length >= count) break;
    if (socket.readableEnded || socket.destroyed) throw new Error("closed the connection");
    await waitForData(socket);
  }
  if (bytes.length > count) socket.unshift(bytes.subarray(count));
  return bytes.subarray(0, count);
}

/** Waits until data is available or the connection has ended. */
async function waitForData(socket: Socket): Promise<void> {
  const over = new AbortController();
  const options = { signal: over.signal };
  try {
    await Promise.race(["readable", "end", "close"].map((event) => once(socket, event, options)));
  } finally {
    over.abort();
  }
}
