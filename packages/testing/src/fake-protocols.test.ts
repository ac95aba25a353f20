import { afterEach, describe, expect, it } from "vitest";
import { type FakeModelServer, startFakeModelServer } from "./index.ts";

let server: FakeModelServer | undefined;

afterEach(async () => {
  await server?.close();
});

const PATHS = {
  anthropic: "/messages",
  gemini: "/models/m:streamGenerateContent?alt=sse",
  responses: "/responses",
} as const;

/** What the fake has against the body; undefined when it takes it. */
async function problemOf(protocol: keyof typeof PATHS, body: object): Promise<string | undefined> {
  server = await startFakeModelServer([{ text: "ok" }]);
  const url = `${server.baseUrl}${PATHS[protocol]}`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  await answer.text();
  expect(answer.status).toBe(server.problems.length > 0 ? 400 : 200);
  return server.problems[0];
}

type Wrong = readonly (readonly [string, object, RegExp])[];

describe("the fake of Anthropic's Messages", () => {
  const text = (words: string) => ({ type: "text", text: words });
  const user = (...content: object[]) => ({ role: "user", content });
  const assistant = (...content: object[]) => ({ role: "assistant", content });
  const use = (id: string, name = "ls") => ({ type: "tool_use", id, name, input: {} });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: [text("x")] });
  const go = user(text("go"));
  const body = (...messages: object[]) => ({ model: "m", max_tokens: 1, messages });

  it("takes a whole conversation", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } };
    const messages = [go, assistant(text("x"), use("a"), use("b")), user(result("b"), result("a"), image)];
    expect(
      await problemOf("anthropic", {
        ...body(...messages),
        system: "s",
        tools: [{ name: "ls", input_schema: { type: "object" } }],
      }),
    ).toBeUndefined();
  });

  const marked = { ...text("x"), cache_control: { type: "ephemeral" } };
  const wrong: Wrong = [
    ["no limit", { ...body(go), max_tokens: undefined }, /max_tokens/],
    ["an assistant first", body(assistant(text("x")), go), /out of turn/],
    ["two users", body(go, go), /out of turn/],
    ["an assistant last", body(go, assistant(text("x"))), /last/],
    ["an empty message", body(user()), /no content/],
    ["a blank text", body(user(text(" "))), /not usable/],
    [
      "a call without an answer",
      body(go, assistant(use("a"), use("b")), user(result("a"))),
      /no answer to the call b/,
    ],
    ["an answer twice", body(go, assistant(use("a")), user(result("a"), result("a"))), /once more/],
    ["an answer without a call", body(user(result("z"))), /which no call has/],
    ["an answer behind text", body(go, assistant(use("a")), user(text("x"), result("a"))), /must come first/],
    ["an id twice", body(go, assistant(use("a"), use("a")), user(result("a"))), /second call/],
    ["an odd id", body(go, assistant(use("a:1")), user(result("a:1"))), /id "a:1" is not allowed/],
    ["an odd name", body(go, assistant(use("a", "x y")), user(result("a"))), /name "x y"/],
    [
      "only thinking",
      body(go, assistant({ type: "redacted_thinking", data: "x" }), go),
      /final block cannot be `thinking`/,
    ],
    [
      "a changed signature",
      body(go, assistant({ type: "thinking", thinking: "hm", signature: "x" }, text("x")), go),
      /signature/,
    ],
    ["too many marks", body(user(marked, marked, marked, marked, marked)), /four are allowed/],
    ["no schema", { ...body(go), tools: [{ name: "ls" }] }, /not a schema/],
    [
      "a tool twice",
      { ...body(go), tools: [1, 2].map(() => ({ name: "ls", input_schema: { type: "object" } })) },
      /twice/,
    ],
    [
      "an odd kind of image",
      body(user({ type: "image", source: { type: "base64", media_type: "image/tiff", data: "x" } })),
      /not usable/,
    ],
  ];
  it.each(wrong)("refuses %s", async (_title, sent, words) => {
    expect(await problemOf("anthropic", sent)).toMatch(words);
  });
});

describe("the fake of Gemini's generateContent", () => {
  const user = (...parts: object[]) => ({ role: "user", parts });
  const model = (...parts: object[]) => ({ role: "model", parts });
  const call = (id: string, name = "ls") => ({ functionCall: { id, name, args: {} } });
  const answer = (id: string, name = "ls") => ({ functionResponse: { id, name, response: { output: "x" } } });
  const go = user({ text: "go" });
  const body = (...contents: object[]) => ({ contents });
  const declaring = (parametersJsonSchema: object, name = "ls") => ({
    ...body(go),
    tools: [{ functionDeclarations: [{ name, parametersJsonSchema }] }],
  });

  it("takes a whole conversation", async () => {
    const contents = [go, model({ text: "x" }, call("a"), call("b")), user(answer("a"), answer("b"))];
    expect(await problemOf("gemini", { ...declaring({ type: "object" }), contents })).toBeUndefined();
  });

  const wrong: Wrong = [
    ["nothing", {}, /list is missing/],
    ["a model first", body(model({ text: "x" }), go), /out of turn/],
    ["two users", body(go, go), /out of turn/],
    ["a model last", body(go, model({ text: "x" })), /last/],
    ["no parts", body(user()), /must have parts/],
    ["an empty part", body(user({ text: "" })), /empty/],
    ["an empty part of the model", body(go, model({ text: "" }), go), /empty/],
    ["too few answers", body(go, model(call("a"), call("b")), user(answer("a"))), /not equal/],
    ["too many answers", body(go, model(call("a")), user(answer("a"), answer("a"))), /not equal/],
    [
      "answers in another order",
      body(go, model(call("a"), call("b")), user(answer("b"), answer("a"))),
      /another call/,
    ],
    ["an answer of another tool", body(go, model(call("a")), user(answer("a", "cat"))), /another call/],
    ["an odd name", body(go, model(call("a", "x y")), user(answer("a", "x y"))), /name "x y"/],
    ["a reference", declaring({ type: "object", properties: { a: { $ref: "#" } } }), /keyword/],
    ["a schema that is no object", declaring({ type: "string" }), /not a schema/],
  ];
  it.each(wrong)("refuses %s", async (_title, sent, words) => {
    expect(await problemOf("gemini", sent)).toMatch(words);
  });
});

