import { describe, expect, it } from "vitest";
import { put, root } from "./project.ts";
import { type RawServer, rawServer } from "./raw-server.ts";

/** What each face is first told, and a request that it answers whatever came before. */
const FACES = {
  mcp: {
    hello: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    ask: "tools/list",
    maxMegabytes: 10,
  },
  acp: { hello: { protocolVersion: 1, clientCapabilities: {} }, ask: "session/list", maxMegabytes: 64 },
};
type Face = keyof typeof FACES;

async function serve(face: Face): Promise<RawServer> {
  const model = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_MODEL: "m", OPENAI_API_KEY: "k" };
  const server = rawServer(root, [face], model);
  server.send({ id: "start", method: "initialize", params: FACES[face].hello });
  await server.answer("start");
  if (face === "mcp") server.send({ method: "notifications/initialized" });
  return server;
}

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const asked = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ASK"}`;
const INVALID = -32600;
const NO_JSON = -32700;

/** A line, and the id and code of the one error that answers it. */
const ODD: readonly (readonly [what: string, line: string | Buffer, id: unknown, code: number])[] = [
  ["messages in a list", `[${asked("1")},${asked("2")}]`, null, INVALID],
  ["an empty list", "[]", null, INVALID],
  ["a number", "7", null, INVALID],
  ["null", "null", null, INVALID],
  ["an id that is true", asked("true"), null, INVALID],
  ["an id that is an object", asked("{}"), null, INVALID],
  ["an id that is a list", asked("[1]"), null, INVALID],
  ["an id with a fraction", asked("1.5"), null, INVALID],
  ["an id that no program keeps whole", asked("9007199254740993"), null, INVALID],
  ["an id without end", asked("1e400"), null, INVALID],
  ["no version of JSON-RPC", '{"id":5,"method":"ASK"}', 5, INVALID],
  ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":"v","method":"ASK"}', "v", INVALID],
  ["a method that is a number", '{"jsonrpc":"2.0","id":6,"method":7}', 6, INVALID],
  ["params that are null", '{"jsonrpc":"2.0","id":8,"method":"ASK","params":null}', 8, INVALID],
  ["params that are a text", '{"jsonrpc":"2.0","id":9,"method":"ASK","params":"x"}', 9, INVALID],
  ["an answer with a result and an error", '{"jsonrpc":"2.0","id":3,"result":{},"error":{}}', null, INVALID],
  ["bytes that are no text", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), null, NO_JSON],
  ["NULs", Buffer.alloc(1000), null, NO_JSON],
  ["a list without an end", "[".repeat(200_000), null, NO_JSON],
  ["an object of 50,000 levels", nested(50_000), null, INVALID],
];

describe.each(Object.keys(FACES) as Face[])("burin serve %s is sent", (face) => {
  it("odd messages: each has one error, with the id that is waited for, and work goes on", async () => {
    const server = await serve(face);
    const { ask } = FACES[face];
    for (const [what, line] of ODD) {
      const text = typeof line === "string" ? line.replaceAll("ASK", ask) : line;
      server.child.stdin.write(Buffer.concat([Buffer.from(text), Buffer.from("\n")]));
      const [, , id, code] = ODD.find(([one]) => one === what) ?? [];
      const answer = await server.next();
      expect([what, answer.id, answer.error?.code]).toEqual([what, id, code]);
      expect(answer.error?.message.length).toBeLessThan(300);
    }
    server.send({ id: "last", method: ask, params: {} });
    expect(await server.next()).toMatchObject({ id: "last", result: {} });
  });

  it("ids and methods that mean something in JavaScript, and params of 5,000 levels: each has one answer", async () => {
    const server = await serve(face);
    const names = ["__proto__", "constructor", "toString", "", "\ud800"];
    for (const name of names) server.send({ id: name, method: name, params: { [name]: 1 } });
    for (const name of names)
      expect(await server.next()).toMatchObject({
        id: name,
        error: { code: -32601 },
      });
    const deep = `{"jsonrpc":"2.0","id":1,"method":"${FACES[face].ask}","params":{"_meta":${nested(5000)}}}`;
    server.send(deep);
    expect((await server.next()).id).toBe(1);
    server.send({ id: "last", method: FACES[face].ask, params: {} });
    expect(await server.next()).toMatchObject({ id: "last", result: {} });
  });

  it("a line four times as long as a message may be: one error when it ends, and work goes on", async () => {
    const server = await serve(face);
    const megabytes = FACES[face].maxMegabytes * 4;
    const part = Buffer.alloc(1024 * 1024, "x");
    for (let sent = 0; sent < megabytes; sent += 1)
      if (!server.child.stdin.write(part))
        await new Promise((resolve) => server.child.stdin.once("drain", resolve));
    server.send("");
    expect(await server.next()).toMatchObject({ id: null, error: { code: INVALID } });
    server.send({ id: "last", method: FACES[face].ask, params: {} });
    expect(await server.next()).toMatchObject({ id: "last", result: {} });
  });

  it("half a message, and nothing more: it ends", async () => {
    const server = await serve(face);
    server.child.stdin.end(asked("1").slice(0, 30));
    expect(await server.ended).toBe(0);
  });
});

