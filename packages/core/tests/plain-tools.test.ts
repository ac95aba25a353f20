import {
  BaseTool,
  createSession,
  createToolbox,
  type PreparedCall,
  PreparingTool,
  type Tool,
  type ToolboxOptions,
} from "@burin/core";
import { scriptedModel } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

makeFolders();

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

  it.each([undefined, {}, { confirmation: false }])(
    "R8 R9 is an error when it prepares %j",
    async (prepared) => {
      const { error } = await toolboxWith({ prepare: async () => prepared }).call("plain", {});
      expect(error?.message).toContain("prepare returned no work to run");
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
    const session = createSession({ root, model: scriptedModel([]) });
    expect(() => {
      session.approvalMode = misspelt;
    }).toThrow("one of plan, default, auto-edit");
  });

  it.each([{}, { root: "" }, { root: null }])("R48 a toolbox needs a folder: %j", (options) => {
    expect(() => createToolbox(options as ToolboxOptions)).toThrow("folder to work in must be given");
  });
});

/** Asks how often it has looked, and says what it was answered. */
class Looking extends PreparingTool<{ readonly what: string }> {
  readonly name = "looking";
  readonly displayName = "Looking";
  readonly description = "Looks first.";
  readonly kind = "execute";
  readonly parameterSchema = { type: "object" } as const;
  looks = 0;

  getDescription(): string {
    return "Look";
  }

  async prepare({ what }: { readonly what: string }): Promise<PreparedCall> {
    this.looks += 1;
    const seen = `${what} ${this.looks}`;
    return {
      confirmation: { kind: "info", title: seen, prompt: "", urls: [], grants: [] },
      run: async (approval, _signal, context) => {
        const said = `${seen}, ${approval?.outcome ?? "unasked"}, ${context?.confirmation?.title ?? "no question"}`;
        return { llmContent: said, returnDisplay: said };
      },
    };
  }
}

describe("a tool that prepares", () => {
  it("R8 R9 R33 looks once for each call: its work is that which the user was asked about", async () => {
    const tool = new Looking();
    const waiting: (() => void)[] = [];
    const toolbox = createToolbox({
      root,
      tools: [tool as unknown as Tool],
      confirm: async () => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return { outcome: "once" };
      },
    });
    // One object of arguments for two calls side by side.
    const args = { what: "seen" };
    const answers = Promise.all([toolbox.call("looking", args), toolbox.call("looking", args)]);
    await expect.poll(() => tool.looks).toBe(2);
    for (let asked = 0; asked < 2; asked += 1) {
      await expect.poll(() => waiting.length).toBe(1);
      waiting.pop()?.();
    }
    expect((await answers).map(({ llmContent }) => llmContent)).toEqual([
      "seen 1, once, seen 1",
      "seen 2, once, seen 2",
    ]);
    await toolbox.close();
  });

  it("R8 R9 has the methods of the contract too, for a loop of somebody else's", async () => {
    const tool: Tool<{ readonly what: string }> = new Looking();
    const signal = new AbortController().signal;
    expect(await tool.shouldConfirmExecute({ what: "a" }, signal)).toMatchObject({ title: "a 1" });
    expect(await tool.execute({ what: "a" }, signal)).toMatchObject({
      llmContent: "a 2, unasked, no question",
    });
  });
});
