import type { FakeReply } from "@burin/testing/fake-model-server";
import { closeServers, delta, raw, readFailure, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { FINAL, google, openAi, PASSING, type Row, recorded } from "../../tests/recorded-failures.ts";

afterEach(closeServers);

function refusal(status: number, body: unknown, headers: Record<string, string> = {}): FakeReply {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return raw(text, { status, type: "application/json", headers });
}

describe("P35 a limit that will be over", () => {
  it.each(PASSING)("$title", async ({ status, body, headers, retryAfterMs }) => {
    const failure = await readFailure(refusal(status, body, headers));
    expect(failure).toMatchObject({ isPassing: true, status });
    expect(failure.retryAfterMs).toBe(retryAfterMs);
  });
});

describe("P35 what cannot pass is not waited for, and the advice fits it:", () => {
  it.each(FINAL)("$title", async ({ status, body, headers, type, words }) => {
    const failure = await readFailure(refusal(status, body, headers), { apiKey: "sk-a-long-key" });
    expect(failure).toMatchObject({ type, status });
    expect(failure.isPassing).toBeUndefined();
    expect(failure.message).toMatch(words ?? "nothing");
  });
});

it("P35 the week of a plan that was hit is used up, whatever the status", async () => {
  const message = "You have hit your weekly limit. limit reached|1791291355";
  expect(await readFailure(refusal(400, openAi(message)))).toMatchObject({ type: "quota" });
});

const TOO_LONG = (
  [
    [
      "DashScope",
      400,
      openAi(
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
        "invalid_parameter_error",
      ),
      98_304,
    ],
    [
      "Kimi",
      400,
      openAi("Invalid request: Your request exceeded model token limit: 262144 (requested: 300001)"),
      262_144,
    ],
    ["z.ai", 400, { error: { code: "1261", message: "Prompt exceeds max length" } }],
    [
      "z.ai, Claude's way",
      400,
      {
        error: {
          code: "1210",
          message: "Request 182387 input tokens exceeds the model's maximum context length 202750",
        },
      },
      202_750,
    ],
    [
      "Together",
      422,
      openAi(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8300 `inputs` tokens and 512 `max_new_tokens`",
      ),
      8193,
    ],
    [
      "Together, newer",
      400,
      openAi("The input (210000 tokens) is longer than the model's context length (131072 tokens)."),
      131_072,
    ],
    [
      "Perplexity",
      400,
      { error: { message: "Input exceeds the maximum of 127,072 tokens", type: "bad_request", code: 400 } },
      127_072,
    ],
    [
      "Cerebras",
      400,
      {
        message:
          "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        code: "context_length_exceeded",
      },
      8192,
    ],
    [
      "LM Studio",
      400,
      {
        error:
          "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9000>= n_ctx: 4096)",
      },
      4096,
    ],
    ["Ollama", 400, { error: "prompt too long; exceeded max context length by 4 tokens" }],
    [
      "OpenAI, more than a minute's tokens",
      429,
      openAi(
        "Request too large for m in organization o on tokens per min (TPM): Limit 30000, Requested 41000.",
        "rate_limit_exceeded",
        "tokens",
      ),
      30_000,
    ],
    [
      "a gateway in front of OpenAI",
      500,
      { error: { message: '{"error":{"message":"too much","code":"context_length_exceeded"}}' } },
    ],
  ] as readonly Row[]
).map(recorded);

describe("P5 a request that is too long for the model, said by", () => {
  it.each(TOO_LONG)("$title", async ({ status, body, contextWindow }) => {
    const failure = await readFailure(refusal(status, body));
    expect(failure).toMatchObject({ type: "context_length", status });
    expect(failure.contextWindow).toBe(contextWindow);
    expect(failure.isPassing).toBeUndefined();
  });

  it.each([
    "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
    "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens",
    "tools: 130 items, more than the maximum of 128",
    "temperature is too large",
  ])("but not by %s", async (message) => {
    expect((await readFailure(refusal(400, openAi(message)))).type).toBe("bad_request");
  });
});

describe("P35 what is not there is either the model or the address:", () => {
  const MODEL = /There is no model "m" at this service/;
  const PATH = /Nothing is found under this address: check the base URL/;

  it.each<[string, number, unknown, RegExp]>([
    ["Anthropic", 404, { type: "error", error: { type: "not_found_error", message: "model: m" } }, MODEL],
    ["Gemini", 404, google("NOT_FOUND", "models/gemini-1.5-pro is not found for API version v1beta"), MODEL],
    [
      "Azure",
      404,
      openAi("The API deployment for this resource does not exist.", "DeploymentNotFound"),
      MODEL,
    ],
    ["Ollama", 404, openAi("model 'm' not found, try pulling it first", null, "not_found_error"), MODEL],
    ["Ollama, address", 404, "404 page not found", PATH],
    ["OpenAI, address", 404, openAi("Invalid URL (POST /chat/completions)"), PATH],
    ["Groq, address", 404, openAi("Unknown request URL: POST /chat/completions.", "unknown_url"), PATH],
    ["Mistral, address", 404, { message: "no Route matched with those values" }, PATH],
    ["vLLM, address", 404, { detail: "Not Found" }, PATH],
    ["Anthropic, address", 404, { error: { type: "not_found_error", message: "Not Found" } }, PATH],
    ["Express, address", 404, "Cannot POST /chat/completions", PATH],
    ["a page", 404, "<html>nginx</html>", PATH],
    ["another method", 405, { detail: "Method Not Allowed" }, PATH],
    ["a redirect to nowhere", 302, "", PATH],
    ["what is gone", 410, { error: { message: "This has been removed." } }, MODEL],
  ])("%s", async (...[_who, status, body, words]) => {
    const failure = await readFailure(refusal(status, body), { apiKey: "sk-a-long-key" });
    expect(failure).toMatchObject({ type: "not_found", message: expect.stringMatching(words) });
  });

  it("LM Studio, address, under a success", async () => {
    const body = { error: "Unexpected endpoint or method. (POST /chat/completions)" };
    const message = expect.stringContaining("check the base URL, which usually ends in /v1");
    expect(await readFailure(refusal(200, body))).toMatchObject({ type: "not_found", message });
  });
});

describe("what is told of a failure", () => {
  it("shows what the service behind the service said", async () => {
    const raws = [JSON.stringify({ error: { message: "bridge is out" } }), "bridge is out"];
    for (const raw of raws) {
      const error = { message: "Provider returned error", code: 400, metadata: { raw, provider_name: "X" } };
      expect((await readFailure(refusal(400, { error }))).message).toContain(
        "Provider returned error: bridge is out",
      );
    }
  });

  it.each([
    { fault: { faultstring: "the bridge is out", detail: { errorcode: "x" } } },
    { error_message: "the bridge is out", error_id: 7 },
    { errorMessage: "the bridge is out" },
    { status: 400, reason: "the bridge is out" },
    { error: { description: "the bridge is out" } },
    { title: "the bridge is out", status: 400 },
    { data: { errors: [{ message: "the bridge is out" }] } },
  ])("shows what a service says under a name of its own: %j", async (body) => {
    expect((await readFailure(refusal(400, body))).message).toContain("the bridge is out");
  });

  it("takes a message that begins with <400> for no web page", async () => {
    const said = "<400> InternalError.Algo.InvalidParameter: the parameter is wrong";
    expect((await readFailure(refusal(400, openAi(said)))).message).toContain(said);
    expect((await readFailure(refusal(400, said))).message).toContain(said);
  });

  it.each(["tool_use_failed", "output_parse_failed"])("P15 a %s may go better next time", async (code) => {
    const error = {
      message: "Failed to call a function.",
      type: "invalid_request_error",
      code,
      status_code: 400,
    };
    const refused = await readFailure(refusal(400, { error }));
    const streamed = await readFailure(raw(`event: error\n${sse({ error })}`));
    const late = await readFailure(raw(sse(delta({ reasoning_content: "hm" }), { error })));
    for (const failure of [refused, streamed, late]) {
      expect(failure).toMatchObject({ type: "bad_reply", isPassing: true });
    }
  });
});

describe("P35 words that mean the same, whatever the status and the language:", () => {
  const spent = [
    "Your account balance is too low",
    "Account balance is insufficient",
    "You have run out of credits",
    "No credits remaining",
    "monthly quota exceeded",
    "Your free trial has expired",
    "账户余额不足",
    "您的额度已用尽",
    "Недостаточно средств",
    "Saldo insuficiente",
  ];

  it.each(spent)("no money is left: %s", async (message) => {
    for (const status of [400, 403, 429, 500]) {
      expect(await readFailure(refusal(status, openAi(message)))).toMatchObject({ type: "quota" });
    }
    const failure = await readFailure(raw(sse({ error: { message } })));
    expect([failure.type, failure.isPassing]).toEqual(["quota", undefined]);
  });

  it.each(["Rate limit reached for requests", "Request was throttled.", "请求过于频繁，请稍后再试"])(
    "too many requests: %s",
    async (message) => {
      const replies = [refusal(429, openAi(message)), refusal(403, openAi(message))];
      for (const reply of [...replies, raw(sse({ error: { message } }))]) {
        expect(await readFailure(reply)).toMatchObject({ type: "rate_limited", isPassing: true });
      }
    },
  );

  it.each(["输入长度超过限制", "上下文长度超出模型最大长度", "input_tokens must be less than 4096"])(
    "too long: %s",
    async (message) => {
      for (const status of [400, 413, 422]) {
        expect(await readFailure(refusal(status, openAi(message)))).toMatchObject({ type: "context_length" });
      }
    },
  );

  it.each<[string, number, string]>([
    ["unauthorized", 401, "No auth credentials found"],
    ["unauthorized", 403, "The security token included in the request is expired"],
    ["unauthorized", 401, "invalid access token or token expired"],
    ["forbidden", 400, "Operation not allowed"],
    ["forbidden", 400, "Your organization must be verified to stream this model."],
    ["forbidden", 401, "The `models` permission is required to access this endpoint"],
    ["forbidden", 403, "No access to model: openai/o3"],
    ["forbidden", 403, "This model is gated. Please accept its license."],
    ["forbidden", 403, "Access denied. Please check your network settings."],
    ["forbidden", 403, "Your request was blocked."],
    ["forbidden", 429, "Your account has been locked, please contact customer service"],
    ["not_found", 400, "The provided model identifier is invalid."],
    ["not_found", 404, "Not found the model kimi-k2.5 or Permission denied"],
    ["no_tools", 400, "Function calling is not enabled for models/gemma-3-27b-it"],
    ["no_tools", 400, "deepseek-reasoner does not support Function Calling"],
    ["unauthorized", 403, "OAuth token has been revoked. Please obtain a new token."],
    ["forbidden", 403, "not available for your subscription tier"],
    ["forbidden", 403, "Your plan does not include this model"],
    ["forbidden", 403, "Provider blocked by organisation policy"],
    ["forbidden", 400, "Access is not allowed from unsupported countries, regions, or territories."],
    ["forbidden", 401, "Your IP is not authorized."],
    ["forbidden", 403, "Permission to [resource-manager.folder b1g] denied"],
    ["forbidden", 403, "该令牌无权使用模型：gpt-4"],
    ["forbidden", 403, "用户已被封禁"],
    ["quota", 403, "Out of call volume quota. Quota will be replenished in 02:13:04."],
    ["quota", 403, "The token quota has been exhausted"],
    ["quota", 403, "This service requires a valid credit card on file."],
    ["quota", 429, "You have exceeded today's quota for this model, please try again tomorrow"],
    ["quota", 429, "You are using a Trial key, which is limited to 1000 API calls / month."],
    ["filtered", 400, "Your request has been flagged for possible cybersecurity risk."],
    ["filtered", 400, "Access to this content is limited for safety reasons."],
    ["filtered", 451, "The content you provided or machine outputted is blocked."],
    ["filtered", 400, "输入内容审核不通过，涉嫌违规"],
    ["quota", 403, "not enough balance"],
    ["quota", 403, "You need positive balance to do inference. Please add balance manually"],
    ["quota", 429, "week allocated quota exceeded."],
    [
      "quota",
      429,
      "You have exceeded the 5-hour usage quota. It will reset at 2026-01-01 00:00:00 +0800 CST.",
    ],
    ["quota", 429, "The usage limit has been reached"],
    ["quota", 400, "资源包余量用尽，请购买量包或开通后付费"],
    ["context_length", 400, "Total tokens of image and text exceed max message tokens 131072"],
    ["context_length", 400, "prompt length (5000) exceeds maximum input length (4096)"],
    ["bad_request", 400, "Thinking mode does not support this tool_choice"],
    ["bad_request", 400, "Setting 'parallel_tool_calls' is not permitted for this model"],
    ["bad_request", 400, "This model does not support assistant message prefill."],
    ["bad_request", 400, "`temperature` is deprecated for this model."],
    ["bad_request", 400, "Thinking can't be disabled for this model."],
    ["bad_request", 400, "Invalid 'tools[0].function.name': string does not match pattern"],
    ["bad_request", 400, "The value of max_tokens is incorrect, it should be in [1, 8192]"],
  ])("%s: %i %s", async (type, status, message) => {
    const failure = await readFailure(refusal(status, openAi(message)), { apiKey: "sk-a-long-key" });
    expect([failure.type, failure.isPassing]).toEqual([type, undefined]);
  });

  it.each<[string, object, string]>([
    [
      "MiniMax",
      { base_resp: { status_code: 1008, status_msg: "insufficient balance" }, choices: null },
      "quota",
    ],
    ["Hunyuan", { Response: { Error: { Code: "X", Message: "too many requests" } } }, "rate_limited"],
    [
      "Hunyuan, key",
      { Response: { Error: { Code: "AuthFailure.SecretIdNotFound", Message: "Not found" } } },
      "unauthorized",
    ],
    [
      "Hunyuan, in Chinese",
      { Response: { Error: { Code: "LimitExceeded", Message: "请求限频" } } },
      "rate_limited",
    ],
    ["a gateway", { success: false, message: "Too many requests" }, "rate_limited"],
    ["a Spring server", { code: 401, msg: "令牌已过期或验证不正确" }, "unauthorized"],
  ])("a failure under a success, from %s", async (_who, body, type) => {
    expect(await readFailure(refusal(200, body))).toMatchObject({ type });
  });
});
