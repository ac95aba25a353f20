import { createSession } from "@burin/core";
import { findSession, resumeSession } from "@burin/core/internal";
import { readLog } from "@burin/core/sessions";
import { startFakeModelServer } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const IMAGE = { inlineData: { mimeType: "image/png", data: PNG } };

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function place() {
  const server = await startFakeModelServer([{ text: "a dot" }, { text: "still a dot" }]);
  closing.push(() => server.close());
  const root = createTemporaryFolder();
  const home = createTemporaryFolder();
  const environment = { BURIN_HOME: home, OPENAI_BASE_URL: server.baseUrl, OPENAI_MODEL: "m" };
  return { server, home, options: { root, environment, record: true } };
}

describe("a prompt of parts", () => {
  it("reaches the model as it is, and stands in the log for a session that is resumed", async () => {
    const { server, home, options } = await place();
    const session = createSession(options);
    const heard = await collectEvents(session.run(["What is this?", IMAGE]));
    expect(heard).toContainEqual({
      type: "text",
      role: "user",
      text: "What is this?",
      media: [IMAGE.inlineData],
    });
    expect(heard.at(-1)).toMatchObject({ type: "done", status: "success", result: "a dot" });
    const sent = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: expect.objectContaining({ url: `data:image/png;base64,${PNG}` }) },
    ];
    const contents = (request: unknown) =>
      (request as { body: { messages: { content: unknown }[] } }).body.messages.map(({ content }) => content);
    expect(contents(server.requests[0])).toContainEqual(sent);
    const { history } = session;
    await session.close();

    const { path } = await findSession(home, options.root, session.id);
    expect([...readLog(path)].some(({ event }) => event.type === "text" && event.media)).toBe(true);
    const resume = await resumeSession({ home, root: options.root, id: session.id });
    const again = createSession({ ...options, resume });
    expect(again.history).toEqual(history);
    await collectEvents(again.run("And now?"));
    await again.close();
    expect(contents(server.requests[1])).toContainEqual(sent);
  });

  it("may be an image without a word", async () => {
    const { server, options } = await place();
    const session = createSession(options);
    await collectEvents(session.run(IMAGE));
    await session.close();
    expect(session.history[0]).toEqual({ role: "user", parts: [IMAGE] });
    expect(JSON.stringify(server.requests[0])).toContain(PNG);
  });

  it.each(["steer", "queue"] as const)("is taken by %s as well, and back as it was given", async (way) => {
    const { server, options } = await place();
    const session = createSession(options);
    let isSaid = false;
    for await (const event of session.run("Look.")) {
      if (isSaid || event.type !== "text" || event.role !== "model") continue;
      session[way](["And this?", IMAGE]);
      isSaid = true;
    }
    expect(JSON.stringify(server.requests[1])).toContain(PNG);
    session[way]("words alone");
    session[way](["both", IMAGE]);
    session[way](IMAGE);
    expect(session.takeWaiting()).toEqual(["words alone", ["both", IMAGE], [IMAGE]]);
    expect(() => session[way]({ inlineData: {} })).toThrow(/The prompt must be text/);
    await session.close();
  });

  it("goes with the first request alone where the answer is asked for again", async () => {
    const { options } = await place();
    const session = createSession({ ...options, answerSchema: { type: "object" } });
    const heard = await collectEvents(session.run(["Describe it.", IMAGE]));
    await session.close();
    const media = heard.filter((event) => event.type === "text" && event.media !== undefined);
    expect(media).toHaveLength(1);
    expect(heard.filter((event) => event.type === "text" && event.role === "user").length).toBeGreaterThan(1);
  });

  it.each([[undefined], [5], [[]], [[null]], [{ functionCall: { name: "ls" } }], [{ inlineData: {} }]])(
    "%j is none, and says what one is",
    async (prompt) => {
      const { options } = await place();
      const session = createSession(options);
      expect(() => session.run(prompt as never)).toThrow(/The prompt must be text, or parts with text or/);
      await session.close();
    },
  );
});
