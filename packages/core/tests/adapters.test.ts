import { fileURLToPath } from "node:url";
import { createToolbox, defineTool } from "@burin/core";
import { aiSdk, anthropic, gemini, langchain, openai, responses } from "@burin/core/adapters";
import { startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { file, home, makeFolders, root } from "./folder.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = Buffer.from(
  "%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n",
).toString("base64");
const closing: (() => unknown)[] = [];
const before = { ...process.env };

makeFolders();
beforeEach(() => {
  process.env.BURIN_HOME = home;
});
afterEach(async () => {
  process.env = { ...before };
  for (const close of closing.splice(0)) await close();
});

type Ask = (prompt: string, root: string, signal?: AbortSignal) => Promise<string>;

/** The loops as they stand under examples/, with the service that they ask. */
async function openLoop(name: string, replies: Parameters<typeof startFakeModelServer>[0]) {
  const service = await startFakeModelServer(replies);
  closing.push(() => service.close());
  const base = service.baseUrl.replace(/\/v1$/, "");
  Object.assign(process.env, {
    OPENAI_BASE_URL: service.baseUrl,
    OPENAI_API_KEY: "none",
    OPENAI_MODEL: "m",
    ANTHROPIC_BASE_URL: base,
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_MODEL: "m",
    GEMINI_BASE_URL: base,
    GEMINI_API_KEY: "none",
    GEMINI_MODEL: "m",
  });
  const path = fileURLToPath(new URL(`../../../examples/loops/${name}.ts`, import.meta.url));
  const { ask } = (await import(path)) as { ask: Ask };
  return { service, ask };
}

const LOOPS = ["fetch", "openai", "responses", "anthropic", "ai-sdk", "langchain", "gemini"];

