import type { ModelRequest } from "@burin/contract/chat-model";
import { describe, expect, it } from "vitest";
import { ContextSize, estimateTokens } from "./context-size.ts";

const prose = "The quick brown fox jumps over the lazy dog, and then it sleeps. ".repeat(50);
const code = "  const total = items.reduce((sum, item) => sum + item.price * item.count, 0);\n".repeat(50);
const json = JSON.stringify(
  Array.from({ length: 50 }, (_, id) => ({ id, name: "x", tags: [1, 2], ok: true })),
);
const chinese = "汉字的句子在这里。".repeat(50);

describe("P5 the estimate of tokens", () => {
  it.each([
    ["prose", prose, [3, 5]],
    ["code", code, [2.2, 4.2]],
    ["json", json, [1.6, 3.2]],
    ["Chinese", chinese, [0.7, 1.2]],
    ["blanks", " ".repeat(4000), [8, 30]],
  ] as const)("%s: so many characters for a token", (_name, text, [min, max]) => {
    const perToken = text.length / estimateTokens(text);
    expect(perToken).toBeGreaterThan(min);
    expect(perToken).toBeLessThan(max);
  });

  const request = (text: string): ModelRequest => ({
    system: "s",
    history: [{ role: "user", parts: [{ text }] }],
    tools: [],
  });

  it("is corrected by what the service counts, within reason", () => {
    const size = new ContextSize();
    const first = size.estimateRequest(request(prose));
    size.correctFactor(first, first * 1.5);
    expect(size.estimateRequest(request(prose)) / first).toBeCloseTo(1.5, 1);
    size.correctFactor(size.estimateRequest(request(prose)), 3);
    expect(size.estimateRequest(request(prose)) / first).toBeCloseTo(0.7, 1);
    size.correctFactor(size.estimateRequest(request(prose)), 0);
    expect(size.estimateRequest(request(prose)) / first).toBeCloseTo(0.7, 1);
  });

  it("counts a picture by the piece and not by its bytes, and what grows at the end anew", () => {
    const size = new ContextSize();
    const parts = [{ inlineData: { mimeType: "image/png", data: "x".repeat(1_000_000) } }, { text: "" }];
    const history = [{ role: "user" as const, parts }];
    const before = size.estimateRequest({ system: "", tools: [], history });
    expect(before).toBeLessThan(2000);
    parts.push({ text: prose });
    expect(size.estimateRequest({ system: "", tools: [], history })).toBeGreaterThan(before + 500);
  });

  it("says of a short request that it is above a limit exactly when its estimate is", () => {
    const texts = [
      prose,
      code,
      json,
      chinese,
      "",
      "a1".repeat(300),
      "é".repeat(300),
      "🙂".repeat(300),
      '"\\'.repeat(300),
    ];
    for (const text of texts) {
      const tool = {
        name: "t",
        description: text,
        parameters: { type: "object" as const, description: text },
      };
      const answer = { functionResponse: { id: "1", name: "t", response: { output: text } } };
      const call = { functionCall: { id: "1", name: "t", args: { text } } };
      const history = [
        { role: "user" as const, parts: [{ text }] },
        { role: "model" as const, parts: [call] },
        { role: "user" as const, parts: [answer] },
      ];
      const [size, asked] = [new ContextSize(), { system: text, tools: [tool], history }];
      const tokens = size.estimateRequest(asked);
      expect([size.isAbove(tokens - 1, asked), size.isAbove(tokens, asked)]).toEqual([true, false]);
    }
  });
});
