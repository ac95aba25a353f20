/** What the first bytes of a connection show: more are needed, they are not TLS, or TLS for a name (null: for none). */
export type Hello =
  | { readonly kind: "more" }
  | { readonly kind: "other" }
  | { readonly kind: "tls"; readonly name: string | null };

const MORE: Hello = { kind: "more" };
const OTHER: Hello = { kind: "other" };

const [HANDSHAKE, CLIENT_HELLO, SERVER_NAME, HOST_NAME] = [22, 1, 0, 0];
const RECORD_HEAD = 5;
const MESSAGE_HEAD = 4;
/** RFC 8446: no record is longer. */
const MOST_RECORD_BYTES = 16_384;

/**
 * Reads the server name in a TLS ClientHello, also when it is split over records. Anything that a strict reader
 * would not accept counts as `other`: the server could read another name in it.
 */
export function readClientHello(bytes: Buffer): Hello {
  const message = joinRecords(bytes);
  if (!Buffer.isBuffer(message)) return message;
  try {
    return { kind: "tls", name: readServerName(new Reader(message)) };
  } catch (error) {
    if (error instanceof RangeError) return OTHER;
    throw error;
  }
}

/** The one handshake message at the start, out of as many records as it fills. */
function joinRecords(bytes: Buffer): Buffer | Hello {
  let message = Buffer.alloc(0);
  for (let at = 0; at <= bytes.length; ) {
    const length = recordLength(bytes.subarray(at, at + RECORD_HEAD));
    if (typeof length !== "number") return length;
    message = Buffer.concat([message, bytes.subarray(at + RECORD_HEAD, at + RECORD_HEAD + length)]);
    if (message[0] !== undefined && message[0] !== CLIENT_HELLO) return OTHER;
    const end =
      message.length < MESSAGE_HEAD ? Number.POSITIVE_INFINITY : MESSAGE_HEAD + message.readUIntBE(1, 3);
    // A second message behind the hello would be one that this does not read.
    if (message.length > end) return OTHER;
    if (message.length === end) return message.subarray(MESSAGE_HEAD);
    at += RECORD_HEAD + length;
  }
  return MORE;
}

function recordLength(head: Buffer): number | Hello {
  if (head.length > 0 && head[0] !== HANDSHAKE) return OTHER;
  if (head.length > 1 && head[1] !== 3) return OTHER;
  if (head.length < RECORD_HEAD) return MORE;
  const length = head.readUInt16BE(3);
  return length === 0 || length > MOST_RECORD_BYTES ? OTHER : length;
}

/** Throws a RangeError where the hello does not keep its form. */
function readServerName(hello: Reader): string | null {
  hello.take(2 + 32);
  hello.block(1);
  hello.block(2);
  hello.block(1);
  if (hello.isAtEnd) return null;
  const extensions = hello.block(2);
  if (!hello.isAtEnd) throw new RangeError("bytes behind the extensions");
  let name: string | null = null;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.block(2);
    if (type !== SERVER_NAME) continue;
    const names = content.block(2);
    const kind = names.number(1);
    const text = names.block(2).rest().toString("latin1");
    // Servers differ in which of two names they take.
    if (name !== null || kind !== HOST_NAME || !names.isAtEnd || !content.isAtEnd) {
      throw new RangeError("more than one server name");
    }
    name = text;
  }
  return name;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new RangeError("too short");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }

  number(width: number): number {
    return this.take(width).readUIntBE(0, width);
  }

  /** What is behind its own length. */
  block(width: number): Reader {
    return new Reader(this.take(this.number(width)));
  }
}
