import { describe, expect, it } from "vitest";
import { guessContextWindow } from "./context-window.ts";

describe("P5 the window that is assumed of a model", () => {
  it.each([
    ["claude-sonnet-4-5", 200_000],
    ["anthropic/claude-3.5-sonnet", 200_000],
    ["models/gemini-2.5-pro", 1_000_000],
    ["gpt-4o-mini", 128_000],
    ["gpt-4-0613", 8192],
    ["o3-mini", 200_000],
    ["openai/gpt-oss-120b", 131_072],
    ["Qwen/Qwen3-Coder-480B", 262_144],
    ["my-own-finetune", 32_768],
    ["", 32_768],
  ])("%s: %i", (name, window) => {
    expect(guessContextWindow(name)).toBe(window);
  });
});
