import { createServer as createHttpServer } from "node:http";
import { createServer, type Socket } from "node:net";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { describe, expect, it } from "vitest";
import { sendHttpRequest } from "./http-request.ts";

/** A link-local address without its link: the system refuses it at once, before the request has begun. */
const UNREACHABLE = ["fe80::1", "fe80::2"];

describe("a host that resolves, but cannot be reached", () => {
  it.each(["http:", "https:"])("fails the request, and nothing else: %s", async (protocol) => {
    for (const addresses of [UNREACHABLE, UNREACHABLE.slice(1)]) {
      const url = new URL(`${protocol}//unreachable.test/`);
      const answer = sendHttpRequest(
        { url, method: "GET", headers: {}, addresses },
        AbortSignal.timeout(60_000),
      );
      await expect(answer).rejects.toThrow(/fe80::[12]|^$/);
    }
  });
});

it.each(["http", "socks5"])(
  "P11 P50 a proxy that accepts and says nothing: %s: the request ends with its signal",
  async (kind) => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on("error", () => {})));
    const port = await listenOnFreePort(silent);
    const stop = new AbortController();
    silent.once("connection", () => setTimeout(() => stop.abort(), 50));
    const url = new URL("https://far.test/");
    const environment = { HTTPS_PROXY: `${kind}://127.0.0.1:${port}` };
    const answer = sendHttpRequest({ url, method: "GET", headers: {}, environment }, stop.signal);
    await expect(answer).rejects.toThrow("The operation was aborted");
    // It never answered: the wait itself has ended.
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false]);
    for (const socket of sockets) socket.destroy();
    silent.close();
  },
);

it("P34 P44 a server that switches to another protocol does not keep the request waiting", async () => {
  const server = createServer((socket) => {
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    );
  });
  const url = new URL(`http://127.0.0.1:${await listenOnFreePort(server)}/`);
  const answer = sendHttpRequest({ url, method: "GET", headers: {} }, AbortSignal.timeout(60_000));
  await expect(answer).rejects.toMatchObject({ code: "ECONNRESET" });
  server.close();
});

it.each([100, 5_000_000])(
  "P35 a request of %i bytes is sent again when its connection was just closed",
  async (size) => {
    const sockets: Socket[] = [];
    const server = createHttpServer((request, response) => {
      request.resume().once("end", () => response.end("done"));
    });
    server.on("connection", (socket) => sockets.push(socket));
    const url = new URL(`http://127.0.0.1:${await listenOnFreePort(server)}/`);
    const body = [Buffer.alloc(size)];
    const send = async () => {
      const answer = await sendHttpRequest(
        { url, method: "POST", headers: {}, body },
        AbortSignal.timeout(60_000),
      );
      return (await answer.body[Symbol.asyncIterator]().next()).value?.toString();
    };
    expect(await send()).toBe("done");
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const socket of sockets) socket.destroy();
    expect(await send()).toBe("done");
    expect(sockets.length).toBe(2);
    server.close().closeAllConnections();
  },
);
