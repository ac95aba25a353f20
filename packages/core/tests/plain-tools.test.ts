import { BaseTool, createSession, createToolbox, type Tool, type ToolboxOptions } from "@burin/core";
import { scriptedModel } from "@burin/core/testing";
import { temporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";

let root: string;

beforeEach(() => {
  root = temporaryFolder();
});

/** A tool as somebody may write it in JavaScript, where no type says what is missing. */
class Plain extends BaseTool {
  readonly name: string = "plain";
  readonly displayName = "Plain";
  readonly description = "Does it.";
  readonly kind = "read";
  readonly parameterSchema = { type: "object" } as const;

  getDescription(): string {
    return "Do it";
  }

  execute() {
    return Promise.resolve({ llmContent: "did it", returnDisplay: "did it" });
  }
}

function toolboxWith(over: object, options: Partial<ToolboxOptions> = {}) {
  return createToolbox({ root, tools: [Object.assign(new Plain(), over) as Tool], ...options });
}

describe("a tool written without types", () => {
  it.each([undefined, null, "text", {}, { llmContent: "x" }, { returnDisplay: "x" }])(
    "R14 is an error that says what is missing when its result is %j",
    async (result) => {
      const { error } = await toolboxWith({ execute: async () => result }).call("plain", {});
      expect(error?.type).toBe("tool_failed");
      expect(error?.message).toContain("no result with llmContent and returnDisplay");
    },
  );

  it.each([{ validateToolParams: () => undefined }, { shouldConfirmExecute: async () => undefined }])(
    "R6 R8 runs when it has nothing to say",
    async (over) => {
      expect(await toolboxWith(over).call("plain", {})).toMatchObject({ llmContent: "did it" });
    },
  );

  it("R2 R5 is refused without a name or a schema", () => {
    expect(() => toolboxWith({ name: undefined })).toThrow("1 to 64 letters");
    expect(() => toolboxWith({ parameterSchema: undefined })).toThrow('"plain" needs a parameterSchema');
  });

  it("R5 P16 harms no other call with a schema that is none", async () => {
    const toolbox = toolboxWith({ parameterSchema: { type: "object", properties: { a: null } } });
    expect(await toolbox.call("plain", { a: "1" })).toMatchObject({ llmContent: "did it" });
  });

  it("P14 may have an effect while it does not say its kind", async () => {
    for (const kind of [undefined, "other"]) {
      const { error } = await toolboxWith({ kind }, { approvalMode: "plan" }).call("plain", {});
      expect(error?.type).toBe("denied");
      expect((await toolboxWith({ kind }).call("plain", {})).error).toBeUndefined();
    }
  });
});

describe("options given without types", () => {
  it("P14 an approval mode that there is none of is refused, at the start and later", () => {
    const misspelt = "Plan" as "plan";
    expect(() => createToolbox({ root, approvalMode: misspelt })).toThrow("one of plan, default, auto-edit");
    const session = createSession({ cwd: root, model: scriptedModel([]) });
    expect(() => {
      session.approvalMode = misspelt;
    }).toThrow("one of plan, default, auto-edit");
  });

  it.each([{}, { root: "" }, { root: null }])("R48 a toolbox needs a folder: %j", (options) => {
    expect(() => createToolbox(options as ToolboxOptions)).toThrow("folder to work in must be given");
  });
});
