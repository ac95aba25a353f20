/** A refusal of a real service, and what is to be read in it. */
export interface Recorded {
  readonly title: string;
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;
  readonly retryAfterMs?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly type?: string;
  readonly words?: RegExp;
}

export type Row = readonly [
  string,
  number,
  unknown,
  (Record<string, string> | number)?,
  (number | [string, RegExp])?,
];

export function recorded([title, status, body, third = {}, fourth]: Row): Recorded {
  const headers = typeof third === "number" ? {} : third;
  const [type, words] = Array.isArray(fourth) ? fourth : [];
  return {
    title,
    status,
    body,
    headers,
    ...(typeof third === "number" ? { contextWindow: third } : {}),
    ...(typeof fourth === "number" ? { retryAfterMs: fourth } : {}),
    ...(type && words ? { type, words } : {}),
  };
}

const MONEY = /add credit or raise the limit/;
const KEY = /API key was rejected/;
const NO_KEY_FAULT = /key itself is not the fault|account is locked/;

export function openAi(message: string, code: string | null = null, type = "invalid_request_error"): object {
  return { error: { message, type, param: null, code } };
}

export function google(status: string, message: string, ...details: object[]): object {
  return { error: { message, status, details } };
}

const RETRY_INFO = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "11.5s" };
const violated = (quotaId: string) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaMetric: "generate_content_free_tier_requests", quotaId, quotaValue: "15" }],
});
const GEMINI_QUOTA =
  "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.";

