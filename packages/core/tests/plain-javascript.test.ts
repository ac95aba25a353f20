import { createSession, createToolbox, type SessionOptions } from "@burin/core";
import { openSession } from "@burin/core/internal";
import { scriptedModel } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();

/** As a caller without types may give them. */
const given = (options: unknown) => options as SessionOptions;

describe("options of a caller in plain JavaScript", () => {
  it.each<[string, () => unknown, string]>([
    ["no options", () => createToolbox(given(undefined)), 'createToolbox({ root: "." })'],
    ["a path in their place", () => createSession(given(".")), 'createSession({ root: "." })'],
    ["null in their place", () => openSession(given(null)), 'openSession({ root: "." })'],
    ["no root", () => createToolbox(given({})), "The folder to work in must be given as a path."],
    [
      "the name of a model",
      () => createSession(given({ root, model: "gpt-5" })),
      'createSession({ root: ".", settings: { model: { name: "gpt-5" } } })',
    ],
    ["the name of a model alone", () => createSession(given({ model: "gpt-5" })), "not a name"],
    [
      "a model that is none",
      () => openSession(given({ root, model: {} })),
      '"model" must be an object with a method `stream`.',
    ],
    ["null as a model", () => createSession(given({ root, model: null })), '"model" must be an object'],
    [
      "words as confirm",
      () => createToolbox(given({ root, confirm: "yes" })),
      '"confirm" must be a function.',
    ],
    [
      "one tool as tools",
      () => createToolbox(given({ root, tools: {} })),
      '"tools" must be a list of tools.',
    ],
  ])("R27 with %s it says what to write", (_what, open, words) => {
    expect(open).toThrow(words);
  });

  it("R27 a model object and an undefined one are both taken", async () => {
    const environment = { BURIN_HOME: home, OPENAI_API_KEY: "k" };
    for (const model of [scriptedModel([]), undefined]) {
      const session = createSession(
        given({ root, model, environment, confirm: undefined, tools: undefined }),
      );
      await session.close();
    }
  });
});
