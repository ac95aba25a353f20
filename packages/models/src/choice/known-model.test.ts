import { describe, expect, it } from "vitest";
import { SERVICE_DEFAULTS } from "./choose-model.ts";
import { guessContextWindow } from "./context-window.ts";
import { findKnownModel, listKnownModels } from "./known-model.ts";

const ALL = listKnownModels();

describe("the shipped table of models", () => {
  it("holds whole rows", () => {
    expect(ALL.length).toBeGreaterThan(100);
    for (const model of ALL) {
      expect(findKnownModel(model.name)).toEqual(model);
      expect([model.window, model.maxOutput, model.price.input, model.price.output]).not.toContain(
        Number.NaN,
      );
    }
  });

  it.each([
    ["claude-sonnet-4-5", "anthropic/claude-sonnet-4.5"],
    ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"],
    ["claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    ["claude-sonnet-4-5", "claude-sonnet-4-5@20250929"],
    ["gpt-5", "openai/gpt-5-2025-08-07"],
    ["glm-5", "z-ai/GLM-5:free"],
    ["gpt-oss-120b", "us.openai.gpt-oss-120b-1:0"],
  ])("knows %s as %s", (name, other) => {
    expect(findKnownModel(other)?.name).toBe(name);
  });

  it.each(["gpt-5.99", "llama", "", "gpt"])("says nothing of %j, which it does not have", (name) => {
    expect(findKnownModel(name)).toBeUndefined();
  });

  it("holds the models that are asked when only a key is set", () => {
    // A service without a row has a name that it always moves to its newest model.
    const unknown = SERVICE_DEFAULTS.filter((name) => findKnownModel(name) === undefined);
    expect(SERVICE_DEFAULTS.length).toBeGreaterThan(10);
    expect(unknown).toEqual(["mistral-medium-latest"]);
  });

  it("P5 the window by the start of a name is never more than it is, nor less than a third", () => {
    const wrong = ALL.filter(({ name, window }) => {
      const guessed = guessContextWindow(name);
      return guessed > window * 1.05 || guessed * 3 < window;
    });
    expect(wrong.map(({ name, window }) => `${name} ${window} ${guessContextWindow(name)}`)).toEqual([]);
  });
});
