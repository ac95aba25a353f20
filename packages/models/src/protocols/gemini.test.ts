import type { Message } from "@burin/contract/messages/message";
import { ASK, closeServers, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, expect, it } from "vitest";
import { openModel } from "../choice/open-model.ts";

afterEach(closeServers);

it("P15 Gemini's arguments may come as text, too", async () => {
  const functionCall = { name: "read_file", args: '{"path":"a"}' };
  const body = sse({ candidates: [{ content: { parts: [{ functionCall }] }, finishReason: "STOP" }] });
  const { baseUrl } = await serve(raw(body));
  const model = openModel({ provider: "gemini", name: "m", baseUrl });
  expect(await readAll(model, { history: [ASK] })).toContainEqual({
    type: "function_call",
    call: expect.objectContaining({ name: "read_file", args: { path: "a" } }),
  });
});

it.each([
  ["with its id", { id: "tool-1" }],
  ["without an id", {}],
])("P10 pieces of one call of Gemini, each with the name, %s, are one call", async (_title, fields) => {
  const piece = (stringValue: string, willContinue: boolean) => ({
    ...{ name: "get_weather", ...fields, willContinue },
    partialArgs: [{ jsonPath: "$.location", stringValue }],
  });
  const parts = (...calls: object[]) => ({
    candidates: [{ content: { parts: calls.map((functionCall) => ({ functionCall })) } }],
  });
  const body = sse(
    parts(piece("San ", true)),
    parts(piece("Francisco", false)),
    parts({ ...piece("Bo", true), id: "tool-2" }, { ...piece("ston", false), id: "tool-2" }),
    { candidates: [{ finishReason: "STOP" }] },
  );
  const { baseUrl } = await serve(raw(body));
  const events = await readAll(openModel({ provider: "gemini", name: "m", baseUrl }));
  const calls = events.flatMap((event) => (event.type === "function_call" ? [event.call.args] : []));
  expect(calls).toEqual([{ location: "San Francisco" }, { location: "Boston" }]);
});

// pydantic/pydantic-ai#1675
it("P16 schemas under their older name have one type each, and only words to choose from", async () => {
  const message = `Invalid JSON payload received. Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]': Cannot find field.`;
  const server = await serve({ error: { status: 400, message } }, { text: "ok" });
  const model = openModel({ provider: "gemini", name: "m", baseUrl: server.baseUrl });
  const list = { type: "array", items: { type: ["string", "null"], enum: ["a", null] } };
  const parameters = {
    type: "object",
    properties: { list, count: { type: "integer", enum: [1, 2] } },
  } as const;
  await readAll(model, { tools: [{ name: "look", description: "looks", parameters }] });
  const taken = {
    list: { type: "array", items: { type: "string", nullable: true } },
    count: { type: "integer" },
  };
  expect(server.requests.at(-1)?.body.tools).toMatchObject([
    { functionDeclarations: [{ parameters: { type: "object", properties: taken } }] },
  ]);
  expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain("enum");
});

// The second one is from crmne/ruby_llm#521 and google-gemini/gemini-cli#8003.
it.each([
  "Corrupted thought signature.",
  "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for \"c2ln\"",
])(
  "P36 Gemini gets no signature twice that it refused, also with a tool's changed name: %s",
  async (message) => {
    const server = await serve({ error: { status: 400, message } }, { text: "ok" }, { text: "ok" });
    const model = openModel({ provider: "gemini", name: "m", baseUrl: server.baseUrl });
    const call = { id: "a", name: "a tool" };
    const history: Message[] = [
      ASK,
      { role: "model", parts: [{ functionCall: { ...call, args: {} }, thoughtSignature: "c2ln" }] },
      { role: "user", parts: [{ functionResponse: { ...call, response: { output: "x" } } }] },
    ];
    for (const again of [history, structuredClone(history)])
      expect((await readAll(model, { history: again })).at(-1)).toEqual({ type: "end", reason: "stop" });
    const sent = server.requests.map(({ body }) => JSON.stringify(body).includes("c2ln"));
    expect(sent).toEqual([true, false, false]);
  },
);
