import { createServer, type IncomingMessage, type RequestListener, request, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect } from "node:net";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { ask, closeServers, delta, findFailure, serve, sse } from "@burin/testing/served-model";
import { CERTIFICATE, KEY } from "@burin/testing/tls-pair";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HELLO } from "../tests/hello.ts";
import { findProxyRoute } from "./proxy.ts";

const NAMES = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "NODE_TLS_REJECT_UNAUTHORIZED"];

const before = new Map<string, string | undefined>();
let open: Server[] = [];

beforeEach(() => {
  for (const name of NAMES.flatMap((one) => [one, one.toLowerCase()])) {
    before.set(name, process.env[name]);
    delete process.env[name];
  }
});

afterEach(async () => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  for (const server of open) {
    server.close();
    server.closeAllConnections();
  }
  open = [];
  await closeServers();
});

async function listen(server: Server): Promise<number> {
  open.push(server);
  return listenOnFreePort(server);
}

const sayHello: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(sse(delta({ content: "Hello" }, "stop"), "[DONE]"));
};

/** A proxy that leads to one port of this machine, whatever host it is asked for. */
async function startProxy(port: number, answer = "200 Connection established") {
  const seen: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage): void => {
    seen.push(`${method} ${url} ${headers["proxy-authorization"] ?? "-"}`);
  };
  const server = createServer((incoming, response) => {
    note(incoming);
    const { pathname } = new URL(incoming.url ?? "");
    const headers = { ...incoming.headers };
    const onward = request({ port, path: pathname, method: "POST", headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 0, answered.headers);
      answered.pipe(response);
    });
    incoming.pipe(onward);
  });
  server.on("connect", (incoming, socket) => {
    note(incoming);
    const onward = connect(port, "127.0.0.1", () => {
      socket.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return { port: await listen(server), seen };
}

describe("P50 proxies", () => {
  it.each(["p%40ss", "p@ss", "50%", "%zz"])("get the password %s as it is meant", (password) => {
    const route = findProxyRoute(new URL("http://a.test/"), {
      HTTP_PROXY: `http://me:${password}@proxy.test:1`,
    });
    const credentials = Buffer.from(`me:${password.replace("%40", "@")}`).toString("base64");
    expect(route.headers).toMatchObject({ "proxy-authorization": `Basic ${credentials}` });
  });

  it("lead to a plain service by its whole address, with the name and the password of the proxy", async () => {
    const target = await listen(createServer(sayHello));
    const { port, seen } = await startProxy(target);
    process.env.HTTP_PROXY = `http://me:p%40ss@127.0.0.1:${port}`;
    expect(await ask({ baseUrl: "http://model.test/v1", apiKey: "k", environment: process.env })).toEqual(
      HELLO,
    );
    const credentials = Buffer.from("me:p@ss").toString("base64");
    expect(seen).toEqual([`POST http://model.test/v1/chat/completions Basic ${credentials}`]);
  });

  it("lead to a secure service through a tunnel, which is used again", async () => {
    const target = await listen(createSecureServer({ cert: CERTIFICATE, key: KEY }, sayHello));
    const { port, seen } = await startProxy(target);
    process.env.https_proxy = `127.0.0.1:${port}`;
    const baseUrl = "https://model.test/v1";
    expect(findFailure(await ask({ baseUrl, environment: process.env })).message).toMatch(
      /certificate is not trusted.*NODE_EXTRA_CA_CERTS/,
    );
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    expect(await ask({ baseUrl, environment: process.env })).toEqual(HELLO);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask({ baseUrl, environment: process.env })).toEqual(HELLO);
    expect(seen).toEqual(["CONNECT model.test:443 -", "CONNECT model.test:443 -"]);
  });

  it("that refuse, are not there or have no address are named in the failure", async () => {
    const { port } = await startProxy(1, "407 Proxy Authentication Required");
    const { port: refusing } = await startProxy(port, "407 Proxy Authentication Required");
    for (const [proxy, words] of [
      [
        `http://127.0.0.1:${refusing}`,
        /the proxy 127\.0\.0\.1:\d+ answered HTTP 407 to CONNECT model\.test:443: check its rules and your login/,
      ],
      ["http://127.0.0.1:9", /the proxy 127\.0\.0\.1:9 cannot be used/],
      ["socks5://127.0.0.1:9", /the proxy 127\.0\.0\.1:9 cannot be used/],
      ["ftp://127.0.0.1:9", /proxy in the environment is not a valid http/],
    ] as const) {
      process.env.HTTPS_PROXY = proxy;
      expect(
        findFailure(await ask({ baseUrl: "https://model.test/v1", environment: process.env })).message,
      ).toMatch(words);
    }
  });

  it("are not asked for this machine itself", async () => {
    process.env.HTTP_PROXY = "http://127.0.0.1:9";
    const { baseUrl } = await serve({ text: "Hello" });
    expect((await ask({ baseUrl, environment: process.env })).at(-1)).toEqual({
      type: "end",
      reason: "stop",
    });
  });

  it.each<[string, string, boolean]>([
    ["https://a.example.org/v1", "", true],
    ["https://a.example.org/v1", "*", false],
    ["https://a.example.org/v1", "example.org", false],
    ["https://a.example.org/v1", ".example.org", false],
    ["https://a.example.org/v1", "*.example.org", false],
    ["https://a.example.org/v1", "other.org, A.Example.Org", false],
    ["https://a.example.org/v1", "xample.org", true],
    ["https://notexample.org/v1", "example.org", true],
    ["https://a.example.org:8443/v1", "example.org:8443", false],
    ["https://a.example.org/v1", "example.org:8443", true],
    ["https://a.example.org/v1", "example.org:443", false],
    ["https://10.1.2.3/v1", "10.0.0.0/8", false],
    ["https://11.1.2.3/v1", "10.0.0.0/8 192.168.0.0/16", true],
    ["https://10.1.2.3/v1", "10.1.2.3", false],
    ["https://110.1.2.3/v1", "10.1.2.3", true],
    ["https://[fd00::1]/v1", "fd00::/8", false],
    ["https://[fd00::1]/v1", "[fd00::1]:443", false],
    ["https://localhost/v1", "", false],
    ["https://127.0.0.2/v1", "", false],
    ["https://[::1]/v1", "", false],
    ["https://a.example.org/v1", "10.0.0.0/99,/8,:,[", true],
  ])("%s with NO_PROXY=%s: %s", (url, noProxy, isProxied) => {
    const route = findProxyRoute(new URL(url), { HTTPS_PROXY: "http://proxy.test:3128", NO_PROXY: noProxy });
    expect(route.agent !== undefined).toBe(isProxied);
  });

  it("are chosen by the scheme, lower case first, and one for all", () => {
    const url = new URL("http://a.test/v1?x=1");
    const more = { HTTP_PROXY: "http://upper.test", http_proxy: "https://lower.test" };
    expect(findProxyRoute(url, more)).toMatchObject({
      protocol: "https:",
      hostname: "lower.test",
      port: "443",
    });
    expect(findProxyRoute(url, { ALL_PROXY: "all.test:1" })).toMatchObject({
      hostname: "all.test",
      port: "1",
      path: "http://a.test/v1?x=1",
      headers: { host: "a.test" },
    });
    expect(findProxyRoute(url, { HTTPS_PROXY: "http://secure.test" })).toEqual({});
  });
});
