import type { AgentEvent, Confirmation } from "@burin/core";
import { describe, expect, it } from "vitest";
import { Questions } from "./questions.ts";

const confirmation: Confirmation = {
  kind: "exec",
  title: "",
  command: "rm a",
  parts: ["rm a"],
  directory: "/a",
  grants: [],
};

interface From {
  readonly agent: string | null;
  readonly callId: string | null;
}

function asked(id: string, from: From): AgentEvent {
  return { type: "question", id, parentCallId: null, confirmation, reason: "", ...from };
}

/** Returns the ids that were answered, and those that are still open. */
async function askedMeanwhile(isModelAtWork: boolean, ...from: From[]) {
  const answered: string[] = [];
  const questions = new Questions({ answer: (id) => answered.push(id), onChange: () => {} });
  await questions.runUserCall(isModelAtWork, async () => {
    for (const [index, one] of from.entries()) questions.followEvent(asked(`q${index}`, one));
  });
  return { answered, open: questions.open.map(({ id }) => id) };
}

const OWN = { agent: null, callId: "c1" };

describe("the user's own call", () => {
  it("P21 needs no yes, once", async () => {
    expect(await askedMeanwhile(false, OWN, OWN)).toEqual({ answered: ["q0"], open: ["q1"] });
  });

  it("P21 gives no leave to what a subagent or an MCP server asks meanwhile", async () => {
    const subagent = { agent: "explore", callId: "c2" };
    const server = { agent: null, callId: null };
    expect(await askedMeanwhile(false, subagent, server, OWN)).toEqual({
      answered: ["q2"],
      open: ["q0", "q1"],
    });
  });

  it("P21 is asked about like anything else while the model works", async () => {
    expect(await askedMeanwhile(true, OWN)).toEqual({ answered: [], open: ["q0"] });
  });

  it("is no question any more when somebody else has answered it", async () => {
    const questions = new Questions({ answer: () => {}, onChange: () => {} });
    questions.followEvent(asked("q1", OWN));
    questions.followEvent({ type: "question_answered", id: "q1", decision: { outcome: "once" } });
    expect(questions.open).toEqual([]);
  });
});
