import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AskUser, parseAnswers } from "./askUser.ts";

const QUESTIONS = [
  {
    question: "Which database?",
    choices: [{ label: "PostgreSQL", description: "as in production" }, { label: "SQLite" }],
  },
  {
    question: "Which systems?",
    choices: [{ label: "Linux" }, { label: "macOS" }, { label: "Windows" }],
    multiple: true,
  },
];

const CALL = { name: "ask_user", args: { questions: QUESTIONS } };

describe("P47: ask_user", () => {
  let root = "";
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "b-ask-"));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it.each(["default", "plan", "yolo"] as const)(
    "P47: asks in the mode %s, and the model gets the answers",
    async (approvalMode) => {
      const environment = { BURIN_HOME: join(root, "home") };
      const model = scriptedModel([{ calls: [CALL] }, { text: "Thanks." }]);
      const settings = { permissions: { allow: ["ask_user"] } };
      const session = createSession({
        root,
        model,
        environment,
        settings,
        awaitsAnswers: true,
        tools: [new AskUser()],
        approvalMode,
      });
      let asked = 0;
      let answer: unknown;
      const hear = async (): Promise<void> => {
        for await (const { event } of session.events()) {
          if (event.type === "tool_call" && event.call.status === "success") answer = event.call.llmContent;
          if (event.type !== "question") continue;
          asked += 1;
          expect(event.confirmation).toMatchObject({ kind: "form", title: "Which database?", grants: [] });
          const values = {
            answer_1: "SQLite",
            answer_2: ["Linux", "macOS"],
            answer_2_words: "and FreeBSD later",
          };
          session.answer(event.id, { outcome: "filled", values });
        }
      };
      const heard = hear();
      for await (const _event of session.run("go"));
      await session.close();
      await heard;
      expect(asked).toBe(1);
      expect(answer).toContain("1. Which database?\n   SQLite");
      expect(answer).toContain("Linux; macOS; in their own words: and FreeBSD later");
    },
  );

  it("P47: takes no answer for an answer, and goes on", async () => {
    const { run } = await new AskUser().prepare({ questions: QUESTIONS });
    const result = await run({ outcome: "filled", values: {} }, new AbortController().signal);
    expect(result.llmContent).toContain("left the questions unanswered");
  });

  it.each([
    [[], "1 to 4 questions"],
    [[{ question: "One?", choices: [{ label: "a" }] }], "has 1 choices"],
    [[{ question: " ", choices: [{ label: "a" }, { label: "b" }] }], "empty"],
    [[{ question: "Same?", choices: [{ label: "a" }, { label: "a " }] }], "the same label"],
    [Array.from({ length: 5 }, () => QUESTIONS[0]), "not 5"],
  ])("P15: refuses %j", (questions, fault) => {
    expect(new AskUser().validateToolParams({ questions } as never)).toContain(fault);
  });

  it("P44: reads an answer that was written as text", () => {
    expect(parseAnswers(QUESTIONS, ["sqlite", "1, windows"])).toEqual({
      answer_1: "SQLite",
      answer_2: ["Linux", "Windows"],
    });
    expect(parseAnswers(QUESTIONS, ["2", "none of these"])).toEqual({
      answer_1: "SQLite",
      answer_2_words: "none of these",
    });
    expect(parseAnswers(QUESTIONS, ["", "3"])).toEqual({ answer_2: ["Windows"] });
  });
});
