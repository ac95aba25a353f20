import { BaseTool, createToolbox, defineTool, type Toolbox, type ToolResult } from "@burin/core";
import { type } from "arktype";
import * as v from "valibot";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { makeFolders, root } from "./folder.ts";

makeFolders();
const opened: Toolbox[] = [];
afterEach(() => Promise.all(opened.splice(0).map((toolbox) => toolbox.close())));

type Tools = NonNullable<Parameters<typeof createToolbox>[0]["tools"]>;

function toolboxOf(tools: Tools): Toolbox {
  const toolbox = createToolbox({ root, environment: { BURIN_HOME: `${root}/.home` }, tools });
  opened.push(toolbox);
  return toolbox;
}

/** Compiles only where both types are the same. */
function isSame<One, Other>(_proof: [One] extends [Other] ? ([Other] extends [One] ? true : never) : never) {}

const SHOUTS = { name: "shout", kind: "read", description: "Shouts." } as const;

it("R5 R6 the params of a JSON Schema literal have its types, and a wrong call is refused", async () => {
  const tool = defineTool({
    ...SHOUTS,
    parameterSchema: {
      type: "object",
      properties: {
        text: { type: "string" },
        times: { type: "integer" },
        how: { enum: ["loud", "soft"] },
        words: { type: "array", items: { type: "string" } },
        who: { type: ["string", "null"] },
        at: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
        any: true,
      },
      required: ["text", "how"],
    },
    execute: (params) => {
      isSame<
        typeof params,
        {
          text: string;
          how: "loud" | "soft";
          times?: number;
          words?: string[];
          who?: string | null;
          at?: { x: number };
          any?: unknown;
        }
      >(true);
      return params.text.toUpperCase() + (params.words ?? []).join("");
    },
  });
  const toolbox = toolboxOf([tool]);
  expect(await toolbox.call("shout", { text: "a", how: "loud", words: ["b"] })).toMatchObject({
    llmContent: "Ab",
  });
  const wrong = await toolbox.call("shout", { text: "a", how: "shrill" });
  expect(wrong.error).toMatchObject({ type: "invalid_arguments" });
});

it("R5 a schema that is not a literal leaves the params open", async () => {
  const parameterSchema: Record<string, unknown> = { type: "object" };
  const tool = defineTool({
    ...SHOUTS,
    parameterSchema,
    execute: (params) => {
      isSame<typeof params, Record<string, unknown>>(true);
      return String(params.text);
    },
  });
  expect(await toolboxOf([tool]).call("shout", { text: "a" })).toMatchObject({ llmContent: "a" });
});

const byZod = defineTool({
  ...SHOUTS,
  parameterSchema: z.object({
    text: z.string().min(1).describe("What."),
    times: z.number().int().default(2),
  }),
  execute: async (p) => {
    isSame<typeof p, { text: string; times: number }>(true);
    return { llmContent: p.text.toUpperCase().repeat(p.times), returnDisplay: "shouted" };
  },
});
const byValibot = defineTool({
  ...SHOUTS,
  parameterSchema: v.object({
    text: v.pipe(v.string(), v.minLength(1), v.description("What.")),
    times: v.optional(v.pipe(v.number(), v.integer()), 2),
  }),
  execute: (p) => {
    isSame<typeof p, { text: string; times: number }>(true);
    return p.text.toUpperCase().repeat(p.times);
  },
});
const byArktype = defineTool({
  ...SHOUTS,
  parameterSchema: type({ text: "string >= 1", times: "number.integer = 2" }),
  execute: (p) => {
    isSame<typeof p, { text: string; times: number }>(true);
    return p.text.toUpperCase().repeat(p.times);
  },
});

it.each([
  ["zod", byZod],
  ["valibot", byValibot],
  ["arktype", byArktype],
] as const)("R5 R6 a schema of %s is declared, checks the call, and gives its output", async (_, tool) => {
  const toolbox = toolboxOf([tool]);
  const declared = toolbox.registry.getFunctionDeclarations().find(({ name }) => name === "shout");
  expect(declared?.parameters).toMatchObject({
    type: "object",
    properties: { text: { type: "string", minLength: 1 }, times: { type: "integer" } },
    required: ["text"],
  });
  expect(await toolbox.call("shout", { text: "ab" })).toMatchObject({ llmContent: "ABAB" });
  expect(await toolbox.call("shout", { text: "ab", times: "3" })).toMatchObject({ llmContent: "ABABAB" });
  for (const wrong of [{}, { text: "" }, { text: 1 }, { text: "a", times: 1.5 }]) {
    const { error } = await toolbox.call("shout", wrong);
    expect(error).toMatchObject({ type: "invalid_arguments" });
    expect(error?.message).toMatch(/"(text|times)".*It takes: text, times\./s);
  }
});

