import type { ModelEvent } from "@burin/contract/chat-model";
import type { ModelSettings } from "@burin/contract/settings/settings";
import { closeServers, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openConfiguredModel } from "./configured-model.ts";

afterEach(closeServers);

function read(model: ModelSettings, environment: NodeJS.ProcessEnv): Promise<ModelEvent[]> {
  return readAll(openConfiguredModel({ model }, environment));
}

describe("the configured model", () => {
  it("is none without a name", () => {
    expect(openConfiguredModel({ model: {} }, { OPENAI_MODEL: "m" })).toBeNull();
  });

  it("P35 fails over through the list of settings, over protocols, with a word on a model that has no service", async () => {
    const first = await serve({ error: { message: "no such model", status: 404 } });
    const last = await serve({ text: "Hello" });
    const settings: ModelSettings = {
      name: "one",
      baseUrl: first.baseUrl,
      fallbacks: ["gemini/two", { provider: "anthropic", name: "three", baseUrl: last.baseUrl }],
    };
    const events = await read(settings, {});
    expect(events.filter((event) => event.type === "notice").map((event) => event.message)).toEqual([
      expect.stringMatching(/^one failed: .*404.*Now asking gemini\/two\.$/),
      expect.stringMatching(/"gemini\/two" has no service.*Now asking three\.$/),
    ]);
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    expect(last.requests[0]?.headers["anthropic-version"]).toBe("2023-06-01");
    expect([first.problems, last.problems]).toEqual([[], []]);
  });

  it.each<[string, NodeJS.ProcessEnv, ModelSettings, RegExp]>([
    [
      "the service's own",
      { OPENAI_API_KEY: "key-from-somewhere" },
      {},
      /The API key in OPENAI_API_KEY was rejected: check/,
    ],
    [
      "the one in the settings",
      { TEAM_KEY: "key-from-somewhere" },
      { key: "TEAM_KEY" },
      /The API key in TEAM_KEY was/,
    ],
    ["no variable", {}, { key: { command: "echo key-from-somewhere" } }, /The API key was rejected: check/],
  ])(
    "P35 P54 a rejected key is told with the variable that holds it: %s",
    async (...[, environment, more, words]) => {
      const { baseUrl } = await serve(
        ...Array.from({ length: 3 }, () => ({ error: { message: "Invalid API key", status: 401 } })),
      );
      const events = await read({ name: "m", baseUrl, ...more }, environment);
      expect(events.at(-1)).toMatchObject({
        error: { type: "unauthorized", message: expect.stringMatching(words) },
      });
    },
  );

  it("P33 hears of silence by the settings", async () => {
    const server = await serve(
      { raw: (_request, response) => void response.flushHeaders() },
      { text: "Hello" },
    );
    const events = await read({ name: "m", baseUrl: server.baseUrl, timeoutSeconds: 0.1 }, {});
    expect(events[0]).toMatchObject({ type: "notice", message: expect.stringContaining("silent for 0.1 s") });
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
  });
});
