import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, describe, expect, it } from "vitest";
import { EgressFixture, LOGIN } from "../../tests/egress-room.ts";

const rooms: EgressFixture[] = [];
const open = async (...given: Parameters<EgressFixture["open"]>): Promise<EgressFixture> => {
  const room = new EgressFixture();
  rooms.push(room);
  return room.open(...given);
};

afterEach(() => {
  for (const room of rooms.splice(0)) room.close();
});

describe("P37 the proxy of commands", () => {
  it("P37 leads a tunnel with TLS to the place that it was asked for", async () => {
    const room = await open();
    const answer = await room.secureRequest(`model.test:${room.securePort}`, { servername: "model.test" });
    expect(answer).toContain("answer to GET /packages");
    expect(room.refusals).toEqual([]);
    expect(room.lookups).toEqual(["model.test"]);
  });

  it("P37 takes capitals and a dot at the end as the same name", async () => {
    const room = await open();
    const answer = await room.secureRequest(`Model.TEST.:${room.securePort}`, { servername: "MODEL.test" });
    expect(answer).toContain("answer to GET /packages");
  });

  it("P37 sends a plain request on, for the host of its address and without what was for the proxy", async () => {
    const room = await open();
    const place = `model.test:${room.plainPort}`;
    const answer = await room.say(
      `POST http://${place}/a/../b?x=%2e HTTP/1.1\r\nHost: other.test\r\n${LOGIN}X-Kept: yes\r\nX-Gone: no\r\n` +
        "Connection: close, x-gone\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const [{ line, headers, body } = { line: "", headers: {}, body: "" }] = room.seen;
    expect({ line, body }).toEqual({ line: "POST /a/../b?x=%2e", body: "hello" });
    expect(headers).toMatchObject({ host: place, "x-kept": "yes" });
    expect(headers).not.toHaveProperty("x-gone");
    expect(headers).not.toHaveProperty("proxy-authorization");
  });

  it("P37 keeps the length of a body that the head gives away as its own", async () => {
    const room = await open();
    const smuggled = "GET /secret HTTP/1.1\r\nHost: model.test\r\n\r\n";
    await room.say(
      `GET http://model.test:${room.plainPort}/ HTTP/1.1\r\nHost: x\r\n${LOGIN}Connection: close, content-length\r\n` +
        `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    );
    expect(room.seen.map(({ line, body }) => [line, body])).toEqual([["GET /", smuggled]]);
  });

  it("P37 answers for a host that is not allowed with one sentence, and looks nothing up", async () => {
    const room = await open();
    const refused = await room.tunnel("data.evil.test:443");
    expect(refused).toMatch(/^HTTP\/1\.1 403 data\.evil\.test is not allowed here\.\r\n/);
    expect(refused).toMatch(/\r\n\r\ndata\.evil\.test is not allowed here\.\n$/);
    expect(await room.say(`GET http://evil.test/ HTTP/1.1\r\nHost: model.test\r\n${LOGIN}\r\n`)).toContain(
      "evil.test is not allowed here.",
    );
    expect(room.lookups).toEqual([]);
    expect(room.refusals.map(({ place, client }) => [place, client])).toEqual([
      ["data.evil.test:443", "run_1"],
      ["evil.test:80", "run_1"],
    ]);
  });

  it("P37 passes a redirect on, and judges where it leads", async () => {
    const room = await open();
    const first = await room.say(
      `GET http://model.test:${room.plainPort}/away HTTP/1.1\r\nHost: x\r\n${LOGIN}Connection: close\r\n\r\n`,
    );
    expect(first).toContain("location: http://elsewhere.test/");
    expect(await room.say(`GET http://elsewhere.test/ HTTP/1.1\r\nHost: x\r\n${LOGIN}\r\n`)).toMatch(
      /^HTTP\/1\.1 403 /,
    );
  });

  it.each([
    ["no login", ""],
    ["another password", `proxy-authorization: Basic ${Buffer.from("run_1:guess").toString("base64")}\r\n`],
    ["what is not a login", "proxy-authorization: Bearer word\r\n"],
  ])("P37 asks a stranger for a login: %s", async (_title, login) => {
    const room = await open();
    const answer = await room.tunnel(`model.test:${room.securePort}`, login);
    expect(answer).toMatch(/^HTTP\/1\.1 407 /);
    expect(answer).toContain('proxy-authenticate: Basic realm="Burin"');
    expect(room.judged).toEqual([]);
  });

  it("P37 waits for the answer, and lets it go when the program gives up", async () => {
    let aborted: Promise<unknown> = Promise.resolve();
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const room = await open({
      judge: (_place, _client, signal) => {
        aborted = once(signal, "abort");
        asked();
        return new Promise(() => {});
      },
    });
    const socket = room.connect();
    socket.write(`CONNECT slow.test:443 HTTP/1.1\r\nhost: slow.test\r\n${LOGIN}\r\n`);
    await isAsked;
    socket.end();
    await aborted;
    expect(room.lookups).toEqual([]);
  });
});

describe("P37 what leads elsewhere", () => {
  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.0.0.1.",
    "93.184.215.14",
    "[::1]",
    "[::ffff:7f00:1]",
    "[2606:4700::1111]",
  ])("P37 an address without a name is refused: %s", async (host) => {
    const room = await open();
    expect(await room.tunnel(`${host}:443`)).toMatch(/^HTTP\/1\.1 403 .* is an address without a name/);
    expect(await room.say(`GET http://${host}/ HTTP/1.1\r\nHost: model.test\r\n${LOGIN}\r\n`)).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect([room.judged, room.lookups]).toEqual([[], []]);
  });

  it.each([22, 25, 8080, 1, 65535])("P37 port %i is refused", async (port) => {
    const room = await open();
    expect(await room.tunnel(`model.test:${port}`)).toContain("is on another port than 443 and 80");
    expect(room.judged).toEqual([]);
  });

  it.each([
    "model.test",
    "model.test:",
    "model.test:0",
    "model.test:65536",
    "me@model.test:443",
    "http://model.test:443",
    "mod%65l.test:443",
    "model..test:443",
    "-x.test:443",
    `${"a".repeat(64)}.test:443`,
    "a_b\\c.test:443",
    "/:443",
    "[::1:443",
  ])("P37 what is not a host and a port is refused: %s", async (place) => {
    const room = await open();
    expect(await room.tunnel(place)).toMatch(/^HTTP\/1\.1 40[03] /);
    expect([room.judged, room.lookups]).toEqual([[], []]);
  });

  it.each([
    ["this machine", ["127.0.0.1"]],
    ["one private address among public ones", ["93.184.215.14", "10.0.0.7"]],
    ["a metadata service", ["169.254.169.254"]],
    ["a mapped address", ["::ffff:192.168.1.1"]],
  ])("P37 a name that leads to %s is refused after one lookup", async (_title, addresses) => {
    const lookups: string[] = [];
    const resolve = async (host: string) => {
      lookups.push(host);
      return lookups.length === 1 ? addresses : ["93.184.215.14"];
    };
    const room = await open({ resolve });
    expect(await room.tunnel("rebinding.model.test:443")).toMatch(/^HTTP\/1\.1 403 /);
    expect(lookups).toEqual(["rebinding.model.test"]);
  });

  it.each([
    ["another name", { servername: "evil.test" }],
    ["a name below it", { servername: "a.model.test" }],
    ["no name", {}],
  ])("P37 TLS with %s is ended before the server gets a byte", async (_title, options) => {
    const room = await open();
    const answer = await room.secureRequest(`model.test:${room.securePort}`, options);
    expect(answer).toMatch(/unrecognized.name/i);
    expect(room.seen).toEqual([]);
    expect(room.refusals.map(({ status }) => status)).toEqual([403]);
  });

  it("P37 plain requests in a tunnel are read too, and must be for its place", async () => {
    const room = await open();
    const place = `model.test:${room.plainPort}`;
    const inTunnel = async (request: string) => {
      const socket = await room.tunnel(place);
      if (typeof socket === "string") return socket;
      socket.write(request);
      return text(socket);
    };
    const good = await inTunnel(`GET /in HTTP/1.1\r\nHost: ${place}\r\nConnection: close\r\n\r\n`);
    expect(good).toContain("answer to GET /in");
    for (const bad of [
      "GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
      `GET http://evil.test/ HTTP/1.1\r\nHost: ${place}\r\nConnection: close\r\n\r\n`,
      `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`,
    ]) {
      expect(await inTunnel(bad)).toMatch(/^HTTP\/1\.1 40[03] /);
    }
    expect(room.seen.map(({ line }) => line)).toEqual(["GET /in"]);
  });

  it.each([
    ["two lengths", "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["a length and a coding", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a hidden coding", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    ["a coding that is not the last", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"],
    ["a space before the colon", "Content-Length : 1\r\n\r\na"],
    ["a folded line", "X-A: b\r\n c: d\r\n\r\n"],
    ["a bare line feed", "X-A: b\nX-B: c\r\n\r\n"],
    ["a NUL", "X-A: b\0c\r\n\r\n"],
    ["a length with a sign", "Content-Length: +1\r\n\r\na"],
  ])("P37 no server gets a head with %s", async (_title, rest) => {
    const room = await open();
    const start = `POST http://model.test:${room.plainPort}/ HTTP/1.1\r\nHost: x\r\n${LOGIN}Connection: close\r\n`;
    const answer = await room.say(start + rest);
    if (answer.startsWith("HTTP/1.1 200")) {
      // What a reader may take for harmless must arrive as that.
      expect(
        room.seen.map(({ headers }) => [headers["content-length"], headers["transfer-encoding"]]),
      ).toEqual([[undefined, undefined]]);
    } else {
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(room.seen).toEqual([]);
    }
  });
});

describe("P37 limits of the proxy", () => {
  it("P37 a head that does not end, or is too long, ends its connection", async () => {
    const room = await open({ limits: { headMs: 100, maxHeadBytes: 2000 } });
    expect(await room.say("GET http://model.test/ HTTP/1.1\r\nHost:")).toMatch(/^HTTP\/1\.1 408 /);
    expect(await room.say("")).toMatch(/^HTTP\/1\.1 408 /);
    expect(await room.say(`GET http://model.test/ HTTP/1.1\r\nX: ${"x".repeat(4000)}`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    const silent = await room.tunnel(`model.test:${room.securePort}`);
    if (typeof silent === "string") throw new Error(silent);
    expect(await text(silent)).toBe("");
  });

  it("P37 more connections than the limit are told so", async () => {
    const room = await open({ limits: { maxConnections: 1 } });
    const first = await room.tunnel(`model.test:${room.securePort}`);
    expect(typeof first).toBe("object");
    expect(await room.say("")).toMatch(/^HTTP\/1\.1 503 /);
  });

  it("P37 a tunnel that passes more bytes than the limit is ended", async () => {
    const room = await open({ limits: { maxBytes: 100 } });
    const answer = await room.secureRequest(`model.test:${room.securePort}`, { servername: "model.test" });
    expect(answer).not.toContain("answer to");
  });
});

describe("P50 a proxy that leads out of the user's network", () => {
  it("P50 is used for tunnels and for plain requests, but not for what NO_PROXY names", async () => {
    const room = await open();
    const seen: string[] = [];
    const upstream = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? "-"}`);
      response.end("from upstream");
    });
    upstream.on("connect", (request, socket, head) => {
      seen.push(`${request.method} ${request.url}`);
      const onward = connect(room.securePort, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.write(head);
        onward.pipe(socket).pipe(onward);
      });
    });
    const port = await listenOnFreePort(upstream);
    const proxied = await open({
      environment: {
        HTTPS_PROXY: `http://127.0.0.1:${port}`,
        HTTP_PROXY: `http://me:secret@127.0.0.1:${port}`,
        NO_PROXY: "direct.model.test",
      },
      resolve: async () => ["93.184.215.14"],
      limits: { dialMs: 300 },
    });
    expect(await proxied.secureRequest("model.test:443", { servername: "model.test" })).toContain(
      "answer to GET /packages",
    );
    const plain = await proxied.say(
      `GET http://a.model.test/x HTTP/1.1\r\nHost: x\r\n${LOGIN}Connection: close\r\n\r\n`,
    );
    expect(plain).toContain("from upstream");
    const login = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    expect(seen).toEqual(["CONNECT model.test:443", `GET http://a.model.test/x ${login}`]);
    upstream.close();
    upstream.closeAllConnections();
  });
});
