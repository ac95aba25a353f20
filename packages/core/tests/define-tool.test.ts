import { BaseTool, createSession, createToolbox, defineTool, type Toolbox } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";

const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const opened: Toolbox[] = [];

afterEach(() => Promise.all(opened.splice(0).map((toolbox) => toolbox.close())));

function toolboxOf(...[options]: [Omit<Parameters<typeof createToolbox>[0], "root">]): Toolbox {
  const root = createTemporaryFolder();
  const toolbox = createToolbox({ root, environment: { BURIN_HOME: `${root}/.home` }, ...options });
  opened.push(toolbox);
  return toolbox;
}

it("R1 R6 defineTool makes a tool of plain values, and a text is its answer", async () => {
  const greet = defineTool<{ name: string }>({
    name: "greet",
    description: "Greets.",
    kind: "read",
    parameterSchema: NAME,
    execute: ({ name }) => `Hello, ${name}.`,
  });
  expect(greet).toBeInstanceOf(BaseTool);
  expect(greet.displayName).toBe("greet");
  expect("ruleSubjects" in greet && greet.ruleSubjects !== undefined).toBe(false);
  const toolbox = toolboxOf({ tools: [greet] });
  expect(await toolbox.call("greet", { name: "Ada" })).toMatchObject({
    llmContent: "Hello, Ada.",
    returnDisplay: "Hello, Ada.",
  });
  expect((await toolbox.call("greet", {})).error?.message).toContain("name");
});

it("R7 a rule that a schema cannot say is heard before anything runs", async () => {
  const ran: string[] = [];
  const tool = defineTool<{ name: string }>({
    name: "greet",
    description: "Greets.",
    kind: "read",
    parameterSchema: NAME,
    checkParams: ({ name }) => (name === "" ? "name must not be empty." : null),
    execute: ({ name }) => {
      ran.push(name);
      return { llmContent: name, returnDisplay: name };
    },
  });
  const toolbox = toolboxOf({ tools: [tool] });
  expect((await toolbox.call("greet", { name: "" })).llmContent).toContain("name must not be empty.");
  await toolbox.call("greet", { name: "Ada" });
  expect(ran).toEqual(["Ada"]);
});

it("R8 a tool with an effect asks each time unless it says otherwise, and rules count for it", async () => {
  const ran: string[] = [];
  const definition = {
    name: "deploy",
    description: "Deploys.",
    kind: "execute",
    parameterSchema: NAME,
    getDescription: ({ name }: { name: string }) => `Deploy ${name}`,
    ruleSubjects: ({ name }: { name: string }) => [name],
    execute: ({ name }: { name: string }) => {
      ran.push(name);
      return "done";
    },
  } as const;
  const asked: unknown[] = [];
  const tools = [defineTool(definition)];
  const asking = toolboxOf({
    tools,
    settings: { permissions: { allow: ["deploy(test/**)"] } },
    confirm: async (confirmation) => {
      asked.push(confirmation);
      return { outcome: "cancel" };
    },
  });
  await asking.call("deploy", { name: "live/site" });
  await asking.call("deploy", { name: "test/site" });
  expect(asked).toMatchObject([{ kind: "info", title: "Deploy live/site", grants: ["deploy"] }]);
  expect(ran).toEqual(["test/site"]);
  const unasked = defineTool({ ...definition, shouldConfirmExecute: async () => false });
  await toolboxOf({ tools: [unasked] }).call("deploy", { name: "live/site" });
  expect(ran).toEqual(["test/site", "live/site"]);
});

const WHOLE = 300_000;

/** A tool whose answer, or failure, is a text that long. */
const longTool = (name: string, execute: () => string | (string | object)[]) =>
  defineTool({
    name,
    description: "Is long.",
    kind: "read",
    parameterSchema: { type: "object" },
    execute: () => ({ llmContent: execute() as string, returnDisplay: "" }),
  });

it.each([1_000_000, 30_000])(
  "R36 an answer that is too long says how much of the whole is missing, in a window of %i",
  async (contextWindow) => {
    const root = createTemporaryFolder();
    const script = [{ calls: [{ name: "long", args: {} }] }, { text: "done" }];
    const session = await createSession({
      root,
      environment: { BURIN_HOME: `${root}/.home` },
      tools: [longTool("long", () => "x".repeat(WHOLE))],
      model: { ...scriptedModel(script), contextWindow },
    });
    const events = await collectEvents(session.run("Go on."));
    await session.close();
    const answers = events.flatMap((event) =>
      event.type === "tool_call" && event.call.status === "success" ? String(event.call.llmContent) : [],
    );
    expect(answers).toHaveLength(1);
    const [answer = ""] = answers;
    const shown = answer.replace(/[^x]/g, "").length;
    expect(answer).toContain(`[... ${WHOLE - shown} of ${WHOLE} characters left out;`);
    expect(shown).toBeLessThanOrEqual(100_000);
  },
);

it("R36 several long texts of one answer share its limit, and a short one stays whole", async () => {
  const image = { inlineData: { mimeType: "image/png", data: "AA==" } };
  const texts = ["short", image, "y".repeat(WHOLE), image, "z".repeat(WHOLE)];
  const { llmContent } = await toolboxOf({ tools: [longTool("long", () => texts)] }).call("long", {});
  expect(llmContent).toMatchObject(
    ["short", image, /^y+\n.*of 300000/s, image, /^z+\n.*of 300000/s].map((part) =>
      part instanceof RegExp ? expect.stringMatching(part) : part,
    ),
  );
  expect(JSON.stringify(llmContent).length).toBeLessThan(101_000);
});

it("R36 a failure of any length is shortened for the model and for the user", async () => {
  const throwing = longTool("long", () => {
    throw new Error("y".repeat(10 * WHOLE));
  });
  const { llmContent, returnDisplay, error } = await toolboxOf({ tools: [throwing] }).call("long", {});
  expect(String(llmContent).length).toBeLessThan(101_000);
  expect(String(llmContent)).toMatch(/The tool failed unexpectedly: y+\n.*characters left out/s);
  expect(String(returnDisplay).length).toBeLessThan(201_000);
  expect(error?.message.length).toBeLessThan(201_000);
});

it("R1 a class or a definition whose params are an interface of its own is handed in as it is", async () => {
  interface DiceParams {
    readonly sides: number;
  }
  class Dice extends BaseTool<DiceParams> {
    readonly name = "dice";
    readonly displayName = "Dice";
    readonly kind = "read";
    readonly description = "Says the highest number of a die.";
    readonly parameterSchema = { type: "object", properties: { sides: { type: "integer" } } };
    getDescription({ sides }: DiceParams) {
      return `d${sides}`;
    }
    async execute({ sides }: DiceParams) {
      return { llmContent: `${sides}`, returnDisplay: `${sides}` };
    }
  }
  const half = defineTool<DiceParams>({
    name: "half",
    description: "Halves a die.",
    kind: "read",
    parameterSchema: { type: "object" },
    execute: ({ sides }) => `${sides / 2}`,
  });
  const toolbox = toolboxOf({ tools: [new Dice()] });
  toolbox.registry.registerTool(half);
  expect(await toolbox.call("dice", { sides: 6 })).toMatchObject({ llmContent: "6" });
  expect(await toolbox.call("half", { sides: 6 })).toMatchObject({ llmContent: "3" });
});
