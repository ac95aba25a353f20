import { existsSync, readFileSync } from "node:fs";
import { type Confirm, createSession, createToolbox, type Decision } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { makeFolders, root } from "./folder.ts";

makeFolders();

describe("the answer to a question", () => {
  const noAnswers: readonly unknown[] = [
    undefined,
    false,
    true,
    "once",
    {},
    { outcome: "deny" },
    { outcome: "always" },
    { outcome: "always", scope: "for ever" },
    { outcome: "edited" },
    { outcome: "filled", values: {} },
    { outcome: "approved_plan", mode: "default" },
  ];

  it.each(noAnswers)("R31 lets nothing run when it is no decision: %j", async (answer) => {
    const toolbox = createToolbox({ root, confirm: async () => answer as Decision });
    const result = await toolbox.call("write_file", { file_path: `${root}/a.txt`, content: "x" });
    expect(result.error?.type).toBe("undecided");
    expect(result.llmContent).toContain('must be one of {"outcome":"once"}');
    expect(existsSync(`${root}/a.txt`)).toBe(false);
  });

  it("R14 R31 that cannot be had is said so", async () => {
    const confirm = async () => Promise.reject(new Error("the window is gone"));
    const toolbox = createToolbox({ root, confirm });
    const { error } = await toolbox.call("write_file", { file_path: `${root}/a.txt`, content: "x" });
    expect(error).toEqual({
      type: "undecided",
      message: "write_file was not run: its question could not be asked: the window is gone.",
    });
  });

  it("R31 P44 makes no run a success when it is no decision", async () => {
    const call = { name: "write_file", args: { file_path: `${root}/a.txt`, content: "x" } };
    const model = scriptedModel([{ calls: [call] }, { text: "done" }]);
    const session = createSession({ root, model, confirm: async () => false as never });
    const events = await collectEvents(session.run("go"));
    expect(events.at(-1)).toMatchObject({ type: "done", status: "refused", error: { type: "undecided" } });
  });

  it("R31 does not take an approved plan with a mode that no plan can have", async () => {
    const confirm: Confirm = async () => ({ outcome: "approved_plan", mode: "yolo" }) as unknown as Decision;
    const toolbox = createToolbox({ root, approvalMode: "plan", confirm });
    expect((await toolbox.call("exit_plan_mode", { plan: "All." })).error?.type).toBe("undecided");
  });

  it("P11 that never comes holds up no other question, once its call is interrupted", async () => {
    const controller = new AbortController();
    const answers: (() => Promise<Decision>)[] = [
      () => {
        controller.abort();
        return new Promise<Decision>(() => {});
      },
      async () => ({ outcome: "once" }),
    ];
    const toolbox = createToolbox({ root, confirm: () => answers.shift()?.() ?? Promise.resolve(null) });
    const write = (name: string, signal?: AbortSignal) =>
      toolbox.call("write_file", { file_path: `${root}/${name}`, content: name }, signal);
    expect((await write("a.txt", controller.signal)).error?.type).toBe("cancelled");
    expect((await write("b.txt")).error).toBeUndefined();
    expect(readFileSync(`${root}/b.txt`, "utf8")).toBe("b.txt");
  });
});

describe("a call from JavaScript", () => {
  it.each([null, undefined, "text", ["a"]])(
    "R6 R14 answers arguments that are no object: %j",
    async (args) => {
      const { error } = await createToolbox({ root }).call("list_directory", args as never);
      expect(error).toMatchObject({ type: "invalid_arguments" });
      expect(error?.message).toContain("the arguments must be an object");
    },
  );
});
