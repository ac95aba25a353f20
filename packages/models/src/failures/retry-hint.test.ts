import { closeServers, raw, readFailure } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";

afterEach(closeServers);

const RESETS = Date.now() + 30_000;

describe("P11 the moment at which a limit is reset is the pause", () => {
  it.each<[string, object, Record<string, string>]>([
    ["in a header, in seconds", {}, { "x-ratelimit-reset": String(Math.ceil(RESETS / 1000)) }],
    ["in a header, in milliseconds", {}, { "x-ratelimit-reset": String(RESETS) }],
    [
      "OpenAI, of the limit that is used up",
      {},
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "0m20.5s",
        "x-ratelimit-remaining-tokens": "5000",
        "x-ratelimit-reset-tokens": "1m59s",
      },
    ],
    [
      "Anthropic, as a date",
      {},
      {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": new Date(RESETS).toISOString(),
      },
    ],
    [
      "Cerebras, in seconds",
      {},
      { "x-ratelimit-remaining-tokens-minute": "0", "x-ratelimit-reset-tokens-minute": "11.3" },
    ],
    [
      "Cerebras, where the tokens that remain are too few for the request",
      {},
      {
        "x-ratelimit-remaining-requests-day": "14320",
        "x-ratelimit-reset-requests-day": "33011.38",
        "x-ratelimit-remaining-tokens-minute": "1234",
        "x-ratelimit-reset-tokens-minute": "11.38",
      },
    ],
    // huggingface/hub-docs#1944
    [
      "Hugging Face, of the policy that is used up",
      {},
      {
        ratelimit: '"api";r=12;t=200, "resolvers";r=0;t=25',
        "ratelimit-policy": '"fixed window";"api";q=500;w=300',
      },
    ],
    ["in an older form of the same", {}, { ratelimit: "limit=10, remaining=0, reset=20" }],
    [
      "OpenRouter, in the answer",
      {
        error: {
          message: "Rate limit exceeded: free-models-per-min.",
          code: 429,
          metadata: { headers: { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(RESETS) } },
        },
      },
      {},
    ],
  ])("%s", async (_where, body, headers) => {
    const { retryAfterMs = 0 } = await readFailure(raw(JSON.stringify(body), { status: 429, headers }));
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(31_000);
  });

  it.each<[string, number, object, number]>([
    ["a time in a field", 429, { error: { message: "slow down", retryAfter: "45s" } }, 45_000],
    ["milliseconds in a field", 503, { message: "busy", retry_after_ms: 1500 }, 1500],
    ["Codex, seconds", 429, { error: { type: "usage_limit_reached", resets_in_seconds: 120 } }, 120_000],
    ["Code Assist", 429, { details: [{ metadata: { quotaResetDelay: "1m30s" } }] }, 90_000],
    [
      "a plan that is paid for",
      402,
      { error: { message: "Usage limit reached, try again in 5 minutes" } },
      300_000,
    ],
    ["one minute in words", 429, { message: "Too many requests. Please try again in a minute." }, 60_000],
    ["in Chinese", 429, { message: "请求过于频繁，请 30 秒后重试" }, 30_000],
  ])("also %s", async (...row) => {
    const [, status, body, pause] = row;
    const failure = await readFailure(raw(JSON.stringify(body), { status }));
    expect(failure).toMatchObject({ isPassing: true, retryAfterMs: pause });
  });

  it("P35 a moment is no minute", async () => {
    const words = "Too many requests, please wait a moment and try again.";
    expect(await readFailure(raw(words, { status: 429 }))).not.toHaveProperty("retryAfterMs");
  });

  it("of tokens that remain only in a refusal for a limit", async () => {
    const headers = { "x-ratelimit-remaining-tokens": "29998", "x-ratelimit-reset-tokens": "59s" };
    expect(await readFailure(raw("{}", { status: 500, headers }))).not.toHaveProperty("retryAfterMs");
  });

  it("with a unit in the header, or under a name of the service's own", async () => {
    for (const headers of [{ "retry-after": "20s" }, { "x-ms-retry-after-ms": "20000" }]) {
      expect(await readFailure(raw("{}", { status: 429, headers }))).toMatchObject({ retryAfterMs: 20_000 });
    }
  });

  it("but not one that is past; that of a day's quota is only told", async () => {
    const dayOf = async (moment: number) => {
      const metadata = { headers: { "X-RateLimit-Reset": `${moment}` } };
      const error = { message: "free-models-per-day", metadata };
      return readFailure(raw(JSON.stringify({ error }), { status: 429 }));
    };
    expect(await dayOf(RESETS - 60_000)).not.toHaveProperty("retryAfterMs");
    const failure = await dayOf(RESETS + 80_000_000);
    expect(failure.type).toBe("quota");
    expect(failure.isPassing).toBeUndefined();
    expect(failure.retryAfterMs).toBeGreaterThan(79_000_000);
  });
});
