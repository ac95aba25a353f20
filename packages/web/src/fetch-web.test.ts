import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { ResolveHost } from "@burin/net/guard-host";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { blockProcess, createTemporaryFolder } from "@burin/testing/made-files";
import { CERTIFICATE, KEY } from "@burin/testing/tls-pair";
import { afterEach, describe, expect, it } from "vitest";
import { fetchWeb, type WebLimits } from "./fetch-web.ts";

const open: Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  open.push(server);
  return listenOnFreePort(server);
}

interface Asked {
  readonly named?: readonly string[];
  readonly resolve?: ResolveHost;
  readonly limits?: Partial<WebLimits>;
  readonly signal?: AbortSignal;
  readonly environment?: NodeJS.ProcessEnv;
}

function get(url: string, { named = [], resolve, limits = {}, signal, environment }: Asked = {}) {
  const guard = { named, ...(resolve ? { resolve } : {}) };
  return fetchWeb(
    { url: new URL(url), accept: "*/*", guard, limits, environment },
    signal ?? new AbortController().signal,
  );
}

/** Starts a server that gives one answer, and returns the result of asking it. */
async function answered(listener: RequestListener, more: Asked = {}) {
  const port = await serve(listener);
  return get(`http://127.0.0.1:${port}/`, { named: [`127.0.0.1:${port}`], ...more });
}

/** The code of a separate process that answers while the asking process is stopped. */
const LATE_PAGE = `const note = (name) => require("node:fs").writeFileSync(process.argv[1] + "/" + name, "");
const server = require("node:http").createServer((_, answer) => {
  note("asked");
  setTimeout(() => answer.end("in time", () => note("answered")), 400);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port)));`;

const typeOf = (work: Promise<unknown>) =>
  work.then(
    () => "fetched",
    (error: unknown) => (error as { type?: string }).type ?? String(error),
  );

