import { once } from "node:events";
import { createServer as createPlainServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createFile, createTemporaryFolder } from "@burin/testing/made-files";
import { ask, delta, findFailure, sse } from "@burin/testing/served-model";
import { CERTIFICATE, KEY } from "@burin/testing/tls-pair";
import { afterEach, describe, expect, it } from "vitest";
import { HELLO } from "../tests/hello.ts";

const open: Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) server.close();
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
});

async function listen(server: Server): Promise<number> {
  open.push(server);
  return listenOnFreePort(server);
}

const sayHello: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
  response.end(sse(delta({ content: "Hello" }, "stop"), "[DONE]"));
};

interface Played {
  /** Where all connections lead. */
  readonly to: number;
  readonly login?: string;
  /** What it says to each wish. */
  readonly status?: number;
  /** Each byte of its answers comes alone. */
  readonly isSlow?: boolean;
}

/** A SOCKS5 proxy as RFC 1928 and 1929 have it. */
async function startSocks({ to, login, status = 0, isSlow = false }: Played) {
  const seen: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    // A client that goes away ends it.
    serveSocks(socket).catch(() => socket.destroy());
  });
  const say = async (socket: Socket, bytes: readonly number[]) => {
    const pieces = isSlow ? bytes.map((byte) => [byte]) : [bytes];
    for (const piece of pieces) {
      socket.write(Buffer.from(piece));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  async function serveSocks(socket: Socket): Promise<void> {
    // What comes between two calls waits: without a listener it would be lost.
    const next = async () => {
      const [bytes] = await once(socket.resume(), "data");
      socket.pause();
      return bytes as Buffer;
    };
    const [version, , ...ways] = await next();
    if (version !== 5) return void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    const way = login === undefined ? 0 : 2;
    await say(socket, [5, ways.includes(way) ? way : 255]);
    if (way === 2) {
      const given = await next();
      const name = given.subarray(2, 2 + (given[1] ?? 0)).toString();
      const isRight = `${name}:${given.subarray(3 + name.length)}` === login;
      await say(socket, [1, isRight ? 0 : 1]);
    }
    const wish = await next();
    const host = wish[3] === 3 ? wish.subarray(5, 5 + (wish[4] ?? 0)).toString() : "an address";
    seen.push(`${host}:${wish.readUInt16BE(wish.length - 2)}`);
    await say(socket, [5, status, 0, 3, 4, 1, 2, 3, 4, 5, 6]);
    if (status !== 0) return void socket.end();
    const onward = connect(to, "127.0.0.1", () => onward.pipe(socket).pipe(onward));
    onward.on("error", () => socket.destroy());
  }
  return { port: await listen(server), seen };
}

describe("P50 SOCKS proxies", () => {
  it.each([
    ["with a login", { login: "me:p@ss" }, "me:p%40ss@"],
    ["without one, byte by byte", { isSlow: true }, ""],
  ])("lead to a plain service by its name, %s", async (_how, played, login) => {
    const { port, seen } = await startSocks({ to: await listen(createPlainServer(sayHello)), ...played });
    const environment = { ALL_PROXY: `socks5://${login}127.0.0.1:${port}` };
    expect(await ask({ baseUrl: "http://model.test/v1", environment })).toEqual(HELLO);
    expect(seen).toEqual(["model.test:80"]);
  });

  it("lead to a secure service", async () => {
    const target = await listen(createSecureServer({ cert: CERTIFICATE, key: KEY }, sayHello));
    const { port, seen } = await startSocks({ to: target });
    const environment = { HTTPS_PROXY: `socks5h://127.0.0.1:${port}` };
    const baseUrl = "https://model.test/v1";
    expect(findFailure(await ask({ baseUrl, environment })).message).toContain("certificate is not trusted");
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    expect(await ask({ baseUrl, environment })).toEqual(HELLO);
    expect(seen).toEqual(["model.test:443", "model.test:443"]);
  });

  it.each<[string, Partial<Played>, string, RegExp]>([
    ["wants a login that is not given", { login: "me:x" }, "", /requires a user name and a password/],
    ["rejects the login", { login: "me:x" }, "me:y@", /rejected the user name or the password/],
    ["cannot reach the host", { status: 4 }, "", /cannot reach the host/],
  ])("that %s are named in the failure", async (...[, played, login, words]) => {
    const { port } = await startSocks({ to: 1, ...played });
    const environment = { ALL_PROXY: `socks5://${login}127.0.0.1:${port}` };
    const { message } = findFailure(await ask({ baseUrl: "http://model.test/v1", environment }));
    expect(message).toContain(`the proxy 127.0.0.1:${port}`);
    expect(message).toMatch(words);
    expect(message).not.toContain("me:y");
  });

  it("that speak no SOCKS are named in the failure", async () => {
    const port = await listen(createPlainServer(sayHello));
    const environment = { ALL_PROXY: `socks5://127.0.0.1:${port}` };
    const { message } = findFailure(await ask({ baseUrl: "http://model.test/v1", environment }));
    expect(message).toMatch(/the proxy .* (?:does not speak SOCKS5|closed the connection|cannot be used)/);
  });
});

describe("P50 client certificates", () => {
  it("are shown to a service that asks for one, directly and through a proxy", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    const shown: boolean[] = [];
    const tls = {
      cert: CERTIFICATE,
      key: KEY,
      ca: [CERTIFICATE],
      requestCert: true,
      rejectUnauthorized: false,
    };
    const server = createSecureServer(tls, (request, response) => {
      shown.push((request.socket as Socket & { authorized: boolean }).authorized);
      sayHello(request, response);
    });
    const port = await listen(server);
    const folder = createTemporaryFolder();
    const certificate = {
      cert: createFile(folder, "me.pem", CERTIFICATE),
      key: createFile(folder, "me.key", KEY),
    };
    const baseUrl = `https://127.0.0.1:${port}/v1`;
    expect(await ask({ baseUrl, certificate })).toEqual(HELLO);
    expect(await ask({ baseUrl })).toEqual(HELLO);
    const { port: socks } = await startSocks({ to: port });
    const environment = { ALL_PROXY: `socks5://127.0.0.1:${socks}` };
    expect(await ask({ baseUrl: "https://model.test/v1", certificate, environment })).toEqual(HELLO);
    expect(shown).toEqual([true, false, true]);
  });

  it("that are missing are told before anything is sent", async () => {
    const certificate = { cert: "/no/such.pem", key: "/no/such.key" };
    const failure = findFailure(await ask({ baseUrl: "https://127.0.0.1:9/v1", certificate }));
    expect(failure.type).toBe("unauthorized");
    expect(failure.message).toMatch(/There is no client certificate: the file .*such\.pem does not exist/);
  });
});
