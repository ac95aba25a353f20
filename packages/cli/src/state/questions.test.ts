import type { Confirmation, Decision } from "@burin/core";
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
const OF_SESSION = { agent: null, callId: "c1" };

function ask(questions: Questions, from: { agent: string | null; callId: string | null }) {
  const answers: (Decision | null)[] = [];
  const question = { id: "q", parentCallId: null, confirmation, reason: "", ...from };
  const { signal } = new AbortController();
  void questions.confirm(confirmation, signal, question).then((answer) => answers.push(answer));
  return answers;
}

async function answered(isModelAtWork: boolean, ...from: { agent: string | null; callId: string | null }[]) {
  const questions = new Questions(() => {});
  const answers = await questions.asOwn(isModelAtWork, async () => from.map((one) => ask(questions, one)));
  await Promise.resolve();
  return answers.map(([first]) => first?.outcome ?? "open");
}

describe("the user's own call", () => {
  it("P21 needs no yes, once", async () => {
    expect(await answered(false, OF_SESSION, OF_SESSION)).toEqual(["once", "open"]);
  });

  it("P21 gives no leave to what a subagent or an MCP server asks meanwhile", async () => {
    const others = [
      { agent: "explore", callId: "c2" },
      { agent: null, callId: null },
    ];
    expect(await answered(false, ...others, OF_SESSION)).toEqual(["open", "open", "once"]);
  });

  it("P21 is asked about like anything else while the model works", async () => {
    expect(await answered(true, OF_SESSION)).toEqual(["open"]);
  });
});
