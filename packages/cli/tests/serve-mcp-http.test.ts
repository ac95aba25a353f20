import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { requirePrograms } from "@burin/testing/needs";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BURIN, buildEnvironment } from "./burin.ts";
import { type ClientOptions, createCaller, newClient } from "./mcp-client.ts";
import { put, root } from "./project.ts";

const TOKEN = "a-token-of-the-test";
const closing: (() => Promise<unknown>)[] = [];
let pid: number | undefined;

beforeEach(async () => {
  put("a.txt", "one\n");
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The server as it ships, and where it is. */
async function serve(...args: string[]): Promise<URL> {
  return (await saidAtStart(args, { BURIN_SERVE_TOKEN: TOKEN })).url;
}

/** What a server says when it has started. */
async function saidAtStart(args: readonly string[], variables: Record<string, string>) {
  const env = buildEnvironment(root, variables);
  const child = spawn(process.execPath, [BURIN, "serve", "mcp", "--http", ...args], {
    cwd: root,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  ({ pid } = child);
  const ended = new Promise((resolve) => child.on("close", resolve));
  closing.push(() => {
    child.kill("SIGTERM");
    return ended;
  });
  let said = "";
  for await (const chunk of child.stderr) {
    said += chunk;
    const [url] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
    if (url !== undefined && said.endsWith("\n")) return { url: new URL(url), said };
  }
  throw new Error(said);
}

async function client(url: URL, options: ClientOptions = {}) {
  const mcp = newClient(options);
  const headers = { authorization: `Bearer ${TOKEN}` };
  await mcp.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  closing.push(() => mcp.close());
  return { client: mcp, call: createCaller(mcp) };
}

/** The status of a request with these headers. */
function statusOf(url: URL, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: "POST", headers: { "content-type": "application/json", ...headers } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on("error", reject);
    sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  });
}

const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function post(url: URL, body: string | Buffer, more: object = {}): Promise<Response> {
  return fetch(url, { method: "POST", headers: { ...HEADERS, ...more }, body });
}

/** The header of a session that a client of 2025 has begun. */
async function begin(url: URL) {
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  const answer = await post(url, JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
  await answer.text();
  return { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
}

describe("burin serve mcp --http", () => {
  it.each([
    ["of 2025", false],
    ["of 2026", true],
  ] as const)("serves clients %s side by side, each asked for its own calls", async (_, isModern) => {
    const url = await serve();
    const first = await client(url, { isModern, says: () => "once" });
    const second = await client(url, { isModern });
    const make = (name: string) => ({ file_path: join(root, name), content: "x\n" });
    expect(await first.call("read_file", { file_path: `${root}/a.txt` })).toEqual({
      text: "one\n",
      isError: false,
    });
    expect(await first.call("write_file", make("b.txt"))).toMatchObject({ isError: false });
    expect(await second.call("write_file", make("c.txt"))).toMatchObject({ isError: true });
    expect([existsSync(join(root, "b.txt")), existsSync(join(root, "c.txt"))]).toEqual([true, false]);
    await first.client.close();
    expect(await second.call("read_file", { file_path: `${root}/a.txt` })).toEqual({
      text: "one\n",
      isError: false,
    });
  });

  it("answers nobody without the token, from another site or under another name", async () => {
    const url = await serve();
    const authorization = `Bearer ${TOKEN}`;
    expect(await statusOf(url, {})).toBe(401);
    expect(await statusOf(url, { authorization: "Bearer a-token-of-the-tess" })).toBe(401);
    expect(await statusOf(url, { authorization, origin: "https://evil.example" })).toBe(403);
    expect(await statusOf(url, { authorization, origin: "null" })).toBe(403);
    expect(await statusOf(url, { authorization, host: "evil.example" })).toBe(403);
    expect(await statusOf(url, { authorization, host: `localhost.evil.example:${url.port}` })).toBe(403);
    expect(await statusOf(new URL("/other", url), { authorization })).toBe(404);
    expect(await statusOf(url, { authorization, "mcp-session-id": "unknown" })).toBe(404);
    expect(await statusOf(url, { authorization })).toBe(406);
    expect(await statusOf(url, { authorization: `bearer  ${TOKEN}` })).toBe(406);
  });

  it("opens the stream of a session at once, and again when it broke, and tells there of what changes", async () => {
    const url = await serve();
    const session = await begin(url);
    const open = (signal: AbortSignal) => fetch(url, { headers: { ...HEADERS, ...session }, signal });
    const broken = new AbortController();
    expect((await open(broken.signal)).status).toBe(200);
    expect((await open(broken.signal)).status).toBe(409);
    broken.abort();
    let stream = await open(AbortSignal.timeout(60_000));
    await expect
      .poll(async () => {
        if (stream.status === 409) stream = await open(AbortSignal.timeout(60_000));
        return stream.status;
      })
      .toBe(200);
    const params = { name: "run_shell_command", arguments: { command: "seq 100000" } };
    await (
      await post(url, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }), session)
    ).text();
    let told = "";
    for await (const chunk of stream.body ?? []) {
      told += Buffer.from(chunk);
      if (told.includes("notifications/resources/list_changed")) break;
    }
    expect(told).toMatch(/^:\n\nevent: message\n/);
  });

  it("keeps its token from the commands that it runs", async () => {
    const { call } = await client(await serve("--yes"));
    const { text } = await call("run_shell_command", { command: "env; echo ran" });
    expect(text).toContain("ran");
    expect(text).not.toContain(TOKEN);
  });

  it("makes room for new clients when others have vanished", async () => {
    const url = await serve();
    const first = await client(url);
    const others = Array.from({ length: 64 }, () => client(url));
    await Promise.all(others);
    await expect(first.call("read_file", { file_path: `${root}/a.txt` })).rejects.toThrow();
    const last = await others[63];
    expect(await last?.call("read_file", { file_path: `${root}/a.txt` })).toMatchObject({ isError: false });
  });

  it("answers each odd body with one error, though clients vanish in theirs and nobody reads its stderr, and harms no other client", async () => {
    const url = await serve();
    const other = await client(url);
    const session = await begin(url);
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const bodies: [body: string | Buffer, status: number][] = [
      ["", 400],
      ["[]", 400],
      ["7", 400],
      ['{"jsonrpc":"2.0",', 400],
      [Buffer.from([0x7b, 0xff, 0x7d]), 400],
      [JSON.stringify({ ...ping, id: {} }), 400],
      [JSON.stringify({ ...ping, params: null }), 400],
      [`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`, 400],
      [JSON.stringify({ ...ping, params: { x: "x".repeat(20_000_000) } }), 413],
    ];
    for (const [body, status] of bodies) {
      const answer = await post(url, body, session);
      expect([String(body).slice(0, 30), answer.status]).toEqual([String(body).slice(0, 30), status]);
      expect((await answer.json()) as object).toMatchObject({ error: { code: expect.any(Number) } });
    }
    const vanishing = Array.from({ length: 50 }, async () => {
      const sent = request(url, {
        method: "POST",
        headers: { ...HEADERS, ...session, "content-length": 1000 },
      });
      sent.on("error", () => {});
      sent.write('{"jsonrpc":', () => sent.destroy());
      await new Promise((resolve) => sent.on("close", resolve));
    });
    await Promise.all(vanishing);
    expect((await post(url, JSON.stringify(ping), { "mcp-session-id": "../x" })).status).toBe(404);
    expect(
      (await post(url, JSON.stringify(ping), { ...session, "mcp-protocol-version": "1999-01-01" })).status,
    ).toBe(400);
    expect((await post(url, JSON.stringify(ping), session)).status).toBe(200);
    expect(await other.call("read_file", { file_path: `${root}/a.txt` })).toMatchObject({ isError: false });
  });

  it("answers two requests of one id at a time, and closes the stream of one that was cancelled", async () => {
    const url = await serve("--yes");
    const session = await begin(url);
    const send = (message: object) => post(url, JSON.stringify({ jsonrpc: "2.0", ...message }), session);
    const run = (id: unknown, command: string) =>
      send({ id, method: "tools/call", params: { name: "run_shell_command", arguments: { command } } });
    const first = run(1, "touch begun; until test -e go; do sleep 0.05; done; echo first");
    await expect.poll(() => existsSync(join(root, "begun"))).toBe(true);
    const second = await run(1, "echo second");
    expect([second.status, await second.json()]).toEqual([
      400,
      {
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32600, message: expect.stringContaining("has no answer yet") },
      },
    ]);
    put("go", "");
    expect(await (await first).text()).toContain("first");
    expect(await (await run(1, "echo third")).text()).toContain("third");
    const twice = { jsonrpc: "2.0", id: 9, method: "ping" };
    const both = await post(url, JSON.stringify([twice, twice]), session);
    expect([both.status, await both.json()]).toMatchObject([400, { id: 9, error: { code: -32600 } }]);
    const endless = run("x", "touch slept; sleep 1022");
    await expect.poll(() => existsSync(join(root, "slept"))).toBe(true);
    const cancel = { method: "notifications/cancelled", params: { requestId: "x" } };
    expect([(await send(cancel)).status, (await send(cancel)).status]).toEqual([202, 202]);
    expect(await (await endless).text()).not.toContain("result");
    expect(await (await run("x", "echo fourth")).text()).toContain("fourth");
  });

  /** The order to read a picture of some megabytes. */
  function pictureCall(): object {
    const head = Buffer.from("ffd8ffc00011080010001003011100021100031100ffda0002", "hex");
    const bytes = Buffer.concat([head, Buffer.alloc(3_200_000, 7), Buffer.of(0xff, 0xd9)]);
    writeFileSync(join(root, "a.jpg"), bytes);
    const params = { name: "read_file", arguments: { file_path: join(root, "a.jpg") } };
    return { jsonrpc: "2.0", method: "tools/call", params };
  }

  it("P12 keeps few of the answers that nobody reads yet in memory, and loses none", async () => {
    const url = await serve();
    const session = await begin(url);
    const order = pictureCall();
    const answers = Array.from({ length: 200 }, (_, id) =>
      post(url, JSON.stringify({ ...order, id }), session),
    );
    const memory = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    for (let before = 0; memory() > before; await pause(2000)) before = memory();
    expect(memory()).toBeLessThan(500_000);
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
    for (const text of texts) expect(text.length).toBeGreaterThan(4_000_000);
  });

  it("P12 P25 a client that reads nothing of its answers keeps no other one waiting", async () => {
    const url = await serve();
    const { call } = await client(url);
    const headers = { ...HEADERS, ...(await begin(url)) };
    const order = pictureCall();
    const unread = Array.from({ length: 60 }, (_, id) => {
      const asking = request(url, { method: "POST", headers, agent: false });
      asking.end(JSON.stringify({ ...order, id }));
      return new Promise<IncomingMessage>((resolve) => asking.on("response", resolve));
    });
    await Promise.all(unread);
    await pause(3000);
    expect(JSON.stringify(await call("read_file", { file_path: join(root, "a.txt") }))).toContain("one");
    const lengths = unread.map(async (answer) => {
      let length = 0;
      for await (const piece of await answer) length += piece.length;
      return length;
    });
    expect(Math.min(...(await Promise.all(lengths)))).toBeGreaterThan(4_000_000);
  });

  it(
    "P26 ends the commands of a client that ends its session, twice, and of no other",
    requirePrograms("ps"),
    async () => {
      const url = await serve("--yes");
      const [one, two] = [await begin(url), await begin(url)];
      const run = (session: object, name: string) => {
        const params = {
          name: "run_shell_command",
          arguments: { command: `touch ${name}; sleep 1021; touch not-${name}` },
        };
        const ending = new AbortController();
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
        const init = { method: "POST", headers: { ...HEADERS, ...session }, body, signal: ending.signal };
        void fetch(url, init).catch(() => {});
        return ending;
      };
      run(one, "a");
      const kept = run(two, "b");
      await expect
        .poll(() => [existsSync(join(root, "a")), existsSync(join(root, "b"))])
        .toEqual([true, true]);
      const end = () => fetch(url, { method: "DELETE", headers: { ...HEADERS, ...one } });
      expect([(await end()).status, (await end()).status]).toEqual([200, 404]);
      const commands = () =>
        execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).match(/^sleep 1021$/gm)?.length;
      await expect.poll(commands).toBe(1);
      kept.abort();
    },
  );

  it("P19 prints a token that it has made, and never one that it was given", async () => {
    const made = await saidAtStart([], {});
    const [, token = ""] = /Authorization: Bearer (\S+)\n$/.exec(made.said) ?? [];
    expect(await statusOf(made.url, { authorization: `Bearer ${token}` })).not.toBe(401);
    const { url, said } = await saidAtStart([], { BURIN_SERVE_TOKEN: TOKEN });
    expect(said).not.toContain(TOKEN);
    expect(said).toContain("the token that was set");
    expect(await statusOf(url, { authorization: `Bearer ${TOKEN}` })).not.toBe(401);
    expect(await statusOf(url, { authorization: "Bearer <the" })).toBe(401);
  });
});