export const PASSING: readonly Recorded[] = (
  [
    [
      "Gemini, per minute",
      429,
      google("RESOURCE_EXHAUSTED", GEMINI_QUOTA, violated("GenerateRequestsPerMinutePerProject"), RETRY_INFO),
      {},
      11_500,
    ],
    ["Gemini, without a delay", 429, google("RESOURCE_EXHAUSTED", GEMINI_QUOTA), {}],
    [
      "Groq, per minute",
      429,
      openAi(
        "Rate limit reached for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Used 5900, Requested 1200. Please try again in 11s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        "rate_limit_exceeded",
        "tokens",
      ),
      {},
      11_000,
    ],
    [
      "Groq, per day, but soon",
      429,
      openAi(
        "Limit reached on tokens per day (TPD): Limit 100000. Please try again in 1m12.5s.",
        "rate_limit_exceeded",
      ),
      {},
      72_500,
    ],
    ["OpenAI", 429, openAi("Rate limit reached. Please try again in 340ms.", "rate_limit_exceeded"), {}, 340],
    ["Azure", 429, openAi("Please retry after 7 seconds.", "429"), {}, 7000],
    [
      "Moonshot",
      429,
      openAi(
        "Your account reached max RPM: 3, please try again after 1 seconds",
        null,
        "rate_limit_reached_error",
      ),
      {},
      1000,
    ],
    ["Mistral", 429, { message: "Requests rate limit exceeded", type: "rate_limited", code: "1300" }],
    ["z.ai, busy", 429, { error: { code: "1302", message: "High concurrency usage of this API" } }],
    [
      "DashScope",
      429,
      openAi("Requests rate limit exceeded, please try again later.", "limit_requests", "limit_requests"),
    ],
    ["Anthropic", 529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
    ["Groq, no capacity", 498, openAi("flex tier capacity exceeded", "capacity_exceeded")],
    ["a gateway", 524, "error code: 524"],
    ["OpenAI, a lock", 409, openAi("locked")],
    [
      "TGI, a reply that failed",
      424,
      { error: "Request failed during generation", error_type: "generation" },
    ],
    ["a service that says so", 400, openAi("try once more"), { "x-should-retry": "true" }],
    [
      "a header of nothing beside one of a second",
      429,
      "{}",
      { "retry-after-ms": "0", "retry-after": "1" },
      1000,
    ],
  ] as readonly Row[]
).map(recorded);

export const FINAL: readonly Recorded[] = (
  [
    [
      "OpenAI, no quota",
      429,
      openAi(GEMINI_QUOTA, "insufficient_quota", "insufficient_quota"),
      {},
      ["quota", MONEY],
    ],
    [
      "Gemini, per day",
      429,
      google(
        "RESOURCE_EXHAUSTED",
        GEMINI_QUOTA,
        violated("GenerateRequestsPerDayPerProject-FreeTier"),
        RETRY_INFO,
      ),
      {},
      ["quota", MONEY],
    ],
    [
      "OpenRouter, per day",
      429,
      { error: { message: "Rate limit exceeded: free-models-per-day.", code: 429 } },
      {},
      ["quota", MONEY],
    ],
    [
      "OpenRouter, 402",
      402,
      { error: { message: "This request requires more credits, or fewer max_tokens.", code: 402 } },
      {},
      ["quota", MONEY],
    ],
    ["DeepSeek, 402", 402, openAi("Insufficient Balance"), {}, ["quota", MONEY]],
    [
      "Anthropic",
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "Your credit balance is too low to access the Anthropic API.",
        },
      },
      {},
      ["quota", MONEY],
    ],
    [
      "Moonshot",
      429,
      openAi(
        "Your account is suspended due to insufficient balance, please recharge",
        null,
        "exceeded_current_quota_error",
      ),
      {},
      ["quota", MONEY],
    ],
    [
      "xAI",
      403,
      {
        code: "The caller does not have permission to execute the specified operation",
        error: "Your newly created team doesn't have any credits yet.",
      },
      {},
      ["quota", MONEY],
    ],
    [
      "z.ai",
      429,
      { error: { code: "1113", message: "Insufficient balance or no resource package. Please recharge." } },
      {},
      ["quota", MONEY],
    ],
    [
      "xAI, wrong key",
      400,
      {
        code: "Client specified an invalid argument",
        error: "Incorrect API key provided: xa***ey. You can obtain an API key from https://console.x.ai.",
      },
      {},
      ["unauthorized", KEY],
    ],
    [
      "Google, wrong key",
      400,
      google("INVALID_ARGUMENT", "API key not valid.", { reason: "API_KEY_INVALID" }),
      {},
      ["unauthorized", KEY],
    ],
    [
      "xAI, blocked key",
      403,
      { code: "permission-denied", error: "API key is currently blocked: id" },
      {},
      ["unauthorized", KEY],
    ],
    [
      "Google, no key",
      403,
      google("PERMISSION_DENIED", "Method doesn't allow unregistered callers."),
      {},
      ["unauthorized", KEY],
    ],
    ["Gemini, prepaid", 429, google("RESOURCE_EXHAUSTED", "Credits are depleted."), {}, ["quota", MONEY]],
    [
      "z.ai, plan",
      429,
      { error: { code: "1311", message: "Your plan does not yet include access to GLM-5" } },
      {},
      ["quota", MONEY],
    ],
    [
      "OpenRouter, moderation",
      403,
      { error: { message: "Your input was flagged. No credits were charged.", code: 403 } },
      {},
      ["filtered", /content filter/],
    ],
    [
      "Anthropic, forbidden",
      403,
      { error: { type: "forbidden", message: "No" } },
      {},
      ["forbidden", NO_KEY_FAULT],
    ],
    ["Groq, restricted", 400, openAi("No", "organization_restricted"), {}, ["forbidden", NO_KEY_FAULT]],
    [
      "Ollama, subscription",
      403,
      { error: "this model requires a subscription, upgrade for access" },
      {},
      ["forbidden", NO_KEY_FAULT],
    ],
    [
      "OpenAI, model or access",
      404,
      openAi("The model `m` does not exist or you do not have access to it.", "model_not_found"),
      {},
      ["not_found", /no model "m"/],
    ],
    [
      "Hugging Face, model",
      400,
      openAi("No provider", "model_not_supported"),
      {},
      ["not_found", /no model "m"/],
    ],
    [
      "OpenAI, region",
      403,
      openAi(
        "Country, region, or territory not supported",
        "unsupported_country_region_territory",
        "request_forbidden",
      ),
      {},
      ["forbidden", NO_KEY_FAULT],
    ],
    [
      "Gemini, region",
      400,
      google("FAILED_PRECONDITION", "User location is not supported for the API use."),
      {},
      ["forbidden", NO_KEY_FAULT],
    ],
    [
      "OpenAI, verification",
      404,
      openAi("Your organization must be verified to use the model `m`.", "model_not_found"),
      {},
      ["forbidden", NO_KEY_FAULT],
    ],
    [
      "Google, disabled",
      403,
      google(
        "PERMISSION_DENIED",
        "Generative Language API has not been used in project 1 before or it is disabled.",
        { reason: "SERVICE_DISABLED" },
      ),
      {},
      ["forbidden", NO_KEY_FAULT],
    ],
    [
      "Groq, terms",
      400,
      openAi("The model `m` requires terms acceptance.", "model_terms_required"),
      {},
      ["forbidden", NO_KEY_FAULT],
    ],
    [
      "Perplexity, model",
      400,
      { error: { message: "Invalid model 'm'.", type: "invalid_model", code: 400 } },
      {},
      ["not_found", /no model "m"/],
    ],
    [
      "OpenRouter, model",
      400,
      { error: { message: "m is not a valid model ID", code: 400 } },
      {},
      ["not_found", /no model "m"/],
    ],
    [
      "OpenRouter, tools",
      404,
      { error: { message: 'No endpoints found that support tool use. Try disabling "ls".', code: 404 } },
      {},
      ["no_tools", /cannot call tools/],
    ],
    [
      "Ollama, tools",
      400,
      openAi("registry.ollama.ai/library/gemma3:4b does not support tools", null, "api_error"),
      {},
      ["no_tools", /cannot call tools/],
    ],
    [
      "vLLM, tools",
      400,
      {
        object: "error",
        message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        code: 400,
      },
      {},
      ["no_tools", /start its server/],
    ],
    [
      "Groq, tools",
      400,
      openAi("`tool calling` is not supported with this model"),
      {},
      ["no_tools", /cannot call tools/],
    ],
    [
      "llama.cpp, template",
      500,
      {
        error: {
          code: 500,
          message: "Error rendering prompt with jinja template: unknown filter 'x'",
          type: "server_error",
        },
      },
      {},
      ["server_error", /would fail again/],
    ],
    [
      "Ollama, memory",
      500,
      openAi("model requires more system memory (9.1 GiB) than is available (3.2 GiB)", null, "api_error"),
      {},
      ["server_error", /memory/],
    ],
    [
      "a service that says so",
      500,
      openAi("no"),
      { "x-should-retry": "false" },
      ["server_error", /HTTP 500/],
    ],
  ] as readonly Row[]
).map(recorded);
