import { createServer } from "node:net";
import { type FakeReply, listenOnFreePort } from "@burin/testing/fake-model-server";
import {
  ask,
  closeServers,
  delta,
  findFailure,
  raw,
  readFailure,
  serve,
  sse,
} from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";

const KEY = "sk-very-secret-key";

afterEach(closeServers);

describe("failures", () => {
  it("P35 a failure that is nested without end, or full of backslashes, takes no time to read", async () => {
    const nested = `${'{"error":'.repeat(2000)}"words"${"}".repeat(2000)}`;
    for (const body of [
      nested,
      sse(nested),
      `{"error":"${"\\\\".repeat(30_000)}"}`,
      "thinking ".repeat(7000),
    ]) {
      const { message } = await readFailure(raw(body, { status: 400, type: "application/json" }));
      expect(message.length).toBeLessThan(1000);
    }
  });

  it.each<[string, string, [string, RegExp]]>([
    ["P34 an empty stream", "", ["bad_reply", /empty/]],
    ["P34 usage only", sse({ choices: [], usage: { prompt_tokens: 1 } }), ["bad_reply", /empty/]],
    ["P34 a thought and then nothing", sse(delta({ reasoning_content: "hm" })), ["bad_reply", /empty/]],
    ["only chunks that are no JSON", sse("{bad", "{worse"), ["bad_reply", /could not be read: \{bad/]],
    ["JSON that is no reply", '{"status":"ok"}', ["bad_reply", /could not be read: \{"status"/]],
    ["a web page", "<!doctype html><p>Welcome</p>", ["bad_reply", /web page.*usually ends in \/v1/]],
    ["plain words", "Ollama is running", ["bad_reply", /could not be read: Ollama is running/]],
    [
      "an error inside the stream",
      sse(delta({ content: "He" }), { error: { message: "overloaded", code: 503 } }),
      ["server_error", /overloaded/],
    ],
    [
      "a rate limit inside the stream",
      sse({ error: { message: "slow down", type: "rate_limit_error" } }),
      ["rate_limited", /slow down/],
    ],
    ["an error as text", sse({ error: "out of memory" }), ["server_error", /out of memory/]],
    [
      "an error of the object kind",
      sse({ object: "error", message: "too long", code: 400 }),
      ["bad_request", /too long/],
    ],
    ["an error in a list", '[{"error":{"code":429,"message":"quota"}}]', ["rate_limited", /quota/]],
    [
      "an error in a field of its own",
      'error: {"code":500,"message":"slot gone"}\n\n',
      ["server_error", /slot gone/],
    ],
    ["a withheld reply", sse(delta({ content: "He" }, "content_filter")), ["bad_reply", /withheld/]],
  ])("%s", async (_title, body, [type, words]) => {
    const failure = await readFailure(raw(body));
    expect(failure.type).toBe(type);
    expect(failure.message).toMatch(words);
  });

  it.each<[number, string, [string, RegExp]]>([
    [
      400,
      '{"error":{"message":"context too long"}}',
      ["bad_request", /HTTP 400: context too long\. The same request would be refused again/],
    ],
    [401, "", ["unauthorized", /key was rejected/]],
    [403, '{"detail":"not for you"}', ["unauthorized", /not for you.*key was rejected/]],
    [
      404,
      '{"error":{"message":"model m not found"}}',
      ["not_found", /\/v1\/chat\/completions answered.*no model "m" at this service/],
    ],
    [404, "<html>nginx</html>", ["not_found", /a web page, not/]],
    [403, "<html><title>Just a moment...</title>", ["unauthorized", /a web page \("Just a moment\.\.\."\)/]],
    [407, "<html>Log in</html>", ["unauthorized", /whether a proxy or firewall has answered/]],
    [511, "<html>Log in</html>", ["unauthorized", /whether a proxy or firewall has answered/]],
    [422, '{"detail":[{"msg":"field required"}]}', ["bad_request", /field required/]],
    [429, '{"error":"slow"}', ["rate_limited", /slow/]],
    [500, "boom \u001b[31m\n\nred", ["server_error", /boom \[31m red/]],
    [502, "", ["server_error", /side of the service/]],
    [529, "", ["server_error", /overloaded/]],
  ])("HTTP %i %s", async (status, body, [type, words]) => {
    const failure = await readFailure(raw(body, { status, type: "text/plain" }), { apiKey: KEY });
    expect(failure).toMatchObject({ type, status });
    expect(failure.message).toMatch(words);
  });

  it("bounds what a server says and never shows the key, even when the server quotes it", async () => {
    const failure = await readFailure(raw(`bad key ${KEY} ${"x".repeat(100_000)}`, { status: 401 }), {
      apiKey: ` ${KEY}\n`,
    });
    expect(failure.message.length).toBeLessThan(1000);
    expect(failure.message).toContain("bad key [the API key]");
    expect(JSON.stringify(failure)).not.toContain(KEY);
    const inStream = await readFailure(raw(sse({ error: { message: `no ${KEY}` } })), { apiKey: KEY });
    expect(JSON.stringify(inStream)).not.toContain(KEY);
  });

  it("says that no key is set where none was sent", async () => {
    expect((await readFailure(raw("", { status: 401 }))).message).toContain("none is set");
  });

  it("does not follow a redirect but says where it leads", async () => {
    const failure = await readFailure(
      raw("", { status: 308, headers: { location: "https://other.example/v1?token=1" } }),
    );
    expect(failure).toMatchObject({
      type: "not_found",
      message: expect.stringMatching(/to https:\/\/other.example\/v1:/),
    });
  });

  it("P34 a body without a length that falls silent is not a whole reply", async () => {
    const silent: FakeReply = {
      raw: (_request, response) => {
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(sse(delta({ content: "Hel" })));
      },
    };
    expect(await readFailure(silent, { silenceMs: 300 })).toMatchObject({ type: "timeout", isPassing: true });
  });

  it("names host and port where nothing listens", async () => {
    const server = await serve();
    await server.close();
    const failure = findFailure(await ask({ baseUrl: server.baseUrl }));
    const { port } = new URL(server.baseUrl);
    expect(failure.type).toBe("unreachable");
    expect(failure.message).toMatch(
      new RegExp(`Nothing answers at 127\\.0\\.0\\.1:${port}: .*\\(ECONNREFUSED\\)`),
    );
  });

  it("names a host that does not exist", async () => {
    const failure = findFailure(await ask({ baseUrl: "http://no-such-host.invalid/v1" }));
    expect(failure.type).toBe("unreachable");
    expect(failure.message).toMatch(/no-such-host\.invalid:80 .*(ENOTFOUND|EAI_AGAIN)/);
  });

  it("says so when a plain server is asked over TLS, and when the other end speaks no HTTP", async () => {
    const { baseUrl } = await serve();
    const tls = findFailure(await ask({ baseUrl: baseUrl.replace("http:", "https:") }));
    expect(tls).toMatchObject({
      type: "unreachable",
      message: expect.stringMatching(/does not speak TLS.*http:\/\//),
    });
    const other = createServer((socket) => socket.end("SSH-2.0-x\r\n"));
    const port = await listenOnFreePort(other);
    const failure = findFailure(await ask({ baseUrl: `http://127.0.0.1:${port}/v1` }));
    other.close();
    expect(failure).toMatchObject({
      type: "unreachable",
      message: expect.stringContaining("does not speak HTTP"),
    });
  });

  it.each(["", "nonsense", "localhost:1234/v1", "ftp://x/v1", "http://", "http://me:pw@host/v1"])(
    "base URL %j",
    async (baseUrl) => {
      const failure = findFailure(await ask({ baseUrl }));
      expect(failure.type).toBe("bad_request");
      expect(failure.message).toMatch(/^The base URL /);
      expect(failure.message).not.toContain("pw");
    },
  );

  it("refuses a key that cannot stand in a header, without showing it", async () => {
    const failure = findFailure(await ask({ baseUrl: "http://127.0.0.1:9/v1", apiKey: `${KEY}\nnext` }));
    expect(failure.type).toBe("unauthorized");
    expect(failure.message).not.toContain(KEY);
  });
});