describe("P37 internal hosts", () => {
  it.each([
    ["http://127.0.0.1/", "private_address"],
    ["http://2130706433/", "private_address"],
    ["http://0x7f.1/", "private_address"],
    ["http://0177.0.0.1/", "private_address"],
    ["http://[::1]/", "private_address"],
    ["http://[::ffff:127.0.0.1]/", "private_address"],
    ["http://１２７.0.0.1/", "private_address"],
    ["http://169.254.169.254/latest/meta-data/", "forbidden_address"],
    ["http://[::ffff:a9fe:a9fe]/", "forbidden_address"],
    ["http://[fd00:ec2::254]/", "forbidden_address"],
    ["http://0/", "forbidden_address"],
  ])("%s is not dialled", async (url, type) => {
    expect(await typeOf(get(url))).toBe(type);
  });

  it("a name with one private address among public ones is not dialled", async () => {
    const resolve = async () => ["93.184.215.14", "10.0.0.7"];
    expect(await typeOf(get("http://site.test/", { resolve }))).toBe("private_address");
  });

  it("a metadata address is refused also when its host was named", async () => {
    const resolve = async () => ["169.254.169.254"];
    expect(await typeOf(get("http://site.test/", { resolve, named: ["site.test:80"] }))).toBe(
      "forbidden_address",
    );
  });

  it("naming is of host and port, each whole", async () => {
    const port = await serve((_request, response) => response.end("here"));
    const url = `http://127.0.0.1:${port}/`;
    for (const named of [
      "127.0.0.1",
      `127.0.0.1:${port}0`,
      `127.0.0.1:${String(port).slice(1)}`,
      `evil127.0.0.1:${port}`,
    ]) {
      expect(await typeOf(get(url, { named: [named] }))).toBe("private_address");
    }
    expect(String((await get(url, { named: [`127.0.0.1:${port}`] })).bytes)).toBe("here");
  });

  it("a name is looked up once, and the judged address is the one that is dialled", async () => {
    const port = await serve(({ headers }, response) => response.end(headers.host));
    const looked: string[] = [];
    const resolve = async (host: string) => {
      looked.push(host);
      // A second lookup would return another address.
      return looked.length === 1 ? ["127.0.0.1"] : ["93.184.215.14"];
    };
    const answer = await get(`http://site.test:${port}/`, { resolve, named: [`site.test:${port}`] });
    expect(String(answer.bytes)).toBe(`site.test:${port}`);
    expect(looked).toEqual(["site.test"]);
  });

  it("a name that turns to a private address between two hops is refused at the second", async () => {
    const port = await serve((_request, response) => response.writeHead(302, { location: "/next" }).end());
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    const resolve = async () => answers.shift() ?? [];
    const asked = get(`http://site.test:${port}/`, { resolve, named: [`site.test:${port}`] });
    expect(await typeOf(asked)).toBe("forbidden_address");
    expect(answers).toEqual([]);
  });

  it.each([
    ["http://169.254.169.254/", "redirected"],
    ["http://localhost:1/", "redirected"],
    ["//other.test/", "redirected"],
    ["file:///etc/passwd", "bad_redirect"],
    ["ftp://127.0.0.1/", "bad_redirect"],
    ["http://", "bad_redirect"],
  ])("a redirect to %s is not followed", async (location, type) => {
    const asked = answered((_request, response) => response.writeHead(301, { location }).end());
    expect(await typeOf(asked)).toBe(type);
  });

  it("P50 a redirect whose server writes characters beyond ASCII as they are leads to what it wrote", async () => {
    const port = await serve(({ url }, response) => {
      const location = Buffer.from("/é?q=ü ß").toString("latin1");
      if (url === "/utf-8") response.writeHead(302, { location }).end();
      else if (url === "/latin1") response.writeHead(302, { location: "/é" }).end();
      else response.end(url);
    });
    const named = [`127.0.0.1:${port}`];
    const seen = async (path: string) =>
      String((await get(`http://127.0.0.1:${port}${path}`, { named })).bytes);
    expect([await seen("/utf-8"), await seen("/latin1")]).toEqual(["/%C3%A9?q=%C3%BC%20%C3%9F", "/%C3%A9"]);
  });

  it("a redirect to another port of the same host is another host", async () => {
    let wasAsked = false;
    const other = await serve((_request, response) => {
      wasAsked = true;
      response.end();
    });
    const asked = answered((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${other}/` }).end(),
    );
    await expect(asked).rejects.toThrow(`fetch this URL: http://127.0.0.1:${other}/`);
    expect(wasAsked).toBe(false);
  });
});

describe("P50 a proxy of the environment", () => {
  it.each<[url: string, addresses: string[], named: string[], wanted: string]>([
    ["http://site.test/x", [], [], "fetched"],
    ["http://site.test/x", ["93.184.215.14"], [], "fetched"],
    ["http://site.test/x", ["10.0.0.1"], [], "private_address"],
    ["http://site.test/x", ["169.254.169.254"], [], "forbidden_address"],
    ["http://10.0.0.1/", [], [], "private_address"],
    ["http://10.0.0.1/", [], ["10.0.0.1:80"], "fetched"],
    ["http://intranet/", [], [], "private_address"],
    ["http://intranet/", [], ["intranet:80"], "fetched"],
    ["http://wiki.corp./", [], [], "private_address"],
    ["http://metadata.google.internal/", [], ["metadata.google.internal:80"], "forbidden_address"],
  ])(
    "P37 is asked for %s, looked up as %j and named as %j: %s",
    async (url, addresses, ...[named, wanted]) => {
      const asked: (string | undefined)[] = [];
      const port = await serve((request, response) => {
        asked.push(request.url);
        response.end("by the proxy");
      });
      const environment = { HTTP_PROXY: `http://127.0.0.1:${port}` };
      expect(await typeOf(get(url, { named, resolve: async () => addresses, environment }))).toBe(wanted);
      expect(asked).toEqual(wanted === "fetched" ? [url] : []);
    },
  );
});

describe("P50 limits of a request", () => {
  it("redirects within the host are followed, without a name or password that they bring, up to a limit", async () => {
    const seen: (string | undefined)[] = [];
    const port = await serve(({ url, headers }, response) => {
      seen.push(headers.authorization);
      if (url === "/a") response.writeHead(302, { location: `http://me:secret@127.0.0.1:${port}/b` }).end();
      else if (url === "/b") response.end("there");
      else response.writeHead(302, { location: "/loop" }).end();
    });
    const named = [`127.0.0.1:${port}`];
    const answer = await get(`http://127.0.0.1:${port}/a`, { named });
    expect([String(answer.bytes), answer.url.pathname]).toEqual(["there", "/b"]);
    expect(seen).toEqual([undefined, undefined]);
    expect(await typeOf(get(`http://127.0.0.1:${port}/loop`, { named }))).toBe("too_many_redirects");
    expect(seen).toHaveLength(2 + 11);
  });

  it("P50 a page that is shown only with the cookie it sets is followed to its end, and the cookie forgotten", async () => {
    const seen: (string | undefined)[] = [];
    const port = await serve(({ url = "", headers: { cookie } }, response) => {
      seen.push(cookie);
      if (cookie === "id=a=b; seen=2") response.end("there");
      else {
        const set = ["id=a=b; Path=/; HttpOnly", url === "/" ? "seen=1" : "seen=2; Max-Age=9"];
        response.writeHead(302, { location: url === "/" ? "/?set=1" : url, "set-cookie": set }).end();
      }
    });
    const asked = { named: [`127.0.0.1:${port}`] };
    expect(String((await get(`http://127.0.0.1:${port}/`, asked)).bytes)).toBe("there");
    await get(`http://127.0.0.1:${port}/`, asked);
    expect(seen.slice(0, 4)).toEqual([undefined, "id=a=b; seen=1", "id=a=b; seen=2", undefined]);
  });

  it("a server that says nothing ends with the limit on silence", async () => {
    const asked = answered(() => {}, { limits: { silenceMs: 60 } });
    await expect(asked).rejects.toThrow("sent nothing for 0.06 s");
  });

  it("a body that stops midway ends so too", async () => {
    const asked = answered((_request, response) => void response.write("begun"), {
      limits: { silenceMs: 60 },
    });
    expect(await typeOf(asked)).toBe("timeout");
  });

  it("a body that trickles for ever ends with the limit on time", async () => {
    const timers: NodeJS.Timeout[] = [];
    const trickle: RequestListener = (_request, response) => {
      timers.push(setInterval(() => response.write("x"), 10));
    };
    await expect(answered(trickle, { limits: { totalMs: 150 } })).rejects.toThrow(
      "did not finish within 0.15 s",
    );
    for (const timer of timers) clearInterval(timer);
  });

  it("P33 P50 a page that came while this process was stopped is no timeout", async () => {
    const folder = createTemporaryFolder();
    const server = spawn(process.execPath, ["-e", LATE_PAGE, folder]);
    try {
      const [port] = await once(server.stdout, "data");
      const page = get(`http://127.0.0.1:${port}/`, {
        named: [`127.0.0.1:${port}`],
        limits: { totalMs: 1000 },
      });
      await expect.poll(() => existsSync(join(folder, "asked"))).toBe(true);
      blockProcess(join(folder, "answered"), 1500);
      expect(String((await page).bytes)).toBe("in time");
    } finally {
      server.kill("SIGKILL");
    }
  });

  it("a look-up of a name that never ends does too", async () => {
    const resolve = () => new Promise<string[]>(() => {});
    expect(await typeOf(get("http://site.test/", { resolve, limits: { totalMs: 50 } }))).toBe("timeout");
  });

  it("P50 a page whose head is long is read", async () => {
    const answer = await answered((_request, response) =>
      response.writeHead(200, { "content-security-policy": "a".repeat(60_000) }).end("here"),
    );
    expect(String(answer.bytes)).toBe("here");
  });

  it("an endless body is read up to the limit", async () => {
    const block = Buffer.alloc(65_536, "a");
    const flood: RequestListener = (_request, response) => {
      const more = () => {
        while (response.write(block));
      };
      response.on("drain", more);
      more();
    };
    const { bytes, isCut } = await answered(flood, { limits: { maxBytes: 1_000_000 } });
    expect([bytes.length, isCut]).toEqual([1_000_000, true]);
  });

  it("the signal ends it at once, with its own reason", async () => {
    const stop = new AbortController();
    const asked = answered(() => stop.abort(new Error("enough")), { signal: stop.signal });
    await expect(asked).rejects.toThrow("enough");
  });

  it("P9 a host that the system refuses to dial at once is a failure of the page alone", async () => {
    const resolve: ResolveHost = async () => ["127.255.255.255"];
    const asked = get("http://somewhere.example:9/", { named: ["somewhere.example:9"], resolve });
    await expect(asked).rejects.toThrow("somewhere.example:9 could not be reached");
  });

  it("P50 a secure connection that fails is told with its reason", async () => {
    const secure = createSecureServer({ cert: CERTIFICATE, key: KEY });
    open.push(secure);
    const plain = await serve((_request, response) => void response.end("x"));
    for (const [port, words] of [
      [await listenOnFreePort(secure), /not trusted: if the server is who it says/],
      [plain, /the server does not speak TLS.*http:\/\//],
    ] as const) {
      await expect(get(`https://127.0.0.1:${port}/`, { named: [`127.0.0.1:${port}`] })).rejects.toThrow(
        words,
      );
    }
  });

  it("a closed port is told with its name", async () => {
    const port = await serve(() => {});
    open.pop()?.close();
    const asked = get(`http://127.0.0.1:${port}/`, { named: [`127.0.0.1:${port}`] });
    await expect(asked).rejects.toThrow(`127.0.0.1:${port} could not be reached`);
    expect(await typeOf(get("http://no-such-host.invalid/"))).toBe("unknown_host");
  });
});

describe("packed content", () => {
  const text = "a line that is said again. ".repeat(100);
  const packed = (encoding: string, body: Uint8Array): RequestListener => {
    return (_request, response) => response.writeHead(200, { "content-encoding": encoding }).end(body);
  };

  it.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["br", brotliCompressSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
    ["identity", Buffer.from(text)],
  ])("%s is unpacked", async (encoding, body) => {
    expect(String((await answered(packed(encoding, body))).bytes)).toBe(text);
  });

  it.each([
    ["gzip", gzipSync(Buffer.alloc(200_000_000))],
    ["br", brotliCompressSync(Buffer.alloc(200_000_000))],
    ["deflate", deflateSync(Buffer.alloc(200_000_000))],
    ["gzip, gzip", gzipSync(gzipSync(Buffer.alloc(200_000_000)))],
  ])("P50 a bomb of %s is unpacked up to the limit only", async (encoding, body) => {
    const before = process.memoryUsage().rss;
    const { bytes, isCut } = await answered(packed(encoding, body), { limits: { maxBytes: 1_000_000 } });
    expect([bytes.length, isCut]).toEqual([1_000_000, true]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it.each(["utf-8", "aws-chunked", "none, identity", ""])(
    "P50 a content that is not compressed is read, whatever its server calls it: %j",
    async (encoding) => {
      expect(String((await answered(packed(encoding, Buffer.from(text)))).bytes)).toBe(text);
    },
  );

  it.each([
    ["gzip", Buffer.from("no gzip at all")],
    ["br", Buffer.from("no brotli at all")],
    ["gzip", gzipSync(text).subarray(0, 30)],
    ["zstd", Buffer.from("x")],
    ["gzip, gzip, gzip, gzip", Buffer.from("x")],
  ])("%s that is broken or unknown is said to be so", async (encoding, body) => {
    expect(await typeOf(answered(packed(encoding, body)))).toBe("broken_content");
  });

  it("nothing is nothing, however it is packed", async () => {
    expect((await answered(packed("gzip", Buffer.alloc(0)))).bytes).toHaveLength(0);
  });
});