describe.each(LOOPS)("the loop in examples/loops/%s.ts", (name) => {
  it("R35 R36 R61 gives an image, a PDF and an error back as what they are", async () => {
    const image = file("a.png", Buffer.from(PNG, "base64"));
    const document = file("b.pdf", Buffer.from(PDF, "base64"));
    const paths = [image, document, `${root}/gone.txt`];
    const { service, ask } = await openLoop(name, [
      { text: "I look.", calls: paths.map((path) => ({ name: "read_file", args: { absolute_path: path } })) },
      { text: "I saw them." },
    ]);
    expect(await ask("What is there?", root)).toBe("I saw them.");
    expect(service.problems).toEqual([]);
    const sent = JSON.stringify(service.requests[1]?.body);
    // Once each, as a file and not as text of a model's prompt.
    expect(sent.split(PNG)).toHaveLength(2);
    expect(sent.split(PDF)).toHaveLength(2);
    expect(sent).toMatch(/image\/png/);
    expect(sent).toMatch(/application\/pdf/);
    expect(sent).toContain("gone.txt");
    expect(sent).toMatch(/"is_error":true|Error: |"response":\{"error":/);
    expect(sent).not.toContain("[object Object]");
    const declared = JSON.stringify(service.requests[0]?.body.tools);
    expect(declared).toContain('"read_file"');
    expect(declared).toContain('"absolute_path"');
    expect(declared).not.toContain('"exit_plan_mode"');
  });

  it("R33 ends when it is cancelled, and asks for nothing more", async () => {
    const stop = new AbortController();
    const { service, ask } = await openLoop(name, [
      () => {
        stop.abort();
        return { calls: [{ name: "list_directory", args: { path: "." } }] };
      },
      { text: "Too late." },
    ]);
    await expect(ask("What is there?", root, stop.signal)).rejects.toThrow();
    expect(service.requests).toHaveLength(1);
  });
});

const CALLS = [
  { id: "one", name: "mixed", args: { n: 1 } },
  { id: "two", name: "nothing", args: {} },
  { id: "three", name: "mixed", args: '{"n":' },
] as const;

function toolboxOfTwo() {
  const media = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
  const svg = Buffer.from("<svg/>").toString("base64");
  const mixed = defineTool({
    name: "mixed",
    kind: "read",
    description: "Gives all kinds.",
    parameterSchema: { type: "object" },
    execute: () => ({
      llmContent: [
        "before",
        media("image/png", PNG),
        "between",
        media("image/bmp", "AA=="),
        media("image/svg+xml", svg),
      ],
      returnDisplay: "",
    }),
  });
  const nothing = defineTool({
    name: "nothing",
    kind: "read",
    description: "Gives no text.",
    parameterSchema: { type: "object" },
    execute: () => "",
  });
  const toolbox = createToolbox({ root, environment: { BURIN_HOME: home }, tools: [mixed, nothing] });
  closing.push(() => toolbox.close());
  return toolbox;
}

describe("adapters", () => {
  it("R12 R36 anthropic keeps the order inside an answer, the ids, and marks errors", async () => {
    const uses = CALLS.map(({ args: input, ...call }) => ({ type: "tool_use" as const, ...call, input }));
    const results = await anthropic.results(toolboxOfTwo(), [
      { type: "text" },
      ...uses,
      { type: "thinking" },
    ]);
    expect(results.map(({ tool_use_id, is_error }) => [tool_use_id, is_error])).toEqual([
      ["one", undefined],
      ["two", undefined],
      ["three", true],
    ]);
    expect(results[0]?.content).toEqual([
      { type: "text", text: "before" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      { type: "text", text: "between" },
      { type: "text", text: "[A file of type image/bmp is left out, because the service does not take it.]" },
      { type: "text", text: "<svg/>" },
    ]);
    expect(results[1]).not.toHaveProperty("content");
  });

  it("R36 the others answer each call by its id, in order, and put files after all answers", async () => {
    const toolbox = toolboxOfTwo();
    const chat = await openai.results(
      toolbox,
      CALLS.map(({ id, name, args }) => {
        const text = typeof args === "string" ? args : JSON.stringify(args);
        return { id, type: "function", function: { name, arguments: text } };
      }),
    );
    expect(chat.map((one) => ("tool_call_id" in one ? one.tool_call_id : one.role))).toEqual([
      "one",
      "two",
      "three",
      "user",
    ]);
    expect(chat[2]?.content).toMatch(/^Error: .*not a JSON object/);
    const items = CALLS.map(({ id, name, args }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: typeof args === "string" ? args : JSON.stringify(args),
    }));
    const output = await responses.results(toolbox, [{ type: "reasoning" }, ...items]);
    expect(output.map((one) => ("call_id" in one ? one.call_id : one.role))).toEqual([
      "one",
      "two",
      "three",
      "user",
    ]);
    const steps = CALLS.map(({ id, name, args }) => ({ toolCallId: id, toolName: name, input: args }));
    const [told, user] = await aiSdk.results(toolbox, steps);
    expect(told).toMatchObject({
      role: "tool",
      content: [{ toolCallId: "one" }, { toolCallId: "two" }, { output: { type: "error-text" } }],
    });
    expect(user).toMatchObject({ role: "user", content: [{ type: "text" }, { type: "image", image: PNG }] });
    const chain = await langchain.results(toolbox, [{ id: "one", name: "gone", args: {} }]);
    expect(chain).toMatchObject([{ role: "tool", tool_call_id: "one", status: "error" }]);
    const parts = await gemini.results(toolbox, [
      { name: "mixed", args: {} },
      { id: "x", name: "gone" },
    ]);
    expect(parts).toMatchObject([
      {
        functionResponse: { name: "mixed", response: { output: expect.stringMatching(/^before\nbetween/) } },
      },
      { inlineData: { mimeType: "image/png", data: PNG } },
      { functionResponse: { id: "x", name: "gone", response: { error: expect.any(String) } } },
    ]);
    expect(parts[0]?.functionResponse).not.toHaveProperty("id");
  });

  it("R36 no calls, no messages", async () => {
    const toolbox = toolboxOfTwo();
    const none = [
      await anthropic.results(toolbox, [{ type: "text" }]),
      await openai.results(toolbox, [], {}),
      await responses.results(toolbox, []),
      await gemini.results(toolbox, []),
      await aiSdk.results(toolbox, []),
      await langchain.results(toolbox, []),
    ];
    expect(none).toEqual([[], [], [], [], [], []]);
  });
});