it("R6 R30 a schema that answers later refuses before anything is asked or runs", async () => {
  const ran: string[] = [];
  const asked: unknown[] = [];
  const tool = defineTool({
    name: "deploy",
    description: "Deploys.",
    parameterSchema: z.object({ to: z.string().refine(async (to) => to === "test", "must be test") }),
    execute: ({ to }) => {
      ran.push(to);
      return "done";
    },
  });
  const toolbox = createToolbox({
    root,
    tools: [tool],
    confirm: async (confirmation) => {
      asked.push(confirmation.title);
      return { outcome: "once" };
    },
  });
  opened.push(toolbox);
  expect((await toolbox.call("deploy", { to: "live" })).error).toMatchObject({ type: "invalid_arguments" });
  expect([asked, ran]).toEqual([[], []]);
  expect(await toolbox.call("deploy", { to: "test" })).toMatchObject({ llmContent: "done" });
  expect([asked.length, ran]).toEqual([1, ["test"]]);
});

class ByConstructor extends BaseTool<{ text: string }> {
  constructor() {
    super({
      name: "count",
      displayName: "Count",
      kind: "read",
      description: "Counts.",
      parameterSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    });
  }
  override getDescription(params: { text: string }) {
    return `count ${params.text}`;
  }
  override async execute(params: { text: string }): Promise<ToolResult> {
    return { llmContent: String(params.text.length), returnDisplay: "" };
  }
}

class ByFields extends BaseTool<{ text: string }> {
  name = "count";
  displayName = "Count";
  kind = "read";
  description = "Counts.";
  parameterSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  getDescription({ text }: { text: string }) {
    return `count ${text}`;
  }
  async execute({ text }: { text: string }) {
    return { llmContent: String(text.length), returnDisplay: "" };
  }
}

class ByOverrides extends ByConstructor {
  override readonly name = "count";
  override get description() {
    return "Counts.";
  }
}

it.each([
  ["a constructor", new ByConstructor()],
  ["fields", new ByFields()],
  ["overrides", new ByOverrides()],
])("R1 R2 R3 R4 a class that extends BaseTool says what it is by %s", async (_, tool) => {
  const toolbox = toolboxOf([tool]);
  expect(tool).toBeInstanceOf(BaseTool);
  expect(toolbox.registry.getTool("count")).toMatchObject({ displayName: "Count", description: "Counts." });
  expect(await toolbox.call("count", { text: "abc" })).toMatchObject({ llmContent: "3" });
  expect((await toolbox.call("count", {})).error).toMatchObject({ type: "invalid_arguments" });
});

const PLAIN = { ...SHOUTS, displayName: "Shout", parameterSchema: { type: "object" } };
const METHODS = {
  validateToolParams: () => null,
  getDescription: () => "",
  shouldConfirmExecute: async () => false as const,
  execute: async () => ({ llmContent: "", returnDisplay: "" }),
};

it.each([
  [
    "an array schema",
    { ...PLAIN, ...METHODS, parameterSchema: { type: "array" } },
    /must be of type object, not "array"/,
  ],
  [
    "a schema of zod",
    { ...PLAIN, ...METHODS, parameterSchema: z.object({}) },
    /a schema of zod, which defineTool turns/,
  ],
  [
    "properties in a list",
    { ...PLAIN, ...METHODS, parameterSchema: { properties: [] } },
    /"properties" must be an object/,
  ],
  ["no schema", { ...SHOUTS, ...METHODS, displayName: "S" }, /needs a parameterSchema/],
  ["no description", { ...PLAIN, ...METHODS, description: undefined }, /needs a description/],
  ["no execute", { ...PLAIN, ...METHODS, execute: undefined }, /has no execute/],
])("R15 R19 registerTool refuses what discovery refuses: %s", (_, tool, words) => {
  const { registry } = toolboxOf([]);
  expect(() => registry.registerTool(tool as never)).toThrow(words);
  expect(registry.getTool("shout")).toBeUndefined();
});

it("R1 defineTool refuses a definition that cannot run", () => {
  const half = { ...SHOUTS, parameterSchema: { type: "object" } } as unknown as Parameters<
    typeof defineTool
  >[0];
  expect(() => defineTool(half)).toThrow(/needs a function "execute"/);
});