describe("the fake of OpenAI's Responses", () => {
  const message = (role: string, part: object) => ({ type: "message", role, content: [part] });
  const go = message("user", { type: "input_text", text: "go" });
  const said = message("assistant", { type: "output_text", text: "x" });
  const call = (call_id: string, name = "ls") => ({ type: "function_call", call_id, name, arguments: "{}" });
  const output = (call_id: string) => ({ type: "function_call_output", call_id, output: "x" });
  const reasoning = { type: "reasoning", id: "r", summary: [], encrypted_content: "x" };
  const body = (...input: object[]) => ({ model: "m", store: false, input });

  it("takes a whole conversation", async () => {
    const tools = [{ type: "function", name: "ls", parameters: { type: "object" } }];
    expect(
      await problemOf("responses", {
        ...body(go, said, call("a"), call("b"), output("b"), output("a")),
        tools,
      }),
    ).toBeUndefined();
  });

  const wrong: Wrong = [
    ["a store", { ...body(go), store: true }, /store/],
    ["nothing", body(), /list is missing/],
    ["an assistant last", body(go, said), /last/],
    ["a call without an output", body(go, call("a"), go), /no answer to the call a/],
    [
      "a call without an output at the end",
      body(go, call("a"), call("b"), output("a")),
      /no answer to the call b/,
    ],
    ["an output twice", body(go, call("a"), output("a"), output("a")), /once more/],
    ["an output without a call", body(go, output("z")), /which no call has/],
    ["an id twice", body(go, call("a"), call("a"), output("a")), /second call/],
    ["arguments that are no object", body(go, { ...call("a"), arguments: "[]" }, output("a")), /arguments/],
    ["an odd name", body(go, call("a", "x y"), output("a")), /name "x y"/],
    ["reasoning of another service", body(go, reasoning, said, go), /invalid_encrypted_content/],
    ["an output text of the user", body(message("user", { type: "output_text", text: "x" })), /does not fit/],
    ["an item of an unknown kind", body(go, { type: "odd" }), /not known/],
    [
      "a tool in the form of chat completions",
      { ...body(go), tools: [{ type: "function", function: { name: "ls" } }] },
      /name "undefined"/,
    ],
  ];
  it.each(wrong)("refuses %s", async (_title, sent, words) => {
    expect(await problemOf("responses", sent)).toMatch(words);
  });
});

describe("what a fake hands out with a call", () => {
  const args = {};
  it.each<[keyof typeof PATHS, object, object, RegExp]>([
    [
      "anthropic",
      {
        model: "m",
        max_tokens: 1,
        stream: true,
        messages: [{ role: "user", content: [{ type: "text", text: "go" }] }],
      },
      {
        messages: [
          { role: "user", content: [{ type: "text", text: "go" }] },
          { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "ls", input: args }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
        ],
      },
      /Expected the `thinking` block/,
    ],
    [
      "gemini",
      { contents: [{ role: "user", parts: [{ text: "go" }] }] },
      {
        contents: [
          { role: "user", parts: [{ text: "go" }] },
          { role: "model", parts: [{ functionCall: { id: "call_1", name: "ls", args } }] },
          { role: "user", parts: [{ functionResponse: { id: "call_1", name: "ls", response: {} } }] },
        ],
      },
      /missing a thought_signature/,
    ],
    [
      "responses",
      {
        model: "m",
        store: false,
        stream: true,
        input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }],
      },
      {
        input: [
          { type: "function_call", call_id: "call_1", name: "ls", arguments: "{}" },
          { type: "function_call_output", call_id: "call_1", output: "" },
        ],
      },
      /without its required reasoning item/,
    ],
  ])("P36 has to come back: %s", async (...[protocol, first, second, words]) => {
    const started = await startFakeModelServer([
      { thought: "hm", calls: [{ name: "ls", args }] },
      { text: "ok" },
    ]);
    server = started;
    for (const body of [first, { ...first, ...second }]) {
      const answer = await fetch(`${started.baseUrl}${PATHS[protocol]}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      await answer.text();
    }
    expect(started.problems).toEqual([expect.stringMatching(words)]);
  });
});
