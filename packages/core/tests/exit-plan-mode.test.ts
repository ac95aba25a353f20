import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ApprovalMode,
  type Confirm,
  type Confirmation,
  createSession,
  type Decision,
} from "@burin/core";
import { type Message, type ScriptLine, scriptedModel } from "@burin/core/sessions";
import { describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { makeFolders, root } from "./folder.ts";

makeFolders();

const PLAN = { name: "exit_plan_mode", args: { plan: "1. write a.txt" } };
const writing = () => ({
  name: "write_file",
  args: { file_path: join(root, "a.txt"), content: "made\n" },
});

async function run(
  lines: readonly ScriptLine[],
  options: { readonly mode?: ApprovalMode; readonly confirm?: Confirm; readonly allow?: readonly string[] },
) {
  const model = scriptedModel(lines);
  const { mode: approvalMode = "plan", confirm, allow = [] } = options;
  const session = createSession({
    root,
    model,
    approvalMode,
    settings: { permissions: { allow, ask: [], deny: [] } },
    ...(confirm ? { confirm } : {}),
  });
  const prompt = async (text: string) => {
    const events = await collectEvents(session.run(text));
    return events.at(-1);
  };
  return { session, model, prompt };
}

/** Answers the questions in turn, and keeps them. */
function answering(...decisions: Decision[]) {
  const asked: Confirmation[] = [];
  const confirm: Confirm = async (question) => {
    asked.push(question);
    return decisions.shift() ?? { outcome: "cancel" };
  };
  return { asked, confirm };
}

describe("plan mode", () => {
  const told = (session: { readonly history: readonly Message[] }) =>
    session.history.flatMap(({ parts }) =>
      parts.flatMap(({ text = "" }) => /^\[Plan mode is \w+/.exec(text)?.[0] ?? []),
    );

  it("R47 is told to the model when it begins, once, and when the person ends it", async () => {
    const { session, prompt } = await run([{ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" }], {});
    await prompt("go");
    await prompt("on");
    expect(told(session)).toEqual(["[Plan mode is on"]);
    session.approvalMode = "default";
    await prompt("on");
    await prompt("on");
    expect(told(session)).toEqual(["[Plan mode is on", "[Plan mode is over"]);
  });

  it("R47 is told beside the skills that every session begins with", async () => {
    const home = join(root, "home");
    await mkdir(join(home, "skills/tidy"), { recursive: true });
    await writeFile(
      join(home, "skills/tidy/SKILL.md"),
      "---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n",
    );
    const model = scriptedModel([{ text: "a" }, { text: "b" }]);
    const environment = { ...process.env, BURIN_HOME: home };
    const session = createSession({ root, model, approvalMode: "plan", environment });
    for (const prompt of ["go", "on"]) for await (const _ of session.run(prompt));
    const texts = session.history.flatMap(({ parts }) => parts.flatMap(({ text = "" }) => text));
    expect(texts.filter((text) => text.includes("Tidies up."))).toHaveLength(1);
    expect(told(session)).toEqual(["[Plan mode is on"]);
    await session.close();
  });

  it("R47 is not told to be over again when an approved plan has ended it, nor where it never was on", async () => {
    const { confirm } = answering({ outcome: "once" });
    const { session, prompt } = await run([{ calls: [PLAN] }, { text: "b" }, { text: "c" }], { confirm });
    await prompt("go");
    await prompt("on");
    expect(told(session)).toEqual(["[Plan mode is on"]);
    const other = await run([{ text: "a" }], { mode: "default" });
    await other.prompt("go");
    expect(told(other.session)).toEqual([]);
  });
});

describe("exit_plan_mode", () => {
  it("R47 P47 an approved plan ends plan mode; the work after it asks as before", async () => {
    const { asked, confirm } = answering({ outcome: "once" }, { outcome: "once" });
    const { session, prompt } = await run(
      [{ calls: [writing()] }, { calls: [PLAN] }, { calls: [writing()] }, { text: "done" }],
      { confirm },
    );
    expect(await prompt("go")).toMatchObject({ result: "done" });
    expect(asked.map((question) => question.kind)).toEqual(["plan", "edit"]);
    expect(session.approvalMode).toBe("default");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("made\n");
  });

  it("P47 approved with auto-edit, the edits of the plan run unasked", async () => {
    const { asked, confirm } = answering({ outcome: "approved_plan", mode: "auto-edit" });
    const { session, prompt } = await run([{ calls: [PLAN] }, { calls: [writing()] }, { text: "done" }], {
      confirm,
    });
    expect(await prompt("go")).toMatchObject({ status: "success" });
    expect(asked).toHaveLength(1);
    expect(session.approvalMode).toBe("auto-edit");
  });

  it("P47 a declined plan keeps plan mode, ends the turn and passes the person's words on", async () => {
    const { asked, confirm } = answering({ outcome: "cancel", reason: "use b.txt" }, { outcome: "once" });
    const { session, model, prompt } = await run(
      [{ calls: [PLAN, PLAN] }, { calls: [PLAN] }, { text: "ok" }],
      {
        confirm,
      },
    );
    expect(await prompt("go")).toMatchObject({
      status: "refused",
      error: { type: "plan_declined", message: expect.stringContaining("use b.txt") },
    });
    // The second of the two was the same plan with nothing said between.
    expect(asked).toHaveLength(1);
    expect(session.approvalMode).toBe("plan");
    expect(await readdir(root)).toEqual([]);
    expect(await prompt("all right, that one")).toMatchObject({ result: "ok" });
    expect(asked).toHaveLength(2);
    expect(session.approvalMode).toBe("default");
    expect(model.unusedLines()).toEqual([]);
  });

  it("P47 an approved plan is shown again when the person has gone back to planning meanwhile", async () => {
    const { asked, confirm } = answering({ outcome: "once" }, { outcome: "once" });
    const { session, prompt } = await run([{ calls: [PLAN] }, { calls: [PLAN] }, { text: "Ok." }], {
      confirm,
    });
    const again = (async () => {
      for await (const { event } of session.events())
        if (event.type === "tool_call" && event.call.callId === "call_1" && event.call.status === "success")
          session.approvalMode = "plan";
    })();
    expect(await prompt("plan it")).toMatchObject({ status: "success" });
    expect(asked).toHaveLength(2);
    await session.close();
    await again;
  });

  it("P47 P44 with nobody there, the plan is the result and the run says what it waits for", async () => {
    const { prompt } = await run([{ text: "I planned.", calls: [PLAN] }], {});
    expect(await prompt("go")).toMatchObject({
      status: "refused",
      result: "I planned.\n\n1. write a.txt",
      error: { type: "needs_approval" },
    });
  });

  it("P47 with nobody there, a rule can approve plans", async () => {
    const { session, prompt } = await run([{ calls: [PLAN] }, { calls: [writing()] }, { text: "done" }], {
      allow: ["exit_plan_mode", "write_file"],
    });
    expect(await prompt("go")).toMatchObject({ status: "success" });
    expect(session.approvalMode).toBe("default");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("made\n");
  });

  it.each(["default", "auto-edit", "yolo"] as const)(
    "P47 outside plan mode, in %s, it is no refusal",
    async (mode) => {
      const { session, prompt } = await run([{ calls: [PLAN] }, { text: "on it" }], { mode });
      expect(await prompt("go")).toMatchObject({ status: "success", result: "on it" });
      expect(session.approvalMode).toBe(mode);
    },
  );

  it("P47 back to the mode that held before the person switched to planning", async () => {
    const { confirm } = answering({ outcome: "once" });
    const { session, prompt } = await run([{ calls: [PLAN] }, { text: "done" }], { mode: "yolo", confirm });
    session.approvalMode = "plan";
    await prompt("go");
    expect(session.approvalMode).toBe("yolo");
  });

  it("R47 an empty plan is sent back", async () => {
    const empty = { name: "exit_plan_mode", args: { plan: "  " } };
    const { session, prompt } = await run([{ calls: [empty] }, { text: "sorry" }], {});
    expect(await prompt("go")).toMatchObject({ status: "success" });
    expect(session.approvalMode).toBe("plan");
  });
});

describe("plan mode", () => {
  it("P14 nothing that a model tries changes a byte", async () => {
    await writeFile(join(root, "kept.txt"), "kept\n");
    const calls = [
      writing(),
      { name: "edit", args: { file_path: join(root, "kept.txt"), old_string: "kept", new_string: "lost" } },
      { name: "run_shell_command", args: { command: "echo x > kept.txt; touch b" } },
      { name: "save_memory", args: { fact: "x" } },
    ];
    const { prompt } = await run([{ calls }, { text: "done" }], {
      confirm: async () => ({ outcome: "once" }),
      allow: ["write_file", "edit", "run_shell_command", "save_memory"],
    });
    await prompt("go");
    expect(await readdir(root)).toEqual(["kept.txt"]);
    expect(await readFile(join(root, "kept.txt"), "utf8")).toBe("kept\n");
  });
});
