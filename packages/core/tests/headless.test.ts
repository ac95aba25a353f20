import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AgentEvent,
  createSession,
  type Decision,
  type Session,
  type SessionOptions,
} from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { buildHistory, findParkedQuestion } from "@burin/core/sessions";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

function session(script: readonly ScriptLine[], more: Partial<SessionOptions> = {}): Session {
  const environment = { BURIN_HOME: home, PATH: process.env.PATH, MY_API_KEY: "canary-4711-value" };
  return createSession({ root, environment, model: scriptedModel(script), record: true, ...more });
}

async function lastOf(one: Session, prompt: string | null): Promise<AgentEvent | undefined> {
  const events = await collectEvents(prompt === null ? one.goOn() : one.run(prompt));
  await one.close();
  return events.at(-1);
}

const writing = (name: string, content = "x\n") => ({
  name: "write_file",
  args: { file_path: join(root, name), content },
});
const listing = { name: "list_directory", args: { path: "." } };

async function answer(decision: Decision, script: readonly ScriptLine[]) {
  const resume = await resumeSession({ home, root });
  const one = session(script, { park: true, resume, answer: decision });
  return { done: await lastOf(one, null), one, path: resume.session.path };
}

async function parked(...calls: NonNullable<ScriptLine["calls"]>): Promise<void> {
  const done = await lastOf(session([{ text: "I write.", calls }], { park: true }), "go");
  expect(done).toMatchObject({
    status: "refused",
    error: { type: "parked", message: expect.stringMatching(/burin sessions answer \S+ yes\|no\|always/) },
  });
}

describe("a question while nobody is there", () => {
  it("P44 is parked, answered with yes, and the run goes on to the next question", async () => {
    await parked({ ...listing, args: { path: root } }, writing("a.txt"), writing("b.txt"));
    expect(readdirSync(root)).toEqual([]);
    const first = await answer({ outcome: "once" }, []);
    expect(first.done).toMatchObject({ status: "refused", error: { type: "parked" } });
    expect(findParkedQuestion(first.path)).toMatchObject({
      confirmation: { kind: "edit", path: join(root, "b.txt") },
    });
    expect(readdirSync(root)).toEqual(["a.txt"]);
    const second = await answer({ outcome: "once" }, [{ text: "Done." }]);
    expect(second.done).toMatchObject({ status: "success", result: "Done." });
    expect(readdirSync(root)).toEqual(["a.txt", "b.txt"]);
    expect(findParkedQuestion(second.path)).toBe(null);
    const events = readFileSync(second.path, "utf8").trimEnd().split("\n");
    expect(buildHistory(events.map((line) => JSON.parse(line).event))).toEqual(second.one.history);
    expect(second.one.history.map(({ role }) => role)).toEqual(["user", "model", "user", "model"]);
  });

  it("P44 is answered with no and the reason, which the model reads", async () => {
    await parked(writing("a.txt"));
    const { done, one } = await answer({ outcome: "cancel", reason: "not there" }, [{ text: "I see." }]);
    expect(done).toMatchObject({ status: "refused", result: "I see." });
    expect(JSON.stringify(one.history)).toContain("not there");
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });

  it("P44 a question that is not the same any more is not answered by the old answer", async () => {
    writeFileSync(join(root, "a.txt"), "one\n");
    const edit = { file_path: join(root, "a.txt"), old_string: "one", new_string: "two" };
    await parked({ name: "edit", args: edit });
    writeFileSync(join(root, "a.txt"), "more\none\n");
    const { done } = await answer({ outcome: "once" }, []);
    expect(done).toMatchObject({
      error: { type: "parked", message: expect.stringContaining("has changed") },
    });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("more\none\n");
    await answer({ outcome: "once" }, [{ text: "Done." }]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("more\ntwo\n");
  });

  it("P44 a prompt instead of an answer: the call was not run, and the model is told", async () => {
    await parked(writing("a.txt"));
    const one = session([{ text: "Fine." }], { resume: await resumeSession({ home, root }) });
    expect(await lastOf(one, "leave it")).toMatchObject({ status: "success" });
    expect(JSON.stringify(one.history)).toContain("it waited for an approval, and none was given");
  });

  it("P19 a call whose arguments held a secret cannot be run from the record", async () => {
    await parked(writing("a.txt", "key=canary-4711-value\n"));
    const { one } = await answer({ outcome: "once" }, [{ text: "I see." }]);
    expect(JSON.stringify(one.history)).toContain("held a secret, which is not kept");
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });
});

describe("a face that cannot ask any more", () => {
  it("P44 answers a question with null: the call is refused because nobody is here", async () => {
    const one = session([{ calls: [writing("a.txt")] }, { text: "I see." }], { confirm: async () => null });
    expect(await lastOf(one, "go")).toMatchObject({
      status: "refused",
      error: { type: "needs_approval", message: expect.stringContaining("nobody can be asked") },
    });
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });
});

describe("an answer bound to a schema", () => {
  const answerSchema = {
    type: "object",
    properties: { files: { type: "integer" } },
    required: ["files"],
    additionalProperties: false,
  };

  it("P44 has its value at the end, also out of a code block, and the schema was in the prompt", async () => {
    const one = session([{ text: 'Here:\n```json\n{"files": 3}\n```' }], { answerSchema, record: false });
    const end = { status: "success", result: '{"files": 3}', structured: { files: 3 } };
    expect(await lastOf(one, "count")).toMatchObject(end);
    expect(JSON.stringify(one.history[0])).toContain("additionalProperties");
  });

  it("P44 is asked for again with what is wrong, and tells all turns", async () => {
    const script = [
      { calls: [{ ...listing, args: { path: root } }] },
      { text: "three" },
      { text: '{"files":"3"}' },
      { text: '{"files":3}' },
    ];
    const one = session(script, { answerSchema, record: false });
    expect(await lastOf(one, "count")).toMatchObject({
      status: "success",
      turns: 4,
      structured: { files: 3 },
    });
    const said = one.history.filter(({ role }) => role === "user").map(({ parts }) => parts[0]?.text);
    expect(said.slice(2)).toEqual([
      expect.stringContaining("not valid JSON"),
      expect.stringContaining('"files" must be an integer'),
    ]);
  });

  it("P44 a model that goes on with a session learns of the schema with its first correction", async () => {
    await lastOf(session([{ error: { type: "timeout", message: "gone" } }]), "count");
    const resume = await resumeSession({ home, root });
    const one = session([{ text: "three" }, { text: '{"files":3}' }], { resume, answerSchema });
    expect(await lastOf(one, null)).toMatchObject({ status: "success", structured: { files: 3 } });
    expect(JSON.stringify(one.history)).toContain("additionalProperties");
  });

  it("P44 ends as an error after three corrections", async () => {
    const one = session(
      Array.from({ length: 4 }, () => ({ text: "[]" })),
      { answerSchema, record: false },
    );
    expect(await lastOf(one, "count")).toMatchObject({
      status: "error",
      result: "[]",
      error: { type: "schema_mismatch", message: expect.stringContaining("the answer must be an object") },
    });
  });
});
