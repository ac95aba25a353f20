import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSession, type SessionOptions } from "@burin/core";
import { type ScriptedCall, type ScriptLine, scriptedModel } from "@burin/core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { makeFolders, root } from "./folder.ts";

makeFolders();
beforeEach(async () => {
  await writeFile(join(root, "a.txt"), "alpha\n");
});

async function play(script: readonly ScriptLine[], options: Partial<SessionOptions> = {}) {
  const session = createSession({
    root,
    model: scriptedModel(script),
    approvalMode: "yolo",
    ...options,
  });
  const events = await collectEvents(session.run("go"));
  const answers = session.history.flatMap(({ parts }) =>
    parts.flatMap(({ functionResponse }) =>
      functionResponse ? [String(Object.values(functionResponse.response ?? {})[0])] : [],
    ),
  );
  await session.close();
  return { done: events.at(-1), answers };
}

const edit = (file: string, old_string: string, new_string: string): ScriptedCall => ({
  name: "edit",
  args: { file_path: join(root, file), old_string, new_string },
});
const command = (text: string): ScriptedCall => ({ name: "run_shell_command", args: { command: text } });
const lines = (count: number, line: (index: number) => ScriptedCall): ScriptLine[] =>
  Array.from({ length: count }, (_, index) => ({ calls: [line(index)] }));
const flagged = (answers: readonly string[]) =>
  answers.filter((answer) => /very call|same call with the same answer/.test(answer)).length;

describe("P4 a model that repeats itself", () => {
  it("hears something else at the third failure of one call, and the run ends with the sixth", async () => {
    const { done, answers } = await play(lines(20, () => edit("a.txt", "not there", "x")));
    expect(done).toMatchObject({ status: "limit", turns: 6, error: { type: "loop" } });
    expect(answers[1]).toBe(answers[0]);
    expect(answers[2]).toContain("has now failed 3 times");
    expect(answers[2]).toContain("Do something else");
    expect(answers[4]).toContain("Once more, and the run is ended");
  });

  it("also when it asks for other things in between", async () => {
    const { done } = await play(
      lines(40, (index) =>
        index % 2 === 0
          ? { name: "read_file", args: { absolute_path: join(root, "gone.txt") } }
          : { name: "list_directory", args: { path: root } },
      ),
    );
    expect(done).toMatchObject({ status: "limit", turns: 11, error: { type: "loop" } });
  });

  it("P44 with a call that is refused each time ends as refused, with that reason", async () => {
    const write = { name: "write_file", args: { file_path: join(root, "n.txt"), content: "x" } };
    const { done } = await play(
      lines(20, () => write),
      { approvalMode: "default" },
    );
    expect(done).toMatchObject({ status: "refused", turns: 6, error: { type: "needs_approval" } });
  });

  it("a setting switches it off", async () => {
    const script = [...lines(12, () => edit("a.txt", "not there", "x")), { text: "Done." }];
    const { done, answers } = await play(script, { settings: { loop: { detection: false } } });
    expect(done).toMatchObject({ status: "success" });
    expect(flagged(answers)).toBe(0);
  });

  it("build, edit, build, edit with the same failing build is work", async () => {
    const script = Array.from({ length: 24 }, (_, index): ScriptLine => {
      const call =
        index % 2 === 0
          ? command("echo broken; exit 1")
          : edit("a.txt", `alpha${"!".repeat((index - 1) / 2)}`, `alpha${"!".repeat((index + 1) / 2)}`);
      return { calls: [call] };
    });
    const { done, answers } = await play([...script, { text: "Done." }]);
    expect(done).toMatchObject({ status: "success" });
    expect(flagged(answers)).toBe(0);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe(`alpha${"!".repeat(12)}\n`);
  });

  it("thirty similar edits of different files are work", async () => {
    for (let index = 0; index < 30; index += 1) await writeFile(join(root, `f${index}.txt`), "old\n");
    const script = [...lines(30, (index) => edit(`f${index}.txt`, "old", "new")), { text: "Done." }];
    const { done, answers } = await play(script);
    expect(done).toMatchObject({ status: "success" });
    expect(flagged(answers)).toBe(0);
  });

  it("the same answer over and over is remarked upon, and ends the run only after very many", async () => {
    const script = lines(30, () => ({ name: "list_directory", args: { path: root } }));
    const { done, answers } = await play(script);
    expect(flagged(answers.slice(0, 4))).toBe(0);
    expect(answers[4]).toContain("same call with the same answer for the 5th time");
    expect(answers[4]).toContain("a.txt");
    expect(done).toMatchObject({ status: "limit", turns: 20, error: { type: "loop" } });
  });

  it("many equal calls of one reply count once, because the model has seen no answer yet", async () => {
    const gone = { name: "read_file", args: { absolute_path: join(root, "gone.txt") } };
    const failing = Array.from({ length: 30 }, () => gone);
    const same = Array.from({ length: 100 }, () => ({ name: "list_directory", args: { path: root } }));
    const { done, answers } = await play([{ calls: failing }, { calls: same }, { text: "Done." }]);
    expect(done).toMatchObject({ status: "success", result: "Done." });
    expect({ all: answers.length, flagged: flagged(answers) }).toEqual({ all: 130, flagged: 0 });
    const { done: end } = await play(Array.from({ length: 20 }, () => ({ calls: failing })));
    expect(end).toMatchObject({ status: "limit", turns: 6, error: { type: "loop" } });
  });

  it("a new prompt begins to count anew", async () => {
    const failing = lines(4, () => edit("a.txt", "not there", "x"));
    const model = scriptedModel([...failing, { text: "No." }, ...failing, { text: "No." }]);
    const session = createSession({ root, model, approvalMode: "yolo" });
    for (const prompt of ["go", "again"]) {
      const events = await collectEvents(session.run(prompt));
      expect(events.at(-1)).toMatchObject({ status: "success" });
    }
  });
});
