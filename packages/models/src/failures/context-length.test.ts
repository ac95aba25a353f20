import { describe, expect, it } from "vitest";
import { EXCESSES, readLengthRefusal } from "./context-length.ts";

describe("P5 a refusal because the request is too long", () => {
  it.each([
    ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9000.", 8192],
    ["prompt is too long: 213462 tokens > 200000 maximum", 200_000],
    ["input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease", 200_000],
    ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).", 1_048_575],
    ['{"message":"the request exceeds the available context size","n_prompt_tokens":9,"n_ctx":4096}', 4096],
    ["the model is loaded with context length of only 4096 tokens", 4096],
    ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
    ["prompt token count of 130000 exceeds the limit of 128000", 128_000],
    ["Prompt length 9001 is greater than max_seq_len 8192", 8192],
    ["Request prompt has 9000 tokens in total, larger than the model input length limit 8192.", 8192],
    ["Input and output tokens (9000) exceeded this model context window limit (7968).", 7968],
    ["Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)", 4096],
    ["the number of input tokens 9001 cannot exceed the total tokens limit 8192 for this model", 8192],
    ["Input is too long for requested model.", undefined],
    ["Invalid 'messages[1].content': string too long, maximum length 1048576 for the context", undefined],
    ['{"status_code":2013,"status_msg":"invalid params, context window exceeds limit (2013)"}', undefined],
    ['{"error":{"code":"context_length_exceeded"}}', undefined],
    ['{"error":{"message":"context overflow"}}', undefined],
  ])("%s", (answer, contextWindow) => {
    expect(readLengthRefusal(400, answer)).toEqual(contextWindow ? { contextWindow } : {});
  });

  it.each(EXCESSES)("is known by %s: %s", (_words, example) => {
    expect(readLengthRefusal(400, example)).toBeDefined();
  });

  it("is not taken from other refusals", () => {
    expect(readLengthRefusal(400, "max_tokens: 32000 > 8192, which is the maximum allowed")).toBeUndefined();
    expect(readLengthRefusal(400, "messages: at least one is needed")).toBeUndefined();
    expect(readLengthRefusal(429, "too many tokens per minute")).toBeUndefined();
    const link = "`max_tokens` must be greater than it, see https://example.org/thinking#context-window-size";
    expect(readLengthRefusal(400, link)).toBeUndefined();
    expect(readLengthRefusal(413, "")).toEqual({});
  });
});

it("P5 a refusal of digits without end is read once", () => {
  const refusal = (end: string) => `the prompt is too long: ${"7".repeat(400_000)} ${end}`;
  expect(readLengthRefusal(400, refusal("tokens"))).toBeDefined();
});
