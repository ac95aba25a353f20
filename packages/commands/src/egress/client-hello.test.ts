import { once } from "node:events";
import { createServer } from "node:net";
import { type ConnectionOptions, connect } from "node:tls";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { describe, expect, it } from "vitest";
import { readClientHello } from "./client-hello.ts";

/** What this computer's own TLS sends first. */
async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  const client = connect({ host: "127.0.0.1", port, ...options });
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [import("node:net").Socket];
  let bytes = Buffer.alloc(0);
  while (readClientHello(bytes).kind === "more") {
    const [piece] = (await once(socket, "data")) as [Buffer];
    bytes = Buffer.concat([bytes, piece]);
  }
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

const NAMED = { servername: "packages.test" };

/** The same message in records of that many bytes. */
function split(hello: Buffer, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 5; at < hello.length; at += size) {
    const piece = hello.subarray(at, at + size);
    const head = Buffer.from([22, 3, 1, 0, 0]);
    head.writeUInt16BE(piece.length, 3);
    pieces.push(head, piece);
  }
  return Buffer.concat(pieces);
}

/** A hello with nothing but these extensions. */
function written(extensions: readonly (readonly [type: number, content: Buffer])[]): Buffer {
  const counted = (width: number, content: Buffer) => {
    const head = Buffer.alloc(width);
    head.writeUIntBE(content.length, 0, width);
    return Buffer.concat([head, content]);
  };
  const all = extensions.map(([type, content]) =>
    Buffer.concat([Buffer.from([type >> 8, type & 255]), counted(2, content)]),
  );
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    counted(1, Buffer.alloc(0)),
    counted(2, Buffer.from([0x13, 0x01])),
    counted(1, Buffer.from([0])),
    counted(2, Buffer.concat(all)),
  ]);
  const message = Buffer.concat([Buffer.from([1]), counted(3, body)]);
  return Buffer.concat([Buffer.from([22, 3, 1]), counted(2, message)]);
}

function serverName(...names: readonly string[]): Buffer {
  const each = names.map((name) => {
    const head = Buffer.from([0, 0, 0]);
    head.writeUInt16BE(name.length, 1);
    return Buffer.concat([head, Buffer.from(name)]);
  });
  const list = Buffer.concat(each);
  const head = Buffer.alloc(2);
  head.writeUInt16BE(list.length);
  return Buffer.concat([head, list]);
}

describe("P37 the first message of TLS", () => {
  it.each([
    ["TLS 1.3", NAMED],
    ["TLS 1.2", { ...NAMED, maxVersion: "TLSv1.2" as const }],
    ["with protocols", { ...NAMED, ALPNProtocols: ["h2", "http/1.1"] }],
  ])("P37 has its server name: %s", async (_title, options) => {
    expect(readClientHello(await helloOf(options))).toEqual({ kind: "tls", name: "packages.test" });
  });

  it("P37 has none if the program named none", async () => {
    expect(readClientHello(await helloOf({}))).toEqual({ kind: "tls", name: null });
  });

  it.each([1, 3, 7, 64, 250])(
    "P37 is read out of records of %i bytes, and at no cut before its end",
    async (size) => {
      const bytes = split(await helloOf(NAMED), size);
      for (let end = 0; end < bytes.length; end += 1) {
        expect(readClientHello(bytes.subarray(0, end)).kind).toBe("more");
      }
      expect(readClientHello(bytes)).toEqual({ kind: "tls", name: "packages.test" });
    },
  );

  it("P37 is refused where servers could read another name in it", async () => {
    const plain = written([[0, serverName("a.test")]]);
    expect(readClientHello(plain)).toEqual({ kind: "tls", name: "a.test" });
    const odd = [
      written([
        [0, serverName("a.test")],
        [0, serverName("b.test")],
      ]),
      written([[0, serverName("a.test", "b.test")]]),
      written([[0, Buffer.concat([serverName("a.test"), Buffer.from([0])])]]),
      written([[0, Buffer.from([0, 4, 1, 0, 1, 97])]]),
      written([[0, Buffer.from([0, 9, 0, 0, 9, 97])]]),
      Buffer.concat([
        plain.subarray(0, 3),
        Buffer.from([0, plain.length - 5 + 1]),
        plain.subarray(5),
        Buffer.from([2]),
      ]),
    ];
    for (const hello of odd) expect(readClientHello(hello).kind).toBe("other");
  });

  it.each([
    "GET / HTTP/1.1\r\n",
    "SSH-2.0-x\r\n",
    "\x16\x02\x01\x00\x05",
    "\x16\x03\x01\x00\x00",
    "\x80\x2e\x01\x03\x01",
  ])("P37 is not in %j", (text) => {
    expect(readClientHello(Buffer.from(text, "latin1")).kind).toBe("other");
  });
});
