import { type AgentEvent, createSession, type Session } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";

function modelOf(name: string, input: number) {
  const { stream } = scriptedModel([{ text: "one" }, { text: "two" }]);
  return { name, stream, contextWindow: 200_000, price: { input, output: 2 * input } };
}

async function noticesOf(session: Session, prompt: string): Promise<string[]> {
  const before: AgentEvent[] = [];
  for await (const event of session.run(prompt)) {
    if (event.type === "text" && event.role === "model") break;
    before.push(event);
  }
  return before.flatMap((event) => (event.type === "notice" ? [event.message] : []));
}

async function sessionAfter(prompt: string) {
  const root = createTemporaryFolder();
  const home = createTemporaryFolder();
  const options = { root, environment: { BURIN_HOME: home }, record: true };
  const first = createSession({ ...options, model: modelOf("cheap", 1) });
  for await (const _event of first.run(prompt));
  await first.close();
  return { options, resume: await resumeSession({ home, root, id: first.id }) };
}

describe("what a request costs that no cache begins", () => {
  it("is told before the first one of a session that is resumed, and when the model changes", async () => {
    const { options, resume } = await sessionAfter("word ".repeat(40_000));
    const session = createSession({ ...options, resume, model: modelOf("cheap", 1) });
    const { tokens } = session.contextFill;
    const thousands = Math.round(tokens / 1000);
    expect(tokens).toBeGreaterThan(30_000);
    expect(await noticesOf(session, "go on")).toContain(
      `Resuming this session sends about ${thousands}k tokens to cheap that it may not have cached, about $${(tokens / 1e6).toFixed(2)}.`,
    );
    session.useModel(modelOf("dear", 100));
    const [told] = await noticesOf(session, "and on");
    expect(told).toMatch(/^Changing the model sends about \d+k tokens to dear .*, about \$[3-9]\.\d\d\.$/);
    await session.close();
  });

  it("is not worth a word for a short history", async () => {
    const { options, resume } = await sessionAfter("hello");
    const session = createSession({ ...options, resume, model: modelOf("cheap", 1) });
    expect(await noticesOf(session, "go on")).toEqual([]);
    await session.close();
  });
});