describe("burin serve mcp", () => {
  it("R27 says which params of a request are wrong", async () => {
    const server = await serve("mcp");
    const faulty: Refused[] = [
      ["tools/list", { cursor: 5 }, "tools/list: params.cursor: Invalid input: expected string"],
      ["tools/call", { name: 5 }, "tools/call: params.name: Invalid input: expected string"],
      ["resources/read", {}, "resources/read: params.uri: Invalid input: expected string"],
      ["logging/setLevel", { level: "loud" }, "logging/setLevel: params.level: "],
    ];
    await expectRefused(server, faulty);
    server.send({ id: "last", method: "tools/list", params: {} });
    expect(await server.next()).toMatchObject({ id: "last", result: {} });
  });
});

describe("burin serve acp", () => {
  it.each([-1, 65_536, "1", null, 1.5, {}])(
    "refuses the protocol version %j and waits for another",
    async (version) => {
      const server = rawServer(root, ["acp"]);
      server.send({ id: 1, method: "session/list", params: {} });
      expect(await server.answer(1)).toMatchObject({ error: { code: INVALID } });
      server.send({
        id: 2,
        method: "initialize",
        params: { protocolVersion: version, clientCapabilities: {} },
      });
      expect(await server.answer(2)).toMatchObject({ error: { code: -32602 } });
      server.send({ id: 3, method: "initialize", params: { protocolVersion: 99, clientCapabilities: {} } });
      expect(await server.answer(3)).toMatchObject({ result: { protocolVersion: 1 } });
    },
  );

  it("says what is wrong with a folder, a cursor and a session", async () => {
    const server = await serve("acp");
    const mcpServers: unknown[] = [];
    const faulty: Refused[] = [
      ["session/new", { cwd: ".", mcpServers }, "absolute"],
      ["session/new", { cwd: "/dev/null", mcpServers }, "not a directory"],
      ["session/new", { cwd: "/\0", mcpServers }, "null bytes"],
      ["session/new", { cwd: `/${"x".repeat(5000)}`, mcpServers }, "too long"],
      ["session/list", { cursor: "-1" }, "cursor"],
      ["session/list", { cursor: "abc" }, "cursor"],
    ];
    await expectRefused(server, faulty);
    const unknown: Refused[] = [
      ["session/load", { cwd: root, mcpServers, sessionId: "../../x" }, "start a new one"],
      ["session/resume", { cwd: root, mcpServers, sessionId: "" }, "start a new one"],
      ["session/prompt", { sessionId: "__proto__", prompt: [] }, "no session"],
    ];
    await expectRefused(server, unknown, -32002);
  });

  it("says what is wrong with a prompt and a model, and lists no session whose folder nobody knows", async () => {
    const server = await serve("acp");
    server.send({ id: "new", method: "session/new", params: { cwd: root, mcpServers: [] } });
    const sessionId = (await server.answer("new")).result?.sessionId;
    const empty = { type: "text", text: " \n" };
    const setModel = (value: unknown) => [
      "session/set_config_option",
      { sessionId, configId: "model", ...(typeof value === "boolean" ? { type: "boolean" } : {}), value },
      "by its name",
    ];
    await expectRefused(server, [
      ["session/prompt", { sessionId, prompt: [] }, "empty"],
      ["session/prompt", { sessionId, prompt: [empty, empty] }, "empty"],
      setModel(""),
      setModel(true),
    ] as Refused[]);
    put(".home/sessions/somewhere/20260101T000000-abcdef.jsonl", "no record\n");
    server.send({ id: "list", method: "session/list", params: {} });
    expect((await server.answer("list")).result).toEqual({ sessions: [] });
  });
});

type Refused = [method: string, params: object, why: string];

async function expectRefused(server: RawServer, requests: readonly Refused[], code = -32602): Promise<void> {
  for (const [at, [method, params, why]] of requests.entries()) {
    server.send({ id: at, method, params });
    const { error } = await server.answer(at);
    expect([error?.code, error?.message]).toEqual([code, expect.stringContaining(why)]);
  }
}
