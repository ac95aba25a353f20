import { BaseTool, createToolbox, defineTool, type Toolbox } from "@burin/core";
import { temporaryFolder } from "@burin/testing/made-files";
import { afterEach, expect, it } from "vitest";

const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const opened: Toolbox[] = [];

afterEach(() => Promise.all(opened.splice(0).map((toolbox) => toolbox.close())));

function toolboxOf(...[options]: [Omit<Parameters<typeof createToolbox>[0], "root">]): Toolbox {
  const root = temporaryFolder();
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
