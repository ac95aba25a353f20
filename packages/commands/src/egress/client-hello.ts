/**
 * What the first bytes of a connection are: too few to tell (`more`), not TLS (`other`), or a TLS ClientHello with its
 * server name (null if it names none).
 */
export type ClientHello =
  | { readonly kind: "more" }
  | { readonly kind: "other" }
  | { readonly kind: "tls"; readonly name: string | null };

const NEEDS_MORE: ClientHello = { kind: "more" };
const NOT_TLS: ClientHello = { kind: "other" };

const [HANDSHAKE, CLIENT_HELLO, SERVER_NAME, HOST_NAME] = [22, 1, 0, 0];
const RECORD_HEAD = 5;
const MESSAGE_HEAD = 4;
/** The longest record that RFC 8446 allows. */
const MAX_RECORD_BYTES = 16_384;

/**
 * Reads the server name from a TLS ClientHello, even from one that is split over several records. Anything that a
 * strict parser would reject counts as `other`: a lenient server might read a different name from it.
 */
export function readClientHello(bytes: Buffer): ClientHello {
  const message = joinRecords(bytes);
  if (!Buffer.isBuffer(message)) return message;
  try {
    return { kind: "tls", name: readServerName(new Reader(message)) };
  } catch (error) {
    if (error instanceof RangeError) return NOT_TLS;
    throw error;
  }
}

/** Joins the first handshake message from as many records as it spans. */
function joinRecords(bytes: Buffer): Buffer | ClientHello {
  let message = Buffer.alloc(0);
  for (let at = 0; at <= bytes.length; ) {
    const length = readRecordLength(bytes.subarray(at, at + RECORD_HEAD));
    if (typeof length !== "number") return length;
    message = Buffer.concat([message, bytes.subarray(at + RECORD_HEAD, at + RECORD_HEAD + length)]);
    if (message[0] !== undefined && message[0] !== CLIENT_HELLO) return NOT_TLS;
    const end =
      message.length < MESSAGE_HEAD ? Number.POSITIVE_INFINITY : MESSAGE_HEAD + message.readUIntBE(1, 3);
    // Bytes after the hello could be a second message, which this parser does not read.
    if (message.length > end) return NOT_TLS;
    if (message.length === end) return message.subarray(MESSAGE_HEAD);
    at += RECORD_HEAD + length;
  }
  return NEEDS_MORE;
}

function readRecordLength(head: Buffer): number | ClientHello {
  if (head.length > 0 && head[0] !== HANDSHAKE) return NOT_TLS;
  if (head.length > 1 && head[1] !== 3) return NOT_TLS;
  if (head.length < RECORD_HEAD) return NEEDS_MORE;
  const length = head.readUInt16BE(3);
  return length === 0 || length > MAX_RECORD_BYTES ? NOT_TLS : length;
}

/** Throws a RangeError when the hello is malformed. */
function readServerName(hello: Reader): string | null {
  hello.takeBytes(2 + 32);
  hello.readBlock(1);
  hello.readBlock(2);
  hello.readBlock(1);
  if (hello.isAtEnd) return null;
  const extensions = hello.readBlock(2);
  if (!hello.isAtEnd) throw new RangeError("bytes after the extensions");
  let name: string | null = null;
  while (!extensions.isAtEnd) {
    const type = extensions.readNumber(2);
    const content = extensions.readBlock(2);
    if (type !== SERVER_NAME) continue;
    const names = content.readBlock(2);
    const kind = names.readNumber(1);
    const text = names.readBlock(2).takeRest().toString("latin1");
    // Reject two names: servers differ in which of them they use.
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

  takeBytes(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new RangeError("too short");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  takeRest(): Buffer {
    return this.takeBytes(this.#bytes.length - this.#at);
  }

  readNumber(width: number): number {
    return this.takeBytes(width).readUIntBE(0, width);
  }

  /** Reads a block that is preceded by its own length. */
  readBlock(width: number): Reader {
    return new Reader(this.takeBytes(this.readNumber(width)));
  }
}
